// SPDX-License-Identifier: GPL-2.0-only
#include "agent/sys_api.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/capi.h"

#define ACTIVATE "activate_stack_trampoline"

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

/* --- CPython's own --- */

static void *call_activate(const char *backend)
{
	void *function = capi.PySys_GetObject(ACTIVATE);
	void *argument = capi.PyUnicode_FromString(backend);
	void *result = NULL;

	if (function && argument)
		result = capi.PyObject_CallFunctionObjArgs(function, argument,
							   NULL);
	capi.Py_DecRef(argument);
	return result;
}

/* The text of the exception that is set, which is cleared; a new reference. */
static void *exception_text(void)
{
	void *type, *value, *traceback, *text;

	capi.PyErr_Fetch(&type, &value, &traceback);
	text = value ? capi.PyObject_Str(value) : NULL;
	capi.Py_DecRef(type);
	capi.Py_DecRef(value);
	capi.Py_DecRef(traceback);
	capi.PyErr_Clear();
	return text;
}

/* No backend is called so; the answer tells what there is. */
#define NO_BACKEND "no such backend"

static enum sys_api_builtin ask(void)
{
	enum sys_api_builtin answer = SYS_API_MISSING;
	void *text;

	if (!capi.PySys_GetObject(ACTIVATE))
		return SYS_API_MISSING;
	capi.Py_DecRef(call_activate(NO_BACKEND));
	text = exception_text();
	if (text && !capi.PyUnicode_CompareWithASCIIString(
			    text, "invalid backend: " NO_BACKEND))
		answer = SYS_API_PRESENT;
	else if (text && !capi.PyUnicode_CompareWithASCIIString(
				 text,
				 agent_status_text(AGENT_JIT_ACTIVE, "")))
		answer = SYS_API_JIT_ACTIVE;
	capi.Py_DecRef(text);
	return answer;
}

enum sys_api_builtin sys_api_builtin(void)
{
	static enum sys_api_builtin answer;
	static bool asked;
	void *type, *value, *traceback;

	if (asked || sys_api_installed())
		return answer;
	capi.PyErr_Fetch(&type, &value, &traceback);
	answer = ask();
	asked = true;
	capi.PyErr_Restore(type, value, traceback);
	return answer;
}

/* A function of sys._jit (3.14 on) that says yes or no. */
static bool ask_jit(const char *name)
{
	void *jit = capi.PySys_GetObject("_jit");
	void *function = jit ? capi.PyObject_GetAttrString(jit, name) : NULL;
	void *answer = function ? capi.PyObject_CallFunctionObjArgs(function,
								    NULL) :
				  NULL;
	bool yes = answer && capi.PyLong_AsLong(answer) == 1;

	capi.Py_DecRef(function);
	capi.Py_DecRef(answer);
	capi.PyErr_Clear();
	return yes;
}

bool sys_api_has_jit(void)
{
	return ask_jit("is_available");
}

/* A subinterpreter's sys._jit does not tell of the main interpreter's JIT. */
static bool main_has_jit(void)
{
	const char *value = getenv("PYTHON_JIT");

	return value && *value && *value != '0' && sys_api_has_jit() &&
	       capi.PyInterpreterState_Main() != agent_capi_interpreter();
}

bool sys_api_jit_active(void)
{
	return sys_api_builtin() == SYS_API_JIT_ACTIVE ||
	       ask_jit("is_enabled") || main_has_jit();
}

bool sys_api_builtin_has(const char *backend)
{
	if (sys_api_builtin() == SYS_API_MISSING)
		return false;
	return !strcmp(backend, "perf") ||
	       (!strcmp(backend, "perf_jit") && CAPI_MINOR >= 13);
}

bool sys_api_builtin_activate(const char *backend)
{
	void *result = call_activate(backend);

	capi.Py_DecRef(result);
	return result;
}

/* Calls a function of sys without arguments. Whether it returned True. */
static bool call_plain(const char *name)
{
	void *function = capi.PySys_GetObject(name);
	void *result = function ? capi.PyObject_CallFunctionObjArgs(function,
								    NULL) :
				  NULL;
	bool yes = result && result != capi._Py_NoneStruct &&
		   capi.PyLong_AsLong(result) == 1;

	capi.Py_DecRef(result);
	capi.PyErr_Clear();
	return yes;
}

void sys_api_builtin_stop(void)
{
	if (sys_api_builtin() == SYS_API_PRESENT && !sys_api_installed() &&
	    call_plain("is_stack_trampoline_active"))
		call_plain("deactivate_stack_trampoline");
}
