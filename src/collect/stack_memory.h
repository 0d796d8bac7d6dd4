/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of a sample's stack that lies beyond the kernel's copy, as the walker
 * read it at the same moment (docs/deep-stacks.md).
 *
 * The walker sends a page once, and names it by its key in each sample that has
 * it. The store keeps those of two generations. The owner begins a new one when
 * the store is full, between two rounds, and tells the walker to send all pages
 * anew: a sample that is still in a ring may name those of the generation before,
 * but of none earlier.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_STACK_MEMORY_H
#define KAA_COLLECT_STACK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "bpf/walker_shared.h"

/* --- pages --- */

struct page_generation {
	struct arena bytes;
	/* Key to the address of the bytes. */
	struct map by_key;
};

/* Zero-initialise. */
struct page_store {
	struct page_generation now;
	struct page_generation before;
	/* Pages of this generation; 0: GENERATION_LEAST. When it began, in ms. */
	size_t limit;
	int64_t began;
};

void page_store_deinit(struct page_store *store);
/* Adds a BYTES record of the walker, unless it makes no sense. */
struct error *page_store_add(struct page_store *store, const void *record,
			     size_t size);
bool page_store_is_full(const struct page_store *store);
/*
 * Drops the generation before this one, and begins another. now: in ms. One that was
 * full too soon makes the next one larger: what is sent anew is sent too often.
 */
void page_store_turn(struct page_store *store, int64_t now);

/* --- of one sample --- */

/* The last MEMORY record of a CPU's ring. Zero-initialise. */
struct stack_memory {
	uint32_t pid;
	uint32_t tid;
	uint64_t stack_pointer;
	uint64_t start;
	/* LEFT: a part of the stack, and where its copy is. */
	uint64_t left;
	uint64_t left_size;
	uint64_t left_copy;
	VEC(uint64_t) keys;
	/* A sample was given it. */
	bool given;
	/* Borrowed. */
	const struct page_store *pages;
};

/* Empties it. */
void stack_memory_clear(struct stack_memory *memory);
void stack_memory_deinit(struct stack_memory *memory);
/* Becomes what a MEMORY record says; one that makes no sense clears it. */
struct error *stack_memory_set(struct stack_memory *memory, const void *record,
			       size_t size);
/*
 * What the last record says about a sample that follows it in the ring of its CPU;
 * NULL: nothing. As with python_stack_of().
 */
const struct stack_memory *stack_memory_of(struct stack_memory *memory,
					   uint32_t pid, uint32_t tid,
					   uint64_t stack_pointer,
					   bool is_tracepoint);
/* Addresses of up to max of its pages that were not in memory; how many. */
size_t stack_memory_missing(const struct stack_memory *memory, uint64_t *pages,
			    size_t max);
/*
 * The same of a LEFT record, of which there may be no pages: then all of the stack that
 * is left is in its place.
 */
const struct stack_memory *stack_memory_left(struct stack_memory *memory,
					     uint32_t pid, uint32_t tid,
					     uint64_t stack_pointer,
					     bool is_tracepoint);
/* The word at an address; false: it is not there. */
bool stack_memory_read(const struct stack_memory *memory, uint64_t address,
		       uint64_t *ret);

/* What a sample has beside the kernel's copy of its stack. */
struct sample_memory {
	/* Beyond the copy; NULL: nothing. */
	const struct stack_memory *beyond;
	/* Of the stack that the thread leaves for another one; NULL: it leaves none. */
	const struct stack_memory *left;
};

#endif
