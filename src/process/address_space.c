// SPDX-License-Identifier: GPL-2.0-only
#include "process/address_space.h"

#include <stdlib.h>
#include <string.h>

static void past_release(struct past_maps *past)
{
	if (past->map)
		process_map_unref(past->map);
	map_set_unref(past->set);
}

static void past_drop_first(struct address_space *space, size_t n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		past_release(&space->past.data[i]);
	space->past.count -= n;
	memmove(space->past.data, space->past.data + n,
		space->past.count * sizeof(*space->past.data));
}

/* Room for n more; the oldest go when there are too many. */
static bool past_reserve(struct address_space *space, size_t n)
{
	if (space->past.count >= PROCESS_MAX_PAST)
		past_drop_first(space, PROCESS_MAX_PAST / 2);
	return vec_reserve(&space->past, n);
}

/* Takes over the reference; there is room. */
static void past_add(struct address_space *space, struct process_map *map,
		     uint64_t until)
{
	if (until <= map->from) {
		/* It never held. */
		process_map_unref(map);
		return;
	}
	space->past.data[space->past.count++] =
		(struct past_maps){ .until = until, .map = map };
}

/* Makes the set the space's own, with room for two more maps. */
static enum space_result make_writable(struct address_space *space,
				       struct space_pool *pool)
{
	struct map_set *set = space->set;
	size_t need = (set ? set->count : 0) + 2;

	if (need > PROCESS_MAX_MAPS || pool->total + need > PROCESS_MAX_TOTAL)
		return SPACE_LIMIT;
	if (!set) {
		space->set = map_set_create(need, &pool->total);
		return space->set ? SPACE_OK : SPACE_NO_MEMORY;
	}
	if (set->refs == 1)
		return map_set_reserve(set, need) ? SPACE_OK : SPACE_NO_MEMORY;
	set = map_set_copy(set, need);
	if (!set)
		return SPACE_NO_MEMORY;
	map_set_unref(space->set);
	space->set = set;
	return SPACE_OK;
}

static struct process_map *new_map(const struct process_map *like,
				   uint64_t start, uint64_t end)
{
	struct process_map *map = malloc(sizeof(*map));

	if (!map)
		return NULL;
	*map = *like;
	map->start = start;
	map->end = end;
	map->pgoff = like->pgoff + (start - like->start);
	map->refs_ = 1;
	return map;
}

/*
 * The new map and the parts of first and last that stand out beside it, in
 * address order; 0 when memory runs out.
 */
static size_t build_pieces(const struct process_map *map,
			   const struct process_map *first,
			   const struct process_map *last,
			   struct process_map *pieces[3])
{
	size_t n = 0;
	bool failed = false;

	if (first && first->start < map->start) {
		pieces[n] = new_map(first, first->start, map->start);
		failed |= !pieces[n++];
	}
	pieces[n] = new_map(map, map->start, map->end);
	failed |= !pieces[n++];
	if (last && last->end > map->end) {
		pieces[n] = new_map(last, map->end, last->end);
		failed |= !pieces[n++];
	}
	if (!failed)
		return n;
	while (n)
		free(pieces[--n]);
	return 0;
}

enum space_result space_insert(struct address_space *space,
			       struct space_pool *pool,
			       const struct process_map *map)
{
	enum space_result result = make_writable(space, pool);
	struct process_map *pieces[3];
	struct map_set *set = space->set;
	size_t first, end, n;

	if (result != SPACE_OK)
		return result;
	first = map_set_bound(set, map->start);
	for (end = first; end < set->count && set->starts[end] < map->end;)
		end++;
	if (!past_reserve(space, end - first))
		return SPACE_NO_MEMORY;
	n = build_pieces(map, first < end ? set->maps[first] : NULL,
			 first < end ? set->maps[end - 1] : NULL, pieces);
	if (!n)
		return SPACE_NO_MEMORY;
	for (size_t i = first; i < end; i++)
		past_add(space, set->maps[i], map->from);
	map_set_replace(set, first, end, pieces, n);
	set->id = ++pool->last_id;
	space->last = NULL;
	if (map->from > space->changed)
		space->changed = map->from;
	return SPACE_OK;
}

enum space_result space_exec(struct address_space *space, uint64_t time)
{
	if (time > space->changed)
		space->changed = time;
	if (!space->set)
		return SPACE_OK;
	if (!past_reserve(space, 1))
		return SPACE_NO_MEMORY;
	space->past.data[space->past.count++] =
		(struct past_maps){ .until = time, .set = space->set };
	space->set = NULL;
	space->last = NULL;
	return SPACE_OK;
}

void space_fork(struct address_space *space, const struct address_space *parent,
		uint64_t time)
{
	space->changed = time;
	space->set = parent->set;
	if (space->set)
		space->set->refs++;
}

static struct process_map *past_find(const struct past_maps *past,
				     uint64_t addr)
{
	if (past->set)
		return map_set_find(past->set, addr);
	if (addr < past->map->start || addr >= past->map->end)
		return NULL;
	return past->map;
}

struct process_map *space_find_past(const struct address_space *space,
				    uint64_t addr, uint64_t time)
{
	for (size_t i = space->past.count; i > 0; i--) {
		const struct past_maps *past = &space->past.data[i - 1];
		struct process_map *map;

		if (past->until <= time)
			break;
		map = past_find(past, addr);
		if (map && map->from <= time)
			return map;
	}
	return NULL;
}

struct process_map *space_find_before(const struct address_space *space,
				      uint64_t addr)
{
	for (size_t i = space->past.count; i > 0; i--) {
		struct process_map *map =
			past_find(&space->past.data[i - 1], addr);

		if (map)
			return map;
	}
	return NULL;
}

bool space_forget(struct address_space *space, uint64_t before)
{
	size_t n = 0;

	while (n < space->past.count && space->past.data[n].until <= before)
		n++;
	if (n)
		past_drop_first(space, n);
	return space->past.count > 0;
}

void space_deinit(struct address_space *space)
{
	past_drop_first(space, space->past.count);
	vec_deinit(&space->past);
	map_set_unref(space->set);
	*space = (struct address_space){};
}
