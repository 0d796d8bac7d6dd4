// SPDX-License-Identifier: GPL-2.0-only
#include "agent/fork.h"

#include <pthread.h>
#include <unistd.h>

#include "agent/capi.h"
#include "agent/lock.h"
#include "agent/lost.h"
#include "agent/slots.h"
#include "agent/stack.h"
#include "agent/state.h"
#include "agent/status.h"
#include "base/map.h"

static void after_fork_in_child(void)
{
	lock_after_fork_in_child();
	agent_state.forked = true;
	for (struct evaluator *each = &evaluator_first; each; each = each->next)
		codes_hide(&each->codes);
}

bool fork_happened(void)
{
	return agent_state.forked ||
	       (agent_state.pid && agent_state.pid != getpid());
}

/* --- what the child's stack shows --- */

struct scan {
	const struct agent_backend *backend;
	/* Slots that are on the stack. */
	struct map slots;
};

static void note_slot(uintptr_t word, void *arg)
{
	struct scan *scan = arg;
	const void *slot = scan->backend->slot_of((const void *)word);

	if (slot)
		map_insert(&scan->slots, (uint64_t)(uintptr_t)slot, 1, NULL);
}

static void announce_one(struct code_entry *entry, const struct map *on_stack)
{
	if (entry->backend != agent_state.backend_id)
		return;
	if (agent_state.persist)
		slots_announce(entry, agent_state.backend,
			       agent_state.backend_id);
	else if (map_find(on_stack, (uint64_t)(uintptr_t)entry->call))
		slots_announce_forked(entry, agent_state.backend,
				      agent_state.backend_id);
}

static void announce_inherited(struct codes *codes)
{
	struct scan scan = { .backend = agent_state.backend };

	if (!agent_state.persist)
		agent_stack_words(note_slot, &scan);
	for (struct code_entry *entry = codes_next(codes, NULL);
	     entry && (agent_state.persist || scan.slots.count);
	     entry = codes_next(codes, entry))
		announce_one(entry, &scan.slots);
	map_deinit(&scan.slots);
}

static void forget_files(void)
{
	for (size_t i = 0; agent_backends[i]; i++)
		agent_backends[i]->forked();
}

void fork_child(struct evaluator *evaluator)
{
	bool was_open = agent_state.open;

	lost_forked();
	agent_state.forked = false;
	agent_state.pid = getpid();
	agent_state.generation++;
	agent_state.open = false;
	agent_lock();
	forget_files();
	if (was_open)
		agent_state.error = agent_state.backend->open();
	agent_state.open = was_open && !agent_state.error;
	agent_unlock();
	if (was_open && !agent_state.open)
		lost_all(agent_status_text(AGENT_OS_ERROR, ""));
	evaluator_catch_up(evaluator);
	if (agent_state.open)
		announce_inherited(&evaluator->codes);
}

/* --- os.register_at_fork() --- */

static void *python_forked(void *self, void *arg)
{
	struct evaluator *evaluator =
		evaluator_of(agent_capi_interpreter(), false);

	(void)self;
	(void)arg;
	if (evaluator && fork_happened())
		fork_child(evaluator);
	capi.Py_IncRef(capi._Py_NoneStruct);
	return capi._Py_NoneStruct;
}

static struct capi_method python_forked_method = {
	"kaa_after_fork_in_child", python_forked, CAPI_METH_NOARGS, NULL
};

/* posix.register_at_fork(after_in_child=...), 3.7 on. False: not yet. */
static bool register_at_fork(void)
{
	void *modules = capi.PySys_GetObject("modules");
	void *posix = modules ? capi.PyDict_GetItemString(modules, "posix") :
				NULL;
	void *function, *callback, *none, *arguments, *result = NULL;

	if (!posix)
		return false;
	function = capi.PyObject_GetAttrString(posix, "register_at_fork");
	callback = capi.PyCFunction_NewEx(&python_forked_method, NULL, NULL);
	none = capi.PyTuple_New(0);
	arguments = capi.PyDict_New();
	if (function && callback && none && arguments &&
	    !capi.PyDict_SetItemString(arguments, "after_in_child", callback))
		result = capi.PyObject_Call(function, none, arguments);
	capi.PyErr_Clear();
	capi.Py_DecRef(function);
	capi.Py_DecRef(callback);
	capi.Py_DecRef(none);
	capi.Py_DecRef(arguments);
	capi.Py_DecRef(result);
	return true;
}

void fork_watch(void *interp)
{
	static bool watched;
	struct evaluator *evaluator = evaluator_of(interp, false);

	if (!watched)
		watched = !pthread_atfork(lock_before_fork,
					  lock_after_fork_in_parent,
					  after_fork_in_child);
	if (evaluator && CAPI_MINOR >= 7 && !evaluator->fork_registered)
		evaluator->fork_registered = register_at_fork();
}
