/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Python frames of one sample, as the walker writes them: in one record, or
 * in several that are put together here.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_PYTHON_STACK_H
#define KAA_COLLECT_PYTHON_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "bpf/walker_shared.h"
#include "collect/code_spans.h"

/* A record of the walker: in a sample it is not aligned. */
struct walker_copy {
	uint64_t words[65536 / sizeof(uint64_t)];
};

/* The record, valid until the next call; NULL if it is too short or too long. */
const struct walker_header *walker_copy_record(struct walker_copy *copy,
					       const void *raw, size_t size);

/* The walker's records of one sample, put together. */
struct python_stack {
	VEC(struct walker_frame) frames;
	/* enum walker_stack_flags of the last record. */
	uint32_t flags;
	uint32_t pid;
	uint32_t tid;
	uint64_t extra_activation;
	uint64_t thread_pointer;
	/* All records are there. */
	bool whole;
	/* A sample was given it. */
	bool given;
};

/* Empties it. */
void python_stack_clear(struct python_stack *stack);
void python_stack_deinit(struct python_stack *stack);
/*
 * Adds a STACK record of the walker; one that makes no sense clears it. Where one
 * before it was lost the stack is of no frame, and unreadable.
 */
struct error *python_stack_add(struct python_stack *stack, const void *record,
			       size_t size);
/* The same of any record that a walk in user space tells: of the stack, or of code. */
struct error *python_stack_take(struct python_stack *stack,
				struct code_table *codes, const void *record,
				size_t size);
/*
 * What the last STACK record of a CPU's ring says about a sample that follows it
 * there; NULL: nothing. A stack belongs to one sample, that of a tracepoint's hit
 * to all samples of the hit (bpf/walker_shared.h). That of another thread is of no sample
 * to come.
 */
const struct python_stack *python_stack_of(struct python_stack *stack,
					   uint32_t pid, uint32_t tid,
					   bool is_tracepoint);

#endif
