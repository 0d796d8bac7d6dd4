// SPDX-License-Identifier: GPL-2.0-only
#include "convert/frame_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

enum {
	/* The size of frames, too, so that each stands in lines of its own. */
	LINE_SIZE = 64,
	FRESH_FRAMES = 64,
	/* Memory that is on its way at a time. */
	BATCH = 32,
};

static bool key_equal(const struct frame_key *a, const struct frame_key *b)
{
	return a->address == b->address && a->space == b->space &&
	       a->pid == b->pid && a->how == b->how;
}

/* How an address is looked up does not count: few are in more than one way. */
static uint64_t hash_address(uint64_t space, uint32_t pid, uint64_t address)
{
	return hash_combine(address, space * 0x9e3779b97f4a7c15u + pid);
}

static size_t find_slot(const struct frame_cache *cache,
			const struct frame_key *key)
{
	size_t mask = cache->capacity - 1;
	size_t i = hash_address(key->space, key->pid, key->address) & mask;

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

static void expect_batch(const struct frame_cache *cache, uint64_t space,
			 uint32_t pid, const uint64_t *addresses, size_t count)
{
	const struct frame_slot *slots[BATCH];

	for (size_t i = 0; i < count; i++) {
		uint64_t hash = hash_address(space, pid, addresses[i]);

		slots[i] = &cache->slots[hash & (cache->capacity - 1)];
		__builtin_prefetch(slots[i]);
	}
	for (size_t i = 0; i < count; i++)
		if (slots[i]->frame)
			__builtin_prefetch(slots[i]->frame);
	/* Else gcc takes a function without any effect for one to leave out. */
	__asm__ volatile("" : : : "memory");
}

void frame_cache_expect(const struct frame_cache *cache, uint64_t space,
			uint32_t pid, const uint64_t *addresses, size_t count)
{
	if (!cache->capacity)
		return;
	for (size_t i = 0; i < count; i += BATCH)
		expect_batch(cache, space, pid, addresses + i,
			     count - i < BATCH ? count - i : BATCH);
}

static bool add_fresh(struct frame_cache *cache)
{
	uintptr_t at = (uintptr_t)arena_alloc(
		&cache->arena,
		FRESH_FRAMES * sizeof(struct convert_frame) + LINE_SIZE);

	if (!at)
		return false;
	at = (at + LINE_SIZE - 1) / LINE_SIZE * LINE_SIZE;
	cache->fresh = (struct convert_frame *)at;
	cache->fresh_count = FRESH_FRAMES;
	return true;
}

struct convert_frame *frame_cache_new(struct frame_cache *cache)
{
	_Static_assert(sizeof(struct convert_frame) % LINE_SIZE == 0,
		       "frames would begin within a line");
	struct convert_frame *frame;

	if (!cache->fresh_count && !add_fresh(cache))
		return NULL;
	cache->fresh_count--;
	frame = cache->fresh++;
	memset(frame, 0, sizeof(*frame));
	return frame;
}

void frame_cache_deinit(struct frame_cache *cache)
{
	free(cache->slots);
	arena_deinit(&cache->arena);
	*cache = (struct frame_cache){};
}
