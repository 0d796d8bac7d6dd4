/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names and lines of code objects that no walk has told of: those of coroutines that
 * wait. What is read while a thread holds still counts once that is proven
 * (code_names_keep()); else it is forgotten (code_names_forget()).
 */
#ifndef KAA_PYTHON_CODE_NAMES_H
#define KAA_PYTHON_CODE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "python/linetable.h"
#include "python/object.h"

enum {
	/* How many are kept, and what they take. */
	CODE_NAMES_MAX = 1 << 16,
	CODE_NAMES_BYTES_MAX = 64 << 20,
};

struct code_name {
	uint64_t code;
	/* What tells it from another one that has its place. */
	uint64_t filename;
	uint64_t name;
	uint64_t table;
	uint32_t first_line;
	/* UTF-8 without control characters; owned. */
	char *file;
	char *function;
	struct py_lines lines;
};

struct code_names {
	/* Address to index in list. */
	struct map by_address;
	VEC(struct code_name) list;
	/* So many of them are proven. */
	size_t kept;
	/* Of names and lines. */
	size_t bytes;
	/* There was one more than may be kept. */
	bool is_full;
};

/* NULL: it cannot be read, or there is no room. Valid until the next call. */
const struct code_name *code_names_find(struct code_names *names,
					struct py_objects_reader *r,
					uint64_t code);
/* 0: none. offset: of the instruction, -1: the frame has not begun. */
uint32_t code_name_line(const struct code_name *name, int64_t offset);
void code_names_keep(struct code_names *names);
void code_names_forget(struct code_names *names);
/* As after code_names_deinit(), so that there is room again. */
void code_names_clear(struct code_names *names);
void code_names_deinit(struct code_names *names);

#endif
