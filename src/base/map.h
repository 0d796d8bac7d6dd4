/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hash map from uint64_t to uint64_t, open addressing; keys are removed only by
 * building the map anew. Any key and any value are legal. Not thread-safe. And hashes
 * for keys.
 */
#ifndef KAA_BASE_MAP_H
#define KAA_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct map_entry {
	uint64_t key;
	uint64_t value;
};

struct map {
	struct map_entry *entries;
	/* One byte an entry: 0 free, 1 used. */
	uint8_t *used;
	size_t count;
	/* Zero or a power of two. */
	size_t capacity;
};

/* Frees the memory and makes the map empty again. */
void map_deinit(struct map *map);
/* Empties the map, keeps its memory. */
void map_clear(struct map *map);
/* Returns the value's place, or NULL. Valid until the next insertion. */
uint64_t *map_find(const struct map *map, uint64_t key);
/*
 * Returns the value's place, inserting `value` if the key is new (*is_new, if
 * not NULL, says so). NULL when memory runs out.
 */
uint64_t *map_insert(struct map *map, uint64_t key, uint64_t value,
		     bool *is_new);
/*
 * Builds the map anew from the entries that `keeps` wants, in no order. False when
 * memory runs out: the map stays as it was.
 */
bool map_keep(struct map *map,
	      bool (*keeps)(void *arg, const struct map_entry *entry), void *arg);

/* Mixes two hashes or integers into one well-spread hash. */
static inline uint64_t hash_combine(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2)));

	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	return h ^ (h >> 32);
}

/* A hash of n bytes. */
uint64_t hash_bytes(const void *data, size_t n);

static inline uint64_t hash_string(const char *s)
{
	return hash_bytes(s, strlen(s));
}

#endif
