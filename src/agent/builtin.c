// SPDX-License-Identifier: GPL-2.0-only
#include "agent/builtin.h"

#include <stdlib.h>
#include <string.h>

#include "agent/capi.h"
#include "agent/status.h"

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

static enum builtin_support ask(void)
{
	enum builtin_support answer = BUILTIN_MISSING;
	void *text;

	if (!capi.PySys_GetObject(ACTIVATE))
		return BUILTIN_MISSING;
	capi.Py_DecRef(call_activate(NO_BACKEND));
	text = exception_text();
	if (text && !capi.PyUnicode_CompareWithASCIIString(
			    text, "invalid backend: " NO_BACKEND))
		answer = BUILTIN_PRESENT;
	else if (text && !capi.PyUnicode_CompareWithASCIIString(
				 text,
				 agent_status_text(AGENT_JIT_ACTIVE, "")))
		answer = BUILTIN_JIT_ACTIVE;
	capi.Py_DecRef(text);
	return answer;
}

enum builtin_support builtin_support(void)
{
	static enum builtin_support answer;
	static bool asked;
	void *type, *value, *traceback;

	if (asked)
		return answer;
	capi.PyErr_Fetch(&type, &value, &traceback);
	answer = ask();
	asked = true;
	capi.PyErr_Restore(type, value, traceback);
	return answer;
}

/* Calls a function, or NULL, without arguments. Whether it returned True. */
static bool says_yes(void *function)
{
	void *answer = function ? capi.PyObject_CallFunctionObjArgs(function,
								    NULL) :
				  NULL;
	bool yes = answer && answer != capi._Py_NoneStruct &&
		   capi.PyLong_AsLong(answer) == 1;

	capi.Py_DecRef(answer);
	capi.PyErr_Clear();
	return yes;
}

/* A function of sys._jit (3.14 on). */
static bool ask_jit(const char *name)
{
	void *jit = capi.PySys_GetObject("_jit");
	void *function = jit ? capi.PyObject_GetAttrString(jit, name) : NULL;
	bool yes = says_yes(function);

	capi.Py_DecRef(function);
	return yes;
}

bool builtin_has_jit(void)
{
	return ask_jit("is_available");
}

/* A subinterpreter's sys._jit does not tell of the main interpreter's JIT. */
static bool main_has_jit(void)
{
	const char *value = getenv("PYTHON_JIT");

	return value && *value && *value != '0' && builtin_has_jit() &&
	       capi.PyInterpreterState_Main() != agent_capi_interpreter();
}

bool builtin_jit_active(void)
{
	return builtin_support() == BUILTIN_JIT_ACTIVE ||
	       ask_jit("is_enabled") || main_has_jit();
}

bool builtin_has(const char *backend)
{
	if (builtin_support() == BUILTIN_MISSING)
		return false;
	return !strcmp(backend, "perf") ||
	       (!strcmp(backend, "perf_jit") && CAPI_MINOR >= 13);
}

bool builtin_activate(const char *backend)
{
	void *result = call_activate(backend);

	capi.Py_DecRef(result);
	return result;
}

void builtin_stop(void)
{
	if (builtin_support() == BUILTIN_PRESENT &&
	    says_yes(capi.PySys_GetObject("is_stack_trampoline_active")))
		says_yes(capi.PySys_GetObject("deactivate_stack_trampoline"));
}
