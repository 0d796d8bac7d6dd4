/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `kaa record --view`: the recording as a page, once it is written. `kaa view` runs
 * in a process that was there before the recorder gave up its rights, with which
 * `kaa view` becomes the user whose page it is.
 */
#ifndef KAA_CMD_RECORD_VIEW_H
#define KAA_CMD_RECORD_VIEW_H

#include <sys/types.h>

#include "base/error.h"

struct record_viewer {
	/* Waits for a path at the other end of the pipe; 0: there is none. */
	pid_t pid;
	int fd;
};

/* Before any thread is started. */
struct error *record_viewer_start(struct record_viewer *ret);
/*
 * Returns when the viewer ends, which Ctrl-C does. What fails the viewer says.
 * SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD are blocked from then on.
 */
void record_viewer_show(struct record_viewer *viewer, const char *path);
/* One that still shows something ends. */
void record_viewer_deinit(struct record_viewer *viewer);

#endif
