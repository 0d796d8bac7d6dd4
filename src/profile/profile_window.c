// SPDX-License-Identifier: GPL-2.0-only
#include "profile/profile_window.h"

#include <stdlib.h>
#include <string.h>

#include "profile/profile_tables.h"

/* Stacks that are left, in their old order, and where each old one went. */
struct kept_stacks {
	uint32_t *places;
	uint32_t *parents;
	uint32_t *frames;
	uint32_t *depths;
	size_t count;
};

static void kept_stacks_deinit(struct kept_stacks *kept)
{
	free(kept->places);
	free(kept->parents);
	free(kept->frames);
	free(kept->depths);
}

/* Those of the rows from `first` on, and what they were called by. */
static size_t mark_stacks(const struct profile *profile, size_t first,
			  uint32_t *places)
{
	const struct profile_samples *s = &profile->samples;
	size_t count = 0;

	for (size_t i = first; i < s->rows; i++)
		if (s->stack[i] != PROFILE_NONE)
			places[s->stack[i]] = 1;
	/* A parent's handle is below its children's. */
	for (size_t i = profile->stack_parents.count; i-- > 0;) {
		uint32_t parent = profile->stack_parents.data[i];

		count += places[i];
		if (places[i] && parent != PROFILE_NONE)
			places[parent] = 1;
	}
	return count;
}

static void move_stacks(const struct profile *profile, struct kept_stacks *kept)
{
	uint32_t next = 0;

	for (size_t i = 0; i < profile->stack_parents.count; i++) {
		uint32_t parent = profile->stack_parents.data[i];

		if (!kept->places[i])
			continue;
		kept->parents[next] = parent == PROFILE_NONE ?
					      PROFILE_NONE :
					      kept->places[parent];
		kept->frames[next] = profile->stack_frames.data[i];
		kept->depths[next] = profile->stack_depths.data[i];
		kept->places[i] = next++;
	}
	kept->count = next;
}

static struct error *keep_stacks(const struct profile *profile, size_t first,
				 struct kept_stacks *kept)
{
	size_t count;

	kept->places = calloc(profile->stack_parents.count + 1,
			      sizeof(*kept->places));
	if (!kept->places)
		return error_no_memory();
	count = mark_stacks(profile, first, kept->places) + 1;
	kept->parents = calloc(count, sizeof(*kept->parents));
	kept->frames = calloc(count, sizeof(*kept->frames));
	kept->depths = calloc(count, sizeof(*kept->depths));
	if (!kept->parents || !kept->frames || !kept->depths)
		return error_no_memory();
	move_stacks(profile, kept);
	return NULL;
}

/* Stands right behind what called it: see find_stack() in profile.c. */
static struct error *index_stacks(const struct kept_stacks *kept,
				  struct index *ret)
{
	for (uint32_t i = 0; i < kept->count; i++) {
		uint64_t hash = profile_stack_hash(kept->parents[i],
						   kept->frames[i]);

		if (i != kept->parents[i] + 1 && !index_add(ret, hash, i)) {
			index_deinit(ret);
			return error_no_memory();
		}
	}
	return NULL;
}

/* Hands the columns over. */
static void set_stacks(struct profile *profile, struct kept_stacks *kept)
{
	free(profile->stack_parents.data);
	free(profile->stack_frames.data);
	free(profile->stack_depths.data);
	profile->stack_parents.data = kept->parents;
	profile->stack_frames.data = kept->frames;
	profile->stack_depths.data = kept->depths;
	profile->stack_parents.count = profile->stack_parents.capacity =
		kept->count;
	profile->stack_frames.count = profile->stack_frames.capacity =
		kept->count;
	profile->stack_depths.count = profile->stack_depths.capacity =
		kept->count;
	kept->parents = kept->frames = kept->depths = NULL;
}

static void place_rows(struct profile_samples *s, const uint32_t *places)
{
	for (size_t i = 0; i < s->rows; i++)
		if (s->stack[i] != PROFILE_NONE)
			s->stack[i] = places[s->stack[i]];
}

size_t profile_first_row(const struct profile *profile, uint64_t time)
{
	size_t row = profile->samples.rows;

	while (row && profile->samples.time[row - 1] >= time)
		row--;
	return row;
}

/* --- A window ----------------------------------------------------------- */

static bool copy_column(void *to, const void *from, size_t count, size_t size)
{
	void *copy = malloc(count * size + 1);

	if (copy && count)
		memcpy(copy, from, count * size);
	*(void **)to = copy;
	return copy;
}

#define COPY_VEC(to, from)                                             \
	(copy_column(&(to)->data, (from)->data, (from)->count,         \
		     sizeof(*(from)->data)) &&                         \
	 ((to)->count = (to)->capacity = (from)->count, true))

static bool copy_names(const struct profile *from, struct profile *to)
{
	return COPY_VEC(&to->strings, &from->strings) &&
	       COPY_VEC(&to->string_lengths, &from->string_lengths) &&
	       COPY_VEC(&to->dsos, &from->dsos) &&
	       COPY_VEC(&to->symbols, &from->symbols) &&
	       COPY_VEC(&to->frames, &from->frames) &&
	       COPY_VEC(&to->tasks, &from->tasks) &&
	       COPY_VEC(&to->task_parents, &from->task_parents) &&
	       COPY_VEC(&to->events, &from->events);
}

