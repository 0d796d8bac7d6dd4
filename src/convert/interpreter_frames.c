// SPDX-License-Identifier: GPL-2.0-only
#include "convert/interpreter_frames.h"

#include <stddef.h>
#include <string.h>

#include "base/name_match.h"
#include "base/path_name.h"

/* A name ending in '*' stands for all that begin so. */
static const char *const glue[] = {
	"PyCFunction_Call",
	"PyEval_CallFunction",
	"PyEval_CallMethod",
	"PyEval_CallObjectWithKeywords",
	"PyEval_EvalCode",
	"PyEval_EvalCodeEx",
	"PyEval_EvalFrame",
	"PyEval_EvalFrameEx",
	"PyGen_am_send",
	"PyImport_ExecCodeModule*",
	"PyObject_Call",
	"PyObject_CallFunction",
	"PyObject_CallFunctionObjArgs",
	"PyObject_CallMethod",
	"PyObject_CallMethodObjArgs",
	"PyObject_CallNoArgs",
	"PyObject_CallObject",
	"PyObject_CallOneArg",
	"PyObject_Vectorcall",
	"PyObject_VectorcallDict",
	"PyObject_VectorcallMethod",
	"PyRun_*",
	"PyVectorcall_Call",
	"PyVectorcall_Function",
	"Py_BytesMain",
	"Py_Main",
	"Py_RunMain",
	"_PyCFunction_FastCallDict",
	"_PyCFunction_FastCallKeywords",
	"_PyEval_EvalCode",
	"_PyEval_EvalCodeWithName",
	"_PyEval_EvalFrame",
	"_PyEval_EvalFrameDefault",
	"_PyEval_Vector",
	"_PyFunction_FastCall",
	"_PyFunction_FastCallDict",
	"_PyFunction_FastCallKeywords",
	"_PyFunction_Vectorcall",
	"_PyMethodDef_RawFastCallDict",
	"_PyMethodDef_RawFastCallKeywords",
	"_PyMethodDescr_FastCallKeywords",
	"_PyObject_Call",
	"_PyObject_CallFunction*",
	"_PyObject_CallMethod*",
	"_PyObject_CallNoArg",
	"_PyObject_CallNoArgs",
	"_PyObject_CallNoArgsTstate",
	"_PyObject_CallOneArg",
	"_PyObject_Call_Prepend",
	"_PyObject_FastCall",
	"_PyObject_FastCallDict",
	"_PyObject_FastCallKeywords",
	"_PyObject_FastCallDictTstate",
	"_PyObject_FastCallTstate",
	"_PyObject_MakeTpCall",
	"_PyObject_Vectorcall",
	"_PyObject_VectorcallDictTstate",
	"_PyObject_VectorcallPrepend",
	"_PyObject_VectorcallTstate",
	"_PyPerfTrampoline*",
	"_PyRun_*",
	"_PyVectorcall_Call",
	"_TAIL_CALL_*",
	"_Py_Instrumented*",
	"_Py_UnixMain",
	"_Py_VectorCall*",
	"_Py_call_instrumentation*",
	"_Py_slot_*",
	"_Py_trampoline_func_start",
	"_gen_throw",
	"bound_method_vectorcall",
	"builtin_eval",
	"builtin_exec",
	"call_attribute",
	"call_function",
	"call_function_tail",
	"call_maybe",
	"call_method",
	"call_unbound",
	"call_unbound_noarg",
	"cfunction_call",
	"cfunction_call_varargs",
	"cfunction_vectorcall_*",
	"classmethoddescr_call",
	"do_call",
	"do_call_core",
	"ext_do_call",
	"fast_function",
	"function_call",
	"function_code_fastcall",
	"gen_close",
	"gen_iternext",
	"gen_send",
	"gen_send_ex",
	"gen_send_ex2",
	"gen_throw",
	"instance_call",
	"instancemethod_call",
	"lookup_maybe_method",
	"method_call",
	"method_vectorcall",
	"method_vectorcall_*",
	"methoddescr_call",
	"object_vacall",
	"partial_call",
	"partial_vectorcall",
	"property_descr_get",
	"py_trampoline_evaluator",
	"pymain_*",
	"pyrun_*",
	"run_eval_code_obj",
	"run_mod",
	"slot_*",
	"thread_run",
	"thread_pthread_*",
	"trampoline_call",
	"vectorcall_maybe",
	"vectorcall_method",
	"vectorcall_unbound",
	"wrap_call",
	"wrapper_call",
};

/* Of libc, and of CPython's threads; glibc's assembly has more than one name. */
static const char *const starters[] = {
	"__GI___clone",
	"__GI___clone3",
	"__clone",
	"__clone3",
	"__libc_start_call_main",
	"__libc_start_main*",
	"_start",
	"clone",
	"clone3",
	"generic_start_main*",
	"pythread_wrapper",
	"start_thread",
	"t_bootstrap",
	"thread_start",
};

static bool is_one_of(const char *const *names, size_t count, const char *name)
{
	size_t n = strcspn(name, ".");

	for (size_t i = 0; i < count; i++)
		if (name_pattern_fits(names[i], name, n))
			return true;
	return false;
}

bool interpreter_frame_is_glue(const char *name)
{
	return is_one_of(glue, sizeof(glue) / sizeof(*glue), name);
}

bool interpreter_path(const char *path)
{
	const char *base = path_name(path);

	return !strncmp(base, "python", 6) || !strncmp(base, "libpython", 9);
}

bool interpreter_frame_starts(const char *name, const char *path,
			      bool in_interpreter)
{
	if (!name)
		return in_interpreter || path_is_libc(path);
	return (in_interpreter && !strcmp(name, "main")) ||
	       is_one_of(starters, sizeof(starters) / sizeof(*starters), name);
}

bool interpreter_frame_is_trampoline(const char *name)
{
	return !strncmp(name, "py::", 4);
}

bool interpreter_frame_is_jit(const char *name)
{
	return !strcmp(name, "jit:executor") || !strcmp(name, "jit:shim");
}
