/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps of one process, now and in the past. Zero-initialise to start.
 * Internal to process/.
 */
#ifndef KAA_PROCESS_ADDRESS_SPACE_H
#define KAA_PROCESS_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "process/map_set.h"

/* A map, or a whole set that exec ended, that held before `until`. */
struct past_maps {
	uint64_t until;
	struct process_map *map;
	struct map_set *set;
};

struct address_space {
	/* What holds now; NULL: nothing. */
	struct map_set *set;
	/* In the order in which they ended. */
	VEC(struct past_maps) past;
	/* The map found last, if it is in `set`; borrowed. */
	struct process_map *last;
	/* Time of the last change. */
	uint64_t changed;
};

/* Shared by the address spaces of a table. */
struct space_pool {
	/* Places of all sets. */
	size_t total;
	/* Last set id given out. */
	uint64_t last_id;
};

enum space_result {
	SPACE_OK,
	SPACE_LIMIT,
	SPACE_NO_MEMORY,
};

/* Adds a copy of `map` that holds from map->from on, ends what it overlaps. */
enum space_result space_insert(struct address_space *space,
			       struct space_pool *pool,
			       const struct process_map *map);
/* Ends all maps at that time. */
enum space_result space_exec(struct address_space *space, uint64_t time);
/* Gives an empty space the maps that parent has. */
void space_fork(struct address_space *space, const struct address_space *parent,
		uint64_t time);
struct process_map *space_find_past(const struct address_space *space,
				    uint64_t addr, uint64_t time);
/* The map that was at addr last, of those that ended; NULL: none is kept. */
struct process_map *space_find_before(const struct address_space *space,
				      uint64_t addr);
/* Frees what ended by `before`; true if something is still kept. */
bool space_forget(struct address_space *space, uint64_t before);
void space_deinit(struct address_space *space);

static inline struct process_map *space_find(struct address_space *space,
					     uint64_t addr, uint64_t time)
{
	struct process_map *map = space->last;

	if (!map || addr < map->start || addr >= map->end) {
		map = map_set_find(space->set, addr);
		if (map)
			space->last = map;
	}
	if (map && map->from <= time)
		return map;
	return space_find_past(space, addr, time);
}

#endif
