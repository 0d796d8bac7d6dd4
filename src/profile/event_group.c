// SPDX-License-Identifier: GPL-2.0-only
#include "profile/event_group.h"

#include <stdlib.h>

#include "base/map.h"

/* What an entry of the leader's tree weighs in another. */
struct joined {
	size_t entry;
	size_t other;
	struct event_weight weight;
};

struct join {
	struct calltree *leader;
	/* Hash of an entry's key to the entry. */
	struct map known;
	VEC(struct joined) all;
};

static uint32_t place_of(const struct calltree *tree,
			 const struct calltree_entry *entry)
{
	const uint32_t *groups = tree->locations->groups;

	return groups ? groups[entry->place] : entry->place;
}

static bool same_entry(const struct join *j, uint64_t id,
		       const struct calltree *other,
		       const struct calltree_entry *entry)
{
	const struct calltree_entry *own = &j->leader->entries.data[id];

	return place_of(j->leader, own) == place_of(other, entry) &&
	       calltree_context_equal(
		       j->leader, &j->leader->contexts.data[own->context],
		       &other->contexts.data[entry->context]);
}

/* The leader's entry for one of a tree; it becomes the id `new` if there is none. */
static struct error *find_entry(struct join *j, const struct calltree *tree,
				const struct calltree_entry *entry,
				uint64_t new, uint64_t *ret)
{
	uint64_t hash = hash_combine(
		calltree_context_hash(tree,
				      &tree->contexts.data[entry->context]),
		place_of(tree, entry));

	/* Probe by rehashing: the map has one value for a key. */
	for (;; hash = hash_combine(hash, 1)) {
		bool is_new;
		uint64_t *id = map_insert(&j->known, hash, new, &is_new);

		if (!id)
			return error_no_memory();
		*ret = *id;
		if (is_new || same_entry(j, *id, tree, entry))
			return NULL;
	}
}

static struct error *know_own(struct join *j)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < j->leader->entries.count; i++) {
		uint64_t id;

		error = find_entry(j, j->leader, &j->leader->entries.data[i],
				   i, &id);
	}
	return error;
}

/* Appends an entry of another tree to the leader's. */
static struct error *add_entry(struct join *j, const struct calltree *other,
			       const struct calltree_entry *entry)
{
	struct calltree *leader = j->leader;
	struct calltree_context context =
		other->contexts.data[entry->context];
	struct calltree_entry added = {
		.context = (uint32_t)leader->contexts.count,
		.place = entry->place,
		.location = entry->location,
		.first_node = PROFILE_NONE,
		.first_self = PROFILE_NONE,
		.row = entry->row,
		.self_row = entry->self_row,
		.row_depth = entry->row_depth,
		.hit_elsewhere = entry->first_self != PROFILE_NONE,
	};

	context.first_root = PROFILE_NONE;
	if (!vec_push(&leader->contexts, context) ||
	    !vec_push(&leader->entries, added))
		return error_no_memory();
	return NULL;
}

static struct error *join_entry(struct join *j, size_t other,
				const struct calltree *tree,
				const struct calltree_entry *entry)
{
	struct joined joined = {
		.other = other,
		.weight = { entry->period, entry->self_period,
			    entry->self_count },
	};
	uint64_t count = j->leader->entries.count;
	struct error *error = find_entry(j, tree, entry, count, &joined.entry);

	if (!error && joined.entry == count)
		error = add_entry(j, tree, entry);
	if (!error && !vec_push(&j->all, joined))
		error = error_no_memory();
	return error;
}

static struct error *join_all(struct join *j, const struct event_group *group)
{
	struct error *error = know_own(j);

	for (size_t i = 0; i < group->others.count && !error; i++) {
		const struct calltree *tree = group->others.data[i];

		for (size_t k = 0; k < tree->entries.count && !error; k++)
			error = join_entry(j, i, tree, &tree->entries.data[k]);
	}
	return error;
}

struct error *event_group_join(struct event_group *group,
			       struct calltree *leader)
{
	struct join join = { .leader = leader };
	struct error *error;

	group->own_entries = leader->entries.count;
	error = join_all(&join, group);
	if (!error) {
		group->weights =
			calloc(leader->entries.count * group->others.count + 1,
			       sizeof(*group->weights));
		error = group->weights ? NULL : error_no_memory();
	}
	if (!error)
		vec_for_each(one, &join.all)
			group->weights[one->entry * group->others.count +
				       one->other] = one->weight;
	map_deinit(&join.known);
	vec_deinit(&join.all);
	if (!error)
		leader->group = group;
	return error;
}

void event_group_deinit(struct event_group *group)
{
	vec_for_each(tree, &group->others)
		calltree_destroy(*tree);
	vec_deinit(&group->others);
	free(group->weights);
}

struct event_weight event_group_weight(const struct calltree *tree,
				       const struct calltree_entry *entry,
				       size_t event)
{
	size_t id = (size_t)(entry - tree->entries.data);

	if (!event)
		return (struct event_weight){ entry->period,
					      entry->self_period,
					      entry->self_count };
	return tree->group->weights[id * tree->group->others.count + event - 1];
}
