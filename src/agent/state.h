/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of the agent in this process. Under the GIL, and what has to do with the
 * backend under the lock (agent/lock.h).
 */
#ifndef KAA_AGENT_STATE_H
#define KAA_AGENT_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/backend.h"

struct agent_state {
	/* The last one activated, NULL before. */
	const struct agent_backend *backend;
	/* Its number, its index in agent_backends and 1; 0 before. */
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

/* All of them; NULL at the end. */
extern const struct agent_backend *const agent_backends[];

#endif
