// SPDX-License-Identifier: GPL-2.0-only
#include "profile/own_callers.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/map.h"

/* What is known of a stack. */
struct stack_state {
	/* Stacks that end with its innermost Python frame; with the function. */
	uint32_t python;
	uint32_t called;
	/* Of samples whose innermost frame of the function is this one. */
	struct own_weight weight;
};

struct builder {
	const struct profile *profile;
	const struct own_time_options *options;
	struct own_caller_vec *out;
	struct stack_state *stacks;
	/* Name and def to a function; that and a line to a place. */
	struct map functions;
	struct map places;
	/* A caller and the place above it to the caller there. */
	struct map callers;
	/* By place: the last stack that has counted for it, plus 1. */
	VEC(uint32_t) seen;
};

/* --- Samples ------------------------------------------------------------ */

static const struct profile_frame *frame_of(const struct builder *b,
					    uint32_t stack)
{
	return profile_frame(b->profile,
			     b->profile->stack_frames.data[stack]);
}

static bool is_function(const struct own_entry *a, const struct own_entry *b)
{
	return a->name == b->name && a->line == b->line;
}

/* Learns the function's file from a frame of it. */
static struct error *follow_stacks(struct builder *b,
				   struct own_entry *function)
{
	const struct profile *p = b->profile;

	for (uint32_t i = 0; i < p->stack_parents.count; i++) {
		uint32_t parent = p->stack_parents.data[i];
		const struct profile_frame *frame = frame_of(b, i);
		struct stack_state *state = &b->stacks[i];
		struct own_entry entry;

		if (!watch_goes_on(b->options->watch, "following stacks", i,
				   p->stack_parents.count))
			return watch_error(b->options->watch);
		state->python = state->called = PROFILE_NONE;
		if (parent != PROFILE_NONE) {
			state->python = b->stacks[parent].python;
			state->called = b->stacks[parent].called;
		}
		if (frame->kind != PROFILE_FRAME_PYTHON)
			continue;
		state->python = i;
		entry = own_entry_of(p, frame);
		if (!is_function(&entry, function))
			continue;
		state->called = i;
		function->file = frame->file;
	}
	return NULL;
}

static struct error *count_samples(struct builder *b)
{
	const struct profile_samples *s = &b->profile->samples;
	const struct own_time_options *o = b->options;

	for (size_t i = 0; i < s->rows; i++) {
		struct stack_state *state;

		if (!watch_goes_on(o->watch, "counting samples", i, s->rows))
			return watch_error(o->watch);
		if (s->stack[i] == PROFILE_NONE ||
		    b->stacks[s->stack[i]].called == PROFILE_NONE ||
		    !own_time_keeps(b->profile, o, i))
			continue;
		state = &b->stacks[b->stacks[s->stack[i]].called];
		state->weight.period += s->period[i];
		state->weight.samples += s->count[i];
	}
	return NULL;
}

/* --- Callers ------------------------------------------------------------ */

/* A number for each function and line. */
static struct error *find_place(struct builder *b,
				const struct own_entry *entry, uint32_t line,
				uint32_t *ret)
{
	const uint64_t *function = map_insert(
		&b->functions, (uint64_t)entry->name << 32 | entry->line,
		b->functions.count, NULL);
	const uint64_t *place =
		function ? map_insert(&b->places, *function << 32 | line,
				      b->places.count, NULL) :
			   NULL;

	if (!place)
		return error_no_memory();
	*ret = (uint32_t)*place;
	return NULL;
}

static struct error *find_caller(struct builder *b, uint32_t parent,
				 uint32_t place, const struct own_caller *as,
				 uint32_t *ret)
{
	const uint64_t *at = map_insert(&b->callers,
					(uint64_t)parent << 32 | place,
					b->out->count, NULL);

	if (!at || (*at == b->out->count && !vec_push(b->out, *as)))
		return error_no_memory();
	*ret = (uint32_t)*at;
	return NULL;
}

static void add_weight(struct builder *b, uint32_t caller,
		       const struct own_weight *weight)
{
	struct own_weight *total = &b->out->data[caller].entry.total;

	total->period += weight->period;
	total->samples += weight->samples;
}

/* The next Python frame outwards, as a stack; PROFILE_NONE: none. */
static uint32_t outer_of(const struct builder *b, uint32_t stack)
{
	uint32_t parent = b->profile->stack_parents.data[stack];

	return parent == PROFILE_NONE ? PROFILE_NONE : b->stacks[parent].python;
}

