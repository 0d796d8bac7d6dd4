// SPDX-License-Identifier: GPL-2.0-only
#include "profile/diff_lines.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/map.h"
#include "profile/diff_table.h"

#define NO_ROW SIZE_MAX

enum place_kind {
	PLACE_NO_PYTHON,
	/* The number of a line, as it is after. */
	PLACE_LINE,
	/* Of one that is gone, as it was before. */
	PLACE_GONE,
	/* The row of a function. */
	PLACE_FUNCTION,
};

struct place {
	uint32_t file;
	enum place_kind kind;
	uint64_t number;
};

struct item {
	const struct own_entry *entry;
	size_t run;
	struct place place;
};

/* What samples tell of a function: its last line on each side. */
struct extent {
	uint32_t last[2];
	bool is_unchanged;
};

struct builder {
	const struct profile *profile;
	const struct diff_functions *functions;
	const struct own_diff_options *options;
	struct own_diff *diff;
	VEC(struct item) items;
	/* Name and def of a function to the size of its code; 0: several. */
	struct map sizes;
	/* Name to the function of the run at hand; NO_ROW: several. */
	struct map names;
	/* By function. */
	struct extent *extents;
	/* Rows of functions, those of one file together. */
	VEC(size_t) by_file;
};

/* --- What is known of functions ----------------------------------------- */

static uint64_t key_of(uint32_t name, uint32_t line)
{
	return (uint64_t)name << 32 | line;
}

/* The addresses of a Python function count its lines (ARCHITECTURE.md). */
static struct error *find_sizes(struct builder *b)
{
	vec_for_each(symbol, &b->profile->symbols) {
		uint64_t size = symbol->end - symbol->start, *known;

		if (profile_dso(b->profile, symbol->dso)->kind !=
		    PROFILE_DSO_PYTHON)
			continue;
		known = map_insert(&b->sizes, key_of(symbol->name, symbol->line),
				   size, NULL);
		if (!known)
			return error_no_memory();
		if (*known != size)
			*known = 0;
	}
	return NULL;
}

static uint64_t size_of(const struct builder *b, const struct own_entry *entry)
{
	const uint64_t *size =
		map_find(&b->sizes, key_of(entry->name, entry->line));

	return size ? *size : 0;
}

static bool has_size(const struct builder *b,
		     const struct own_diff_entry *function)
{
	uint64_t size = size_of(b, &function->before);

	return function->is_before && function->is_after &&
	       function->functions == 1 && function->before.line &&
	       function->after.line && !b->diff->by_last_name && size &&
	       size == size_of(b, &function->after);
}

static struct error *find_names(struct builder *b, const struct own_time *own)
{
	map_clear(&b->names);
	for (size_t i = 0; i < own->functions.count; i++) {
		bool is_new;
		uint64_t *at = map_insert(&b->names,
					  own->functions.data[i].name, i,
					  &is_new);

		if (!at)
			return error_no_memory();
		if (!is_new)
			*at = NO_ROW;
	}
	return NULL;
}

/* The row of the function that a line belongs to, or NO_ROW. */
static size_t function_of(const struct builder *b, size_t run,
			  const struct own_entry *line)
{
	const struct own_time *own = b->diff->runs.data[run].own;
	const uint64_t *by_name = map_find(&b->names, line->name);
	size_t function = by_name ? *by_name : NO_ROW;

	if (line->part_count)
		function = own->line_parts.data[line->first_part].function;
	return function == NO_ROW ?
		       NO_ROW :
		       b->functions->rows.data[b->functions->starts.data[run] +
					       function];
}

/* --- Which functions are as they were ----------------------------------- */

static struct error *find_extents(struct builder *b)
{
	const struct own_diff *diff = b->diff;

