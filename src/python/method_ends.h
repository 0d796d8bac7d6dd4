/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of a stripped file that do the work of a method: the last that str.replace()
 * does is to jump to replace(), of which no table tells. In a stack only replace() is
 * left then, and so it has the method's name. That holds only if nobody else gets there:
 * all who call it are known, and none of the file's code or data has its address.
 */
#ifndef KAA_PYTHON_METHOD_ENDS_H
#define KAA_PYTHON_METHOD_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "obj/elf_file.h"
#include "python/call_graph.h"
#include "python/data_image.h"
#include "python/detect.h"

/* What has a name, by the start of a function, a vaddr. */
struct py_named {
	/* What Python calls it ("str.replace"), and what the file exports it as; or NULL. */
	const char *(*method)(const void *arg, uint64_t start);
	const char *(*export)(const void *arg, uint64_t start);
	/* Here is one more; method() knows it from then on. False: no memory. */
	bool (*add)(void *arg, uint64_t start, const char *name);
	void *arg;
};

/*
 * Names such functions. One that is the end of two methods of one owner, or of one
 * name, has both names: "_heapq.heappop/_heappop_max". Exported functions may call it,
 * too, if their names have the method's in them: PyUnicode_Replace(). Files with more
 * than 8 MiB of code are left as they are; of others graph, which is the caller's, is
 * loaded. Fails for want of memory, and for files that
 * cannot be read or have too many calls or constants.
 */
struct error *py_method_ends_name(struct elf_file *file,
				  const struct py_code_pieces *pieces,
				  const struct py_data_image *data,
				  const struct py_named *named,
				  struct py_call_graph *graph);

#endif
