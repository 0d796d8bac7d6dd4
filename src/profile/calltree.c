// SPDX-License-Identifier: GPL-2.0-only
#include "profile/calltree.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

struct calltree_builder {
	struct calltree *tree;
	/* PROFILE_LABEL_CPU of the profile. */
	uint32_t cpu_label;
	/* Rows of the event, and their context. */
	VEC(uint32_t) rows;
	VEC(uint32_t) row_contexts;
	/* Rows ordered by context; context i ends before ends[i]. */
	uint32_t *ordered;
	uint32_t *ends;
	/* Of the context in work: reduced stack -> node. */
	uint32_t *node_of;
	/* The same per node, to clear node_of. */
	VEC(uint32_t) stack_of;
	/* Of the context in work: place -> entry, or innermost open node. */
	uint32_t *by_place;
	/* Steps still to be added, from the leaf upwards. */
	VEC(uint32_t) path;
	struct map contexts;
};

static uint32_t *alloc_handles(size_t count)
{
	uint32_t *handles = malloc((count + 1) * sizeof(*handles));

	if (handles)
		memset(handles, 0xff, (count + 1) * sizeof(*handles));
	return handles;
}

static bool is_kept(const struct calltree_options *options,
		    const struct profile *profile, size_t row)
{
	return !options->keep || options->keep(profile, row, options->keep_arg);
}

static struct calltree_context context_of(const struct calltree_builder *b,
					  size_t row)
{
	const struct calltree *tree = b->tree;
	const struct calltree_options *options = &tree->options;
	const struct profile_samples *s = &tree->profile->samples;
	struct calltree_context context = { .task = s->task[row],
					    .cpu = -1,
					    .parent = PROFILE_NONE,
					    .hidden = options->keep_hidden &&
						      !is_kept(options,
							       tree->profile,
							       row),
					    .first_root = PROFILE_NONE };
	uint32_t stack = s->stack[row];

	if (options->context_keys & CONTEXT_CPU)
		context.cpu = (int32_t)profile_label(tree->profile,
						     b->cpu_label, row);
	if ((options->context_keys & CONTEXT_PARENT) && options->parents)
		context.parent = options->parents
			[stack == PROFILE_NONE
				 ? tree->profile->stack_parents.count
				 : stack];
	if ((options->context_keys & CONTEXT_TIME) && options->time_quantum)
		context.time = s->time[row] -
			       s->time[row] % options->time_quantum;
	return context;
}

uint64_t calltree_context_hash(const struct calltree *tree,
			       const struct calltree_context *context)
{
	const struct profile_task *t =
		profile_task(tree->profile, context->task);
	unsigned int keys = tree->options.context_keys;
	uint64_t hash = keys & CONTEXT_COMM ? t->comm : 0;

	if (keys & CONTEXT_THREAD_NAME)
		hash = hash_combine(hash, profile_task_name(t));
	hash = hash_combine(hash, keys & CONTEXT_PID ? (uint32_t)t->pid : 0);
	hash = hash_combine(hash, keys & CONTEXT_TID ? (uint32_t)t->tid : 0);
	hash = hash_combine(hash,
			    keys & CONTEXT_CPU ? (uint32_t)context->cpu : 0);
	hash = hash_combine(hash, context->hidden);
	return hash_combine(hash, hash_combine(context->parent, context->time));
}

bool calltree_context_equal(const struct calltree *tree,
			    const struct calltree_context *x,
			    const struct calltree_context *y)
{
	const struct profile_task *s = profile_task(tree->profile, x->task);
	const struct profile_task *t = profile_task(tree->profile, y->task);
	unsigned int keys = tree->options.context_keys;

	return (!(keys & CONTEXT_COMM) || s->comm == t->comm) &&
	       (!(keys & CONTEXT_THREAD_NAME) ||
		profile_task_name(s) == profile_task_name(t)) &&
	       (!(keys & CONTEXT_PID) || s->pid == t->pid) &&
	       (!(keys & CONTEXT_TID) || s->tid == t->tid) &&
	       (!(keys & CONTEXT_CPU) || x->cpu == y->cpu) &&
	       x->parent == y->parent && x->time == y->time &&
	       x->hidden == y->hidden;
}