#define COPY_ROWS(column)                                                  \
	copy_column(&to->column, from->column + first, from->rows - first, \
		    sizeof(*from->column))

static bool copy_rows(const struct profile_samples *from, size_t first,
		      struct profile_samples *to)
{
	if (!from->rows)
		return true;
	to->rows = to->capacity = from->rows - first;
	return COPY_ROWS(time) && COPY_ROWS(period) && COPY_ROWS(stack) &&
	       COPY_ROWS(task) && COPY_ROWS(count) && COPY_ROWS(event) &&
	       COPY_ROWS(flags);
}

static struct error *copy_labels(const struct profile_samples *from,
				 size_t first, struct profile_samples *to)
{
	vec_for_each(label, &from->labels) {
		struct profile_label copy = { .name = label->name };

		if (!copy_column(&copy.values,
				 label->values ? label->values + first : NULL,
				 from->rows - first, sizeof(*copy.values)))
			return error_no_memory();
		if (!vec_push(&to->labels, copy)) {
			free(copy.values);
			return error_no_memory();
		}
	}
	return NULL;
}

static void count_events(struct profile *profile)
{
	const struct profile_samples *s = &profile->samples;

	vec_for_each(event, &profile->events)
		event->samples = event->period = event->lost = 0;
	for (size_t i = 0; i < s->rows; i++) {
		profile->events.data[s->event[i]].samples += s->count[i];
		profile->events.data[s->event[i]].period += s->period[i];
	}
}

static struct error *fill_window(const struct profile *profile, size_t first,
				 struct kept_stacks *kept, struct profile *to)
{
	struct error *error = keep_stacks(profile, first, kept);
	uint32_t recording;

	if (!error)
		error = index_stacks(kept, &to->tables->stacks);
	if (error)
		return error;
	set_stacks(to, kept);
	if (!copy_names(profile, to) ||
	    !copy_rows(&profile->samples, first, &to->samples))
		return error_no_memory();
	place_rows(&to->samples, kept->places);
	count_events(to);
	for (size_t i = 0; i < profile->recordings.count && !error; i++)
		error = profile_add_recording(to, &recording);
	return error ? error :
		       copy_labels(&profile->samples, first, &to->samples);
}

struct error *profile_window(const struct profile *profile, size_t first,
			     struct profile **ret)
{
	_cleanup_profile_ struct profile *window = NULL;
	struct kept_stacks kept = {};
	struct error *error = profile_create(NULL, &window);

	if (!error)
		error = fill_window(profile, first, &kept, window);
	kept_stacks_deinit(&kept);
	if (error)
		return error;
	*ret = take_ptr(window);
	return NULL;
}

/* --- Forgetting --------------------------------------------------------- */

#define MOVE_ROWS(column) \
	memmove(s->column, s->column + first, left * sizeof(*s->column))

static void drop_rows(struct profile_samples *s, size_t first)
{
	size_t left = s->rows - first;

	if (!first)
		return;
	MOVE_ROWS(time);
	MOVE_ROWS(period);
	MOVE_ROWS(stack);
	MOVE_ROWS(task);
	MOVE_ROWS(count);
	MOVE_ROWS(event);
	MOVE_ROWS(flags);
	vec_for_each(label, &s->labels)
		memmove(label->values, label->values + first,
			left * sizeof(*label->values));
	s->rows = left;
}

struct error *profile_forget(struct profile *profile, size_t first)
{
	struct kept_stacks kept = {};
	struct index index = {};
	struct error *error = keep_stacks(profile, first, &kept);

	if (!error)
		error = index_stacks(&kept, &index);
	if (!error) {
		set_stacks(profile, &kept);
		index_deinit(&profile->tables->stacks);
		profile->tables->stacks = index;
		/* Rows have other numbers and stacks. */
		index_deinit(&profile->tables->rows);
		drop_rows(&profile->samples, first);
		place_rows(&profile->samples, kept.places);
	}
	kept_stacks_deinit(&kept);
	return error;
}

/* --- Some tasks alone --------------------------------------------------- */

static void move_row(struct profile_samples *s, size_t from, size_t to)
{
	s->time[to] = s->time[from];
	s->period[to] = s->period[from];
	s->stack[to] = s->stack[from];
	s->task[to] = s->task[from];
	s->count[to] = s->count[from];
	s->event[to] = s->event[from];
	s->flags[to] = s->flags[from];
	vec_for_each(label, &s->labels)
		label->values[to] = label->values[from];
}

void profile_keep_tasks(struct profile *profile, const bool *keep)
{
	struct profile_samples *s = &profile->samples;
	size_t kept = 0;

	for (size_t i = 0; i < s->rows; i++) {
		struct profile_event *event = &profile->events.data[s->event[i]];

		if (keep[s->task[i]]) {
			move_row(s, i, kept++);
			continue;
		}
		event->samples -= s->count[i];
		event->period -= s->period[i];
	}
	if (kept == s->rows)
		return;
	s->rows = kept;
	/* Rows have other numbers. */
	index_deinit(&profile->tables->rows);
}
