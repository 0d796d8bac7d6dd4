/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The agent in this process: prepared, activated, deactivated. Internal to src/agent.
 *
 * Unless said otherwise functions are called with the GIL of the calling
 * thread's interpreter held, and leave an exception that was set before as it was.
 */
#ifndef KAA_AGENT_AGENT_H
#define KAA_AGENT_AGENT_H

#include <stdbool.h>

#include "agent/status.h"

struct agent_backend;

/*
 * NULL, or why this CPython cannot be hooked. Looks only once; for the first time in
 * the main interpreter, before there are others.
 */
const char *agent_prepare(void);

/* Takes the hook out of an interpreter that will not come back. */
void agent_interpreter_ends(void *interp);

/* Whether an eval hook of the agent's is set in the calling interpreter. */
bool agent_is_active(void);

/*
 * Sets the hook in the calling interpreter, with "perf", "perf_jit" or
 * "perf_elf". Active already with the same: nothing; with another: the new one takes over,
 * but from 3.12 on what other interpreters have called already stays with
 * the old one. No exception is set.
 */
enum agent_status agent_activate(const char *backend);

/*
 * Takes the hook out of the calling interpreter. AGENT_FOREIGN_HOOK up to 3.14 if
 * another one is set.
 */
enum agent_status agent_deactivate(void);

/* NULL if there is none. */
const struct agent_backend *agent_backend_in_use(void);

/*
 * Gives the code object its trampoline and tells profilers, though it never ran.
 * AGENT_UNAVAILABLE if the agent is not active.
 */
enum agent_status agent_compile_code(void *code);

/*
 * Whether children of a fork keep the parent's symbols: announced again in
 * the child's file all at once, instead of when they are called.
 */
void agent_set_persist_after_fork(bool enable);

#endif