	b->extents = calloc(diff->functions.count + 1, sizeof(*b->extents));
	if (!b->extents)
		return error_no_memory();
	for (size_t run = 0; run < diff->runs.count; run++) {
		const struct own_time *own = diff->runs.data[run].own;
		bool side = diff->noise.data[run].is_after;
		struct error *error = find_names(b, own);

		if (error)
			return error;
		vec_for_each(line, &own->lines) {
			size_t row = function_of(b, run, line);

			if (row != NO_ROW &&
			    b->extents[row].last[side] < line->line)
				b->extents[row].last[side] = line->line;
		}
	}
	return NULL;
}

static bool is_within(uint32_t def, uint32_t from, uint32_t last)
{
	return def > from && def <= last;
}

/* `in` is defined among the lines of a function, and is not as it was there. */
static bool disturbs(const struct builder *b,
		     const struct own_diff_entry *function,
		     const struct extent *extent,
		     const struct own_diff_entry *in)
{
	if (!(in->is_before && is_within(in->before.line, function->before.line,
					 extent->last[0])) &&
	    !(in->is_after && is_within(in->after.line, function->after.line,
					extent->last[1])))
		return false;
	return !has_size(b, in) || in->after.line - in->before.line !=
					   function->after.line -
						   function->before.line;
}

static uint32_t file_of(const struct builder *b, size_t row)
{
	const struct own_diff_entry *function = &b->diff->functions.data[row];

	return function->is_after ? function->after.file :
				    file_pairs_after(&b->diff->files,
						     function->before.file);
}

static int compare_files(const void *x, const void *y, void *arg)
{
	return compare_u64(file_of(arg, *(const size_t *)x),
			   file_of(arg, *(const size_t *)y));
}

static struct error *sort_by_file(struct builder *b)
{
	for (size_t i = 0; i < b->diff->functions.count; i++)
		if (!vec_push(&b->by_file, i))
			return error_no_memory();
	if (b->by_file.count)
		qsort_r(b->by_file.data, b->by_file.count,
			sizeof(*b->by_file.data), compare_files, b);
	return NULL;
}

static bool is_undisturbed(const struct builder *b, size_t row, size_t first)
{
	const struct own_diff_entry *functions = b->diff->functions.data;
	uint32_t file = file_of(b, row);

	for (size_t i = first; i < b->by_file.count; i++) {
		size_t in = b->by_file.data[i];

		if (file_of(b, in) != file)
			break;
		if (disturbs(b, &functions[row], &b->extents[row],
			     &functions[in]))
			return false;
	}
	return true;
}

/*
 * A function of as many lines as before is taken for unchanged, unless what is
 * defined in it has moved in it, or has changed.
 */
static struct error *find_unchanged(struct builder *b)
{
	struct error *error = find_extents(b);

	if (!error)
		error = sort_by_file(b);
	for (size_t i = 0, first = 0; !error && i < b->by_file.count; i++) {
		size_t row = b->by_file.data[i];

		if (file_of(b, row) != file_of(b, b->by_file.data[first]))
			first = i;
		b->extents[row].is_unchanged =
			has_size(b, &b->diff->functions.data[row]) &&
			is_undisturbed(b, row, first);
	}
	return error;
}

/* --- Where a line is ---------------------------------------------------- */

static enum own_diff_lines lines_of(const struct builder *b,
				    const struct own_diff_entry *function)
{
	return b->options->lines && function->is_before && function->is_after ?
		       b->options->lines(b->options->arg, function->before.file,
					 function->after.file) :
		       OWN_DIFF_LINES_UNKNOWN;
}

/* The same line of the file after; 0: it is gone. */
static uint64_t line_after(const struct builder *b,
			   const struct own_diff_entry *function,
			   enum own_diff_lines known, uint32_t line)
{
	if (known == OWN_DIFF_LINES_SAME)
		return line;
	if (known == OWN_DIFF_LINES_PAIRED)
		return b->options->line_after(b->options->arg,
					      function->before.file,
					      function->after.file, line);
	/* A line above its def would have to be of another function. */
	return line < function->before.line ?
		       0 :
		       (uint64_t)line - function->before.line +
			       function->after.line;
}

