/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sys.activate_stack_trampoline(), deactivate_stack_trampoline() and
 * is_stack_trampoline_active() as the agent has them; CPython's own are
 * agent/builtin.h. Needs the GIL; exceptions that were set stay.
 *
 * Sources: Doc/library/sys.rst, Python/sysmodule.c of CPython 3.12 to 3.15.
 */
#ifndef KAA_AGENT_SYS_API_H
#define KAA_AGENT_SYS_API_H

#include <stdbool.h>

#include "agent/capi.h"

/* The agent's functions, as a PyMethodDef array. */
extern struct capi_method sys_api_methods[];

/* Puts the agent's functions into the calling interpreter's sys. */
bool sys_api_install(void);

/* Whether the calling interpreter's sys has the agent's functions. */
bool sys_api_installed(void);

#endif
