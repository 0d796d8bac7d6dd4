/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A Python object in words, from memory alone: what repr() would say of numbers,
 * texts, bytes, containers and objects of the standard library, cut where it is long. Of
 * other objects it says their type, address and attributes. No code of the program runs.
 *
 * Nothing is trusted that is read: depth, items, bytes and reads are bounded, and
 * what cannot be read is "<unreadable>". The result is one line without control
 * characters. Sources: the headers of each version (python/releases.h).
 */
#ifndef KAA_PYTHON_OBJECT_TEXT_H
#define KAA_PYTHON_OBJECT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "obj/elf_file.h"
#include "python/object.h"

/* Bytes of a value in words, about. */
#define PY_VALUE_MAX 240

/* Addresses of the interpreter's own objects; 0: not known. */
struct py_builtins {
	uint64_t none;
	uint64_t yes;
	uint64_t no;
	uint64_t ellipsis;
	uint64_t float_type;
	uint64_t set_type;
	uint64_t frozenset_type;
	uint64_t cell_type;
};

/* From the symbols that an interpreter exports. */
void py_builtins_find(struct elf_file *file, uint64_t bias,
		      struct py_builtins *ret);

struct py_value_reader {
	struct py_objects_reader *objects;
	const struct py_values *at;
	const struct py_builtins *builtins;
};

void py_value_put(struct py_value_reader *v, uint64_t object,
		  struct strbuf *out);

#endif
