/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of the event off-cpu, which the walker makes (docs/off-cpu.md): what
 * they stand for, and the kernel's part of their chains.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_WAITS_H
#define KAA_COLLECT_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "perfdata/record.h"

/* Where the kernel serves a system call. */
struct wait_call {
	/* Without "__x64_sys_". */
	char name[32];
	uint64_t address;
};

struct waits {
	VEC(struct wait_call) calls;
	/* __schedule(); 0: not known. */
	uint64_t schedule_start;
	uint64_t schedule_end;
	/* The chain of the sample at hand; and its wait, as in struct walker_wait. */
	VEC(uint64_t) chain;
	uint64_t since;
};

/*
 * How long a wait was, in ns, that goes on or ended: times of CLOCK_MONOTONIC. 0: there
 * was none by then. since: 0 is none; from: what was before does not count, 0 is all of it.
 */
static inline uint64_t waits_length(uint64_t since, uint64_t from, uint64_t now)
{
	if (!since || !from)
		return 0;
	if (since < from)
		since = from;
	return now > since ? now - since : 0;
}

/*
 * Reads /proc/kallsyms, which takes 0.05 s; what hides addresses leaves all unknown.
 * root: see sys/file.h.
 */
struct error *waits_init(struct waits *waits, const char *root);
void waits_deinit(struct waits *waits);

/*
 * Gives a sample of off-cpu its period, and a chain that begins where the thread
 * waited: without what the kernel does to switch, and to walk. Of one that waited for
 * a CPU the kernel's frames say nothing, and a marker says that. The chain is valid
 * until the next call. False: it is no sample of the walker.
 */
bool waits_take(struct waits *waits, struct record *sample);

#endif
