// SPDX-License-Identifier: GPL-2.0-only
#include "explore/native_hits.h"

#include <stdlib.h>

#include "base/compare.h"

const struct profile_frame *native_hits_frame(const struct profile *p,
					      uint32_t stack)
{
	const struct profile_frame *frame =
		profile_frame(p, p->stack_frames.data[stack]);

	return frame->flags & PROFILE_FRAME_INLINED ?
		       profile_frame(p, frame->real) :
		       frame;
}

/* By stack: the function is in it. Parents stand before their children. */
static bool *find_stacks(const struct profile *p, uint32_t symbol)
{
	size_t count = p->stack_frames.count;
	bool *has = calloc(count + 1, sizeof(*has));

	for (size_t i = 0; has && i < count; i++) {
		uint32_t parent = p->stack_parents.data[i];

		has[i] = (parent != PROFILE_NONE && has[parent]) ||
			 native_hits_frame(p, (uint32_t)i)->symbol ==
				 symbol;
	}
	return has;
}

static void add_weight(struct own_weight *sum, struct own_weight weight)
{
	sum->period += weight.period;
	sum->samples += weight.samples;
}

static struct error *add_hit(struct native_hits *hits, struct map *index,
			     uint64_t address, uint32_t frame,
			     struct own_weight weight)
{
	const struct native_hit place = { .at = address, .frame = frame };
	uint64_t *at = map_insert(index, address, hits->places.count, NULL);

	if (!at || (*at == hits->places.count && !vec_push(&hits->places, place)))
		return error_no_memory();
	add_weight(&hits->places.data[*at].weight, weight);
	add_weight(&hits->all, weight);
	return NULL;
}

static int compare_places(const void *x, const void *y)
{
	const struct native_hit *a = x, *b = y;

	return compare_u64(a->at, b->at);
}

struct error *native_hits_create(const struct profile *profile, uint32_t event,
				 uint32_t symbol, struct native_hits **ret)
{
	_cleanup_native_hits_ struct native_hits *hits =
		calloc(1, sizeof(*hits));
	_cleanup_(map_deinit) struct map index = {};
	_cleanup_free_ bool *has = find_stacks(profile, symbol);
	const struct profile_samples *s = &profile->samples;
	struct error *error = hits && has ? NULL : error_no_memory();

	for (size_t i = 0; i < s->rows && !error; i++) {
		const struct own_weight weight = { .period = s->period[i],
						   .samples = s->count[i] };
		const struct profile_frame *frame;

		if (s->event[i] != event || s->stack[i] == PROFILE_NONE ||
		    !has[s->stack[i]])
			continue;
		add_weight(&hits->total, weight);
		frame = native_hits_frame(profile, s->stack[i]);
		if (frame->symbol == symbol)
			error = add_hit(hits, &index, frame->rel,
					profile->stack_frames.data[s->stack[i]],
					weight);
	}
	if (error)
		return error;
	if (hits->places.count)
		qsort(hits->places.data, hits->places.count,
		      sizeof(*hits->places.data), compare_places);
	*ret = take_ptr(hits);
	return NULL;
}

void native_hits_destroy(struct native_hits *hits)
{
	if (!hits)
		return;
	vec_deinit(&hits->places);
	free(hits);
}

const struct native_hit *native_hits_at(const struct native_hits *hits,
					uint64_t at)
{
	const struct native_hit key = { .at = at };

	return hits->places.count ? bsearch(&key, hits->places.data,
					    hits->places.count, sizeof(key),
					    compare_places) :
				    NULL;
}
