/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of the C library that run a program, in front of its own as long as
 * the agent is preloaded: execve, execv, execvp, execvpe, execl, execlp, execle,
 * fexecve, execveat, posix_spawn, posix_spawnp, system.
 *
 * Each looks at the file that is to be run (agent/program.h). A Python or
 * carrier gets the agent (agent/hand_on.h), any other program just what the caller
 * passed. All but system are async-signal-safe and take no lock and
 * no memory but the stack's (about 20 KiB), so that they may be called between
 * vfork and exec, as CPython's subprocess does.
 *
 * What runs programs without these functions loses the agent: raw system calls, popen
 * and wordexp of the C library.
 */
#ifndef KAA_AGENT_SPAWN_H
#define KAA_AGENT_SPAWN_H

#include "agent/hand_on.h"

/*
 * Finds the C library's own functions, and hands hand_on on from now on;
 * NULL: nothing. It is borrowed for ever. Before any thread runs a program.
 */
void agent_spawn_start(const struct hand_on *hand_on);

#endif
