/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Chains of addresses to stacks of frames. A chain that was seen before in
 * the same process with the same maps costs one look-up.
 */
#ifndef KAA_CONVERT_CHAIN_STACKS_H
#define KAA_CONVERT_CHAIN_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "convert/convert.h"
#include "convert/frame_names.h"

/* What a chain's words are. */
enum chain_style {
	/* A kernel's callchain: frame pointers, or kaa's. */
	CHAIN_RECORDED,
	/* As above with the user part unwound here: callers are named as they are. */
	CHAIN_UNWOUND,
	/* The same; the unwinding did not reach the thread's start. */
	CHAIN_UNWOUND_INCOMPLETE,
};

struct chain {
	/* Addresses and PERF_CONTEXT_* marks, as in a record; borrowed. */
	const uint64_t *words;
	size_t count;
	enum chain_style style;
	/* Before the first mark. */
	enum address_mode mode;
};

struct stack_slot;

/* Zero-initialise; set names and options. */
struct stacks {
	struct names *names;
	const struct convert_options *options;
	struct stack_slot *slots;
	size_t count;
	/* Zero or a power of two. */
	size_t capacity;
	struct arena arena;
	/* The stack made last, whose steps can still be given back, or NULL. */
	struct convert_stack *last;
	/* Of the stack being made. */
	VEC(struct convert_step) steps;
	/* Chains with words that no chain may have, seen or resolved. */
	uint64_t broken;
};

void stacks_deinit(struct stacks *stacks);

/* The stack of a chain; lives until stacks_trim() or stacks_deinit(). */
struct error *stacks_get(struct stacks *stacks, const struct place *place,
			 const struct chain *chain,
			 struct convert_stack **ret);

/*
 * Empties stacks and the frames of names if they hold more than `limit` bytes;
 * to be called between samples.
 */
void stacks_trim(struct stacks *stacks, size_t limit);

#endif
