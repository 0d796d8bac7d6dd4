/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which functions of a file call, or jump to, which others directly (x86-64:
 * E8, E9 and 0F 8x with 32 bits, EB and 7x with 8). Bytes that only look like a call
 * count if they lead to the very start of a function, which next to none do.
 */
#ifndef KAA_PYTHON_CALL_GRAPH_H
#define KAA_PYTHON_CALL_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "obj/elf_file.h"
#include "python/detect.h"

/* Starts of two functions that are not the same. */
struct py_call {
	uint64_t from;
	uint64_t to;
	/* It does not come back there. */
	bool is_jump;
};

struct py_calls VEC_BODY(struct py_call);

/* Zero-initialise. */
struct py_call_graph {
	struct py_calls by_caller;
	struct py_calls by_callee;
	bool is_loaded;
};

/* A run of calls in by_caller or by_callee. */
struct py_call_span {
	const struct py_call *first;
	const struct py_call *end;
};

/*
 * Nothing if it is loaded already. pieces tell the functions. Calls by way of the
 * file's own linkage table (PLT) count as calls of the functions that it exports.
 * ERROR_LIMIT beyond 32 MiB of code.
 */
struct error *py_call_graph_load(struct elf_file *file,
				 const struct py_code_pieces *pieces,
				 struct py_call_graph *ret);
void py_call_graph_deinit(struct py_call_graph *graph);

struct py_call_span py_calls_from(const struct py_call_graph *graph,
				  uint64_t function);
struct py_call_span py_calls_to(const struct py_call_graph *graph,
				uint64_t function);

/* The target of a call or jump whose 32 bits are at code + at (at > 0). */
bool py_call_target(const uint8_t *code, size_t at, uint64_t vaddr,
		    uint64_t *ret);

#endif
