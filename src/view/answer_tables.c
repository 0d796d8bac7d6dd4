// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "base/name_match.h"
#include "base/path_name.h"
#include "view/answer_screen.h"
#include "view/fit.h"
#include "view/own_name.h"
#include "view/printable.h"
#include "view/spent_text.h"

enum {
	/* "100.0%  100.0%  ", and "99999.99  " behind it */
	WEIGHTS_WIDTH = 16,
	SECONDS_WIDTH = 10,
	/* What own time consists of has this, and less where names need the room. */
	SPENT_GOOD = 20,
	/* It keeps this before names in rows with little time have more. */
	SPENT_AMPLE = 30,
	SPENT_MIN = 16,
	/* All parts of it. */
	SPENT_ALL = 1000,
	/* Of a place, before a name gives way. */
	PLACE_GOOD = 26,
	/* Of a name in a row with little time, if there is room for more. */
	NAME_GOOD = 24,
	/* "..." and what tells one path from another. */
	PATH_MIN = 4,
	/* Rows of a table: all from one percent on, and the first few always. */
	FUNCTIONS_MAX = 15,
	LINES_MAX = 10,
	ALWAYS = 5,
	BRIEF_MAX = 5,
};

/* Percent; less is shown as 0.0 %. */
#define SHARE_MIN 0.05
/* From here on the room that a row needs is given to it, and from there on all of it. */
#define SHARE_SEEN 1
#define SHARE_HOT 10

/* What rows are ordered by. */
static const struct own_weight *weight_of(const struct answer *a,
					  const struct own_entry *entry)
{
	return a->options->by_total ? &entry->total : &entry->own;
}

/* Waits of many threads make more seconds than a clock has: rows say how many. */
static bool has_seconds(const struct answer *a)
{
	return !a->options->is_brief && a->event->unit == EVENT_NANOSECONDS &&
	       (a->event->kind == EVENT_WAIT ||
		event_kind_is_wall(a->event->kind));
}

static size_t weights_width(const struct answer *a)
{
	return WEIGHTS_WIDTH + (has_seconds(a) ? SECONDS_WIDTH : 0);
}

static void put_weights_title(struct answer *a)
{
	strbuf_puts(&a->text, "\n   own   total  ");
	if (has_seconds(a))
		strbuf_printf(&a->text, "%8s  ",
			      a->options->by_total ? "total, s" : "own, s");
}

static void put_seconds(struct answer *a, uint64_t period)
{
	if (has_seconds(a))
		strbuf_printf(&a->text, "%8.2f  ", (double)period / 1e9);
}

static void put_weights(struct answer *a, const struct own_entry *entry)
{
	strbuf_printf(&a->text, "%5.1f%%  %5.1f%%  ",
		      answer_share(a, entry->own.period),
		      answer_share(a, entry->total.period));
	put_seconds(a, weight_of(a, entry)->period);
}

/* From one percent on, and the first few unless they round to 0.0 %. */
static bool has_row(const struct answer *a, const struct own_entry *entry,
		    size_t before)
{
	double share = answer_share(a, weight_of(a, entry)->period);

	if (!before)
		return true;
	return share >= 1 || (share >= SHARE_MIN && !a->options->is_brief &&
			      before < ALWAYS);
}

/* How many of the entries get a row; the heaviest stand first. */
static size_t rows_of(const struct answer *a,
		      const struct own_entry_vec *entries, size_t most)
{
	size_t rows = 0;

	if (a->options->is_brief)
		most = BRIEF_MAX;
	while (rows < entries->count && rows < most &&
	       weight_of(a, &entries->data[rows])->period &&
	       has_row(a, &entries->data[rows], rows))
		rows++;
	return rows;
}

static void put_rest(struct answer *a, const struct own_entry_vec *entries,
		     size_t rows, const char *what)
{
	uint64_t period = 0, count = 0;

	for (size_t i = rows; i < entries->count; i++) {
		period += entries->data[i].own.period;
		count += weight_of(a, &entries->data[i])->samples != 0;
	}
	if (!count)
		return;
	/* Totals have no sum. */
	strbuf_printf(&a->text, "%5.1f%%          ", answer_share(a, period));
	if (a->options->by_total && has_seconds(a))
		strbuf_fill(&a->text, ' ', SECONDS_WIDTH);
	else
		put_seconds(a, period);
	answer_put_count(a, count);
	strbuf_printf(&a->text, " other %s%s\n", what, count == 1 ? "" : "s");
}

/* --- Names -------------------------------------------------------------- */

/* Each into a->word. */
static const char *name_function(struct answer *a,
				 const struct own_entry *entry)
{
	strbuf_clear(&a->word);
	own_name_function(a->profile, entry, &a->word);
	return a->word.data;
}

