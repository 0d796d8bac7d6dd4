/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames by (space, process, address): a hash table, and the memory of its
 * frames. Zero-initialise to start.
 */
#ifndef KAA_CONVERT_FRAME_CACHE_H
#define KAA_CONVERT_FRAME_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "convert/convert.h"

struct frame_key {
	uint64_t space;
	uint64_t address;
	uint32_t pid;
	/* Mode and caller: how the address is looked up. */
	uint32_t how;
};

struct frame_slot {
	struct frame_key key;
	/* NULL: free. */
	struct convert_frame *frame;
};

struct frame_cache {
	struct frame_slot *slots;
	size_t count;
	/* Zero or a power of two. */
	size_t capacity;
	struct arena arena;
};

/* The frame's place, *place NULL if the key is new; NULL without memory. */
struct convert_frame **frame_cache_get(struct frame_cache *cache,
				       const struct frame_key *key);
/* A zeroed frame; NULL when memory runs out. */
struct convert_frame *frame_cache_new(struct frame_cache *cache);
void frame_cache_deinit(struct frame_cache *cache);

#endif
