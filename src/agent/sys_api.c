// SPDX-License-Identifier: GPL-2.0-only
#include "agent/sys_api.h"

#include <string.h>

#include "agent/agent.h"
#include "agent/builtin.h"
#include "agent/capi.h"

static void *new_none(void)
{
	capi.Py_IncRef(capi._Py_NoneStruct);
	return capi._Py_NoneStruct;
}

/* --- the functions --- */

static const char *type_name(void *object)
{
	const char *type = *(const char **)((char *)object + 8);

	if (object == capi._Py_NoneStruct)
		return "None";
	return *(const char *const *)(type + 24);
}

/* The argument as C text, or NULL with the exception that CPython would raise. */
static const char *text_argument(void *arg)
{
	ssize_t size;
	const char *text;

	if (!capi.PyType_IsSubtype(*(void **)((char *)arg + 8),
				   capi.PyUnicode_Type)) {
		capi.PyErr_Format(*(void **)capi.PyExc_TypeError,
				  ACTIVATE "() argument must be str, not %.50s",
				  type_name(arg));
		return NULL;
	}
	text = capi.PyUnicode_AsUTF8AndSize(arg, &size);
	if (!text || strlen(text) == (size_t)size)
		return text;
	capi.PyErr_SetString(*(void **)capi.PyExc_ValueError,
			     "embedded null character");
	return NULL;
}

static void *activate(void *self, void *arg)
{
	const char *backend = text_argument(arg);
	enum agent_status status;

	(void)self;
	if (!backend)
		return NULL;
	status = agent_activate(backend);
	return status ? agent_raise(status, backend) : new_none();
}

static void *deactivate(void *self, void *arg)
{
	enum agent_status status = agent_deactivate();

	(void)self;
	(void)arg;
	return status ? agent_raise(status, "") : new_none();
}

static void *is_active(void *self, void *arg)
{
	(void)self;
	(void)arg;
	return capi.PyBool_FromLong(agent_is_active());
}

struct capi_method sys_api_methods[] = {
	{ ACTIVATE, activate, CAPI_METH_O,
	  ACTIVATE "($module, backend, /)\n--\n\n"
		   "Activate the trampoline profiler backend \"perf\", \"perf_jit\" or \"perf_elf\"." },
	{ "deactivate_stack_trampoline", deactivate, CAPI_METH_NOARGS,
	  "deactivate_stack_trampoline($module, /)\n--\n\n"
	  "Deactivate the trampoline profiler backend." },
	{ "is_stack_trampoline_active", is_active, CAPI_METH_NOARGS,
	  "is_stack_trampoline_active($module, /)\n--\n\n"
	  "Return True if a trampoline profiler backend is active." },
	{},
};

/* --- in sys --- */

static bool add(struct capi_method *method, void *sys, void *name)
{
	void *function = capi.PyCFunction_NewEx(method, sys, name);
	bool done = function && !capi.PySys_SetObject(method->name, function);

	capi.Py_DecRef(function);
	return done;
}

bool sys_api_install(void)
{
	void *modules = capi.PySys_GetObject("modules");
	void *sys = modules ? capi.PyDict_GetItemString(modules, "sys") : NULL;
	void *name = capi.PyUnicode_FromString("sys");
	bool done = name;

	for (struct capi_method *method = sys_api_methods; method->name; method++)
		done = done && add(method, sys, name);
	capi.Py_DecRef(name);
	capi.PyErr_Clear();
	return done;
}

bool sys_api_installed(void)
{
	void *function = capi.PySys_GetObject(ACTIVATE);

	return function &&
	       *(void **)((char *)function + 8) == capi.PyCFunction_Type &&
	       capi.PyCFunction_GetFunction(function) == (void *)activate;
}