static struct error *context_find(struct calltree_builder *b, size_t row,
				  uint32_t *ret)
{
	const struct calltree_context context = context_of(b, row);
	uint64_t hash = calltree_context_hash(b->tree, &context);
	bool is_new;
	uint64_t *id;

	/* Probe by rehashing: the map has one value for a key. */
	for (;; hash = hash_combine(hash, 1)) {
		id = map_insert(&b->contexts, hash, b->tree->contexts.count,
				&is_new);
		if (!id)
			return error_no_memory();
		if (is_new && !vec_push(&b->tree->contexts, context))
			return error_no_memory();
		if (is_new ||
		    calltree_context_equal(b->tree,
					   &b->tree->contexts.data[*id],
					   &context))
			break;
	}
	*ret = (uint32_t)*id;
	return NULL;
}

static struct error *collect_rows(struct calltree_builder *b)
{
	const struct profile *profile = b->tree->profile;
	const struct calltree_options *options = &b->tree->options;
	const struct profile_samples *s = &profile->samples;
	struct error *error;

	for (size_t row = 0; row < s->rows; row++) {
		uint32_t context = 0;

		if (s->event[row] != options->event ||
		    (options->select &&
		     !options->select(profile, row, options->select_arg)))
			continue;
		b->tree->period += s->period[row];
		b->tree->count += s->count[row];
		if (!options->keep_hidden && !is_kept(options, profile, row))
			continue;
		error = context_find(b, row, &context);
		if (error)
			return error;
		if (!vec_push(&b->rows, (uint32_t)row) ||
		    !vec_push(&b->row_contexts, context))
			return error_no_memory();
	}
	return NULL;
}

/* A counting sort, so that one context after the other can be worked on. */
static struct error *order_rows(struct calltree_builder *b)
{
	size_t contexts = b->tree->contexts.count;
	uint32_t start = 0;

	b->ordered = calloc(b->rows.count + 1, sizeof(*b->ordered));
	b->ends = calloc(contexts + 1, sizeof(*b->ends));
	if (!b->ordered || !b->ends)
		return error_no_memory();
	for (size_t i = 0; i < b->rows.count; i++)
		b->ends[b->row_contexts.data[i]]++;
	for (size_t i = 0; i < contexts; i++) {
		uint32_t count = b->ends[i];

		b->ends[i] = start;
		start += count;
	}
	for (size_t i = 0; i < b->rows.count; i++)
		b->ordered[b->ends[b->row_contexts.data[i]]++] =
			b->rows.data[i];
	return NULL;
}

static struct error *add_node(struct calltree_builder *b, uint32_t context,
			      uint32_t parent, uint32_t stack)
{
	struct calltree *tree = b->tree;
	uint32_t id = (uint32_t)tree->nodes.count;
	uint32_t *siblings = parent == PROFILE_NONE
				     ? &tree->contexts.data[context].first_root
				     : &tree->nodes.data[parent].first_child;
	struct calltree_node node = {
		.parent = parent,
		.first_child = PROFILE_NONE,
		.next_sibling = *siblings,
		.location = tree->locations->steps.data[stack],
		.context = context,
		.depth = 1,
		.outer = PROFILE_NONE,
		.next_in_entry = PROFILE_NONE,
		.next_self = PROFILE_NONE,
		.self_row = PROFILE_NONE,
		.row = PROFILE_NONE,
	};

	if (parent != PROFILE_NONE)
		node.depth = tree->nodes.data[parent].depth + 1;
	/* Before the push, which may move what siblings points into. */
	*siblings = id;
	if (!vec_push(&tree->nodes, node) || !vec_push(&b->stack_of, stack))
		return error_no_memory();
	b->node_of[stack] = id;
	return NULL;
}

static struct error *find_node(struct calltree_builder *b, uint32_t context,
			       uint32_t stack, uint32_t *ret)
{
	const struct locations *locations = b->tree->locations;
	uint32_t s = stack;
	uint32_t parent = PROFILE_NONE;

	vec_clear(&b->path);
	for (; s != PROFILE_NONE; s = locations->parents.data[s]) {
		parent = b->node_of[s];
		if (parent != PROFILE_NONE)
			break;
		if (!vec_push(&b->path, s))
			return error_no_memory();
	}
	for (size_t i = b->path.count; i-- > 0;) {
		struct error *error =
			add_node(b, context, parent, b->path.data[i]);

		if (error)
			return error;
		parent = b->node_of[b->path.data[i]];
	}
	*ret = b->node_of[stack];
	return NULL;
}