static struct place place_of(const struct builder *b, size_t run,
			     const struct own_entry *line)
{
	bool is_after = b->diff->noise.data[run].is_after;
	size_t row = function_of(b, run, line);
	struct place place = {
		.file = is_after ? line->file :
				   file_pairs_after(&b->diff->files, line->file),
		.kind = is_after ? PLACE_LINE : PLACE_GONE,
		.number = line->line,
	};
	const struct own_diff_entry *function;
	enum own_diff_lines known;
	uint64_t after;

	if (!line->is_python)
		return (struct place){ .kind = PLACE_NO_PYTHON };
	if (row == NO_ROW)
		return place;
	function = &b->diff->functions.data[row];
	if (!function->is_before || !function->is_after)
		return place;
	known = lines_of(b, function);
	if (known == OWN_DIFF_LINES_UNKNOWN &&
	    !b->extents[row].is_unchanged)
		return (struct place){ place.file, PLACE_FUNCTION, row };
	after = is_after ? line->line :
			   line_after(b, function, known, line->line);
	if (after)
		place = (struct place){ place.file, PLACE_LINE, after };
	return place;
}

/* --- All lines ---------------------------------------------------------- */

static int compare_places(const struct place *a, const struct place *b)
{
	int order = compare_u64(a->file, b->file);

	if (!order)
		order = compare_u64(a->kind, b->kind);
	return order ? order : compare_u64(a->number, b->number);
}

static int compare_items(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	int order = compare_places(&a->place, &b->place);

	return order ? order : compare_u64(a->run, b->run);
}

static struct error *gather(struct builder *b)
{
	for (size_t run = 0; run < b->diff->runs.count; run++) {
		const struct own_time *own = b->diff->runs.data[run].own;
		struct error *error = find_names(b, own);

		if (error)
			return error;
		vec_for_each(line, &own->lines) {
			struct item item = { line, run,
					     place_of(b, run, line) };

			if (!vec_push(&b->items, item))
				return error_no_memory();
		}
	}
	qsort(b->items.data, b->items.count, sizeof(*b->items.data),
	      compare_items);
	return NULL;
}

static struct error *add_items(struct builder *b, struct diff_table *table)
{
	size_t row = 0;

	for (size_t i = 0; i < b->items.count; i++) {
		const struct item *item = &b->items.data[i];
		bool is_next =
			!i || compare_places(&item->place, &item[-1].place);
		struct error *error =
			is_next ? diff_table_new(table, &row) : NULL;

		if (error)
			return error;
		diff_table_add(table, row, item->run, item->entry);
		table->entries->data[row].is_unpaired =
			item->place.kind == PLACE_FUNCTION;
	}
	diff_table_measure(table);
	return NULL;
}

/* The entry of all lines of a function stands where the function does. */
static void place_unpaired(struct builder *b)
{
	size_t row = 0;

	for (size_t i = 0; i < b->items.count; i++) {
		const struct place *place = &b->items.data[i].place;
		const struct own_diff_entry *function;

		if (i && compare_places(place, &b->items.data[i - 1].place))
			row++;
		if (place->kind != PLACE_FUNCTION)
			continue;
		function = &b->diff->functions.data[place->number];
		b->diff->lines.data[row].before = function->before;
		b->diff->lines.data[row].after = function->after;
	}
}

struct error *diff_lines_pair(const struct profile *profile,
			      const struct diff_functions *functions,
			      const struct own_diff_options *options,
			      struct own_diff *diff)
{
	struct diff_table table = { .diff = diff, .entries = &diff->lines };
	struct builder b = { .profile = profile,
			     .functions = functions,
			     .options = options,
			     .diff = diff };
	struct error *error = find_sizes(&b);

	if (!error)
		error = find_unchanged(&b);
	if (!error)
		error = gather(&b);
	if (!error)
		error = add_items(&b, &table);
	if (!error)
		place_unpaired(&b);
	diff_table_deinit(&table);
	vec_deinit(&b.items);
	map_deinit(&b.sizes);
	map_deinit(&b.names);
	free(b.extents);
	vec_deinit(&b.by_file);
	return error;
}
