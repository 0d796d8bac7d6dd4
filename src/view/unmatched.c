// SPDX-License-Identifier: GPL-2.0-only
#include "view/unmatched.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/plural.h"
#include "view/text.h"

enum {
	/* Things that a line tells. */
	THINGS_MAX = 5,
};

/* --- What there is ------------------------------------------------------ */

static int compare_names(const char *a, const char *b)
{
	if (!a || !b)
		return !b - !a;
	return strcmp(a, b);
}

static int compare_things(const void *left, const void *right)
{
	const struct unmatched_thing *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return compare_names(a->name, b->name);
}

/* Of equal numbers the heaviest first. */
static int compare_ids(const void *left, const void *right)
{
	const struct unmatched_thing *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->weight < b->weight) - (a->weight > b->weight);
}

/* Of equal weight the smaller number, or name, first. */
static int compare_weights(const void *left, const void *right)
{
	const struct unmatched_thing *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return compare_things(left, right);
}

static void sort(unmatched_thing_vec *things,
		 int (*compare)(const void *, const void *))
{
	if (things->count)
		qsort(things->data, things->count, sizeof(*things->data),
		      compare);
}

/* Makes one of those that are equal; of numbers the heaviest gives its name. */
static void merge(unmatched_thing_vec *things, bool by_id)
{
	size_t kept = 0;

	sort(things, by_id ? compare_ids : compare_things);
	for (size_t i = 0; i < things->count; i++) {
		const struct unmatched_thing *thing = &things->data[i];
		struct unmatched_thing *last = things->data + kept - 1;

		if (kept && last->id == thing->id &&
		    (by_id || !compare_names(last->name, thing->name)))
			last->weight += thing->weight;
		else
			things->data[kept++] = *thing;
	}
	things->count = kept;
	sort(things, compare_weights);
}

static void put_quoted(const char *name, struct strbuf *out)
{
	strbuf_putc(out, '\'');
	text_append(out, name, strlen(name));
	strbuf_putc(out, '\'');
}

static void put_thing(const struct unmatched_thing *thing, bool by_id,
		      struct strbuf *out)
{
	if (!by_id) {
		put_quoted(thing->name, out);
		return;
	}
	strbuf_printf(out, "%" PRId64, thing->id);
	if (!thing->name)
		return;
	strbuf_puts(out, " (");
	text_append(out, thing->name, strlen(thing->name));
	strbuf_putc(out, ')');
}

/* "; there are 'a', 'b' and 3 others" */
static void put_things(const unmatched_thing_vec *things, bool by_id,
		       struct strbuf *out)
{
	size_t shown = things->count <= THINGS_MAX ? things->count
						   : THINGS_MAX - 1;

	if (!things->count)
		return;
	strbuf_puts(out, things->count > 1 ? "; there are " : "; there is ");
	for (size_t i = 0; i < shown; i++) {
		if (i)
			strbuf_puts(out,
				    i + 1 == things->count ? " and " : ", ");
		put_thing(&things->data[i], by_id, out);
	}
	if (shown < things->count)
		strbuf_printf(out, " and %zu other%s", things->count - shown,
			      plural(things->count - shown));
}

/* --- Names -------------------------------------------------------------- */

static bool has_name(const unmatched_thing_vec *things, const char *name)
{
	for (size_t i = 0; i < things->count; i++)
		if (things->data[i].name && !strcmp(things->data[i].name, name))
			return true;
	return false;
}

static void drop_nameless(unmatched_thing_vec *things)
{
	size_t kept = 0;

	for (size_t i = 0; i < things->count; i++)
		if (things->data[i].name)
			things->data[kept++] = things->data[i];
	things->count = kept;
}

/* Of files people give the path, too. */
static const char *last_part(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash && slash[1] ? slash + 1 : word;
}

/* A row of threads names its script and its parent, too: "sh (app.py), child of 7". */
static bool is_row_of(const char *word, const char *name)
{
	size_t n = name ? strlen(name) : 0;

	return n && !strncmp(word, name, n) &&
	       (!strncmp(word + n, " (", 2) || !strncmp(word + n, ", ", 2));
}

/* The longest of those whose row it is, or else what is near. */
static void find_near(const char *word, const unmatched_thing_vec *things,
		      struct strbuf *out)
{
	struct nearest nearest = { .word = last_part(word) };
	const char *found = NULL;

	for (size_t i = 0; i < things->count; i++) {
		const char *name = things->data[i].name;

		nearest_add(&nearest, name);
		if (is_row_of(word, name) &&
		    (!found || strlen(name) > strlen(found)))
			found = name;
	}
	if (!found) {
		nearest_format(&nearest, out);
		return;
	}
	strbuf_puts(out, ": did you mean ");
	put_quoted(found, out);
	strbuf_putc(out, '?');
}

static void put_unmatched_name(const char *none, const char *word,
			       const unmatched_thing_vec *things,
			       struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf near = STRBUF_INIT;

	find_near(word, things, &near);
	strbuf_printf(out, "%s ", none);
	put_quoted(word, out);
	if (near.len) {
		text_append(out, near.data, near.len);
	} else {
		put_things(things, false, out);
	}
	strbuf_putc(out, '\n');
}

void unmatched_names(const char *none, const struct name_list *words,
		     unmatched_thing_vec *things, struct strbuf *out)
{
	bool merged = false;

	for (size_t i = 0; i < words->count; i++) {
		if (has_name(things, words->values[i]))
			continue;
		if (!merged) {
			drop_nameless(things);
			merge(things, false);
		}
		merged = true;
		put_unmatched_name(none, words->values[i], things, out);
	}
}

/* --- Numbers ------------------------------------------------------------ */

static bool has_id(const unmatched_thing_vec *things, int64_t id)
{
	for (size_t i = 0; i < things->count; i++)
		if (things->data[i].id == id)
			return true;
	return false;
}

void unmatched_ids(const char *none, const struct id_list *ids,
		   unmatched_thing_vec *things, struct strbuf *out)
{
	merge(things, true);
	for (size_t i = 0; i < ids->count; i++) {
		if (has_id(things, ids->values[i]))
			continue;
		strbuf_printf(out, "%s %" PRId64, none, ids->values[i]);
		put_things(things, true, out);
		strbuf_putc(out, '\n');
	}
}

/* --- Functions ---------------------------------------------------------- */

void unmatched_symbol(const struct symbol_near *near, enum symbol_place wanted,
		      const char *none, struct strbuf *out)
{
	if (near->place >= wanted)
		return;
	symbol_near_format(near, none, out);
	strbuf_putc(out, '\n');
}
