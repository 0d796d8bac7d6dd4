// SPDX-License-Identifier: GPL-2.0-only
#include "explore/joined_parts.h"

#include <stdlib.h>
#include <string.h>

#include "explore/python_listing.h"

/* The lines of each part, in the order of the parts. */
struct joiner {
	struct listing *listing;
	struct annotate_parts *parts;
	struct weights_lines *lines;
};

static struct error *find_lines(struct joiner *j)
{
	struct error *error = NULL;

	j->lines = calloc(j->parts->count + 1, sizeof(*j->lines));
	if (!j->lines)
		return error_no_memory();
	for (size_t i = 0; i < j->parts->count && !error; i++)
		error = python_listing_lines(j->listing, &j->parts->data[i],
					     &j->lines[i]);
	return error;
}

/* Both are ascending. */
static bool contains(const struct weights_lines *lines,
		     const struct weights_lines *some)
{
	size_t at = 0;

	vec_for_each(line, some) {
		while (at < lines->count && lines->data[at] < *line)
			at++;
		if (at == lines->count || lines->data[at] != *line)
			return false;
	}
	return some->count != 0;
}

static uint64_t own_of(const struct joiner *j, size_t part, uint32_t line)
{
	const struct own_entry *entry = weights_line(
		j->listing->weights, 0, j->parts->data[part].file, line);

	return entry ? entry->own.period : 0;
}

/* A listing of the hottest lines of the part has the hottest one of the other. */
static bool shows_hottest(const struct joiner *j, size_t part, size_t other)
{
	uint64_t most = 0;
	size_t hotter = 0;

	vec_for_each(line, &j->lines[other]) {
		uint64_t own = own_of(j, other, *line);

		most = own > most ? own : most;
	}
	vec_for_each(line, &j->lines[part])
		hotter += own_of(j, part, *line) > most;
	return hotter < PYTHON_LISTING_HOT;
}

/* Of two in one statement the one that calls the other, as far as time tells. */
static bool is_outer(const struct joiner *j, size_t part, size_t other)
{
	const struct annotate_part *a = &j->parts->data[part];
	const struct annotate_part *b = &j->parts->data[other];

	if (!annotate_part_is_nameless(j->listing->profile, a) ||
	    j->lines[part].count != j->lines[other].count)
		return true;
	return a->total != b->total ? a->total > b->total : part < other;
}

static bool shows(const struct joiner *j, size_t part, size_t other)
{
	return part != other &&
	       j->parts->data[part].file == j->parts->data[other].file &&
	       contains(&j->lines[part], &j->lines[other]) &&
	       is_outer(j, part, other) && shows_hottest(j, part, other);
}

/* What is behind moves up. */
static void drop(struct joiner *j, size_t part)
{
	size_t behind = --j->parts->count - part;

	vec_deinit(&j->lines[part]);
	memmove(&j->parts->data[part], &j->parts->data[part + 1],
		behind * sizeof(*j->parts->data));
	memmove(&j->lines[part], &j->lines[part + 1],
		behind * sizeof(*j->lines));
	j->lines[j->parts->count] = (struct weights_lines){};
}

/* The part takes the place of the other, which comes before it. */
static void take_place(struct joiner *j, size_t part, size_t other)
{
	struct annotate_part moved = j->parts->data[part];
	struct weights_lines lines = j->lines[part];

	vec_deinit(&j->lines[other]);
	j->parts->data[other] = moved;
	j->lines[other] = lines;
	j->lines[part] = (struct weights_lines){};
	drop(j, part);
}

/* True: the part is none any more, and another one is at its place. */
static bool join(struct joiner *j, size_t i)
{
	if (!annotate_part_is_nameless(j->listing->profile, &j->parts->data[i]))
		return false;
	for (size_t part = 0; part < j->parts->count; part++) {
		if (!shows(j, part, i))
			continue;
		if (part < i)
			drop(j, i);
		else
			take_place(j, part, i);
		return true;
	}
	return false;
}

struct error *joined_parts(struct listing *listing, struct annotate_parts *parts)
{
	struct joiner j = { .listing = listing, .parts = parts };
	struct error *error = find_lines(&j);
	size_t i = 0;

	while (!error && i < parts->count)
		if (!join(&j, i))
			i++;
	for (i = 0; j.lines && i < parts->count; i++)
		vec_deinit(&j.lines[i]);
	free(j.lines);
	return error;
}
