/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CPython 2.7 and 3.6 have in place of _PyRuntime: variables of their own, in
 * an order that the linker chose. The lowest of them is taken for _PyRuntime; the
 * layout has where the others are from there, in this file.
 *
 * Some of them have no symbol in a stripped file. Exported functions that do
 * nothing but read them tell: PyInterpreterState_Head(), PyEval_ReleaseLock().
 */
#ifndef KAA_PYTHON_OLD_RUNTIME_H
#define KAA_PYTHON_OLD_RUNTIME_H

#include <stdbool.h>

#include "base/error.h"
#include "obj/elf_file.h"
#include "python/detect.h"

/* True if the file has the interface of a CPython, and is not PyPy. */
bool py_old_runtime_maybe(struct elf_file *file);

/*
 * Fills in runtime and the layout's runtime_*; the layout is that of the version.
 * ERROR_UNSUPPORTED: the file does not tell.
 */
struct error *py_old_runtime_find(struct elf_file *file,
				  struct py_binary *binary);

#endif
