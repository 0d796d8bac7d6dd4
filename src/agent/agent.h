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
 * From the constructor of a preloaded library, before main, without an interpreter:
 * with KAA_TRAMPOLINE=always or a KAA_TRAMPOLINE_BACKEND, what asks CPython 3.12
 * and later for its own trampolines is taken out of argv and the environment, in
 * place, and remembered; agent_python_started() puts it back into sys and the environment. Does
 * nothing in other cases. argv is read as the python command's: argc is 0 for a
 * process that runs another main. Makes no threads, calls no CPython.
 */
void agent_early(int argc, char **argv, char **envp);

/*
 * In a Python process, from a way in (preload, the extension module), as early as the
 * interpreter can import a builtin module; once in every interpreter, main one or not.
 * Looks CPython up, adds the sys functions where they are missing, and
 * activates what the switches ask for; in a subinterpreter what the main one has active.
 * Never raises: what is wrong is said once on stderr. Later calls in
 * the same interpreter do nothing.
 */
void agent_python_started(void);

/*
 * os.environ has been made: what CPython itself reads of the environment later, the
 * program does not see any more. With trampolines it is told to leave its JIT off.
 */
void agent_environ_made(void);

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
