// SPDX-License-Identifier: GPL-2.0-only
#include "export/page_changes.h"

#include <stdlib.h>

#include "base/map.h"
#include "profile/own_index.h"
#include "view/diff_text.h"

/* By side, of functions or of frames: the number of its entry, or PROFILE_NONE. */
struct page_entries {
	struct page_numbers of[PAGE_SIDES];
};

struct page_changes {
	const struct export_stacks *stacks;
	const struct profile *profile;
	const struct page_compare *compare;
	const struct own_diff *diff;
	struct page_columns *columns;
	/* Of each place a frame of the profile. */
	uint32_t *frames;
	struct page_entries functions;
	struct page_entries places;
	/* Name and def, as own_time.h has them, to a function of the stacks. */
	struct map by_name;
};

static uint64_t name_key(const struct own_entry *function)
{
	return (uint64_t)function->name << 32 | function->line;
}

static const struct own_diff_run *run_of(const struct page_changes *c, int side)
{
	return &c->diff->runs.data[side];
}

/* --- Which entry a place belongs to ------------------------------------- */

static struct error *find_entry(struct page_changes *c, int side,
				const struct own_index *index, uint32_t place)
{
	const struct own_diff_run *run = run_of(c, side);
	uint32_t frame = c->frames[place];
	uint32_t function = c->stacks->places.data[place].function;
	const struct profile_frame *f;
	struct own_entry entry;
	uint32_t at;

	if (frame == PROFILE_NONE)
		return NULL;
	f = profile_frame(c->profile, frame);
	if (f->kind != PROFILE_FRAME_PYTHON)
		return NULL;
	at = own_index_line(index, c->profile, f);
	if (at != PROFILE_NONE)
		c->places.of[side].data[place] = run->line_entries[at];
	at = own_index_function(index, c->profile, f);
	if (at != PROFILE_NONE)
		c->functions.of[side].data[function] = run->function_entries[at];
	entry = own_entry_of(c->profile, f);
	return map_insert(&c->by_name, name_key(&entry), function, NULL) ?
		       NULL :
		       error_no_memory();
}

static bool fill_none(struct page_numbers *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!vec_push(numbers, PROFILE_NONE))
			return false;
	return true;
}

static struct error *find_entries(struct page_changes *c, int side)
{
	struct own_index index = {};
	struct error *error = NULL;

	if (!fill_none(&c->functions.of[side], c->stacks->functions.count) ||
	    !fill_none(&c->places.of[side], c->stacks->places.count))
		return error_no_memory();
	error = own_index_fill(&index, run_of(c, side)->own);
	for (uint32_t i = 0; !error && i < c->stacks->places.count; i++)
		error = find_entry(c, side, &index, i);
	own_index_deinit(&index);
	return error;
}

/* --- Entries as rows ---------------------------------------------------- */

/* In the order of their numbers. */
struct page_row {
	/* A function, or a frame; PROFILE_NONE: no Python code. */
	uint32_t subject;
	/* How many functions are one; that its lines are not paired. */
	uint32_t what;
	uint32_t mark;
};

/* Any of those of an entry; of the recording after, if it has one. */
static void name_rows(const struct page_entries *entries, struct page_row *rows)
{
	for (int side = 0; side < PAGE_SIDES; side++)
		for (uint32_t i = 0; i < entries->of[side].count; i++)
			if (entries->of[side].data[i] != PROFILE_NONE)
				rows[entries->of[side].data[i]].subject = i;
}

/* The function by which kaa diff names the entry. */
static void name_row(const struct page_changes *c,
		     const struct own_diff_entry *entry, struct page_row *row)
{
	const uint64_t *at = map_find(
		&c->by_name,
		name_key(entry->is_after ? &entry->after : &entry->before));

	if (at && row->subject != PROFILE_NONE)
		row->subject = (uint32_t)*at;
}

static struct error *describe_rows(const struct page_changes *c,
				   const struct own_diff_entry_vec *entries,
				   struct page_row *rows, double *off)
{
	struct error *error = NULL;

	vec_for_each(entry, entries) {
		struct page_row *row = &rows[entry->number];
		bool is_line = entries == &c->diff->lines;

		row->what = is_line ? entry->is_unpaired : entry->functions;
		if (!is_line || entry->is_unpaired)
			name_row(c, entry, row);
		off[entry->number] = entry->own.half_width;
		error = page_text(c->columns,
				  diff_text_mark(c->diff, &entry->own),
				  &row->mark);
		if (error)
			break;
	}
	return error;
}

struct page_row_names {
	const char *subject;
	const char *what;
	const char *mark;
	const char *off;
};

static struct error *add_row_columns(const struct page_changes *c,
				     const struct page_row *rows,
				     const double *off, size_t count,
				     const struct page_row_names *names)
{
	const struct {
		const char *name;
		size_t offset;
	} members[] = {
		{ names->subject, offsetof(struct page_row, subject) },
		{ names->what, offsetof(struct page_row, what) },
		{ names->mark, offsetof(struct page_row, mark) },
	};
	struct error *error = NULL;

	for (size_t m = 0; !error && m < sizeof(members) / sizeof(*members); m++)
		error = page_column_add_member(c->columns, members[m].name, rows,
					       sizeof(*rows), members[m].offset,
					       count);
	return error ? error :
		       page_column_add(c->columns, names->off, off,
				       sizeof(*off), count);
}

/* rows: as many as there are entries, to be freed. */
static struct error *add_rows(const struct page_changes *c,
			      const struct own_diff_entry_vec *entries,
			      const struct page_entries *numbers,
			      const struct page_row_names *names,
			      struct page_row **ret)
{
	size_t count = entries->count;
	_cleanup_free_ struct page_row *rows = calloc(count + 1, sizeof(*rows));
	_cleanup_free_ double *off = calloc(count + 1, sizeof(*off));
	struct error *error = NULL;