static const char *name_place(struct answer *a, const struct own_entry *entry)
{
	strbuf_clear(&a->word);
	if (entry->is_python)
		own_name_place(a->names, entry, &a->word);
	else if (a->programs.len)
		strbuf_puts(&a->word, a->programs.data);
	else
		spent_text_library(a->profile, a->own, entry, &a->word);
	return a->word.data;
}

/* "" where no line is known: such a row has the room of its source. */
static const char *name_line(struct answer *a, const struct own_entry *entry)
{
	strbuf_clear(&a->word);
	if (entry->line)
		own_name_line(a->profile, a->names, entry, &a->word);
	return a->word.data;
}

/* The file alone. */
static const char *base_of_place(struct answer *a, const struct own_entry *entry)
{
	return path_name(name_place(a, entry));
}

static const char *spent_within(struct answer *a, const struct own_entry *entry,
				size_t columns)
{
	strbuf_clear(&a->word);
	spent_text_parts(a->profile, a->own, entry, columns, &a->word);
	return a->word.data;
}

static const char *name_spent(struct answer *a, const struct own_entry *entry)
{
	return spent_within(a, entry, SPENT_GOOD);
}

static const char *name_spent_amply(struct answer *a, const struct own_entry *entry)
{
	return spent_within(a, entry, SPENT_AMPLE);
}

typedef const char *name_fn(struct answer *a, const struct own_entry *entry);

static size_t widest(struct answer *a, const struct own_entry_vec *entries,
		     size_t rows, name_fn *name, const char *title)
{
	size_t width = strlen(title);

	for (size_t i = 0; i < rows; i++) {
		const char *text = name(a, &entries->data[i]);
		size_t w = printable_width(text, strlen(text));

		if (w > width)
			width = w;
	}
	return width;
}

