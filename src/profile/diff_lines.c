// SPDX-License-Identifier: GPL-2.0-only
#include "profile/diff_lines.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/map.h"
#include "profile/diff_table.h"

/* Bytes of a Python function's addresses that are one of its lines (ARCHITECTURE.md). */
enum { SLOT_SIZE = 2 };

enum place_kind {
	PLACE_NO_PYTHON,
	/* The number of a line, as it is after. */
	PLACE_LINE,
	/* Of one that is gone, as it was before. */
	PLACE_GONE,
	/* The row of a function of which no line is known. */
	PLACE_WHOLE,
	/* Of one whose lines are not paired. */
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

/* A line of a function that a run has samples of. */
struct seen {
	uint32_t file;
	uint32_t line;
	uint32_t name;
	uint32_t def;
	/* Which of the function's lines it is, and how many there are. */
	uint32_t slot;
	uint32_t slots;
	/* That is how far below the def it is. */
	bool by_distance;
	/* In own_diff.functions. */
	size_t row;
};

struct seen_lines VEC_BODY(struct seen);

/* How many lines a function has on each side; 0: not known. */
struct shape {
	uint32_t slots[2];
	/* The code of one side is not always the same. */
	bool is_mixed;
};

struct builder {
	const struct profile *profile;
	const struct diff_functions *functions;
	const struct own_diff_options *options;
	struct own_diff *diff;
	/* A recording has only the lines of code that it has samples of. */
	bool lacks_lines;
	VEC(struct item) items;
	/* By run, in the order of files and lines. */
	struct seen_lines *seen;
	/* By function. */
	struct shape *shapes;
	/* By stack and by frame: the last run that had it, plus 1. */
	size_t *stack_runs;
	size_t *frame_runs;
	/* Function and slot to the line that has it after. */
	struct map lines_after;
	/* Files as they are called after: to what they were called before. */
	struct map before;
	/* Those that recordings after have. */
	struct map after;
};

static bool is_after(const struct builder *b, size_t run)
{
	return b->diff->noise.data[run].is_after;
}

/* --- What a run has seen ------------------------------------------------ */

static uint64_t key_of(uint32_t name, uint32_t line)
{
	return (uint64_t)name << 32 | line;
}

/* Name and def of each function of the run to its row. */
static struct error *find_rows(const struct builder *b, size_t run,
			       struct map *ret)
{
	const struct own_time *own = b->diff->runs.data[run].own;
	const size_t *rows = b->functions->rows.data +
			     b->functions->starts.data[run];

	for (size_t i = 0; i < own->functions.count; i++) {
		const struct own_entry *function = &own->functions.data[i];

		if (!map_insert(ret, key_of(function->name, function->line),
				rows[i], NULL))
			return error_no_memory();
	}
	return NULL;
}

/*
 * Which of its function's lines a frame is in. Comments do not change that. Where the
 * lines of the code are not all known, it is how far below the def the line is.
 */
static void find_slot(const struct builder *b, const struct profile_frame *frame,
		      struct seen *seen)
{
	const struct profile_symbol *symbol =
		profile_symbol(b->profile, frame->symbol);
	const struct profile_dso *dso = profile_dso(b->profile, frame->dso);

	if (!symbol || !dso || dso->kind != PROFILE_DSO_PYTHON ||
	    b->lacks_lines) {
		seen->slot = seen->line - seen->def;
		seen->slots = 1;
		seen->by_distance = seen->slot;
		return;
	}
	seen->slot = (uint32_t)((frame->rel - symbol->start) / SLOT_SIZE);
	seen->slots = (uint32_t)((symbol->end - symbol->start) / SLOT_SIZE);
}

static struct error *see_frame(struct builder *b, size_t run,
			       const struct map *rows,
			       const struct profile_frame *frame)
{
	struct own_entry function = own_entry_of(b->profile, frame);
	const uint64_t *row =
		map_find(rows, key_of(function.name, function.line));
	struct seen seen = { .file = frame->file,
			     .line = frame->line ? frame->line : function.line,
			     .name = function.name,
			     .def = function.line };

	if (!row)
		return NULL;
	seen.row = *row;
	find_slot(b, frame, &seen);
	return vec_push(&b->seen[run], seen) ? NULL : error_no_memory();
}

/* All Python frames of a stack that the run has not had yet. */
static struct error *see_stack(struct builder *b, size_t run,
			       const struct map *rows, uint32_t stack)
{
	const struct profile *p = b->profile;
	struct error *error = NULL;

	for (; !error && stack != PROFILE_NONE &&
	       b->stack_runs[stack] != run + 1;
	     stack = p->stack_parents.data[stack]) {
		uint32_t handle = p->stack_frames.data[stack];
		const struct profile_frame *frame = profile_frame(p, handle);

		b->stack_runs[stack] = run + 1;
		if (frame->kind == PROFILE_FRAME_PYTHON &&
		    b->frame_runs[handle] != run + 1)
			error = see_frame(b, run, rows, frame);
		b->frame_runs[handle] = run + 1;
	}
	return error;
}

static int compare_seen(const void *x, const void *y)
{
	const struct seen *a = x, *b = y;
	int order = compare_u64(a->file, b->file);

	if (!order)
		order = compare_u64(a->line, b->line);
	/* A function before what is defined in it. */
	if (!order)
		order = compare_u64(a->def, b->def);
	if (!order)
		order = compare_u64(a->row, b->row);
	return order ? order : compare_u64(a->slot, b->slot);
}

static struct error *see_run(struct builder *b, size_t run)
{
	const struct profile_samples *samples = &b->profile->samples;
	_cleanup_(map_deinit) struct map rows = {};
	struct error *error = find_rows(b, run, &rows);

