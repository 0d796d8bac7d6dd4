// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "view/diff_screen.h"
#include "view/fit.h"
#include "view/own_name.h"
#include "view/printable.h"

enum {
	/* "before  after  change +-width  mark", and " total" behind it. */
	VALUES_WIDTH = 37,
	THREE_WIDTH = 22,
	TOTAL_WIDTH = 9,
	/* Columns from which on there is room for total time, too. */
	TOTAL_FROM = 96,
	/* Rows of a table: those above the limit, and the first few always. */
	FUNCTIONS_MAX = 15,
	LINES_MAX = 10,
	ALWAYS = 5,
};

/* --- Values ------------------------------------------------------------- */

static bool has_total(const struct diff_screen *s)
{
	return s->columns >= TOTAL_FROM && !s->options->by_total;
}

static size_t values_width(const struct diff_screen *s)
{
	return VALUES_WIDTH + (has_total(s) ? TOTAL_WIDTH : 0);
}

/* What the rows are about. */
static const struct diff_value *value_of(const struct diff_screen *s,
					 const struct own_diff_entry *entry)
{
	return s->options->by_total ? &entry->total : &entry->own;
}

static void put_value(struct diff_screen *s, double value)
{
	if (value == 0)
		strbuf_printf(&s->text, "%6s ", "-");
	else
		strbuf_printf(&s->text, "%6.*f ", s->unit.decimals,
			      value * s->unit.factor);
}

static void put_change(struct diff_screen *s, const struct diff_value *value)
{
	strbuf_printf(&s->text, "%+7.*f ", s->unit.decimals,
		      (value->after - value->before) * s->unit.factor);
}

bool diff_is_maybe(const struct diff_value *value)
{
	return !value->is_real &&
	       fabs(value->after - value->before) > value->half_width;
}

/* One run of each does not tell how much runs differ by themselves. */
const char *diff_text_mark(const struct own_diff *diff,
			   const struct diff_value *value)
{
	bool is_sure = diff->runs.count > 2;

	if (isnan(value->half_width))
		return "";
	if (!value->is_real)
		return diff_is_maybe(value) ? "maybe" : "noise";
	if (value->before == 0)
		return is_sure ? "new" : "new?";
	if (value->after == 0)
		return is_sure ? "gone" : "gone?";
	return is_sure ? "real" : "real?";
}

static void put_three(struct diff_screen *s, const struct diff_value *value)
{
	put_value(s, value->before);
	put_value(s, value->after);
	put_change(s, value);
}

/* With how far off it may be, and what it is; if known. */
static void put_measured(struct diff_screen *s, const struct diff_value *value)
{
	char width[32] = "";

	put_three(s, value);
	if (!isnan(value->half_width))
		snprintf(width, sizeof(width), "+-%.*f", s->unit.decimals,
			 value->half_width * s->unit.factor);
	s->has_maybe |= diff_is_maybe(value);
	strbuf_printf(&s->text, "%-7s %-5s  ", width,
		      diff_text_mark(s->diff, value));
}

static void put_total(struct diff_screen *s, const struct diff_value *value)
{
	if (!has_total(s))
		return;
	if (!isnan(value->after) && (value->is_real || diff_is_maybe(value)))
		put_change(s, value);
	else
		strbuf_printf(&s->text, "%7s ",
			      isnan(value->after) ? "" : "noise");
	strbuf_putc(&s->text, ' ');
}

static void put_values(struct diff_screen *s,
		       const struct own_diff_entry *entry)
{
	put_measured(s, value_of(s, entry));
	put_total(s, &entry->total);
}

/* --- Rows --------------------------------------------------------------- */

/* The first ones of a table, and the one with the most time. */
struct shown {
	const struct own_diff_entry_vec *entries;
	size_t first;
	/* Behind the first ones; or entries->count. */
	size_t largest;
};

static size_t shown_count(const struct shown *shown)
{
	return shown->first + (shown->largest < shown->entries->count);
}

static const struct own_diff_entry *shown_row(const struct shown *shown,
					      size_t i)
{
	return &shown->entries->data[i < shown->first ? i : shown->largest];
}

static size_t find_first(const struct diff_screen *s,
			 const struct own_diff_entry_vec *entries, size_t most)
{
	double all = fmax(s->diff->all.before, s->diff->all.after);
	double limit = s->options->percent_limit / 100 * all;
	size_t always = s->options->all_rows ? 0 : ALWAYS, rows = 0;

	for (; rows < entries->count; rows++) {
		const struct diff_value *value =
			value_of(s, &entries->data[rows]);
		double change = fabs(value->after - value->before);

		/* Not known; what follows is not, either, or did not change. */
		if (isnan(change) || (rows >= always && change < limit))
			break;
		if (!s->options->all_rows && (rows >= most || change == 0))
			break;
	}
	return rows;
}

/* Whoever sees that nothing changed sees of what. */
static size_t find_largest(const struct diff_screen *s,
			   const struct own_diff_entry_vec *entries)
{
	size_t largest = entries->count;
	double most = 0;

	for (size_t i = 0; i < entries->count; i++) {
		const struct diff_value *value = value_of(s, &entries->data[i]);
		double size = fmax(value->before, value->after);

		if (isnan(value->after - value->before) || size <= most)
			continue;
		most = size;
		largest = i;
	}
	return largest;
}

static struct shown choose_rows(const struct diff_screen *s,
				const struct own_diff_entry_vec *entries,
				size_t most)
{
	struct shown shown = { entries, find_first(s, entries, most),
			       entries->count };

	if (!s->options->all_rows)
		shown.largest = find_largest(s, entries);
	if (shown.largest < shown.first)
		shown.largest = entries->count;
	return shown;
}

