// SPDX-License-Identifier: GPL-2.0-only
#include "agent/agent.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/builtin.h"
#include "agent/capi.h"
#include "agent/evaluator.h"
#include "agent/fork.h"
#include "agent/lock.h"
#include "agent/lookup.h"
#include "agent/lost.h"
#include "agent/qualname.h"
#include "agent/slots.h"
#include "agent/state.h"
#include "agent/trampoline.h"

/* A backend's number, 0 for none. */
static uint8_t find_backend(const char *name)
{
	for (uint8_t i = 0; agent_backends[i]; i++)
		if (!strcmp(agent_backends[i]->name, name))
			return (uint8_t)(i + 1);
	return 0;
}

/* --- taking the hook out --- */

/* Under the lock. */
static void remove_user(struct evaluator *evaluator)
{
	if (evaluator->users)
		evaluator->users--;
	if (agent_state.active)
		agent_state.active--;
	if (!agent_state.active && agent_state.open) {
		agent_state.backend->close();
		agent_state.open = false;
	}
}

/* Ours may be behind somebody else's hook: then it stays, and calls plainly. */
static void leave(struct evaluator *evaluator, void *interp)
{
	if (evaluator_state(interp) == EVALUATOR_OURS)
		evaluator_unset(evaluator, interp);
	agent_lock();
	remove_user(evaluator);
	agent_unlock();
	evaluator_catch_up(evaluator);
}

/* --- the hook's question --- */

/*
 * A JIT that is switched on at the end of the interpreter's start finds the agent
 * active; looked for while the first functions are called.
 */
static bool jit_came_on(struct evaluator *evaluator)
{
	agent_state.jit_checks--;
	if (!builtin_jit_active())
		return false;
	agent_state.jit_checks = 0;
	leave(evaluator, agent_capi_interpreter());
	lost_all(agent_status_text(AGENT_JIT_ACTIVE, ""));
	return true;
}

static trampoline_function *resolve(struct evaluator *evaluator, void *code)
{
	const struct code_entry *entry;

	/* Somebody else's hook may still call ours. */
	if (!evaluator->users)
		return agent_call_plainly;
	if (fork_happened())
		fork_child(evaluator);
	if (evaluator->generation != agent_state.generation)
		evaluator_catch_up(evaluator);
	if (!agent_state.open) {
		/* A child that cannot make its file runs on without. */
		leave(evaluator, agent_capi_interpreter());
		return agent_call_plainly;
	}
	if (*(void **)((char *)code + capi.layout.object_type) != capi.PyCode_Type)
		return agent_call_plainly;
	if (agent_state.jit_checks && jit_came_on(evaluator))
		return agent_call_plainly;
	if (!evaluator->fork_registered)
		fork_watch(agent_capi_interpreter());
	entry = slots_entry(&evaluator->codes, code, agent_state.backend,
			    agent_state.backend_id);
	return entry ? (trampoline_function *)entry->call : agent_call_plainly;
}

/* What the hook asks: leaves exception and errno as they are. */
static trampoline_function *resolve_for_hook(struct evaluator *evaluator, void *code)
{
	void *type, *value, *traceback;
	trampoline_function *call;
	int saved = errno;

	capi.PyErr_Fetch(&type, &value, &traceback);
	call = resolve(evaluator, code);
	capi.PyErr_Restore(type, value, traceback);
	errno = saved;
	return call;
}

/* --- interpreters that end --- */

void agent_interpreter_ends(void *interp)
{
	struct evaluator *evaluator = evaluator_of(interp, false);

	if (!evaluator)
		return;
	if (evaluator_state(interp) == EVALUATOR_OURS)
		leave(evaluator, interp);
	evaluator->fork_registered = false;
	/* Up to 3.11 the table is that of all interpreters, and so is memory. */
	if (CAPI_MINOR < 12)
		return;
	slots_drop_references(&evaluator->codes);
	evaluator_release(evaluator);
}

/* --- on and off --- */

static const char *why_unavailable(void)
{
	const char *reason;

	if (!agent_trampoline())
		return "trampolines exist only for x86-64 and aarch64";
	reason = agent_capi_find();
	if (reason)
		return reason;
	reason = agent_capi_check();
	if (reason)
		return reason;
	if (!evaluator_init(resolve_for_hook))
		return "this build of CPython has an unknown layout of code objects";
	if (CAPI_MINOR < 11 && !agent_qualname_init(agent_lookup))
		return "this CPython does not export the functions that the agent needs";
	return NULL;
}

