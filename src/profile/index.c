// SPDX-License-Identifier: GPL-2.0-only
#include "profile/index.h"

#include <stdlib.h>
#include <string.h>

#define FREE UINT32_MAX

uint32_t index_find(const struct index *index, uint64_t hash,
		    index_equal_fn equal, const void *column, const void *key)
{
	size_t mask = index->capacity - 1;

	if (!index->count)
		return FREE;
	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		const struct index_slot *slot = &index->slots[i];

		if (slot->handle == FREE)
			return FREE;
		if (slot->hash == (uint32_t)hash &&
		    equal(column, slot->handle, key))
			return slot->handle;
	}
}

/* Only the low 32 bits of a hash choose the slot: they are what is kept. */
static void index_put(struct index *index, struct index_slot slot)
{
	size_t mask = index->capacity - 1;
	size_t i = slot.hash & mask;

	while (index->slots[i].handle != FREE)
		i = (i + 1) & mask;
	index->slots[i] = slot;
	index->count++;
}

static bool index_resize(struct index *index, size_t capacity)
{
	struct index bigger = { .capacity = capacity };

	bigger.slots = malloc(bigger.capacity * sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	memset(bigger.slots, 0xff, bigger.capacity * sizeof(*bigger.slots));
	for (size_t i = 0; i < index->capacity; i++)
		if (index->slots[i].handle != FREE)
			index_put(&bigger, index->slots[i]);
	index_deinit(index);
	*index = bigger;
	return true;
}

/* At most three quarters of the slots are used. */
bool index_reserve(struct index *index, size_t count)
{
	size_t capacity = index->capacity ? index->capacity : 64;

	while (capacity / 4 * 3 < count)
		capacity *= 2;
	return capacity == index->capacity || index_resize(index, capacity);
}

bool index_add(struct index *index, uint64_t hash, uint32_t handle)
{
	if (index->count >= index->capacity / 4 * 3 &&
	    !index_reserve(index, index->count + 1))
		return false;
	index_put(index, (struct index_slot){ (uint32_t)hash, handle });
	return true;
}

void index_deinit(struct index *index)
{
	free(index->slots);
	*index = (struct index){};
}
