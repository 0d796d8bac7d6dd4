// SPDX-License-Identifier: GPL-2.0-only
#include "profile/chains.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

/* Where an item goes on, and what it weighs there. */
enum item_kind {
	/* Down, with the samples that hit the entry. */
	ITEM_HIT,
	/* Down, with the samples that did not. */
	ITEM_PASSED,
	/* Up, with what it carries. */
	ITEM_UP,
};

static void copy_nodes(struct chains *c)
{
	for (size_t i = 0; i < c->tree->nodes.count; i++) {
		const struct calltree_node *node = &c->tree->nodes.data[i];

		c->nodes[i] = (struct chain_node){
			.parent = node->parent,
			.first_child = node->first_child,
			.next_sibling = node->next_sibling,
			.key = calltree_location(c->tree, (uint32_t)i)->chain,
		};
		c->all[i] = (struct chain_weight){ node->period, node->count,
						   node->row };
	}
}

struct error *chains_init(struct chains *chains, const struct calltree *tree)
{
	size_t count = tree->nodes.count + 1;

	*chains = (struct chains){ .tree = tree, .first = PROFILE_NONE };
	chains->nodes = calloc(count, sizeof(*chains->nodes));
	chains->all = calloc(count, sizeof(*chains->all));
	chains->hits = calloc(count, sizeof(*chains->hits));
	if (!chains->nodes || !chains->all || !chains->hits) {
		chains_deinit(chains);
		return error_no_memory();
	}
	copy_nodes(chains);
	return NULL;
}

void chains_deinit(struct chains *chains)
{
	vec_deinit(&chains->branches);
	vec_deinit(&chains->steps);
	vec_deinit(&chains->items);
	vec_deinit(&chains->groups);
	vec_deinit(&chains->order);
	vec_deinit(&chains->unsorted);
	vec_deinit(&chains->touched);
	free(chains->nodes);
	free(chains->all);
	free(chains->hits);
	*chains = (struct chains){ .first = PROFILE_NONE };
}

static uint32_t item_key(const struct chains *c, const struct chain_item *item)
{
	return c->nodes[item->node].key;
}

/* What was hit and what was passed count, though both be of one sample. */
static bool adds_up(const struct calltree *tree)
{
	return tree->grouped || tree->options.count_each;
}

/* Adds a node with what it weighs in this kind, unless that is nothing. */
static bool push_down(struct chains *c, uint32_t id, enum item_kind kind)
{
	struct chain_weight hits = c->hits[id];
	struct chain_item item = {
		.node = id,
		.kind = kind,
		.row = hits.row,
		.period = hits.period,
		.count = hits.count,
	};

	if (kind == ITEM_PASSED && adds_up(c->tree))
		hits = (struct chain_weight){};
	if (kind == ITEM_PASSED) {
		item.period = c->all[id].period - hits.period;
		item.count = c->all[id].count - hits.count;
		item.row = c->all[id].row;
	}
	return !item.count || vec_push(&c->items, item);
}

static bool push_up(struct chains *c, uint32_t id, struct chain_weight weight)
{
	struct chain_item item = { .node = id,
				   .kind = ITEM_UP,
				   .row = weight.row,
				   .period = weight.period,
				   .count = weight.count };

	return !weight.count || vec_push(&c->items, item);
}

/* Appends what follows items[first, first + count) in their chains. */
static bool push_next(struct chains *c, uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++) {
		struct chain_item item = c->items.data[i];
		const struct chain_node *node = &c->nodes[item.node];
		uint32_t child = node->first_child;

		if (item.kind == ITEM_UP) {
			struct chain_weight weight = { item.period, item.count,
						       item.row };

			if (node->parent != PROFILE_NONE &&
			    !push_up(c, node->parent, weight))
				return false;
			continue;
		}
		for (; child != PROFILE_NONE;
		     child = c->nodes[child].next_sibling)
			if (!push_down(c, child, item.kind))
				return false;
	}
	return true;
}

static int compare_order(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return compare_u64(a, b);
}

static bool same_keys(const struct chains *c, uint32_t first, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (item_key(c, &c->items.data[first + i]) !=
		    item_key(c, &c->items.data[first]))
			return false;
	return true;
}

/* By key, higher ones first; see location.chain. */
static struct error *sort_items(struct chains *c, uint32_t first,
				uint32_t count)
{
	struct chain_item *items = c->items.data + first;

	if (same_keys(c, first, count))
		return NULL;
	vec_clear(&c->order);
	vec_clear(&c->unsorted);
	if (!vec_reserve(&c->order, count) || !vec_reserve(&c->unsorted, count))
		return error_no_memory();
	for (uint32_t i = 0; i < count; i++) {
		uint64_t key = UINT32_MAX - item_key(c, &items[i]);

		(void)vec_push(&c->order, key << 32 | i);
	}
	qsort(c->order.data, count, sizeof(*c->order.data), compare_order);
	memcpy(c->unsorted.data, items, count * sizeof(*items));
	for (uint32_t i = 0; i < count; i++)
		items[i] = c->unsorted.data[(uint32_t)c->order.data[i]];
	return NULL;
}