const char *agent_prepare(void)
{
	static bool prepared;

	if (!prepared)
		agent_state.unavailable = why_unavailable();
	prepared = true;
	return agent_state.unavailable;
}

/* Opens the files of a backend, closes those of the one before. */
static int use_backend(uint8_t id)
{
	const struct agent_backend *old = agent_state.backend;
	const struct agent_backend *backend = agent_backends[id - 1];
	bool was_open = agent_state.open;
	int error = backend->open();

	if (error)
		return error;
	if (was_open && old != backend)
		old->close();
	if (old != backend)
		agent_state.generation++;
	agent_state.backend = backend;
	agent_state.backend_id = id;
	agent_state.open = true;
	agent_state.pid = getpid();
	return 0;
}

static enum agent_status open_backend(uint8_t id)
{
	agent_lock();
	agent_state.error = use_backend(id);
	agent_unlock();
	return agent_state.error ? AGENT_OS_ERROR : AGENT_OK;
}

/* What CPython would refuse, too. */
static enum agent_status check_hook(void *interp)
{
	const struct evaluator *evaluator;

	if (builtin_jit_active())
		return AGENT_JIT_ACTIVE;
	if (evaluator_state(interp) != EVALUATOR_FOREIGN)
		return AGENT_OK;
	/* A hook that was set over ours may call ours: no ring. */
	evaluator = evaluator_of(interp, false);
	return CAPI_MINOR < 15 || (evaluator && evaluator->covered) ?
		       AGENT_FOREIGN_HOOK :
		       AGENT_OK;
}

/* From 3.12 on it is one, though somebody else may have taken our hook out. */
static void add_user(struct evaluator *evaluator)
{
	agent_lock();
	if (CAPI_MINOR < 12 || !evaluator->users) {
		evaluator->users++;
		agent_state.active++;
	}
	agent_unlock();
}

/* The hook goes in; nothing can fail any more. */
static void hook_in(struct evaluator *evaluator, void *interp)
{
	if (evaluator_state(interp) != EVALUATOR_OURS) {
		evaluator_set(evaluator, interp);
		add_user(evaluator);
		agent_qualname_missed_some();
	}
	fork_watch(interp);
	evaluator_catch_up(evaluator);
}

static enum agent_status activate(uint8_t id)
{
	void *interp = agent_capi_interpreter();
	struct evaluator *evaluator;
	enum agent_status status = check_hook(interp);

	if (status)
		return status;
	agent_lock();
	evaluator = evaluator_of(interp, true);
	agent_unlock();
	if (!evaluator)
		return AGENT_NO_MEMORY;
	if (fork_happened())
		fork_child(evaluator);
	status = open_backend(id);
	if (status)
		return status;
	hook_in(evaluator, interp);
	return AGENT_OK;
}

enum agent_status agent_activate(const char *backend)
{
	uint8_t id = find_backend(backend);
	void *type, *value, *traceback;
	enum agent_status status;

	if (agent_prepare())
		return AGENT_UNAVAILABLE;
	if (!id)
		return AGENT_INVALID_BACKEND;
	capi.PyErr_Fetch(&type, &value, &traceback);
	status = activate(id);
	capi.PyErr_Restore(type, value, traceback);
	return status;
}

enum agent_status agent_deactivate(void)
{
	void *interp = agent_capi_interpreter();
	struct evaluator *evaluator = evaluator_of(interp, false);

	switch (evaluator_state(interp)) {
	case EVALUATOR_OURS:
		if (fork_happened())
			fork_child(evaluator);
		leave(evaluator, interp);
		return AGENT_OK;
	case EVALUATOR_FOREIGN:
		if (CAPI_MINOR < 15)
			return AGENT_FOREIGN_HOOK;
		if (evaluator && evaluator->users)
			leave(evaluator, interp);
		return AGENT_OK;
	default:
		return AGENT_OK;
	}
}

bool agent_is_active(void)
{
	return !agent_prepare() &&
	       evaluator_state(agent_capi_interpreter()) == EVALUATOR_OURS;
}

const struct agent_backend *agent_backend_in_use(void)
{
	return agent_state.open ? agent_state.backend : NULL;
}

/* --- for embedders --- */

enum agent_status agent_compile_code(void *code)
{
	struct evaluator *evaluator;

	if (!agent_is_active())
		return AGENT_UNAVAILABLE;
	evaluator = evaluator_of(agent_capi_interpreter(), false);
	if (resolve_for_hook(evaluator, code) == agent_call_plainly)
		return AGENT_NO_MEMORY;
	return AGENT_OK;
}

void agent_set_persist_after_fork(bool enable)
{
	agent_state.persist = enable;
}
