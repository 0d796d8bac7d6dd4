/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPython's own trampolines, from 3.12 on where it is built with them, and its JIT,
 * which does not go with any. Needs the GIL; exceptions that were set stay.
 *
 * Sources: Doc/library/sys.rst, Python/sysmodule.c of CPython 3.12 to 3.15.
 */
#ifndef KAA_AGENT_BUILTIN_H
#define KAA_AGENT_BUILTIN_H

#include <stdbool.h>

/* Its function in sys, whose place the agent's takes. */
#define ACTIVATE "activate_stack_trampoline"

/* What this CPython has itself. */
enum builtin_support {
	/* Nothing, or functions that refuse every call. */
	BUILTIN_MISSING,
	BUILTIN_PRESENT,
	/* It refuses because its JIT is active. */
	BUILTIN_JIT_ACTIVE,
};

/*
 * Asks it once in a process, without activating anything: first when an interpreter
 * starts, before the agent's functions take the place of its own.
 */
enum builtin_support builtin_support(void);

/*
 * Whether this build has a JIT (3.14 on), and whether the JIT is on, by now: that is
 * decided after the agent is there, at the end of the interpreter's start.
 */
bool builtin_has_jit(void);
bool builtin_jit_active(void);

/* Whether it takes this backend. */
bool builtin_has(const char *backend);

/*
 * Calls CPython's own sys.activate_stack_trampoline(). False with an
 * exception set if that fails.
 */
bool builtin_activate(const char *backend);

/* Deactivates CPython's own trampolines, if they are active. */
void builtin_stop(void);

#endif
