/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What counts as the same place: the frames of a profile reduced to the
 * locations that a view tells apart, and its stacks reduced to stacks of
 * locations.
 *
 * A frame is one address, a location is by default one function. Functions are
 * equal by file name and span, Python functions and inlined ones by file and
 * name; without a symbol every address is a location of its own.
 *
 * Interpreter frames are left out of stacks that have a Python frame, so that
 * native code which a Python function calls stands directly under it. A stack
 * without any Python frame keeps them.
 */
#ifndef KAA_PROFILE_LOCATION_H
#define KAA_PROFILE_LOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "profile/texts.h"

/* What makes two steps of a call chain equal. */
enum chain_key {
	CHAIN_KEY_FUNCTION,
	CHAIN_KEY_ADDRESS,
	/* Function, file and line where they are known. */
	CHAIN_KEY_SRCLINE,
};

/* What makes two entries of a table equal, as far as places go. */
enum entry_key {
	ENTRY_KEY_DSO = 1 << 0,
	/* Implies the DSO: the same name elsewhere is another function. */
	ENTRY_KEY_SYMBOL = 1 << 1,
	/* The texts of location_options.source are equal. */
	ENTRY_KEY_SRCLINE = 1 << 2,
	ENTRY_KEY_SRCFILE = 1 << 3,
};

enum source_kind {
	SOURCE_LINE,
	SOURCE_FILE,
	SOURCE_KINDS,
};

struct location_options {
	/*
	 * What an entry shows for the place in the source of a frame (NULL:
	 * nothing is known), as what was hit or as a step of a chain. Needed
	 * with ENTRY_KEY_SRCLINE and ENTRY_KEY_SRCFILE.
	 */
	void (*source)(const struct profile *profile,
		       const struct profile_frame *frame, enum source_kind kind,
		       bool hit, const void *arg, struct strbuf *out);
	const void *source_arg;
	/*
	 * With CHAIN_KEY_SRCLINE: steps for which this text is the same are
	 * equal, whatever they are; it counts for nothing where it is empty.
	 * NULL: function and line count. Takes source_arg.
	 */
	void (*step_key)(const struct profile *profile,
			 const struct profile_frame *frame, const void *arg,
			 struct strbuf *out);
	enum chain_key chain_key;
	/* enum entry_key */
	unsigned int entry_keys;
	bool interpreter_frames;
	/*
	 * The recordings of the profile are compared: addresses of one mean nothing
	 * in another, and a function of Python may be defined elsewhere.
	 */
	bool compares;
	/*
	 * A stack that has Python frames has no native and no kernel ones: what
	 * they are hit by counts as the Python frame's own.
	 */
	bool python_only;
	/*
	 * Unresolved addresses in a chain are told apart as they are in memory;
	 * where a sample hit always by the file.
	 */
	bool memory_addresses;
	/* What hits an inlined function hits the one that holds the code. */
	bool inlined_hits_container;
	/* Two of a name are one entry only if those that hold them touch. */
	bool inlined_by_container;
	/*
	 * Places in the source: each address counts alone, and those of equal
	 * texts add up at the end, so that a sample may count twice for one
	 * entry.
	 */
	bool sources_by_address;
	/*
	 * By symbol of the profile: what it calls is left out of stacks, as if
	 * it had been hit. NULL: nothing.
	 */
	const bool *cut_below;
	/*
	 * As perf does where it shows chains from the caller: it is their
	 * callers that are left out instead, and yet they count as hit.
	 */
	bool cut_above;
	/* Steps without a symbol are left out, unless nothing remains. */
	bool hide_unresolved;
};

struct location {
	/* A frame at this location, or PROFILE_NONE: nothing is known. */
	uint32_t frame;
	/*
	 * Equal iff equal in a chain. Numbered so that, of siblings with equal
	 * weight, the higher number is shown first.
	 */
	uint32_t chain;
	/*
	 * The same by name, which is how siblings of equal weight stand if
	 * one of them is inlined; 0 without a name.
	 */
	uint32_t name_rank;
	bool is_inlined;
	/* Equal iff the same entry of a table, as a step of a chain ... */
	uint32_t entry;
	/* ... and as the place that a sample hit. */
	uint32_t self;
	/* The location that was hit if this is a leaf; PROFILE_NONE: this. */
	uint32_t hit;
};

struct locations {
	VEC(struct location) all;
	/* A frame's location. */
	uint32_t *of_frame;
	/* The reduced stacks: parent or PROFILE_NONE, location. */
	VEC(uint32_t) parents;
	VEC(uint32_t) steps;
	/* A profile stack's reduced stack; of_stack[count] is PROFILE_NONE's. */
	uint32_t *of_stack;
	/* Numbers of distinct values of location.entry and .self. */
	uint32_t entry_count;
	/*
	 * By such a value: the texts of its place in the source, each text
	 * once, owned; NULL without the keys.
	 */
	const char *(*sources)[SOURCE_KINDS];
	/*
	 * By such a value: equal for those that are one entry at the end. NULL:
	 * all are what they are.
	 */
	uint32_t *groups;
	/* Of places in the source and of steps. */
	struct texts texts;
};

/* The profile must not grow afterwards. */
struct error *locations_create(const struct profile *profile,
			       const struct location_options *options,
			       struct locations **ret);
void locations_destroy(struct locations *locations);
DEFINE_CLEANUP(locations, struct locations *, locations_destroy);
#define _cleanup_locations_ _cleanup_(cleanup_locations_)

/* The reduced stack of a profile's stack, PROFILE_NONE included. */
static inline uint32_t locations_stack(const struct locations *locations,
				       const struct profile *profile,
				       uint32_t stack)
{
	return locations
		->of_stack[stack == PROFILE_NONE ? profile->stack_parents.count
						 : stack];
}

#endif
