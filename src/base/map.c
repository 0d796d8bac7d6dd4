// SPDX-License-Identifier: GPL-2.0-only
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

void map_deinit(struct map *map)
{
	free(map->entries);
	free(map->used);
	*map = (struct map){};
}

void map_clear(struct map *map)
{
	if (map->capacity)
		memset(map->used, 0, map->capacity);
	map->count = 0;
}

/* The slot of key, or the free slot where it would go. */
static size_t map_slot(const struct map *map, uint64_t key)
{
	size_t mask = map->capacity - 1;
	size_t i = hash_combine(key, 0) & mask;

	while (map->used[i] && map->entries[i].key != key)
		i = (i + 1) & mask;
	return i;
}

uint64_t *map_find(const struct map *map, uint64_t key)
{
	size_t i;

	if (!map->count)
		return NULL;
	i = map_slot(map, key);
	return map->used[i] ? &map->entries[i].value : NULL;
}

static bool map_grow(struct map *map)
{
	struct map bigger = { .capacity = map->capacity ? map->capacity * 2 : 16 };

	bigger.entries = calloc(bigger.capacity, sizeof(*bigger.entries));
	bigger.used = calloc(bigger.capacity, 1);
	if (!bigger.entries || !bigger.used) {
		map_deinit(&bigger);
		return false;
	}
	for (size_t i = 0; i < map->capacity; i++) {
		if (!map->used[i])
			continue;
		size_t slot = map_slot(&bigger, map->entries[i].key);

		bigger.entries[slot] = map->entries[i];
		bigger.used[slot] = 1;
	}
	bigger.count = map->count;
	map_deinit(map);
	*map = bigger;
	return true;
}

uint64_t *map_insert(struct map *map, uint64_t key, uint64_t value,
		     bool *is_new)
{
	size_t i;

	if (map->count >= map->capacity / 4 * 3 && !map_grow(map))
		return NULL;
	i = map_slot(map, key);
	if (is_new)
		*is_new = !map->used[i];
	if (!map->used[i]) {
		map->used[i] = 1;
		map->entries[i] = (struct map_entry){ key, value };
		map->count++;
	}
	return &map->entries[i].value;
}

bool map_keep(struct map *map,
	      bool (*keeps)(void *arg, const struct map_entry *entry), void *arg)
{
	struct map kept = {};

	for (size_t i = 0; i < map->capacity; i++) {
		const struct map_entry *entry = &map->entries[i];

		if (!map->used[i] || !keeps(arg, entry))
			continue;
		if (!map_insert(&kept, entry->key, entry->value, NULL)) {
			map_deinit(&kept);
			return false;
		}
	}
	map_deinit(map);
	*map = kept;
	return true;
}

/* Eight bytes at a time: names are long. */
uint64_t hash_bytes(const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t hash = n, word;

	for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, p, n);
	return hash_combine(hash, word);
}
