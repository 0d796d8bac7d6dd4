/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The eval hook: CPython calls it with each frame that is to run; it finds the
 * trampoline of the frame's code object and goes on to it, by a tail call.
 * PEP 523. Signatures (Include/internal/pycore_interp.h, pystate.h):
 *
 *	3.6 to 3.8	(frame, throwflag), in a slot of the interpreter structure
 *	3.9, 3.10	(thread state, frame, throwflag), by a setter
 *	3.11 on		the same, with an internal frame
 *
 * A trampoline takes these arguments, and the function to run them with last.
 */
#ifndef KAA_AGENT_EVALUATOR_H
#define KAA_AGENT_EVALUATOR_H

#include <stdbool.h>

#include "agent/code_table.h"

/* How trampolines are called; with 3.6 to 3.8 the third argument is none. */
typedef void *trampoline_function(void *a, void *b, long c, void *evaluator);

/* An interpreter whose hook is or was ours. Never freed, used again. */
struct evaluator {
	/* PyInterpreterState; up to 3.11 not looked at. NULL: unused. */
	void *interp;
	/* What trampolines call: CPython's own function, or a hook before ours. */
	void *next_evaluator;
	struct codes codes;
	struct evaluator *next;
	/* Ours was set and not taken out by us: others may still call it. */
	bool covered;
	/* Interpreters whose hook is set: 0 or 1 from 3.12 on. */
	unsigned int users;
	/* Of the process's announcements that the table knows (agent/state.h). */
	unsigned int generation;
	/* os.register_at_fork() has our function. */
	bool fork_registered;
};

/* Main interpreter as a rule; up to 3.11 that of all. */
extern struct evaluator evaluator_first;

/*
 * Where the hook goes with a code object that it does not find: a trampoline or
 * agent_call_plainly(). Exceptions and errno stay as they are.
 */
typedef trampoline_function *evaluator_resolve(struct evaluator *evaluator, void *code);

/*
 * Chooses the hook for this CPython. False: its offsets are none of those that
 * the hooks are made for.
 */
bool evaluator_init(evaluator_resolve *resolve);

/*
 * That of an interpreter (up to 3.11 the one of all), NULL if it has none and
 * `create` is false or memory is short. create: under the agent's lock.
 */
struct evaluator *evaluator_of(void *interp, bool create);
/* The table hears of a new generation (agent/state.h), and is seen or not. */
void evaluator_catch_up(struct evaluator *evaluator);
/* The interpreter ends: its evaluator is free to be another's. */
void evaluator_release(struct evaluator *evaluator);

enum evaluator_state {
	/* CPython's own. */
	EVALUATOR_PLAIN,
	EVALUATOR_OURS,
	EVALUATOR_FOREIGN,
};

/* What is set in an interpreter. Needs its GIL, as the next two do. */
enum evaluator_state evaluator_state(void *interp);
/* Sets ours, before whatever is set. */
void evaluator_set(struct evaluator *evaluator, void *interp);
/* Sets what was there before; ours must be set. */
void evaluator_unset(struct evaluator *evaluator, void *interp);

/* Calls the evaluator without a trampoline. */
void *agent_call_plainly(void *a, void *b, long c, void *evaluator);

#endif
