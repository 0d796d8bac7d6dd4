/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The garbage collector of a stripped CPython: those of its functions that call what is
 * in tp_traverse. The collector is one static function or a few, as the compiler likes.
 * PyGC_Collect(), which is exported, calls it, directly or by way of other functions
 * that have no name; beside it only functions in the tables of types do what it does.
 * Those between PyGC_Collect() and them, by the shortest way, are the collector's, too:
 * gc_collect_main() has the rest of it, inlined.
 * Builds without the GIL have another collector, which is not found.
 *
 * Source: Modules/gcmodule.c (Python/gc.c since 3.13): subtract_refs(),
 * move_unreachable(); tp_traverse is 184 bytes into a PyTypeObject since 2.5.
 */
#ifndef KAA_PYTHON_COLLECTOR_H
#define KAA_PYTHON_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "obj/elf_file.h"
#include "python/detect.h"

/* The functions of the collector are no more than these. */
#define PY_COLLECTOR_MAX 32

/*
 * Starts of functions, vaddrs, to ret; *count of them. has_name says which functions
 * have one, and so are none of the collector's. Fails for want of memory, and for files
 * that cannot be read.
 */
struct error *py_collector_find(struct elf_file *file,
				const struct py_code_pieces *pieces,
				bool (*has_name)(const void *arg, uint64_t start),
				const void *arg,
				uint64_t ret[static PY_COLLECTOR_MAX],
				size_t *count);

#endif
