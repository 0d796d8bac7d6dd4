// SPDX-License-Identifier: GPL-2.0-only
#include "convert/frame_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

static bool key_equal(const struct frame_key *a, const struct frame_key *b)
{
	return a->address == b->address && a->space == b->space &&
	       a->pid == b->pid && a->how == b->how;
}

static size_t find_slot(const struct frame_cache *cache,
			const struct frame_key *key)
{
	size_t mask = cache->capacity - 1;
	uint64_t place = key->space * 0x9e3779b97f4a7c15u + key->pid;
	size_t i = hash_combine(key->address, place ^ key->how) & mask;

	while (cache->slots[i].frame &&
	       !key_equal(&cache->slots[i].key, key))
		i = (i + 1) & mask;
	return i;
}

static bool grow(struct frame_cache *cache)
{
	struct frame_cache bigger = {
		.capacity = cache->capacity ? cache->capacity * 2 : 1024,
	};

	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < cache->capacity; i++) {
		const struct frame_slot *slot = &cache->slots[i];

		if (slot->frame)
			bigger.slots[find_slot(&bigger, &slot->key)] = *slot;
	}
	free(cache->slots);
	cache->slots = bigger.slots;
	cache->capacity = bigger.capacity;
	return true;
}

struct convert_frame **frame_cache_get(struct frame_cache *cache,
				       const struct frame_key *key)
{
	struct frame_slot *slot;

	if (cache->count >= cache->capacity / 2 && !grow(cache))
		return NULL;
	slot = &cache->slots[find_slot(cache, key)];
	if (!slot->frame) {
		slot->key = *key;
		cache->count++;
	}
	return &slot->frame;
}

struct convert_frame *frame_cache_new(struct frame_cache *cache)
{
	struct convert_frame *frame =
		arena_alloc(&cache->arena, sizeof(*frame));

	if (frame)
		memset(frame, 0, sizeof(*frame));
	return frame;
}

void frame_cache_deinit(struct frame_cache *cache)
{
	free(cache->slots);
	arena_deinit(&cache->arena);
	*cache = (struct frame_cache){};
}