/* Appends a group for each distinct step among sorted items. */
static bool push_groups(struct chains *c, uint32_t first, uint32_t count)
{
	size_t start = c->groups.count;

	for (uint32_t i = first; i < first + count; i++) {
		const struct chain_item *item = &c->items.data[i];
		struct chain_group group = { .key = item_key(c, item),
					     .first = i };

		if ((c->groups.count == start ||
		     vec_last(&c->groups)->key != group.key) &&
		    !vec_push(&c->groups, group))
			return false;
		vec_last(&c->groups)->count++;
		vec_last(&c->groups)->period += item->period;
		vec_last(&c->groups)->samples += item->count;
	}
	return true;
}

/* What is inlined is compared by name; the higher one is first. */
static int compare_keys(const void *left, const void *right)
{
	const struct chain_group *a = left, *b = right;

	if ((a->is_inlined || b->is_inlined) && a->name_rank && b->name_rank &&
	    a->name_rank != b->name_rank)
		return a->name_rank < b->name_rank ? 1 : -1;
	return (a->key < b->key) - (a->key > b->key);
}

/* Heavy first. */
static int compare_groups(const void *left, const void *right)
{
	const struct chain_group *a = left, *b = right;

	if (a->period != b->period)
		return a->period < b->period ? 1 : -1;
	return compare_keys(left, right);
}

static void sort_groups(struct chains *c, size_t first)
{
	struct chain_group *groups = c->groups.data + first;
	size_t count = c->groups.count - first;

	for (size_t i = 0; i < count; i++) {
		uint32_t node = c->items.data[groups[i].first].node;
		const struct location *location =
			calltree_location(c->tree, node);

		groups[i].is_inlined = location->is_inlined;
		groups[i].name_rank = location->name_rank;
	}
	if (count > 1)
		qsort(groups, count, sizeof(*groups),
		      c->options.by_key ? compare_keys : compare_groups);
}

/* The location that stands for a group of items. */
static uint32_t group_location(const struct chains *c,
			       const struct chain_group *group)
{
	const struct chain_item *items = c->items.data + group->first;
	uint32_t best = 0;

	for (uint32_t i = 1; c->options.first_met && i < group->count; i++)
		if (items[i].row < items[best].row)
			best = i;
	return c->tree->nodes.data[items[best].node].location;
}

/*
 * Writes the branch that begins with group, and says which items follow its
 * last step: all from *next to the end.
 */
static struct error *follow(struct chains *c, struct chain_group group,
			    struct chain_branch *branch, uint32_t *next)
{
	branch->first_step = (uint32_t)c->steps.count;
	for (;;) {
		uint32_t end = (uint32_t)c->items.count;
		struct chain_group after = { .first = end };

		if (!vec_push(&c->steps, group_location(c, &group)) ||
		    !push_next(c, group.first, group.count))
			return error_no_memory();
		after.count = (uint32_t)c->items.count - end;
		for (size_t i = end; i < c->items.count; i++) {
			after.period += c->items.data[i].period;
			after.samples += c->items.data[i].count;
		}
		branch->hit = group.period - after.period;
		branch->count = group.samples - after.samples;
		branch->children_hit = after.period;
		branch->children_count = after.samples;
		*next = end;
		if (branch->count || !same_keys(c, after.first, after.count))
			break;
		group = after;
	}
	branch->steps = (uint32_t)c->steps.count - branch->first_step;
	return NULL;
}

static struct error *expand(struct chains *c, uint32_t parent, uint32_t first,
			    uint32_t level);

/* One branch with all that is below it; its id is in *ret. */
static struct error *grow(struct chains *c, uint32_t parent,
			  struct chain_group group, uint32_t level,
			  uint32_t *ret)
{
	struct chain_branch branch = { .parent = parent,
				       .first_child = PROFILE_NONE,
				       .next = PROFILE_NONE };
	uint32_t id = (uint32_t)c->branches.count;
	size_t mark = c->items.count;
	uint32_t next = 0;
	struct error *error = follow(c, group, &branch, &next);

	if (error)
		return error;
	if (!vec_push(&c->branches, branch))
		return error_no_memory();
	if (level < CHAINS_MAX_LEVELS)
		error = expand(c, id, next, level + 1);
	c->items.count = mark;
	*ret = id;
	return error;
}

static uint64_t threshold(const struct chains *c, uint64_t parent_hit)
{
	double part = (double)parent_hit * c->options.min_part;

	if (c->options.min_part < 0)
		return c->options.min_hit;
	/* Rounded up. */
	return (uint64_t)part + ((double)(uint64_t)part < part);
}

static void link_branch(struct chains *c, uint32_t parent, uint32_t last,
			uint32_t id)
{
	if (last != PROFILE_NONE)
		c->branches.data[last].next = id;
	else if (parent != PROFILE_NONE)
		c->branches.data[parent].first_child = id;
	else
		c->first = id;
}

