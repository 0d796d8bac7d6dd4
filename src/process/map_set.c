// SPDX-License-Identifier: GPL-2.0-only
#include "process/map_set.h"

#include <stdlib.h>
#include <string.h>

struct process_map *process_map_ref(struct process_map *map)
{
	map->refs_++;
	return map;
}

void process_map_unref(struct process_map *map)
{
	if (!--map->refs_)
		free(map);
}

struct map_set *map_set_create(size_t n, size_t *total)
{
	struct map_set *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	set->refs = 1;
	set->total = total;
	if (!map_set_reserve(set, n)) {
		free(set);
		return NULL;
	}
	return set;
}

struct map_set *map_set_copy(const struct map_set *set, size_t n)
{
	struct map_set *copy = map_set_create(n, set->total);

	if (!copy)
		return NULL;
	copy->count = set->count;
	memcpy(copy->starts, set->starts, set->count * sizeof(*set->starts));
	for (size_t i = 0; i < set->count; i++)
		copy->maps[i] = process_map_ref(set->maps[i]);
	return copy;
}

void map_set_unref(struct map_set *set)
{
	if (!set || --set->refs)
		return;
	for (size_t i = 0; i < set->count; i++)
		process_map_unref(set->maps[i]);
	*set->total -= set->capacity;
	free(set->starts);
	free(set->maps);
	free(set);
}

bool map_set_reserve(struct map_set *set, size_t n)
{
	size_t capacity = set->capacity ? set->capacity : 8;
	uint64_t *starts;
	struct process_map **maps;

	if (n <= set->capacity)
		return true;
	while (capacity < n)
		capacity *= 2;
	starts = realloc(set->starts, capacity * sizeof(*starts));
	if (!starts)
		return false;
	set->starts = starts;
	maps = realloc(set->maps, capacity * sizeof(struct process_map *));
	if (!maps)
		return false;
	set->maps = maps;
	*set->total += capacity - set->capacity;
	set->capacity = capacity;
	return true;
}

/* Number of maps that start at or below addr. */
static size_t starts_below(const struct map_set *set, uint64_t addr)
{
	const uint64_t *base = set->starts;
	size_t n = set->count;

	while (n > 0) {
		size_t half = n / 2;

		if (base[half] <= addr) {
			base += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return (size_t)(base - set->starts);
}

size_t map_set_bound(const struct map_set *set, uint64_t addr)
{
	size_t i = starts_below(set, addr);

	return i && set->maps[i - 1]->end > addr ? i - 1 : i;
}

struct process_map *map_set_find(const struct map_set *set, uint64_t addr)
{
	size_t i;

	if (!set)
		return NULL;
	i = starts_below(set, addr);
	return i && set->maps[i - 1]->end > addr ? set->maps[i - 1] : NULL;
}

void map_set_replace(struct map_set *set, size_t first, size_t end,
		     struct process_map *const *maps, size_t n)
{
	size_t tail = set->count - end;

	if (tail) {
		memmove(set->starts + first + n, set->starts + end,
			tail * sizeof(*set->starts));
		memmove(set->maps + first + n, set->maps + end,
			tail * sizeof(struct process_map *));
	}
	for (size_t i = 0; i < n; i++) {
		set->starts[first + i] = maps[i]->start;
		set->maps[first + i] = maps[i];
	}
	set->count = first + n + tail;
}
