/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The version of a stock perf, and the fault of its jitdump support.
 *
 * Up to 6.7.1 `perf inject --jit` wrote ELF files whose program header has a
 * wrong address, so that unwinding through them failed; fixed in 6.8 and
 * 6.7.2. Source: "Perf support for the Python interpreter" in CPython's
 * documentation (perf before 6.8), python/cpython#112254.
 */
#ifndef KAA_SYS_PERF_VERSION_H
#define KAA_SYS_PERF_VERSION_H

#include <stdbool.h>

struct perf_version {
	unsigned int major;
	unsigned int minor;
	/* 0 if there is none. */
	unsigned int patch;
};

/*
 * Reads what `perf --version` prints: "perf version 6.1.187". Only a number
 * behind a second dot is a patch level: "6.7-3" is 6.7 in a distribution's
 * third packaging, "6.8.g1234abcd" and "6.7.rc5.g..." are 6.8 and 6.7 out of
 * git. False if the text holds no version.
 */
bool perf_version_parse(const char *text, struct perf_version *ret);

/*
 * Does that perf have the fault, going by upstream's releases? Long-term
 * series and distributions got the fix later: 6.1.192, as Debian 12 has it,
 * writes right headers.
 */
bool perf_version_has_jit_fault(const struct perf_version *version);

#endif