static struct error *add_row(struct calltree_builder *b, uint32_t context,
			     uint32_t row)
{
	const struct profile *profile = b->tree->profile;
	const struct profile_samples *s = &profile->samples;
	struct calltree_node *node;
	uint32_t id = 0;
	struct error *error = find_node(
		b, context,
		locations_stack(b->tree->locations, profile, s->stack[row]),
		&id);

	if (error)
		return error;
	node = &b->tree->nodes.data[id];
	node->self_period += s->period[row];
	node->self_count += s->count[row];
	if (row < node->self_row)
		node->self_row = row;
	return NULL;
}

/* Children stand behind their parents, so one pass backwards sums up. */
static void sum_up(struct calltree *tree, size_t first)
{
	for (size_t i = tree->nodes.count; i-- > first;) {
		struct calltree_node *node = &tree->nodes.data[i];
		struct calltree_node *parent;

		node->period += node->self_period;
		node->count += node->self_count;
		if (node->self_row < node->row)
			node->row = node->self_row;
		if (node->self_count && node->depth > node->leaf_depth)
			node->leaf_depth = node->depth;
		if (node->parent == PROFILE_NONE)
			continue;
		parent = &tree->nodes.data[node->parent];
		parent->period += node->period;
		parent->count += node->count;
		if (node->row < parent->row)
			parent->row = node->row;
		if (node->leaf_depth > parent->leaf_depth)
			parent->leaf_depth = node->leaf_depth;
	}
}

static uint32_t next_depth_first(const struct calltree *tree, uint32_t *open,
				 uint32_t id)
{
	const struct calltree_node *node = &tree->nodes.data[id];

	if (node->first_child != PROFILE_NONE)
		return node->first_child;
	for (;;) {
		/* Leaving the node: the place is again the outer one's. */
		open[calltree_location(tree, id)->entry] = node->outer;
		if (node->next_sibling != PROFILE_NONE)
			return node->next_sibling;
		id = node->parent;
		if (id == PROFILE_NONE)
			return PROFILE_NONE;
		node = &tree->nodes.data[id];
	}
}

/* Finds recursion: calltree_node.outer and .inner_*. */
static void link_recursion(struct calltree_builder *b, uint32_t context)
{
	struct calltree *tree = b->tree;
	uint32_t *open = b->by_place;
	uint32_t id = tree->contexts.data[context].first_root;

	for (; id != PROFILE_NONE; id = next_depth_first(tree, open, id)) {
		struct calltree_node *node = &tree->nodes.data[id];
		uint32_t place = calltree_location(tree, id)->entry;

		node->outer = open[place];
		node->inner_period += node->period;
		node->inner_count += node->count;
		if (node->outer != PROFILE_NONE) {
			struct calltree_node *outer =
				&tree->nodes.data[node->outer];

			outer->inner_period -= node->period;
			outer->inner_count -= node->count;
		}
		open[place] = id;
	}
}

static struct calltree_entry *find_entry(struct calltree_builder *b,
					 uint32_t context, uint32_t place,
					 uint32_t location)
{
	struct calltree *tree = b->tree;
	const struct calltree_entry entry = {
		.context = context,
		.place = place,
		.location = location,
		.first_node = PROFILE_NONE,
		.first_self = PROFILE_NONE,
		.row = PROFILE_NONE,
		.self_row = PROFILE_NONE,
	};

	if (b->by_place[place] == PROFILE_NONE) {
		b->by_place[place] = (uint32_t)tree->entries.count;
		if (!vec_push(&tree->entries, entry))
			return NULL;
	}
	return &tree->entries.data[b->by_place[place]];
}

static void max_u32(uint32_t *to, uint32_t value)
{
	if (value > *to)
		*to = value;
}

static void min_u32(uint32_t *to, uint32_t value)
{
	if (value < *to)
		*to = value;
}

/*
 * The nearest node, from a hit one up, whose entry is the one that was hit;
 * PROFILE_NONE if there is none. Only of an inlined function it is another.
 */
