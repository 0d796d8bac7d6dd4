/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this machine lets the calling process do. Where the kernel can be asked
 * by trying, it is: settings say what is meant, attempts what holds (security
 * modules and container filters show only there).
 */
#ifndef KAA_SYS_PROBE_MACHINE_H
#define KAA_SYS_PROBE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* A number from /proc or /sys that may not be there. */
struct setting {
	bool known;
	int64_t value;
};

struct machine {
	/* uname(2) */
	char release[65];
	char arch[65];
	/* Of release; 0.0 if it does not begin so. */
	unsigned int kernel_major;
	unsigned int kernel_minor;

	/* kernel.* */
	struct setting perf_event_paranoid;
	struct setting perf_event_max_stack;
	struct setting perf_event_mlock_kb;
	struct setting perf_event_max_sample_rate;
	struct setting kptr_restrict;
	struct setting unprivileged_bpf_disabled;
	/* kernel.yama.ptrace_scope; unknown without Yama, which restricts
	 * nothing. */
	struct setting ptrace_scope;

	/* Effective capabilities, bit per CAP_*. */
	uint64_t capabilities;
	uint32_t euid;
	/* RLIMIT_MEMLOCK soft limit in bytes, UINT64_MAX: none. */
	uint64_t memlock;

	/* A core PMU in sysfs. */
	bool pmu;
	/* <root>/sys/kernel/btf/vmlinux is there. */
	bool btf;

	/*
	 * Attempts: 0 for success, else the errno. Only made if root is the
	 * machine itself, else ENOSYS.
	 */
	/* cpu-clock on this process, user space only. */
	int try_user_event;
	/* The same with the kernel. */
	int try_kernel_event;
	/* cpu-clock of CPU 0, all processes. */
	int try_cpu_event;
	/* Hardware cycles, user space only. */
	int try_cycles;
	/* A BPF program of type perf_event that returns 0. */
	int try_bpf;
};

void machine_probe(const char *root, struct machine *ret);

/* Is the kernel at least major.minor? */
bool machine_kernel_at_least(const struct machine *machine, unsigned int major,
			     unsigned int minor);

#endif
