/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What agent.c and fork.c share. Internal to these two and start.c.
 */
#ifndef KAA_AGENT_STATE_H
#define KAA_AGENT_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/backend.h"
#include "agent/evaluator.h"

struct agent_state {
	/* The last one activated, NULL before. */
	const struct agent_backend *backend;
	/* Its number, 1 on; 0 before. */
	uint8_t backend_id;
	/* Its file is open. */
	bool open;
	/* Interpreters with our hook. */
	unsigned int active;
	/* Whose announcements these are. */
	pid_t pid;
	/*
	 * Counted up when what was announced is void: tables with another number
	 * have not heard of it yet.
	 */
	unsigned int generation;
	/* Set in the child of a fork, until it is dealt with. */
	volatile bool forked;
	bool persist;
	/* How often to look whether the JIT came on. */
	unsigned int jit_checks;
	/* The errno of the last AGENT_OS_ERROR. */
	int error;
	/* Why this CPython cannot be hooked; NULL: it can, or none has looked yet. */
	const char *unavailable;
};

extern struct agent_state agent_state;

/*
 * NULL, or why this CPython cannot be hooked. Looks only once; for the first time in
 * the main interpreter, before there are others.
 */
const char *agent_prepare(void);

/* Has the handlers of pthread_atfork() and os.register_at_fork(); idempotent. */
void fork_watch(void *interp);

/*
 * In the child of a fork, at the first occasion to run CPython code: opens the
 * child's files and announces what is on the stack.
 */
void fork_child(struct evaluator *evaluator);

/* Whether this is a process other than the one that announced last. */
bool fork_happened(void);

/* The table hears of a new generation. */
void agent_catch_up(struct evaluator *evaluator);

/* Takes the hook out of an interpreter that will not come back. */
void agent_interpreter_ends(void *interp);

#endif