static uint32_t passed_node(const struct calltree *tree, uint32_t id)
{
	const struct location *location = calltree_location(tree, id);
	uint32_t place = location->self;

	if (location->hit == PROFILE_NONE)
		return location->entry == place ? id : PROFILE_NONE;
	while (id != PROFILE_NONE && calltree_location(tree, id)->entry != place)
		id = tree->nodes.data[id].parent;
	return id;
}

/*
 * True if the samples that hit the node count for the entry as what passed
 * through it, too. What was inlined stands before it in their chains.
 */
static bool is_passed(struct calltree *tree, uint32_t id)
{
	uint32_t passed = passed_node(tree, id);

	if (passed == PROFILE_NONE)
		return false;
	if (passed != id) {
		tree->nodes.data[passed].inner_period -=
			tree->nodes.data[id].self_period;
		tree->nodes.data[passed].inner_count -=
			tree->nodes.data[id].self_count;
	}
	return true;
}

/* The samples that hit a node. */
static struct error *enter_self(struct calltree_builder *b, uint32_t id)
{
	struct calltree_node *node = &b->tree->nodes.data[id];
	const struct location *location = calltree_location(b->tree, id);
	struct calltree_entry *entry;

	if (!node->self_count)
		return NULL;
	entry = find_entry(b, node->context, location->self,
			   location->hit == PROFILE_NONE ? node->location
							 : location->hit);
	if (!entry)
		return error_no_memory();
	node->next_self = entry->first_self;
	entry->first_self = id;
	entry->self_period += node->self_period;
	entry->self_count += node->self_count;
	min_u32(&entry->self_row, node->self_row);
	if (node->self_row < entry->row) {
		entry->row = node->self_row;
		entry->row_depth = 0;
	}
	/* What hit the entry is shown from the outermost frame on. */
	max_u32(&entry->depth_down, node->depth);
	max_u32(&entry->depth_up, node->depth);
	if (!b->tree->options.children || b->tree->options.count_each ||
	    !is_passed(b->tree, id))
		entry->period += node->self_period;
	return NULL;
}

/* The samples that passed through a node. */
static struct error *enter_children(struct calltree_builder *b, uint32_t id)
{
	struct calltree_node *node = &b->tree->nodes.data[id];
	uint32_t place = calltree_location(b->tree, id)->entry;
	struct calltree_entry *entry =
		find_entry(b, node->context, place, node->location);

	if (!entry)
		return error_no_memory();
	node->next_in_entry = entry->first_node;
	entry->first_node = id;
	/* A row's path is unique, so its outermost node comes first. */
	if (node->row < entry->row ||
	    (node->row == entry->row && !entry->row_depth)) {
		entry->row = node->row;
		entry->row_depth = node->depth;
	}
	max_u32(&entry->depth_down, node->leaf_depth - node->depth + 1);
	if (node->inner_count)
		max_u32(&entry->depth_up, node->depth);
	if (node->outer == PROFILE_NONE || b->tree->options.count_each)
		entry->period += node->period;
	return NULL;
}

static uint32_t last_of(const struct calltree *tree, uint32_t id,
			size_t next_offset)
{
	for (;;) {
		uint32_t next = *(const uint32_t *)((const char *)
							    &tree->nodes.data[id] +
						    next_offset);

		if (next == PROFILE_NONE)
			return id;
		id = next;
	}
}

/* Puts the nodes of one list behind another's. */
static void join_lists(struct calltree *tree, uint32_t *to, uint32_t from,
		       size_t next_offset)
{
	uint32_t last;

	if (from == PROFILE_NONE)
		return;
	last = last_of(tree, from, next_offset);
	*(uint32_t *)((char *)&tree->nodes.data[last] + next_offset) = *to;
	*to = from;
}

/* What was hit stands for both. */
static void merge_entry(struct calltree *tree, struct calltree_entry *to,
			const struct calltree_entry *from)
{
	if (to->first_self == PROFILE_NONE &&
	    from->first_self != PROFILE_NONE) {
		to->place = from->place;
		to->location = from->location;
	}
	if (from->row < to->row) {
		to->row = from->row;
		to->row_depth = from->row_depth;
	}
	min_u32(&to->self_row, from->self_row);
	max_u32(&to->depth_down, from->depth_down);
	max_u32(&to->depth_up, from->depth_up);
	join_lists(tree, &to->first_node, from->first_node,
		   offsetof(struct calltree_node, next_in_entry));
	join_lists(tree, &to->first_self, from->first_self,
		   offsetof(struct calltree_node, next_self));
	to->self_period += from->self_period;
	to->self_count += from->self_count;
	to->period += from->period;
}

