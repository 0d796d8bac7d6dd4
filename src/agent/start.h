/* SPDX-License-Identifier: GPL-2.0-only */
/* What happens in an interpreter when it starts. Internal to src/agent. */
#ifndef KAA_AGENT_START_H
#define KAA_AGENT_START_H

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

#endif
