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
	/* Frames to be handed out next. */
	struct convert_frame *fresh;
	size_t fresh_count;
};

/* The frame's place, *place NULL if the key is new; NULL without memory. */
struct convert_frame **frame_cache_get(struct frame_cache *cache,
				       const struct frame_key *key);
/* Addresses of user space that are looked up next; see names_expect(). */
void frame_cache_expect(const struct frame_cache *cache, uint64_t space,
			uint32_t pid, const uint64_t *addresses, size_t count);
/* A zeroed frame; NULL when memory runs out. */
struct convert_frame *frame_cache_new(struct frame_cache *cache);
void frame_cache_deinit(struct frame_cache *cache);

#endif
