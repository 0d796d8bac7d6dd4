/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fork. The child's handler only hides the tables, by writing some words: the
 * child may be about to execute something else, and must make no file then. The first
 * Python function that is called in the child, or os.fork() as it returns there, does
 * the rest.
 */
#ifndef KAA_AGENT_FORK_H
#define KAA_AGENT_FORK_H

#include <stdbool.h>

#include "agent/evaluator.h"

/* Has the handlers of pthread_atfork() and os.register_at_fork(); idempotent. */
void fork_watch(void *interp);

/*
 * In the child of a fork, at the first occasion to run CPython code: opens the
 * child's files and announces what is on the stack.
 */
void fork_child(struct evaluator *evaluator);

/* Whether this is a process other than the one that announced last. */
bool fork_happened(void);

#endif
