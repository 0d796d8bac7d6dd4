/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the command line and the environment ask for. CPython's switches, from
 * Doc/using/cmdline.rst and Python/initconfig.c of 3.12 to 3.15:
 *
 *	-X perf, -X perf_jit		whatever value: -X perf=0 too
 *	PYTHONPERFSUPPORT, PYTHON_PERF_JIT_SUPPORT
 *					a non-zero integer; not with -E or -I
 *
 * perf_jit goes before perf. The agent's own:
 *
 *	KAA_TRAMPOLINE_BACKEND=perf|perf_jit|perf_elf	goes before all of them
 *	KAA_TRAMPOLINE=always		the agent, though CPython could do it itself
 */
#ifndef KAA_AGENT_SWITCHES_H
#define KAA_AGENT_SWITCHES_H

#include <stdbool.h>

struct switches {
	/* A name for agent_activate(), NULL: nothing is asked for. */
	const char *backend;
	/* KAA_TRAMPOLINE_BACKEND says so, CPython does not know of it. */
	bool by_agent;
	/*
	 * CPython's own switches ask for something, and were not taken away by
	 * agent_early(): it activates that itself.
	 */
	bool by_cpython;
};

/*
 * From the constructor of a preloaded library, before main, without an interpreter:
 * with KAA_TRAMPOLINE=always or a KAA_TRAMPOLINE_BACKEND, what asks CPython 3.12
 * and later for its own trampolines is taken out of argv and the environment, in
 * place, and remembered; switches_restore() puts it back into sys and the environment. Does
 * nothing in other cases. argv is read as the python command's: argc is 0 for a
 * process that runs another main. Makes no threads, calls no CPython.
 */
void agent_early(int argc, char **argv, char **envp);

/* KAA_TRAMPOLINE=always */
bool switches_always(void);

/* KAA_TRAMPOLINE_BACKEND as it stands there, NULL or "" if nothing does. */
const char *switches_agent_backend(void);

/* Whether PYTHON_JIT asks CPython for its JIT, which it reads when its start ends. */
bool switches_jit(void);

/* Needs the GIL, and sys._xoptions and sys.flags. No exception is set. */
void switches_read(struct switches *ret);

/*
 * Puts back what agent_early() took away: into the environment, sys._xoptions
 * and sys.orig_argv. Needs the GIL. No exception is set.
 */
void switches_restore(void);

#endif
