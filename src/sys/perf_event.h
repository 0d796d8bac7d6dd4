/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The perf_event_open system call, and what its refusals mean.
 */
#ifndef KAA_SYS_PERF_EVENT_H
#define KAA_SYS_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * A descriptor, or a negative errno. Sets attr.size. flags: PERF_FLAG_*;
 * PERF_FLAG_FD_CLOEXEC is always added. On EMFILE the soft limit of open files
 * is raised to the hard one, and the call tried again.
 */
int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
		    int group_fd, unsigned long flags);

/*
 * Explains a refusal. errnum: positive. name: the event as the user typed it.
 * pid, cpu: as passed to perf_event_open(). root: see sys/file.h.
 *
 *	EACCES, EPERM	ERROR_PERMISSION: kernel.perf_event_paranoid, what it
 *			forbids here and the ways out
 *	ENOENT, EOPNOTSUPP, ENODEV, EINVAL with precise_ip
 *			ERROR_UNSUPPORTED: the event does not exist here
 *	ESRCH		ERROR_NOT_FOUND: no such process or thread
 *	EMFILE		ERROR_OS: names ulimit -n
 *	else		ERROR_OS
 */
struct error *perf_event_error(int errnum, const struct perf_event_attr *attr,
			       const char *name, pid_t pid, int cpu,
			       const char *root);

/* Raises the soft limit of open files to the hard one. 0 or negative errno. */
int open_files_raise_limit(void);

/* Events of that type are the counters of a CPU. */
static inline bool perf_type_is_hardware(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE ||
	       type == PERF_TYPE_RAW;
}

/*
 * True if there is a hardware PMU: a `cpu`, `cpu_core` or other core PMU in
 * <root>/sys/bus/event_source/devices. Event `cycles` needs one.
 */
bool perf_has_hardware_pmu(const char *root);

/*
 * kernel.perf_event_paranoid; 2 (the kernel's default) if it cannot be read.
 * 4 and 3 exist on Debian and Ubuntu kernels: nothing at all for users.
 */
int perf_event_paranoid(const char *root);

#endif