	for (size_t i = 0; !error && i < samples->rows; i++)
		if (samples->event[i] == b->diff->runs.data[run].event)
			error = see_stack(b, run, &rows, samples->stack[i]);
	if (!error && b->seen[run].count)
		qsort(b->seen[run].data, b->seen[run].count,
		      sizeof(*b->seen[run].data), compare_seen);
	return error;
}

/* What an importer wrote knows only the lines that had samples. */
static bool has_all_lines(const struct builder *b, size_t run)
{
	uint32_t event = b->diff->runs.data[run].event;
	uint32_t recording = b->profile->events.data[event].recording;

	return b->profile->recordings.data[recording].metadata.pythons.count;
}

static struct error *see_runs(struct builder *b)
{
	size_t runs = b->diff->runs.count;
	struct error *error = NULL;

	b->seen = calloc(runs + 1, sizeof(*b->seen));
	b->stack_runs = calloc(b->profile->stack_parents.count + 1,
			       sizeof(*b->stack_runs));
	b->frame_runs = calloc(b->profile->frames.count + 1,
			       sizeof(*b->frame_runs));
	if (!b->seen || !b->stack_runs || !b->frame_runs)
		return error_no_memory();
	for (size_t run = 0; run < runs; run++)
		b->lacks_lines |= !has_all_lines(b, run);
	for (size_t run = 0; !error && run < runs; run++)
		error = see_run(b, run);
	return error;
}

/* --- Which functions are as they were ----------------------------------- */

static struct error *find_shapes(struct builder *b)
{
	b->shapes = calloc(b->diff->functions.count + 1, sizeof(*b->shapes));
	if (!b->shapes)
		return error_no_memory();
	for (size_t run = 0; run < b->diff->runs.count; run++) {
		bool side = is_after(b, run);

		vec_for_each(seen, &b->seen[run]) {
			struct shape *shape = &b->shapes[seen->row];

			shape->is_mixed |= shape->slots[side] &&
					   shape->slots[side] != seen->slots;
			shape->slots[side] = seen->slots;
		}
	}
	return NULL;
}

/* A function of as many lines as before is taken for unchanged. */
static bool is_unchanged(const struct builder *b, size_t row)
{
	const struct shape *shape = &b->shapes[row];

	return b->diff->functions.data[row].functions == 1 &&
	       !b->diff->by_last_name && !shape->is_mixed &&
	       shape->slots[0] && shape->slots[0] == shape->slots[1];
}

static uint64_t slot_key(const struct seen *seen)
{
	return (uint64_t)seen->row << 32 | seen->slot;
}

static struct error *find_lines_after(struct builder *b)
{
	for (size_t run = 0; run < b->diff->runs.count; run++) {
		if (!is_after(b, run))
			continue;
		vec_for_each(seen, &b->seen[run])
			if (is_unchanged(b, seen->row) &&
			    !map_insert(&b->lines_after, slot_key(seen),
					seen->line, NULL))
				return error_no_memory();
	}
	return NULL;
}

/* --- Where a line is ---------------------------------------------------- */

/* Which files both sides have. */
static struct error *find_files(struct builder *b)
{
	for (size_t run = 0; run < b->diff->runs.count; run++) {
		bool after = is_after(b, run);

		vec_for_each(line, &b->diff->runs.data[run].own->lines) {
			uint32_t file =
				after ? line->file :
					file_pairs_after(&b->diff->files,
							 line->file);

			if (!map_insert(after ? &b->after : &b->before, file,
					line->file, NULL))
				return error_no_memory();
		}
	}
	return NULL;
}

/* Where a line of a file is whose lines are known on both sides. */
static struct place place_by_text(const struct builder *b, bool after,
				  enum own_diff_lines known,
				  uint32_t file_before, uint32_t file,
				  uint32_t line)
{
	uint32_t number = line;

	if (!after && known == OWN_DIFF_LINES_PAIRED)
		number = b->options->line_after(b->options->arg, file_before,
						file, line);
	if (!number)
		return (struct place){ file, PLACE_GONE, line };
	return (struct place){ file, PLACE_LINE, number };
}

/* The first of what the run has seen there; *end is behind the last. */
static const struct seen *seen_at(const struct builder *b, size_t run,
				  const struct own_entry *line,
				  const struct seen **end)
{
	const struct seen_lines *all = &b->seen[run];
	size_t from = 0, to = all->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct seen *seen = &all->data[middle];
		int order = compare_u64(seen->file, line->file);

		if (!order)
			order = compare_u64(seen->line, line->line);
		if (order < 0)
			from = middle + 1;
		else
			to = middle;
	}
	for (to = from; to < all->count && all->data[to].file == line->file &&
			all->data[to].line == line->line;)
		to++;
	*end = all->data + to;
	return all->data + from;
}