/* Whether the place is on the way from the called stack already. */
static struct error *see_place(struct builder *b, uint32_t called,
			       uint32_t place, bool *is_seen)
{
	while (b->seen.count <= place)
		if (!vec_push(&b->seen, 0))
			return error_no_memory();
	*is_seen = b->seen.data[place] == called + 1;
	b->seen.data[place] = called + 1;
	return NULL;
}

/* The caller above *at, unless its place is on the way already. */
static struct error *add_caller(struct builder *b, uint32_t called,
				uint32_t stack,
				const struct own_weight *weight, uint32_t *at)
{
	const struct profile_frame *frame = frame_of(b, stack);
	const struct own_caller caller = {
		.entry = own_entry_of(b->profile, frame),
		.line = frame->line,
		.parent = *at,
	};
	uint32_t place = PROFILE_NONE;
	bool is_seen = false;
	struct error *error =
		find_place(b, &caller.entry, frame->line, &place);

	if (!error)
		error = see_place(b, called, place, &is_seen);
	if (is_seen)
		b->out->data[0].is_recursive = true;
	if (error || is_seen)
		return error;
	error = find_caller(b, *at, place, &caller, at);
	if (!error)
		add_weight(b, *at, weight);
	return error;
}

static struct error *add_callers(struct builder *b, uint32_t called)
{
	const struct own_weight *weight = &b->stacks[called].weight;
	uint32_t at = 0;
	struct error *error = NULL;

	add_weight(b, 0, weight);
	for (uint32_t i = outer_of(b, called); i != PROFILE_NONE && !error;
	     i = outer_of(b, i))
		error = add_caller(b, called, i, weight, &at);
	return error;
}

/* --- Order -------------------------------------------------------------- */

/* What orders callers: lightest first, so that each goes before the others. */
struct weighed {
	uint64_t period;
	uint32_t index;
};

static int compare_weighed(const void *x, const void *y)
{
	const struct weighed *a = x, *b = y;
	int order = compare_u64(a->period, b->period);

	return order ? order : compare_u64(b->index, a->index);
}

static struct error *link_callers(struct own_caller_vec *callers)
{
	_cleanup_free_ struct weighed *order =
		calloc(callers->count, sizeof(*order));

	if (!order)
		return error_no_memory();
	for (uint32_t i = 0; i < callers->count; i++) {
		struct own_caller *caller = &callers->data[i];

		order[i] = (struct weighed){ caller->entry.total.period, i };
		caller->first_child = caller->next = PROFILE_NONE;
	}
	qsort(order, callers->count, sizeof(*order), compare_weighed);
	for (size_t i = 0; i < callers->count; i++) {
		uint32_t index = order[i].index;
		struct own_caller *caller = &callers->data[index], *parent;

		if (caller->parent == PROFILE_NONE)
			continue;
		parent = &callers->data[caller->parent];
		caller->next = parent->first_child;
		parent->first_child = index;
	}
	return NULL;
}

static void count_branches(struct own_caller_vec *callers)
{
	for (size_t i = 1; i < callers->count; i++) {
		struct own_caller *caller = &callers->data[i];
		const struct own_caller *parent =
			&callers->data[caller->parent];
		bool is_only =
			callers->data[parent->first_child].next == PROFILE_NONE;

		caller->branches = parent->branches +
				   (!is_only || !caller->parent);
	}
}

static struct error *build(struct builder *b, struct own_entry *function)
{
	size_t stacks = b->profile->stack_parents.count;
	struct own_caller first = { .parent = PROFILE_NONE };
	struct error *error;

	b->stacks = calloc(stacks + 1, sizeof(*b->stacks));
	error = b->stacks ? follow_stacks(b, function) : error_no_memory();
	if (!error)
		error = count_samples(b);
	first.entry = *function;
	if (!error && !vec_push(b->out, first))
		error = error_no_memory();
	for (uint32_t i = 0; i < stacks && !error; i++)
		if (b->stacks[i].weight.samples)
			error = add_callers(b, i);
	if (!error)
		error = link_callers(b->out);
	if (!error)
		count_branches(b->out);
	return error;
}

struct error *own_callers_find(const struct profile *profile,
			       const struct own_time_options *options,
			       uint32_t name, uint32_t def,
			       struct own_caller_vec *ret)
{
	struct own_entry function = { .is_python = true,
				      .name = name,
				      .file = PROFILE_NONE,
				      .line = def };
	struct builder b = { .profile = profile,
			     .options = options,
			     .out = ret };
	struct error *error = build(&b, &function);

	free(b.stacks);
	map_deinit(&b.functions);
	map_deinit(&b.places);
	map_deinit(&b.callers);
	vec_deinit(&b.seen);
	return error;
}
