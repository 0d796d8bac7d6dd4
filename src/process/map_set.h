/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sorted set of memory maps that do not overlap, shared by reference between
 * processes. A set with more than one reference is never changed: whoever
 * wants to takes a copy first.
 *
 * NULL is the empty set. Internal to process/.
 */
#ifndef KAA_PROCESS_MAP_SET_H
#define KAA_PROCESS_MAP_SET_H

#include <stddef.h>
#include <stdint.h>

#include "process/process.h"

struct map_set {
	uint32_t refs;
	size_t count;
	size_t capacity;
	/* Changes with every change of the set; see process_generation(). */
	uint64_t id;
	/* maps[i]->start, apart so that a bisection touches little memory. */
	uint64_t *starts;
	struct process_map **maps;
	/* Places of all sets of the table. */
	size_t *total;
};

/* A set of its own with room for n maps; NULL when memory runs out. */
struct map_set *map_set_create(size_t n, size_t *total);
/* A copy with room for n maps (n >= set->count). */
struct map_set *map_set_copy(const struct map_set *set, size_t n);
void map_set_unref(struct map_set *set);
/* Makes room for n maps; false when memory runs out. */
bool map_set_reserve(struct map_set *set, size_t n);

/* Index of the first map that ends after addr; set->count if there is none. */
size_t map_set_bound(const struct map_set *set, uint64_t addr);
/* The map that contains addr, or NULL. */
struct process_map *map_set_find(const struct map_set *set, uint64_t addr);
/*
 * Puts n maps in place of those with index [first, end). Takes over the
 * references of the new ones, and leaves those of the old ones to the caller,
 * who must have saved the pointers. There must be room.
 */
void map_set_replace(struct map_set *set, size_t first, size_t end,
		     struct process_map *const *maps, size_t n);

struct process_map *process_map_ref(struct process_map *map);
void process_map_unref(struct process_map *map);

#endif
