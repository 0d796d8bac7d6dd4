/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Starts the command to be recorded: forked first, so that events can be
 * opened on it, and let go with exec when they are.
 */
#ifndef KAA_COLLECT_LAUNCH_H
#define KAA_COLLECT_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "sys/invoker.h"

struct launch {
	pid_t pid;
	/* Closing it, or writing to it, lets the child go. */
	int go_fd;
	/* Where the child says why exec failed. */
	int failure_fd;
	/* Borrowed, for messages. */
	const char *name;
};

/*
 * Run in the child, which is the invoker by then: becomes the command, with
 * trampolines for its Pythons; returns 0 if it shall be run as it is (the
 * environment may be changed), or an errno value.
 */
typedef int launch_trampolines(char *const argv[]);

#define LAUNCH_INIT { .pid = -1, .go_fd = -1, .failure_fd = -1 }

/*
 * Looks for a command as execvp() will, before anything is set up for it.
 * path: the PATH to search, NULL for the environment's. *ret is the file, the
 * caller's. ERROR_NOT_FOUND, or ERROR_OS for what is there and cannot be run.
 */
struct error *launch_find(const char *name, const char *path, char **ret);

/*
 * Forks a child that waits. It becomes the invoker, with the environment that
 * invoker_set_environment() gives and path as its PATH (may be NULL), when it is
 * let go. Everything else it has from the caller as it is now, signal mask
 * and limits included; but with output_is_data its standard output is standard error.
 */
struct error *launch_prepare(struct launch *launch, char *const argv[],
			     const struct invoker *invoker, const char *path,
			     bool output_is_data,
			     launch_trampolines *trampolines);

/*
 * Lets the child exec, with trampolines or without, and returns once it has:
 * ERROR_NOT_FOUND for a command that is not there, else ERROR_OS. After a failure
 * the child has ended.
 */
struct error *launch_go(struct launch *launch, bool trampolines);

/* Ends a child that was not let go. Legal at any time. */
void launch_deinit(struct launch *launch);

#endif