/* Of a function that both sides have, and that is not as it was. */
static bool is_edited(const struct builder *b, const struct seen *seen)
{
	const struct own_diff_entry *function =
		&b->diff->functions.data[seen->row];

	return function->is_before && function->is_after &&
	       !is_unchanged(b, seen->row);
}

/*
 * Where it is if nothing but the functions tell that the run has there: where one has it
 * that has not changed, else in the row of one that has.
 */
static struct place place_by_function(const struct builder *b, size_t run,
				      uint32_t file,
				      const struct own_entry *line)
{
	const struct seen *end, *first = seen_at(b, run, line, &end);
	bool after = is_after(b, run);

	for (const struct seen *seen = first; seen < end; seen++) {
		const uint64_t *number =
			after ? NULL : map_find(&b->lines_after, slot_key(seen));

		if (number)
			b->diff->by_distance |= seen->by_distance;
		if (number)
			return (struct place){ file, PLACE_LINE, *number };
		if (after && is_unchanged(b, seen->row))
			return (struct place){ file, PLACE_LINE, line->line };
	}
	for (const struct seen *seen = first; seen < end; seen++)
		if (is_edited(b, seen))
			return (struct place){ file, PLACE_FUNCTION, seen->row };
	return (struct place){ file, after ? PLACE_LINE : PLACE_GONE,
			       line->line };
}

/* Where all of a function is, of which no line is known. */
static struct place place_whole(const struct builder *b, size_t run,
				uint32_t file, const struct own_entry *line)
{
	const struct seen *end, *seen = seen_at(b, run, line, &end);

	while (seen < end && seen->name != line->name)
		seen++;
	return (struct place){ file, PLACE_WHOLE,
			       seen < end ? seen->row : SIZE_MAX };
}

static struct place place_of(const struct builder *b, size_t run,
			     const struct own_entry *line)
{
	bool after = is_after(b, run);
	uint32_t file = after ? line->file :
				file_pairs_after(&b->diff->files, line->file);
	const uint64_t *before = map_find(&b->before, file);
	enum own_diff_lines known = OWN_DIFF_LINES_UNKNOWN;

	if (!line->is_python)
		return (struct place){ .kind = PLACE_NO_PYTHON };
	if (!line->line || line->file == PROFILE_NONE)
		return place_whole(b, run, file, line);
	if (b->options->lines && before && map_find(&b->after, file))
		known = b->options->lines(b->options->arg, (uint32_t)*before,
					  file);
	return known == OWN_DIFF_LINES_UNKNOWN ?
		       place_by_function(b, run, file, line) :
		       place_by_text(b, after, known, (uint32_t)*before, file,
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
		uint32_t *entries = calloc(own->lines.count + 1,
					   sizeof(*entries));

		b->diff->runs.data[run].line_entries = entries;
		if (!entries)
			return error_no_memory();
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

static void keep_entry(struct own_diff_run *run, const struct own_entry *line,
		       size_t row)
{
	run->line_entries[line - run->own->lines.data] = (uint32_t)row;
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
		keep_entry(&b->diff->runs.data[item->run], item->entry, row);
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

static void builder_deinit(struct builder *b)
{
	for (size_t run = 0; b->seen && run < b->diff->runs.count; run++)
		vec_deinit(&b->seen[run]);
	free(b->seen);
	free(b->shapes);
	free(b->stack_runs);
	free(b->frame_runs);
	vec_deinit(&b->items);
	map_deinit(&b->lines_after);
	map_deinit(&b->before);
	map_deinit(&b->after);
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
	struct error *error = see_runs(&b);

	if (!error)
		error = find_shapes(&b);
	if (!error)
		error = find_lines_after(&b);
	if (!error)
		error = find_files(&b);
	if (!error)
		error = gather(&b);
	if (!error)
		error = add_items(&b, &table);
	if (!error)
		place_unpaired(&b);
	diff_table_deinit(&table);
	builder_deinit(&b);
	return error;
}
