// SPDX-License-Identifier: GPL-2.0-only
#include "export/calls.h"

#include <stdlib.h>

#include "base/compare.h"

static void add(struct export_weight *weight, const struct export_sum *sum)
{
	weight->samples += sum->samples;
	weight->weight += sum->weight;
}

/* NULL when memory runs out. */
static struct export_call *call_of(struct export_calls *c, uint32_t place,
				   uint32_t callee)
{
	struct export_call call = { .place = place, .callee = callee };
	uint64_t *at = map_insert(&c->index, (uint64_t)place << 32 | callee,
				  c->all.count, NULL);

	if (!at || (*at == c->all.count && !vec_push(&c->all, call)))
		return NULL;
	return &c->all.data[*at];
}

static uint32_t function_at(const struct export_calls *c, uint32_t place)
{
	uint32_t places = (uint32_t)c->stacks->places.count;

	if (place < places)
		return c->stacks->places.data[place].function;
	return c->stacks->places.data[place - places].function +
	       (uint32_t)c->stacks->functions.count;
}

/* To c->steps; with levels those within themselves are others. */
static bool find_steps(struct export_calls *c, uint32_t node)
{
	vec_clear(&c->steps);
	for (; node != PROFILE_NONE; node = c->stacks->nodes.data[node].parent)
		if (!vec_push(&c->steps, c->stacks->nodes.data[node].place))
			return false;
	if (!c->levels)
		return true;
	c->stamp++;
	for (size_t i = c->steps.count; i-- > 0;) {
		uint32_t function = function_at(c, c->steps.data[i]);

		if (c->seen[function] == c->stamp)
			c->steps.data[i] += (uint32_t)c->stacks->places.count;
		c->seen[function] = c->stamp;
	}
	return true;
}

/* From the leaf outwards; a function is met first at its innermost place. */
static bool add_stack(struct export_calls *c, const struct export_sum *sum)
{
	uint32_t functions = (uint32_t)c->stacks->functions.count;
	uint32_t callee = PROFILE_NONE;

	if (!find_steps(c, sum->node))
		return false;
	c->stamp++;
	add(&c->own[c->steps.data[0]], sum);
	for (size_t i = 0; i < c->steps.count; i++) {
		uint32_t place = c->steps.data[i];
		uint32_t function = function_at(c, place);
		bool is_new = c->seen[function] != c->stamp;
		struct export_call *call;

		c->seen[function] = c->stamp;
		if (is_new)
			add(&c->total[function], sum);
		/* What is not within itself is called once. */
		if (i && (is_new || (c->levels && callee < functions))) {
			call = call_of(c, place, callee);
			if (!call)
				return false;
			add(&call->all, sum);
			if (i == 1)
				add(&call->own, sum);
		}
		callee = function;
	}
	add(&c->roots[callee], sum);
	return true;
}

static int compare_calls(const void *left, const void *right)
{
	const struct export_call *a = left, *b = right;
	int order = compare_u64(a->place, b->place);

	return order ? order : compare_u64(a->callee, b->callee);
}

static bool add_groups(struct export_calls *c, struct export_groups *groups,
		       size_t first, size_t end)
{
	struct export_sums sums = {};
	bool ok = true;

	for (size_t i = first; ok && i < end; i++) {
		ok = export_group_sums(groups, &groups->all.data[i], &sums);
		for (size_t at = 0; ok && at < sums.count; at++)
			ok = add_stack(c, &sums.data[at]);
	}
	vec_deinit(&sums);
	return ok;
}

struct error *export_calls_create(struct export_groups *groups, size_t first,
				  size_t end, bool levels,
				  struct export_calls **ret)
{
	const struct export_stacks *s = groups->stacks;
	size_t functions = 2 * s->functions.count + 1;
	_cleanup_export_calls_ struct export_calls *c = calloc(1, sizeof(*c));

	if (!c)
		return error_no_memory();
	c->stacks = s;
	c->levels = levels;
	c->own = calloc(2 * s->places.count + 1, sizeof(*c->own));
	c->total = calloc(functions, sizeof(*c->total));
	c->roots = calloc(functions, sizeof(*c->roots));
	c->seen = calloc(functions, sizeof(*c->seen));
	if (!c->own || !c->total || !c->roots || !c->seen ||
	    !add_groups(c, groups, first, end))
		return error_no_memory();
	if (c->all.count)
		qsort(c->all.data, c->all.count, sizeof(*c->all.data),
		      compare_calls);
	*ret = take_ptr(c);
	return NULL;
}

void export_calls_destroy(struct export_calls *c)
{
	if (!c)
		return;
	free(c->own);
	free(c->total);
	free(c->roots);
	vec_deinit(&c->all);
	map_deinit(&c->index);
	free(c->seen);
	vec_deinit(&c->steps);
	free(c);
}
