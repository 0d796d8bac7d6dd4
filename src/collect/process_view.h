/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a process sees its files, and since when it has been there. */
#ifndef KAA_COLLECT_PROCESS_VIEW_H
#define KAA_COLLECT_PROCESS_VIEW_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define PROCESS_VIEW_ROOT_MAX 64

struct process_view {
	/* For rooted_open(); "": where kaa sees them, too. */
	char root[PROCESS_VIEW_ROOT_MAX];
	/* When it began, ns since 1970: not later than this, which is a tick too late at most. */
	int64_t started;
};

/* root goes before /proc, or NULL. ERROR_NOT_FOUND: the process is gone. */
struct error *process_view_look(const char *root, pid_t pid,
				struct process_view *ret);

#endif
