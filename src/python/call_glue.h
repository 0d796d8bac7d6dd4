/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call glue of a stripped interpreter: functions that only carry a call
 * from one Python function to the next, and that no symbol names. The file
 * itself tells of them:
 *
 * - Tables. The slots and methods of types that it exports; the table of the
 *   functions behind special methods (slotdefs, Objects/typeobject.c); what
 *   PyCMethod_New(), PyDescr_NewMethod(), PyMethod_New() and
 *   PyFunction_NewWithQualName() store as vectorcall.
 * - Calls. A function that Python code can call stands in a table; a part of
 *   the call glue does not. What stands in none is glue if it calls the
 *   evaluation function and is called by glue; if functions of glue share it and
 *   it uses tp_call; if only glue calls it; or if it lies on the shortest way
 *   from PyRun_*() or Py_RunMain() to PyEval_EvalCode().
 *
 * So sort(), map() and the like are never taken for glue. What is not found is
 * a function like any other.
 */
#ifndef KAA_PYTHON_CALL_GLUE_H
#define KAA_PYTHON_CALL_GLUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "obj/elf_file.h"
#include "python/call_graph.h"
#include "python/detect.h"

/* Zero-initialise. */
struct py_call_glue {
	/* Starts of functions, vaddrs. */
	struct map starts;
};

/*
 * Fills *ret. pieces must tell the file's functions; is_glue says which
 * exported names are of call glue. graph is the caller's, and loaded. Fails for
 * want of memory, and for files that cannot be read.
 */
struct error *py_call_glue_find(struct elf_file *file,
				const struct py_code_pieces *pieces,
				const struct py_binary *binary,
				bool (*is_glue)(const char *name),
				struct py_call_graph *graph,
				struct py_call_glue *ret);
void py_call_glue_deinit(struct py_call_glue *glue);

/* True if the function that begins there is call glue. */
static inline bool py_call_glue_has(const struct py_call_glue *glue,
				    uint64_t start)
{
	return map_find(&glue->starts, start) != NULL;
}

#endif
