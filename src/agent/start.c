// SPDX-License-Identifier: GPL-2.0-only
#include "agent/start.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/builtin.h"
#include "agent/capi.h"
#include "agent/evaluator.h"
#include "agent/frame_pointers.h"
#include "agent/state.h"
#include "agent/switches.h"
#include "agent/sys_api.h"

#define MARK "kaa_agent"

/* More functions than an interpreter calls in its start. */
enum { JIT_CHECKS = 2000 };

/* Guests are quiet; but who asked for trampolines must know that there are none. */
static void complain(const char *backend, const char *why)
{
	fprintf(stderr, "kaa: no trampolines (%s) in process %d: %s\n", backend,
		(int)getpid(), why);
}

/* --- once in each interpreter --- */

static void interpreter_ends(void *capsule)
{
	void *interp = capi.PyCapsule_GetPointer(capsule, MARK);

	if (interp)
		agent_interpreter_ends(interp);
	capi.PyErr_Clear();
}

/* The interpreter's own dictionary, 3.8 on, or NULL. */
static void *own_dict(void *interp)
{
	return capi.PyInterpreterState_GetDict ?
		       capi.PyInterpreterState_GetDict(interp) :
		       NULL;
}

static bool is_marked(void *interp)
{
	void *dict = own_dict(interp);

	return dict ? capi.PyDict_GetItemString(dict, MARK) != NULL :
		      sys_api_installed();
}

static void mark(void *interp)
{
	void *dict = own_dict(interp);
	void *capsule;

	if (!dict)
		return;
	capsule = capi.PyCapsule_New(interp, MARK, interpreter_ends);
	if (capsule)
		capi.PyDict_SetItemString(dict, MARK, capsule);
	capi.Py_DecRef(capsule);
}

/* 3.6 cannot say: there the first one is. */
static bool is_main(void *interp)
{
	static void *first;

	if (capi.PyInterpreterState_Main)
		return capi.PyInterpreterState_Main() == interp;
	if (!first)
		first = interp;
	return first == interp;
}

/* --- activation --- */

static void activate(const char *backend)
{
	enum agent_status status = agent_activate(backend);

	if (status)
		complain(backend, agent_status_text(status, backend));
	else if (!sys_api_installed())
		/* CPython's own functions know nothing of this hook. */
		sys_api_install();
}

static bool builtin_activated;

/* Not every 3.13 takes perf_jit here. */
static void activate_builtin(const char *backend)
{
	builtin_activated = builtin_activate(backend);
	if (builtin_activated)
		return;
	capi.PyErr_Clear();
	activate(backend);
}

/* Where it can: free-threaded CPython has but what is its own. */
static bool agent_does_all(void)
{
	return switches_always() && !capi.free_threaded;
}

/*
 * What is CPython's own is left to it, unless the agent shall do all. It is not activated
 * twice, which 3.13 does not survive.
 */
static void obey(const struct switches *switches)
{
	if (!switches->backend)
		return;
	if (agent_does_all() || !builtin_has(switches->backend))
		activate(switches->backend);
	else if ((switches->by_agent || capi.free_threaded) &&
		 !switches->by_cpython)
		activate_builtin(switches->backend);
}

static void start_main(void)
{
	struct switches switches;

	/* 3.7 does not tell when an interpreter ends, and with it its list. */
	if (CAPI_MINOR < 8)
		evaluator_first.fork_registered = false;
	switches_restore();
	switches_read(&switches);
	obey(&switches);
	if (agent_backend_in_use() || builtin_activated)
		frame_pointers_say();
	if (agent_backend_in_use() && builtin_has_jit())
		agent_state.jit_checks = JIT_CHECKS;
}

/*
 * Trampolines that CPython was asked for before its start keep its JIT off, with a
 * warning (init_interp_main() in Python/pylifecycle.c). Of these here it does not know, so it
 * is told not to switch it on.
 */
void agent_environ_made(void)
{
	if (!agent_backend_in_use() && !builtin_activated)
		return;
	if (!builtin_has_jit() || !switches_jit() ||
	    setenv("PYTHON_JIT", "0", 1))
		return;
	fprintf(stderr, "kaa: the JIT stays off in process %d, because trampolines are active\n",
		(int)getpid());
}

static void start_subinterpreter(void)
{
	if (agent_backend_in_use())
		activate(agent_backend_in_use()->name);
}

static void start(void)
{
	void *interp = agent_capi_interpreter();

	if (is_marked(interp))
		return;
	mark(interp);
	agent_prepare();
	/* Only where it was started before the agent: agent_early() comes first. */
	if (agent_does_all() && !sys_api_installed())
		builtin_stop();
	if (agent_does_all() || builtin_support() == BUILTIN_MISSING)
		sys_api_install();
	if (is_main(interp))
		start_main();
	else
		start_subinterpreter();
	capi.PyErr_Clear();
}

void agent_python_started(void)
{
	const char *problem = agent_capi_find();
	const char *backend = switches_agent_backend();
	void *type, *value, *traceback;
	static bool complained;

	if (problem) {
		if (backend && *backend && !complained)
			complain(backend, problem);
		complained = true;
		return;
	}
	capi.PyErr_Fetch(&type, &value, &traceback);
	start();
	capi.PyErr_Restore(type, value, traceback);
}
