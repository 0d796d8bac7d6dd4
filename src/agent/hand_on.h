/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the agent goes from a process to the programs that it runs: in variables at
 * the end of their environment.
 *
 *	...			the environment as the program passed it
 *	KAA_RUN=		what follows is not the user's
 *	KAA_TRAMPOLINE_BACKEND=perf, and what else `kaa run` set
 *	LD_PRELOAD=<the user's own list>:<the agent>
 *
 * The loader takes the last LD_PRELOAD. The agent's constructor takes all from
 * KAA_RUN on out of the environment again, so that no program sees it, and
 * the user's own LD_PRELOAD, if there is one, is where it was.
 *
 * `kaa run` lays out the environment of the first program with the same code.
 */
#ifndef KAA_AGENT_HAND_ON_H
#define KAA_AGENT_HAND_ON_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/program.h"

#define HAND_ON_MARK "KAA_RUN="
#define HAND_ON_PRELOAD "LD_PRELOAD="

enum {
	HAND_ON_VARIABLES_MAX = 8,
	/* Of the agent's path and all variables together. */
	HAND_ON_TEXT_MAX = 8192,
	/* An LD_PRELOAD above that is left alone: the agent is not handed on. */
	HAND_ON_PRELOAD_MAX = 4096,
	/* Above, the list of variables is mapped memory. */
	HAND_ON_SMALL = 512,
};

/* What is handed on. */
struct hand_on {
	/* The agent's path; NULL: nothing is handed on. */
	const char *library;
	/* "NAME=value" */
	const char *variables[HAND_ON_VARIABLES_MAX];
	size_t variable_count;
	/* Holds these strings. */
	char text[HAND_ON_TEXT_MAX];
	size_t text_used;
};

/* An environment with what is handed on. */
struct hand_on_environment {
	/* To be passed to exec. */
	char **list;
	char *small[HAND_ON_SMALL];
	size_t mapped_size;
	char preload[HAND_ON_PRELOAD_MAX];
};

/* Both copy, and are false if there is no room. */
bool hand_on_set_library(struct hand_on *hand_on, const char *path);
bool hand_on_add(struct hand_on *hand_on, const char *variable);

/*
 * Makes ret->list: envp (NULL: empty) and what is handed on; or envp itself if
 * the agent is in its LD_PRELOAD already, or cannot be put there: where the
 * caller stands its file may be out of sight (chroot, another user).
 * Async-signal-safe; the memory is the stack's, beyond 500 variables
 * mapped.
 */
void hand_on_environment_init(struct hand_on_environment *ret,
			      const struct hand_on *hand_on,
			      char *const envp[]);
/* errno stays. */
void hand_on_environment_deinit(struct hand_on_environment *environment);

#endif
