// SPDX-License-Identifier: GPL-2.0-only
#include "explore/weights.h"

#include <stdlib.h>

#include "base/compare.h"

static uint64_t key_of(uint32_t what, uint32_t line)
{
	return (uint64_t)what << 32 | line;
}

static struct error *add_event(struct weights *weights, uint32_t event)
{
	struct weights_event *e;

	if (!vec_push(&weights->events,
		      (struct weights_event){ .event = event }))
		return error_no_memory();
	e = vec_last(&weights->events);
	return own_time_create(weights->profile, event, &e->own);
}

static struct error *index_event(struct weights_event *e)
{
	for (size_t i = 0; i < e->own->functions.count; i++) {
		const struct own_entry *f = &e->own->functions.data[i];

		if (f->is_python &&
		    !map_insert(&e->functions, key_of(f->name, f->line), i,
				NULL))
			return error_no_memory();
	}
	for (size_t i = 0; i < e->own->lines.count; i++) {
		const struct own_entry *line = &e->own->lines.data[i];

		if (line->is_python &&
		    !map_insert(&e->lines, key_of(line->file, line->line), i,
				NULL))
			return error_no_memory();
	}
	return NULL;
}

struct error *weights_create(const struct profile *profile,
			     const uint32_t *events, size_t count,
			     struct weights **ret)
{
	_cleanup_weights_ struct weights *weights =
		calloc(1, sizeof(*weights));
	struct error *error = NULL;

	if (!weights)
		return error_no_memory();
	weights->profile = profile;
	for (size_t i = 0; i < count && !error; i++) {
		error = add_event(weights, events[i]);
		if (!error)
			error = index_event(vec_last(&weights->events));
	}
	if (!error)
		*ret = take_ptr(weights);
	return error;
}

void weights_destroy(struct weights *weights)
{
	if (!weights)
		return;
	vec_for_each(event, &weights->events) {
		own_time_destroy(event->own);
		map_deinit(&event->functions);
		map_deinit(&event->lines);
	}
	vec_deinit(&weights->events);
	free(weights);
}

const struct own_entry *weights_function(const struct weights *weights,
					 size_t event, uint32_t name,
					 uint32_t def)
{
	const struct weights_event *e = &weights->events.data[event];
	const uint64_t *at = map_find(&e->functions, key_of(name, def));

	return at ? &e->own->functions.data[*at] : NULL;
}

const struct own_entry *weights_line(const struct weights *weights,
				     size_t event, uint32_t file,
				     uint32_t line)
{
	const struct weights_event *e = &weights->events.data[event];
	const uint64_t *at = map_find(&e->lines, key_of(file, line));

	return at ? &e->own->lines.data[*at] : NULL;
}

const struct own_entry *weights_file(const struct weights *weights,
				     size_t event, uint32_t file)
{
	const struct weights_event *e = &weights->events.data[event];

	vec_for_each(entry, &e->own->files)
		if (entry->is_python && entry->file == file)
			return entry;
	return NULL;
}

static int compare_lines(const void *a, const void *b)
{
	return compare_u64(*(const uint32_t *)a, *(const uint32_t *)b);
}

void weights_lines_sort(struct weights_lines *lines)
{
	size_t kept = 0;

	if (lines->count)
		qsort(lines->data, lines->count, sizeof(*lines->data),
		      compare_lines);
	for (size_t i = 0; i < lines->count; i++)
		if (!kept || lines->data[kept - 1] != lines->data[i])
			lines->data[kept++] = lines->data[i];
	lines->count = kept;
}

struct error *weights_find_lines(const struct weights *weights, uint32_t file,
				 uint32_t first, uint32_t last,
				 struct weights_lines *ret)
{
	vec_for_each(e, &weights->events)
		vec_for_each(line, &e->own->lines)
			if (line->is_python && line->file == file &&
			    line->line >= first && line->line <= last &&
			    !vec_push(ret, line->line))
				return error_no_memory();
	weights_lines_sort(ret);
	return NULL;
}
