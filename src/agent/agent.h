/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The agent's state in this process. Internal to src/agent.
 *
 * Unless said otherwise functions are called with the GIL of the calling
 * thread's interpreter held.
 */
#ifndef KAA_AGENT_AGENT_H
#define KAA_AGENT_AGENT_H

#include <stdbool.h>

struct agent_backend;

/*
 * The first call in a Python process, from a way in (preload, the extension
 * module), as early as the interpreter can import a builtin module. Looks CPython
 * up, adds the sys functions where they are missing, and activates what the
 * switches ask for. Never raises: what is wrong is said once on stderr. Later calls do
 * nothing.
 */
void agent_python_started(void);

/* Whether an eval hook of the agent's is set in the calling interpreter. */
bool agent_is_active(void);

#endif
