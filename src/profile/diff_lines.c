// SPDX-License-Identifier: GPL-2.0-only
#include "profile/diff_lines.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/map.h"
#include "profile/diff_table.h"

#define NO_ROW SIZE_MAX

/* Pairs of functions of one file that are looked at; the rest may have changed. */
enum { LOOKS_MAX = 1 << 28 };

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

struct def {
	uint32_t name;
	uint32_t line;
	/* In own_diff.functions. */
	size_t row;
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
	/* The functions of the run at hand by name, then by def. */
	VEC(struct def) defs;
	/* Files as they are called after: to what they were called before. */
	struct map before;
	/* Those that recordings after have. */
	struct map after;
	/* By function. */
	struct extent *extents;
	/* Rows of functions, those of one file together. */
	VEC(size_t) by_file;
	size_t looks;
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

static int compare_defs(const void *x, const void *y)
{
	const struct def *a = x, *b = y;
	int order = compare_u64(a->name, b->name);

	return order ? order : compare_u64(a->line, b->line);
}

static struct error *find_defs(struct builder *b, size_t run)
{
	const struct own_time *own = b->diff->runs.data[run].own;
	const size_t *rows = b->functions->rows.data +
			     b->functions->starts.data[run];

	vec_clear(&b->defs);
	for (size_t i = 0; i < own->functions.count; i++) {
		const struct own_entry *function = &own->functions.data[i];
		struct def def = { function->name, function->line, rows[i] };

		if (!vec_push(&b->defs, def))
			return error_no_memory();
	}
	if (b->defs.count)
		qsort(b->defs.data, b->defs.count, sizeof(*b->defs.data),
		      compare_defs);
	return NULL;
}

/*
 * The row of the function that a line belongs to: of its name the last that is
 * defined above it. Or NO_ROW.
 */
static size_t function_of(const struct builder *b, const struct own_entry *line)
{
	const struct def key = { .name = line->name, .line = line->line };
	size_t from = 0, to = b->defs.count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (compare_defs(&b->defs.data[middle], &key) > 0)
			to = middle;
		else
			from = middle + 1;
	}
	return from && b->defs.data[from - 1].name == line->name ?
		       b->defs.data[from - 1].row :
		       NO_ROW;
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
		struct error *error = find_defs(b, run);

		if (error)
			return error;
		vec_for_each(line, &own->lines) {
			size_t row = function_of(b, line);

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

static bool is_undisturbed(struct builder *b, size_t row, size_t first)
{
	const struct own_diff_entry *functions = b->diff->functions.data;
	uint32_t file = file_of(b, row);

	for (size_t i = first; i < b->by_file.count; i++) {
		size_t in = b->by_file.data[i];

		if (file_of(b, in) != file)
			break;
		if (++b->looks > LOOKS_MAX)
			return false;
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

/* Which files both sides have. */
static struct error *find_files(struct builder *b)
{
	for (size_t run = 0; run < b->diff->runs.count; run++) {
		bool is_after = b->diff->noise.data[run].is_after;

		vec_for_each(line, &b->diff->runs.data[run].own->lines) {
			uint32_t file =
				is_after ? line->file :
					   file_pairs_after(&b->diff->files,
							    line->file);

			if (!map_insert(is_after ? &b->after : &b->before, file,
					line->file, NULL))
				return error_no_memory();
		}
	}
	return NULL;
}

/* Where a line of a file is whose lines are known on both sides. */
static struct place place_by_text(const struct builder *b, bool is_after,
				  enum own_diff_lines known,
				  uint32_t file_before, uint32_t file,
				  uint32_t line)
{
	uint32_t after = line;

	if (!is_after && known == OWN_DIFF_LINES_PAIRED)
		after = b->options->line_after(b->options->arg, file_before,
					       file, line);
	if (!after)
		return (struct place){ file, PLACE_GONE, line };
	return (struct place){ file, PLACE_LINE, after };
}

/* Where it is if nothing but the functions tell. */
static struct place place_by_function(const struct builder *b, bool is_after,
				      uint32_t file,
				      const struct own_entry *line)
{
	const struct place alone = { file, is_after ? PLACE_LINE : PLACE_GONE,
				     line->line };
	size_t row = function_of(b, line);
	const struct own_diff_entry *function;
	uint64_t below;

	if (row == NO_ROW)
		return alone;
	function = &b->diff->functions.data[row];
	if (!function->is_before || !function->is_after)
		return alone;
	if (!b->extents[row].is_unchanged)
		return (struct place){ file, PLACE_FUNCTION, row };
	if (is_after)
		return alone;
	below = (uint64_t)line->line - function->before.line;
	return (struct place){ file, PLACE_LINE, function->after.line + below };
}

static struct place place_of(const struct builder *b, size_t run,
			     const struct own_entry *line)
{
	bool is_after = b->diff->noise.data[run].is_after;
	uint32_t file = is_after ? line->file :
				   file_pairs_after(&b->diff->files, line->file);
	const uint64_t *before = map_find(&b->before, file);
	enum own_diff_lines known = OWN_DIFF_LINES_UNKNOWN;

	if (!line->is_python)
		return (struct place){ .kind = PLACE_NO_PYTHON };
	if (b->options->lines && line->line && before &&
	    map_find(&b->after, file))
		known = b->options->lines(b->options->arg, (uint32_t)*before,
					  file);
	return known == OWN_DIFF_LINES_UNKNOWN ?
		       place_by_function(b, is_after, file, line) :
		       place_by_text(b, is_after, known, (uint32_t)*before, file,
				     line->line);
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
		struct error *error = find_defs(b, run);

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
		error = find_files(&b);
	if (!error)
		error = gather(&b);
	if (!error)
		error = add_items(&b, &table);
	if (!error)
		place_unpaired(&b);
	diff_table_deinit(&table);
	vec_deinit(&b.items);
	map_deinit(&b.sizes);
	map_deinit(&b.before);
	map_deinit(&b.after);
	vec_deinit(&b.defs);
	free(b.extents);
	vec_deinit(&b.by_file);
	return error;
}