/* Hangs the steps among items[first ...] below parent. */
static struct error *expand(struct chains *c, uint32_t parent, uint32_t first,
			    uint32_t level)
{
	uint32_t count = (uint32_t)c->items.count - first;
	size_t start = c->groups.count;
	uint32_t last = PROFILE_NONE;
	uint64_t min;
	struct error *error = sort_items(c, first, count);

	if (error)
		return error;
	if (!push_groups(c, first, count))
		return error_no_memory();
	sort_groups(c, start);
	min = threshold(c, parent == PROFILE_NONE
				   ? c->hit
				   : c->branches.data[parent].children_hit);
	for (size_t end = c->groups.count, i = start; i < end && !error; i++) {
		struct chain_group group = c->groups.data[i];
		uint32_t id = 0;

		if (group.period < min) {
			c->left_out = true;
			continue;
		}
		error = grow(c, parent, group, level, &id);
		if (error)
			break;
		link_branch(c, parent, last, id);
		last = id;
	}
	c->groups.count = start;
	return error;
}

/* Fills c->hits, and collects the nodes concerned. */
static struct error *mark_hits(struct chains *c,
			       const struct calltree_entry *entry)
{
	const struct calltree_node *nodes = c->tree->nodes.data;

	for (uint32_t hit = entry->first_self; hit != PROFILE_NONE;
	     hit = nodes[hit].next_self) {
		uint64_t period = nodes[hit].self_period;
		uint64_t count = nodes[hit].self_count;

		for (uint32_t id = hit; id != PROFILE_NONE;
		     id = c->nodes[id].parent) {
			struct chain_weight *weight = &c->hits[id];

			if (!weight->count && !vec_push(&c->touched, id))
				return error_no_memory();
			if (!weight->count || nodes[hit].self_row < weight->row)
				weight->row = nodes[hit].self_row;
			weight->period += period;
			weight->count += count;
		}
	}
	return NULL;
}

static void unmark_hits(struct chains *c)
{
	vec_for_each(id, &c->touched)
		c->hits[*id] = (struct chain_weight){};
	vec_clear(&c->touched);
}

/* Of a group: what hit the node itself is shown from the outermost step on. */
static void leave_out_hits(struct chains *c, uint32_t id)
{
	const struct calltree_node *node = &c->tree->nodes.data[id];
	const struct location *location = calltree_location(c->tree, id);
	struct chain_item *item = vec_last(&c->items);

	if (!c->tree->grouped || c->tree->options.count_each ||
	    location->entry != location->self)
		return;
	item->period -= node->self_period;
	item->count -= node->self_count;
	if (!item->count)
		c->items.count--;
}

static struct error *start_down(struct chains *c,
				const struct calltree_entry *entry)
{
	const struct calltree_node *nodes = c->tree->nodes.data;
	struct error *error = mark_hits(c, entry);

	if (error)
		return error;
	vec_for_each(id, &c->touched)
		if (c->nodes[*id].parent == PROFILE_NONE &&
		    !push_down(c, *id, ITEM_HIT))
			return error_no_memory();
	for (uint32_t id = entry->first_node; id != PROFILE_NONE;
	     id = nodes[id].next_in_entry) {
		size_t count = c->items.count;

		if (nodes[id].outer != PROFILE_NONE &&
		    !c->tree->options.count_each)
			continue;
		if (!push_down(c, id, ITEM_PASSED))
			return error_no_memory();
		if (c->items.count > count)
			leave_out_hits(c, id);
	}
	return NULL;
}

static struct error *start_up(struct chains *c,
			      const struct calltree_entry *entry)
{
	const struct calltree_node *nodes = c->tree->nodes.data;
	bool children = c->tree->options.children;

	for (uint32_t id = entry->first_node; id != PROFILE_NONE;
	     id = nodes[id].next_in_entry)
		if (!push_up(c, id,
			     (struct chain_weight){ nodes[id].inner_period,
						    nodes[id].inner_count,
						    nodes[id].row }))
			return error_no_memory();
	for (uint32_t id = entry->first_self; id != PROFILE_NONE;
	     id = nodes[id].next_self) {
		/* Already among the nodes of the entry. */
		if (children && calltree_location(c->tree, id)->entry ==
					calltree_location(c->tree, id)->self)
			continue;
		if (!push_up(c, id,
			     (struct chain_weight){ nodes[id].self_period,
						    nodes[id].self_count,
						    nodes[id].self_row }))
			return error_no_memory();
	}
	return NULL;
}

struct error *chains_build(struct chains *chains, uint32_t entry,
			   const struct chains_options *options)
{
	const struct calltree_entry *e = &chains->tree->entries.data[entry];
	struct error *error;

	chains->options = *options;
	chains->first = PROFILE_NONE;
	chains->hit = chains->count = 0;
	vec_clear(&chains->branches);
	vec_clear(&chains->steps);
	vec_clear(&chains->items);
	vec_clear(&chains->groups);
	error = options->caller_order ? start_down(chains, e)
				      : start_up(chains, e);
	vec_for_each(item, &chains->items) {
		chains->hit += item->period;
		chains->count += item->count;
	}
	if (!error)
		error = expand(chains, PROFILE_NONE, 0, 0);
	unmark_hits(chains);
	return error;
}
