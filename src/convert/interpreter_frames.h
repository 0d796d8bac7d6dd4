/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which functions of CPython only carry a call from one Python function to
 * the next: the evaluation function and call glue. Reports fold their frames.
 * Functions that do work of their own (list_sort, sre_*, PyDict_*, ...) are not
 * among them.
 *
 * Names were taken from the sources of CPython 2.7 and 3.6 to 3.15: Python/ceval.c,
 * pythonrun.c, bltinmodule.c; Objects/call.c,
 * classobject.c, descrobject.c, genobject.c, methodobject.c, typeobject.c,
 * funcobject.c; Modules/main.c, _threadmodule.c.
 */
#ifndef KAA_CONVERT_INTERPRETER_FRAMES_H
#define KAA_CONVERT_INTERPRETER_FRAMES_H

#include <stdbool.h>

#define INTERPRETER_EVAL_NAME "_PyEval_EvalFrameDefault"

/*
 * True for the evaluation function and for call glue. What a compiler appends
 * to a name (".cold", ".constprop.0") does not matter.
 */
bool interpreter_frame_is_glue(const char *name);

/*
 * True if a file of that path looks like one that holds an interpreter:
 * "python3.11", "libpython3.12.so.1.0". For recordings that do not say.
 */
bool interpreter_path(const char *path);

/*
 * True for what stands in front of a program's first Python function, and of a
 * thread's: "_start", "main" of the interpreter, "start_thread". name is NULL
 * for a function without a name; in libc's file and in the interpreter's those
 * are such, where nothing else is in front of them. path: of the file.
 */
bool interpreter_frame_starts(const char *name, const char *path,
			      bool in_interpreter);

/* Prefix of the symbols of CPython's perf trampolines. */
bool interpreter_frame_is_trampoline(const char *name);

/*
 * Code that CPython's JIT has made in place of the evaluation function's, of no
 * file. 3.15 names it so (collect/made_object.h).
 */
bool interpreter_frame_is_jit(const char *name);

#endif