static void put_rest(struct diff_screen *s, const struct shown *shown)
{
	const struct own_diff_entry_vec *entries = shown->entries;
	struct diff_value rest = {};
	size_t real = 0, count = 0;

	for (size_t i = shown->first; i < entries->count; i++) {
		const struct diff_value *value = value_of(s, &entries->data[i]);

		if (i == shown->largest)
			continue;
		rest.before += value->before;
		rest.after += value->after;
		real += value->is_real;
		count += value->before != 0 || value->after != 0;
	}
	if (!count)
		return;
	/* A sample is in the total time of many functions. */
	if (!s->options->by_total)
		put_three(s, &rest);
	strbuf_fill(&s->text, ' ',
		    values_width(s) - (s->options->by_total ? 0 : THREE_WIDTH));
	strbuf_printf(&s->text, "%zu other%s", count, count == 1 ? "" : "s");
	if (real)
		strbuf_printf(&s->text, ", %zu real%s", real,
			      s->diff->runs.count > 2 ? "" : "?");
	strbuf_putc(&s->text, '\n');
}

/* So that the columns add up. */
static void put_all(struct diff_screen *s)
{
	put_measured(s, &s->diff->all);
	strbuf_fill(&s->text, ' ', has_total(s) ? TOTAL_WIDTH : 0);
	strbuf_puts(&s->text, "all\n");
}

/* --- Names -------------------------------------------------------------- */

const char *diff_name_function(struct diff_screen *s,
			       const struct own_diff_entry *entry)
{
	strbuf_clear(&s->word);
	own_name_function(s->profile, diff_entry_of(entry), &s->word);
	if (entry->functions > 1)
		strbuf_printf(&s->word, " (%" PRIu32 ")", entry->functions);
	return s->word.data;
}

static const char *name_place(struct diff_screen *s,
			      const struct own_diff_entry *entry)
{
	strbuf_clear(&s->word);
	own_name_place(s->names, diff_entry_of(entry), &s->word);
	return s->word.data;
}

static const char *name_line(struct diff_screen *s,
			     const struct own_diff_entry *entry)
{
	strbuf_clear(&s->word);
	own_name_line(s->profile, s->names, diff_entry_of(entry), &s->word);
	return s->word.data;
}

typedef const char *name_fn(struct diff_screen *s,
			    const struct own_diff_entry *entry);

static size_t widest(struct diff_screen *s, const struct shown *shown,
		     name_fn *name, const char *title)
{
	size_t width = strlen(title);

	for (size_t i = 0; i < shown_count(shown); i++) {
		const char *text = name(s, shown_row(shown, i));
		size_t w = printable_width(text, strlen(text));

		if (w > width)
			width = w;
	}
	return width;
}

static void end_line(struct diff_screen *s)
{
	strbuf_trim_end(&s->text);
	strbuf_putc(&s->text, '\n');
}

static void put_titles(struct diff_screen *s, const char *first, size_t width,
		       const char *second)
{
	const char *what = s->options->by_total ? "total" : "own";
	const char *unit = s->unit.table_name;

	strbuf_printf(&s->text, "\n %s%s%s", what, *unit ? ", " : "", unit);
	if (has_total(s))
		strbuf_printf(&s->text, "%*s", *unit ? 38 - (int)strlen(unit) : 40,
			      "total");
	strbuf_printf(&s->text, "\nbefore  after  change%16s", "");
	if (has_total(s))
		strbuf_puts(&s->text, " change  ");
	fit_end(&s->text, first, width);
	strbuf_printf(&s->text, "  %s", second);
	end_line(s);
}

/* --- Tables ------------------------------------------------------------- */

void diff_put_functions(struct diff_screen *s)
{
	struct shown shown = choose_rows(s, &s->diff->functions, FUNCTIONS_MAX);
	size_t name = widest(s, &shown, diff_name_function, "function");
	size_t place = widest(s, &shown, name_place, "defined in");

	fit_share(s->columns - values_width(s) - 2, &name, &place);
	put_titles(s, "function", name, "defined in");
	for (size_t i = 0; i < shown_count(&shown); i++) {
		const struct own_diff_entry *entry = shown_row(&shown, i);

		put_values(s, entry);
		fit_name(&s->text, diff_name_function(s, entry), name);
		strbuf_puts(&s->text, "  ");
		fit_end(&s->text, name_place(s, entry), place);
		end_line(s);
	}
	put_rest(s, &shown);
	put_all(s);
}

static void put_source(struct diff_screen *s,
		       const struct own_diff_entry *entry, size_t width)
{
	const struct own_entry *line = diff_entry_of(entry);

	strbuf_clear(&s->word);
	s->has_changed |= entry->is_unpaired;
	if (entry->is_unpaired)
		strbuf_puts(&s->word, "[changed]");
	else if (s->options->source && line->file != PROFILE_NONE && line->line)
		s->options->source(s->options->source_arg, entry->is_after,
				   line->file, line->line, &s->word);
	fit_code(&s->text, &s->word, width);
}

void diff_put_lines(struct diff_screen *s)
{
	struct shown shown = choose_rows(s, &s->diff->lines, LINES_MAX);
	size_t room = s->columns - values_width(s);
	size_t place = widest(s, &shown, name_line, "line");

	if (place > room * 5 / 8)
		place = room * 5 / 8;
	put_titles(s, "line", place, "");
	for (size_t i = 0; i < shown_count(&shown); i++) {
		const struct own_diff_entry *entry = shown_row(&shown, i);

		put_values(s, entry);
		fit_end(&s->text, name_line(s, entry), place);
		strbuf_puts(&s->text, "  ");
		put_source(s, entry, room - place - 2);
		end_line(s);
	}
	put_rest(s, &shown);
	put_all(s);
}
