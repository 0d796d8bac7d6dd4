/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sys.activate_stack_trampoline(), deactivate_stack_trampoline() and
 * is_stack_trampoline_active(): CPython's from 3.12 on, where it is built with
 * them, else the agent's. Needs the GIL; exceptions that were set stay.
 *
 * Sources: Doc/library/sys.rst, Python/sysmodule.c of CPython 3.12 to 3.15.
 */
#ifndef KAA_AGENT_SYS_API_H
#define KAA_AGENT_SYS_API_H

#include <stdbool.h>

#include "agent/capi.h"

/* The agent's functions, as a PyMethodDef array. */
extern struct capi_method sys_api_methods[];

/* What this CPython has itself. */
enum sys_api_builtin {
	/* Nothing, or functions that refuse every call. */
	SYS_API_MISSING,
	SYS_API_PRESENT,
	/* It refuses because its JIT is active. */
	SYS_API_JIT_ACTIVE,
};

/* Asks it once in a process, without activating anything. */
enum sys_api_builtin sys_api_builtin(void);

/*
 * Whether this build has a JIT (3.14 on), and whether the JIT is on, by now: that is
 * decided after the agent is there, at the end of the interpreter's start.
 */
bool sys_api_has_jit(void);
bool sys_api_jit_active(void);

/* Whether it takes this backend. */
bool sys_api_builtin_has(const char *backend);

/*
 * Calls CPython's own sys.activate_stack_trampoline(). False with an
 * exception set if that fails.
 */
bool sys_api_builtin_activate(const char *backend);

/* Deactivates CPython's own trampolines, if they are active. */
void sys_api_builtin_stop(void);

/* Puts the agent's functions into the calling interpreter's sys. */
bool sys_api_install(void);

/* Whether the calling interpreter's sys has the agent's functions. */
bool sys_api_installed(void);

#endif