	if (!rows || !off)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		rows[i].subject = PROFILE_NONE;
	name_rows(numbers, rows);
	error = describe_rows(c, entries, rows, off);
	if (!error)
		error = add_row_columns(c, rows, off, count, names);
	if (!error)
		*ret = take_ptr(rows);
	return error;
}

/* The function that stands for each: native code for itself. */
static struct error *add_same(const struct page_changes *c,
			      const struct page_row *rows)
{
	struct page_numbers same = {};
	struct error *error = NULL;

	for (uint32_t i = 0; !error && i < c->stacks->functions.count; i++) {
		uint32_t entry = c->functions.of[PAGE_AFTER].data[i];

		if (entry == PROFILE_NONE)
			entry = c->functions.of[PAGE_BEFORE].data[i];
		if (!vec_push(&same, entry == PROFILE_NONE ?
					     i :
					     rows[entry].subject))
			error = error_no_memory();
	}
	if (!error)
		error = page_column_add_numbers(c->columns, "function.same",
						&same);
	vec_deinit(&same);
	return error;
}

static struct error *add_functions(const struct page_changes *c)
{
	static const struct page_row_names names = {
		"change.function", "change.functions", "change.mark", "change.off"
	};
	_cleanup_free_ struct page_row *rows = NULL;
	struct error *error = add_rows(c, &c->diff->functions, &c->functions,
				       &names, &rows);

	return error ? error : add_same(c, rows);
}

static struct error *add_lines(const struct page_changes *c)
{
	static const struct page_row_names names = {
		"line.frame", "line.unpaired", "line.mark", "line.off"
	};
	_cleanup_free_ struct page_row *rows = NULL;
	struct error *error =
		add_rows(c, &c->diff->lines, &c->places, &names, &rows);

	if (!error)
		error = page_column_add_numbers(c->columns, "frame.before",
						&c->places.of[PAGE_BEFORE]);
	return error ? error :
		       page_column_add_numbers(c->columns, "frame.after",
					       &c->places.of[PAGE_AFTER]);
}

/* --- What stacks weighed before ----------------------------------------- */

static struct error *add_weights(const struct page_changes *c,
				 const double *weights)
{
	struct page_numbers stacks = {};
	VEC(double) own = {};
	struct error *error = NULL;

	for (uint32_t i = 0; !error && i < c->stacks->nodes.count; i++)
		if (weights[i] > 0 &&
		    !(vec_push(&stacks, i) && vec_push(&own, weights[i])))
			error = error_no_memory();
	if (!error)
		error = page_column_add_numbers(c->columns, "before.stack",
						&stacks);
	if (!error)
		error = page_column_add(c->columns, "before.weight", own.data,
					sizeof(*own.data), own.count);
	vec_deinit(&stacks);
	vec_deinit(&own);
	return error;
}

static struct error *add_before(const struct page_changes *c,
				const uint32_t *numbers)
{
	const struct profile_samples *s = &c->profile->samples;
	_cleanup_free_ double *weights =
		calloc(c->stacks->nodes.count + 1, sizeof(*weights));

	if (!weights)
		return error_no_memory();
	for (size_t i = 0; i < s->rows; i++)
		if (s->event[i] == run_of(c, PAGE_BEFORE)->event)
			weights[numbers[export_stacks_node(c->stacks,
							   s->stack[i])]] +=
				(double)s->period[i];
	return add_weights(c, weights);
}

/* --- What is compared --------------------------------------------------- */

static struct error *add_head(const struct page_changes *c)
{
	const struct diff_unit unit =
		diff_text_unit(c->profile, c->diff, c->compare->by);
	const double scale[] = { run_of(c, PAGE_BEFORE)->scale,
				 run_of(c, PAGE_AFTER)->scale, unit.factor };
	uint32_t path, unit_text;
	struct error *error = page_text(c->columns, c->compare->paths[PAGE_BEFORE],
					&path);

	if (!error)
		error = page_text(c->columns, unit.table_name, &unit_text);
	if (!error) {
		const uint32_t head[] = { run_of(c, PAGE_AFTER)->event,
					  c->compare->by, path, unit_text,
					  (uint32_t)unit.decimals };

		error = page_column_add(c->columns, "compare", head,
					sizeof(*head),
					sizeof(head) / sizeof(*head));
	}
	return error ? error :
		       page_column_add(c->columns, "compare.scale", scale,
				       sizeof(*scale),
				       sizeof(scale) / sizeof(*scale));
}

struct error *page_changes_add(const struct export_stacks *stacks,
			       const uint32_t *numbers,
			       const struct page_compare *compare,
			       struct page_columns *columns)
{
	struct page_changes c = { .stacks = stacks,
				  .profile = stacks->profile,
				  .compare = compare,
				  .diff = compare->diff,
				  .columns = columns };
	struct error *error = export_stacks_frames(stacks, &c.frames);

	for (int side = 0; !error && side < PAGE_SIDES; side++)
		error = find_entries(&c, side);
	if (!error)
		error = add_functions(&c);
	if (!error)
		error = add_lines(&c);
	if (!error)
		error = add_before(&c, numbers);
	if (!error)
		error = add_head(&c);
	free(c.frames);
	map_deinit(&c.by_name);
	for (int side = 0; side < PAGE_SIDES; side++) {
		vec_deinit(&c.functions.of[side]);
		vec_deinit(&c.places.of[side]);
	}
	return error;
}
