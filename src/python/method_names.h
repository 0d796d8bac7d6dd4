/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What Python calls the C functions of a stripped interpreter, or of an extension
 * module: "list.sort", "zlib.compress", "dict.__contains__". No symbol names these
 * functions, but tables in the file's data do, for Python itself finds them there:
 * static types with their slots, methods and attributes (PyTypeObject, PyMethodDef,
 * PyGetSetDef), what types are made from (PyType_Spec), and modules (PyModuleDef).
 *
 * Nothing tells where these tables are. They are taken for what they are only if each
 * word fits: text, sizes, flags, and pointers to where functions begin. A function that
 * stands in tables by names that differ in their last part has none.
 *
 * Where an exported function only jumps to another one, its name is that one's, too.
 */
#ifndef KAA_PYTHON_METHOD_NAMES_H
#define KAA_PYTHON_METHOD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "obj/elf_file.h"
#include "python/call_graph.h"
#include "python/detect.h"

/* Of all parts of the collector (python/collector.h), whose C names begin so. */
#define PY_COLLECTOR_NAME "gc_collect*"

/* Zero-initialise. */
struct py_method_names {
	/* Start of a function, a vaddr, to its name; "": none is right. */
	struct map names;
	/* Private. */
	struct arena memory;
};

/*
 * The file is CPython 3 or an extension module for it, and for this machine: what it
 * exports says so. Files that cannot be read are not, nor are those that have more
 * segments than a linker makes.
 */
bool py_method_names_maybe(struct elf_file *file);

/*
 * Fills *ret; nothing unless py_method_names_maybe(). pieces tell where functions
 * begin. graph is the caller's, and may be loaded. Fails for want of memory, and for
 * files that cannot be read.
 */
struct error *py_method_names_find(struct elf_file *file,
				   const struct py_code_pieces *pieces,
				   struct py_call_graph *graph,
				   struct py_method_names *ret);
void py_method_names_deinit(struct py_method_names *names);

/* Of the function that begins there, or NULL. Valid as long as names. */
const char *py_method_name(const struct py_method_names *names, uint64_t start);

#endif