static size_t at_most(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* --- Functions and lines ------------------------------------------------ */

static size_t at_least(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Some function has something there: without native frames few have. */
static bool has_spent(struct answer *a, size_t rows, size_t columns)
{
	strbuf_clear(&a->word);
	for (size_t i = 0; i < rows && !a->word.len; i++)
		spent_text_parts(a->profile, a->own,
				 &a->own->functions.data[i], columns, &a->word);
	return a->word.len != 0;
}

/* Rows from that share on: they stand first. At least one. */
static size_t rows_from(const struct answer *a, size_t rows, double share)
{
	const struct own_entry *all = a->own->functions.data;
	size_t count = 1;

	while (count < rows &&
	       answer_share(a, weight_of(a, &all[count])->period) >= share)
		count++;
	return at_most(count, rows);
}

/* What most of the time was spent in, with all of its name. */
static const char *name_most_spent(struct answer *a, const struct own_entry *entry)
{
	const char *end;

	strbuf_clear(&a->word);
	if (answer_share(a, entry->own.period) < SHARE_HOT)
		return "";
	spent_text_parts(a->profile, a->own, entry, SPENT_ALL, &a->word);
	end = strchr(a->word.data, ',');
	if (end)
		strbuf_truncate(&a->word, (size_t)(end - a->word.data));
	strbuf_puts(&a->word, SPENT_TEXT_MORE);
	return a->word.data;
}

/* More than others have, if it is a hot function's. */
static size_t spent_width(struct answer *a, size_t rows, size_t room, size_t most)
{
	const struct own_entry_vec *all = &a->own->functions;
	size_t hot = widest(a, all, rows, name_most_spent, "");

	if (!has_spent(a, rows, SPENT_GOOD))
		return 0;
	return at_least(at_most(widest(a, all, rows, name_spent, "spent in, %"), most),
			at_most(hot, room * 2 / 5));
}

/*
 * Where there is too little room, the paths lose their beginning first; then names
 * and what stands behind them give way.
 */
static void share_room(struct answer *a, size_t rows, size_t room, size_t *name,
		       size_t *place)
{
	const struct own_entry_vec *all = &a->own->functions;
	size_t spent = spent_width(a, rows, room, SPENT_GOOD);
	size_t file = widest(a, all, rows, base_of_place, "") + PATH_MIN;

	file = at_most(file, PLACE_GOOD);
	file = at_most(*place, at_least(file, strlen("defined in")));
	if (*name + file + spent > room)
		spent = spent_width(a, rows, room, SPENT_MIN);
	room -= spent;
	if (*name + *place <= room)
		return;
	if (*name + file > room)
		*name = at_most(*name, at_least(room > file ? room - file : 0,
						room / 2));
	*place = room - *name;
}

static void widen(size_t wanted, size_t *width, size_t *room)
{
	size_t more = *width < wanted ? at_most(wanted - *width, *room) : 0;

	*width += more;
	*room -= more;
}

/*
 * What no row needs is for names and places in rows with little time, which are cut
 * else: for all of them, if nothing stands behind them.
 */
static void widen_cells(struct answer *a, size_t rows, size_t room, size_t *name,
			size_t *place, bool says_spent)
{
	const struct own_entry_vec *all = &a->own->functions;
	size_t used = *name + *place +
		      (says_spent ? widest(a, all, rows, name_spent_amply, "") : 0);

	if (used >= room)
		return;
	room -= used;
	widen(at_most(widest(a, all, rows, name_function, ""),
		      says_spent ? NAME_GOOD : room + *name),
	      name, &room);
	widen(at_most(widest(a, all, rows, name_place, ""),
		      says_spent ? PLACE_GOOD : room + *place),
	      place, &room);
}

static void put_cell(struct answer *a,
		     void (*fit)(struct strbuf *out, const char *s, size_t width),
		     const char *text, size_t width)
{
	fit(&a->text, text, width);
	strbuf_puts(&a->text, "  ");
}

/* Where it is not defined anywhere the name has that room, too: "[no Python code]". */
static void put_function(struct answer *a, const struct own_entry *entry,
			 size_t name, size_t place)
{
	if (!*name_place(a, entry)) {
		put_cell(a, fit_name, name_function(a, entry), name + 2 + place);
		return;
	}
	put_cell(a, fit_name, name_function(a, entry), name);
	/* Libraries are told by the beginning of their names, files by its end. */
	put_cell(a, entry->is_python ? fit_end : fit_name, name_place(a, entry),
		 place);
}

/* Returns whether there is more than what has room. */
static bool put_spent(struct answer *a, const struct own_entry *entry,
		      size_t columns)
{
	spent_text_parts(a->profile, a->own, entry, columns, &a->text);
	return name_ends_with(a->text.data, SPENT_TEXT_MORE);
}

void answer_put_functions(struct answer *a)
{
	const struct own_entry_vec *all = &a->own->functions;
	size_t rows = rows_of(a, all, FUNCTIONS_MAX);
	size_t seen = rows_from(a, rows, SHARE_SEEN);
	size_t name = widest(a, all, seen, name_function, "function");
	size_t place = widest(a, all, seen, name_place, "defined in");
	bool says_spent = has_spent(a, rows, SPENT_GOOD), has_more = false;
	size_t room = a->columns - weights_width(a) - (says_spent ? 4 : 2);
	size_t spent;

	share_room(a, seen, room, &name, &place);
	widen_cells(a, rows, room, &name, &place, says_spent);
	spent = room - name - place;

	put_weights_title(a);
	put_cell(a, fit_end, "function", name);
	put_cell(a, fit_end, "defined in", place);
	if (says_spent)
		strbuf_puts(&a->text, "spent in, %");
	answer_end_line(a);
	for (size_t i = 0; i < rows; i++) {
		const struct own_entry *entry = &all->data[i];

		put_weights(a, entry);
		put_function(a, entry, name, place);
		has_more |= put_spent(a, entry, spent);
		answer_end_line(a);
	}
	put_rest(a, all, rows, "function");
	if (has_more)
		strbuf_puts(&a->text,
			    "+: and others, each with less; annotate shows them\n");
}

/* Into a->word: the line as its file has it, without what it is indented by. */
static void find_source(struct answer *a, const struct own_entry *entry)
{
	const char *file = profile_string(a->profile, entry->file, NULL);

	strbuf_clear(&a->word);
	if (file && entry->line && a->options->source)
		a->options->source(a->options->source_arg, file, entry->line,
				   &a->word);
}

static void put_line(struct answer *a, const struct own_entry *entry,
		     size_t place, size_t room)
{
	find_source(a, entry);
	own_name_fit_line(a->profile, a->names, entry,
			  a->word.len ? place : room, &a->text);
	if (!a->word.len)
		return;
	strbuf_puts(&a->text, "  ");
	fit_code(&a->text, &a->word, room - place - 2);
}

/* A file's name is not cut for the text of its lines, but for a very long one. */
static size_t width_of_lines(struct answer *a, size_t rows, size_t room)
{
	const struct own_entry_vec *all = &a->own->lines;
	size_t place = widest(a, all, rows, name_line, "line");
	size_t file = widest(a, all, rows, base_of_place, "") + PATH_MIN;

	return at_most(place, at_least(room * 3 / 8, at_most(file, room / 2)));
}

void answer_put_lines(struct answer *a)
{
	const struct own_entry_vec *all = &a->own->lines;
	size_t rows = rows_of(a, all, LINES_MAX);
	size_t room = a->columns - weights_width(a);
	size_t place = width_of_lines(a, rows, room);

	put_weights_title(a);
	strbuf_puts(&a->text, "line\n");
	for (size_t i = 0; i < rows; i++) {
		const struct own_entry *entry = &all->data[i];

		put_weights(a, entry);
		put_line(a, entry, place, room);
		answer_end_line(a);
	}
	put_rest(a, all, rows, "line");
}
