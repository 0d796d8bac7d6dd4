// SPDX-License-Identifier: GPL-2.0-only
/* flame_tree_finish(): totals, order, and what is too small to be kept. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "flame/flame_function.h"
#include "flame/flame_tree.h"

/* A node while the order is made. */
struct ranked {
	double size;
	uint32_t node;
	uint32_t parent;
};

/* What is still to be put below `parent`, a node in its place. */
struct pending {
	uint32_t parent;
	/* FLAME_NONE: one node for those from `small` to `end` in the ranks. */
	uint32_t node;
	size_t small;
	size_t end;
};

struct finisher {
	struct flame_tree *tree;
	/* By parent, then heaviest first; those of the first level at the end. */
	struct ranked *ranked;
	/* By node: where in `ranked` its children begin; one more at the end. */
	size_t *children;
	/* Nodes of this size and smaller are not kept; below 0: all are. */
	double limit;
	uint32_t rest;
	struct flame_node_vec ordered;
	/* Scratch: the next one is the last. */
	VEC(struct pending) pending;
};

static void add_up(struct flame_node_vec *nodes)
{
	for (size_t i = 0; i < nodes->count; i++)
		memcpy(nodes->data[i].total, nodes->data[i].own,
		       sizeof(nodes->data[i].total));
	for (size_t i = nodes->count; i-- > 0;) {
		const struct flame_node *node = &nodes->data[i];

		for (size_t side = 0; side < FLAME_SIDES; side++) {
			struct flame_weight *to;

			if (node->parent == FLAME_NONE)
				continue;
			to = &nodes->data[node->parent].total[side];
			to->samples += node->total[side].samples;
			to->period += node->total[side].period;
		}
	}
}

static int compare_ranked(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;
	int order = compare_u64(a->parent, b->parent);

	if (order)
		return order;
	if (a->size != b->size)
		return a->size < b->size ? 1 : -1;
	return compare_u64(a->node, b->node);
}

static int compare_sizes(const void *x, const void *y)
{
	const double a = *(const double *)x, b = *(const double *)y;

	return a < b ? 1 : a > b ? -1 : 0;
}

static struct error *find_limit(struct finisher *f)
{
	size_t count = f->tree->nodes.count, max = f->tree->options.nodes_max;
	_cleanup_free_ double *sizes = NULL;

	f->limit = -1;
	if (count <= max)
		return NULL;
	sizes = malloc(count * sizeof(*sizes));
	if (!sizes)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		sizes[i] = f->ranked[i].size;
	qsort(sizes, count, sizeof(*sizes), compare_sizes);
	f->limit = sizes[max];
	return NULL;
}

static struct error *rank(struct finisher *f)
{
	const struct flame_node_vec *nodes = &f->tree->nodes;
	size_t at = 0;

	f->ranked = malloc((nodes->count + 1) * sizeof(*f->ranked));
	f->children = malloc((nodes->count + 2) * sizeof(*f->children));
	if (!f->ranked || !f->children)
		return error_no_memory();
	for (size_t i = 0; i < nodes->count; i++)
		f->ranked[i] = (struct ranked){
			flame_size(f->tree, nodes->data[i].total), (uint32_t)i,
			nodes->data[i].parent
		};
	qsort(f->ranked, nodes->count, sizeof(*f->ranked), compare_ranked);
	for (size_t i = 0; i < nodes->count; i++) {
		while (at < nodes->count && f->ranked[at].parent < i)
			at++;
		f->children[i] = at;
	}
	while (at < nodes->count && f->ranked[at].parent != FLAME_NONE)
		at++;
	f->children[nodes->count] = at;
	f->children[nodes->count + 1] = nodes->count;
	return find_limit(f);
}

/* One node for all those, and what is below them. */
static struct error *put_rest(struct finisher *f, const struct pending *rest)
{
	struct flame_node node = { .parent = rest->parent,
				   .function = f->rest };

	for (size_t i = rest->small; i < rest->end; i++) {
		const struct flame_node *small =
			&f->tree->nodes.data[f->ranked[i].node];

		for (size_t side = 0; side < FLAME_SIDES; side++) {
			node.own[side].samples += small->total[side].samples;
			node.own[side].period += small->total[side].period;
		}
	}
	memcpy(node.total, node.own, sizeof(node.total));
	return vec_push(&f->ordered, node) ? NULL : error_no_memory();
}

/* The children of a node that now is at `parent`. */
static struct error *push_children(struct finisher *f, uint32_t node,
				   uint32_t parent)
{
	size_t slot = node == FLAME_NONE ? f->tree->nodes.count : node;
	size_t begin = f->children[slot], end = f->children[slot + 1];
	struct pending next = { .parent = parent, .node = FLAME_NONE,
				.small = begin, .end = end };

	while (next.small < end && f->ranked[next.small].size > f->limit)
		next.small++;
	if (next.small < end && !vec_push(&f->pending, next))
		return error_no_memory();
	for (size_t i = next.small; i-- > begin;) {
		next.node = f->ranked[i].node;
		if (!vec_push(&f->pending, next))
			return error_no_memory();
	}
	return NULL;
}

static struct error *put_in_order(struct finisher *f)
{
	struct error *error = push_children(f, FLAME_NONE, FLAME_NONE);

	while (!error && f->pending.count) {
		struct pending next = f->pending.data[--f->pending.count];
		struct flame_node node;

		if (next.node == FLAME_NONE) {
			error = put_rest(f, &next);
			continue;
		}
		node = f->tree->nodes.data[next.node];
		node.parent = next.parent;
		if (!vec_push(&f->ordered, node))
			return error_no_memory();
		error = push_children(f, next.node,
				      (uint32_t)(f->ordered.count - 1));
	}
	return error;
}

static void count_rest(struct finisher *f)
{
	size_t rest = 0;

	vec_for_each(node, &f->ordered)
		rest += node->function == f->rest;
	f->tree->rest_nodes =
		rest ? f->tree->nodes.count - (f->ordered.count - rest) : 0;
}

static void finisher_deinit(struct finisher *f)
{
	free(f->ranked);
	free(f->children);
	vec_deinit(&f->ordered);
	vec_deinit(&f->pending);
}

struct error *flame_tree_finish(struct flame_tree *tree)
{
	_cleanup_(finisher_deinit) struct finisher f = { .tree = tree };
	struct flame_node_vec nodes;
	struct error *error = flame_other_function(
		tree, FLAME_REST, "[smaller boxes]", "", &f.rest);

	add_up(&tree->nodes);
	if (!error)
		error = rank(&f);
	if (!error)
		error = put_in_order(&f);
	if (error)
		return error;
	count_rest(&f);
	nodes = tree->nodes;
	tree->nodes = f.ordered;
	f.ordered = nodes;
	return NULL;
}