/* Makes one entry of those whose places are of one group. */
static void group_entries(struct calltree_builder *b, size_t first)
{
	struct calltree *tree = b->tree;
	const uint32_t *groups = tree->locations->groups;
	size_t count = first;

	if (!groups)
		return;
	tree->grouped = true;
	for (size_t i = first; i < tree->entries.count; i++) {
		struct calltree_entry entry = tree->entries.data[i];
		uint32_t *known = &b->by_place[groups[entry.place]];

		if (*known != PROFILE_NONE) {
			merge_entry(tree, &tree->entries.data[*known], &entry);
			continue;
		}
		*known = (uint32_t)count;
		tree->entries.data[count++] = entry;
	}
	tree->entries.count = count;
	for (size_t i = first; i < count; i++)
		b->by_place[groups[tree->entries.data[i].place]] = PROFILE_NONE;
}

static struct error *fill_entries(struct calltree_builder *b, size_t first)
{
	struct calltree *tree = b->tree;
	size_t first_entry = tree->entries.count;

	for (size_t i = first; i < tree->nodes.count; i++) {
		struct error *error = enter_self(b, (uint32_t)i);

		if (!error && tree->options.children)
			error = enter_children(b, (uint32_t)i);
		if (error)
			return error;
	}
	for (size_t i = first_entry; i < tree->entries.count; i++)
		b->by_place[tree->entries.data[i].place] = PROFILE_NONE;
	group_entries(b, first_entry);
	return NULL;
}

static struct error *build_context(struct calltree_builder *b, uint32_t context)
{
	struct calltree *tree = b->tree;
	size_t first = tree->nodes.count;
	uint32_t start = context ? b->ends[context - 1] : 0;

	for (uint32_t i = start; i < b->ends[context]; i++) {
		struct error *error = add_row(b, context, b->ordered[i]);

		if (error)
			return error;
	}
	vec_for_each(stack, &b->stack_of)
		b->node_of[*stack] = PROFILE_NONE;
	vec_clear(&b->stack_of);
	sum_up(tree, first);
	link_recursion(b, context);
	return fill_entries(b, first);
}

static struct error *build(struct calltree_builder *b)
{
	const struct locations *locations = b->tree->locations;
	struct error *error = collect_rows(b);

	if (!error)
		error = order_rows(b);
	if (error)
		return error;
	b->node_of = alloc_handles(locations->parents.count);
	b->by_place = alloc_handles(locations->entry_count);
	if (!b->node_of || !b->by_place ||
	    !vec_reserve(&b->tree->nodes, locations->parents.count))
		return error_no_memory();
	for (size_t i = 0; i < b->tree->contexts.count && !error; i++)
		error = build_context(b, (uint32_t)i);
	b->tree->shown_period = b->tree->graph_period = b->tree->period;
	return error;
}

static void calltree_builder_deinit(struct calltree_builder *b)
{
	vec_deinit(&b->rows);
	vec_deinit(&b->row_contexts);
	vec_deinit(&b->stack_of);
	vec_deinit(&b->path);
	free(b->ordered);
	free(b->ends);
	free(b->node_of);
	free(b->by_place);
	map_deinit(&b->contexts);
}

struct error *calltree_create(const struct profile *profile,
			      const struct locations *locations,
			      const struct calltree_options *options,
			      struct calltree **ret)
{
	struct calltree *tree = calloc(1, sizeof(*tree));
	struct calltree_builder b = { .tree = tree };
	struct error *error;

	if (!tree)
		return error_no_memory();
	tree->profile = profile;
	tree->locations = locations;
	tree->options = *options;
	b.cpu_label = profile_find_label(profile, PROFILE_LABEL_CPU);
	error = build(&b);
	calltree_builder_deinit(&b);
	if (error) {
		calltree_destroy(tree);
		return error;
	}
	*ret = tree;
	return NULL;
}

void calltree_destroy(struct calltree *tree)
{
	if (!tree)
		return;
	vec_deinit(&tree->nodes);
	vec_deinit(&tree->contexts);
	vec_deinit(&tree->entries);
	free(tree);
}
