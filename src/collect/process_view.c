// SPDX-License-Identifier: GPL-2.0-only
#include "collect/process_view.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "sys/proc.h"

/* In another mount namespace, or below a chroot, paths lead to other files. */
static struct error *sees_the_same(const char *root, pid_t pid, bool *ret)
{
	_cleanup_free_ char *top = NULL;
	bool same = false;
	struct error *error = proc_same_namespace(root, pid, "mnt", &same);

	if (!error)
		error = proc_link(root, pid, "root", &top);
	if (!error)
		*ret = same && !strcmp(top, "/");
	return error;
}

struct error *process_view_look(const char *root, pid_t pid,
				struct process_view *ret)
{
	struct process_view view = {};
	struct proc_status status;
	bool same = false;
	struct error *error = sees_the_same(root, pid, &same);

	if (!error)
		error = proc_status_read(root, pid, &status);
	if (error)
		return error;
	if (!same)
		snprintf(view.root, sizeof(view.root), "/proc/%d/root",
			 (int)pid);
	/* The tick in which it began is over. */
	view.started = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
		       (int64_t)((status.start_time + 1) *
				 (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK)));
	*ret = view;
	return NULL;
}
