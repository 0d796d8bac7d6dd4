/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ways into a process.
 *
 * Preloaded: a constructor looks at the process. Where there is no CPython it
 * takes the agent's variables out of the environment, and the library only hands
 * itself on to the Pythons that are run (agent/spawn.h). In a Python
 * it puts functions of its own in front of the init functions of two builtin modules in
 * PyImport_Inittab, which every CPython from 3.6 on reads when it starts:
 *
 *	_io	imported before anything that is no builtin, in every interpreter:
 *		agent_python_started()
 *	posix	makes os.environ: the variables are taken out just before
 *
 * As an extension module: _kaa_agent, whose import is agent_python_started(), with the three
 * functions of agent/sys_api.h. In a process where the agent is preloaded already,
 * that one's.
 *
 * Not seen: a host that opens libpython with dlopen() after its start. A library
 * that is neither preloaded nor imported does nothing.
 *
 * Sources: Include/import.h (struct _inittab), Include/moduleobject.h (PyModuleDef and
 * its slots) of CPython 3.6 to 3.15; prctl(2), PR_SET_MM_MAP.
 */
#ifndef KAA_AGENT_PRELOAD_H
#define KAA_AGENT_PRELOAD_H

/* The module, a PyObject; NULL and an ImportError in free-threaded CPythons. */
void *PyInit__kaa_agent(void) __attribute__((visibility("default")));

#endif
