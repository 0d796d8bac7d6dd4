// SPDX-License-Identifier: GPL-2.0-only
#include "explore/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "view/fit.h"
#include "view/printable.h"
#include "view/text.h"

enum {
	COLUMNS_MIN = 60,
	/* "100.0%" */
	PERCENT_WIDTH = 6,
	/* Between columns. */
	GAP = 2,
	/* The text of a row has at least this. */
	TEXT_MIN = 30,
	LABEL_MIN = 5,
	TAB = 8,
	/* Behind name and place: "   own 100.0%, total 100.0%". */
	SUM_WIDTH = 30,
	HEADING_GAP = 3,
};

#define BOLD "\033[1m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define PLAIN "\033[m"

static void put_style(struct listing *l, const char *style)
{
	if (l->options->color)
		strbuf_puts(&l->text, style);
}

/* --- Weights ------------------------------------------------------------ */

bool listing_counts_samples(const struct listing_options *options)
{
	return options->value == LISTING_PERCENT ?
		       options->counts_hits :
		       options->value == LISTING_SAMPLES;
}

static uint64_t value_of(const struct listing *l,
			 const struct own_weight *weight)
{
	return listing_counts_samples(l->options) ? weight->samples :
						    weight->period;
}

static double percent_of(const struct listing *l,
			 const struct own_weight *weight,
			 const struct own_weight *whole)
{
	uint64_t all = value_of(l, whole);

	return all ? 100.0 * (double)value_of(l, weight) / (double)all : 0;
}

double listing_share(const struct listing *l, size_t event,
		     const struct own_weight *weight)
{
	const struct own_weight *whole =
		&l->weights->events.data[event].own->all;

	if (l->options->is_local)
		whole = &l->whole.data[event].total;
	return percent_of(l, weight, whole);
}

static void put_value(struct listing *l, size_t event,
		      const struct own_weight *weight)
{
	int width = (int)l->cell_width;

	if (l->options->value == LISTING_PERCENT)
		strbuf_printf(&l->text, "%*.1f%%", width - 1,
			      listing_share(l, event, weight));
	else
		strbuf_printf(&l->text, "%*" PRIu64, width,
			      value_of(l, weight));
}

/* As perf and the terminal's report color percentages. */
static const char *style_of(double share)
{
	if (share >= LISTING_HOT)
		return RED;
	return share >= 0.5 ? GREEN : "";
}

static void put_cell(struct listing *l, size_t event,
		     const struct own_weight *weight)
{
	const char *style;

	if (!weight || !weight->samples) {
		strbuf_fill(&l->text, ' ', l->cell_width + GAP);
		return;
	}
	style = style_of(listing_share(l, event, weight));
	put_style(l, style);
	put_value(l, event, weight);
	put_style(l, *style ? PLAIN : "");
	strbuf_fill(&l->text, ' ', GAP);
}

/* --- Widths ------------------------------------------------------------- */

static size_t digits(uint64_t n)
{
	size_t count = 1;

	for (; n >= 10; n /= 10)
		count++;
	return count;
}

static size_t find_cell_width(const struct listing *l)
{
	size_t width = PERCENT_WIDTH;

	if (l->options->value == LISTING_PERCENT)
		return width;
	vec_for_each(event, &l->weights->events) {
		size_t n = digits(value_of(l, &event->own->all));

		if (n > width)
			width = n;
	}
	return width;
}

static size_t pair_width(const struct listing *l)
{
	return (l->has_totals ? 2 : 1) * (l->cell_width + GAP);
}

void listing_init(struct listing *l)
{
	size_t room, wanted = l->options->columns;

	l->text = l->scratch = (struct strbuf)STRBUF_INIT;
	l->has_totals = true;
	l->label_width = LABEL_MIN;
	l->columns = wanted < COLUMNS_MIN ? COLUMNS_MIN : wanted;
	l->cell_width = find_cell_width(l);
	room = (l->columns - LABEL_MIN - GAP - TEXT_MIN) / pair_width(l);
	l->event_count = l->weights->events.count;
	if (l->event_count > room)
		l->event_count = room ? room : 1;
	if (l->event_count > LISTING_EVENTS_MAX)
		l->event_count = LISTING_EVENTS_MAX;
}

void listing_deinit(struct listing *l)
{
	strbuf_deinit(&l->text);
	strbuf_deinit(&l->scratch);
	vec_deinit(&l->whole);
}

size_t listing_text_column(const struct listing *l)
{
	return l->event_count * pair_width(l) + l->label_width + GAP;
}

/* --- The heading -------------------------------------------------------- */

static const struct profile_event *event_of(const struct listing *l, size_t i)
{
	return &l->profile->events.data[l->weights->events.data[i].event];
}

static void put_event_name(struct listing *l, size_t event, size_t width)
{
	const char *name =
		profile_string(l->profile, event_of(l, event)->name, "");

	fit_begin(&l->text, name, strlen(name), width);
}

void listing_put_hidden_events(struct listing *l)
{
	size_t count = l->weights->events.count;

	for (size_t i = l->event_count; i < count; i++) {
		strbuf_printf(&l->text, "Not shown: %" PRIu64 " sample%s of ",
			      event_of(l, i)->samples,
			      plural(event_of(l, i)->samples));
		put_event_name(l, i, 60);
		strbuf_puts(&l->text, " (-e shows it)\n");
	}
}

static void put_sum(struct listing *l, size_t event)
{
	const struct own_weight *all =
		&l->weights->events.data[event].own->all;
	const struct weight_pair *whole = &l->whole.data[event];

	strbuf_printf(&l->text, "own %.1f%%, total %.1f%%",
		      percent_of(l, &whole->own, all),
		      percent_of(l, &whole->total, all));
}

static struct error *weigh(struct listing *l, const struct annotate_part *part)
{
	vec_clear(&l->whole);
	for (size_t i = 0; i < l->weights->events.count; i++) {
		struct weight_pair pair;
		struct error *error =
			annotate_part_weigh(l->weights, i, part, &pair);

		if (error)
			return error;
		if (!vec_push(&l->whole, pair))
			return error_no_memory();
	}
	return NULL;
}

static size_t width_of(const char *text)
{
	return printable_width(text, strlen(text));
}

static size_t at_most(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* A file or a module has no place but its name, which is one. */
static void put_name(struct listing *l, const char *name, bool is_place,
		     size_t room)
{
	put_style(l, BOLD);
	(is_place ? fit_end : fit_name)(&l->text, name,
					at_most(width_of(name), room));
	strbuf_trim_end(&l->text);
	put_style(l, PLAIN);
}

/*
 * Name, place and, if there is one event, what all of it weighs: in one line, or
 * in as many as it takes to cut neither name nor place.
 */
static void put_heading(struct listing *l, const char *name, const char *place)
{
	size_t name_width = width_of(name), place_width = width_of(place);
	size_t sum = l->event_count == 1 ? SUM_WIDTH : 0;
	size_t both = name_width + (*place ? HEADING_GAP + place_width : 0);
	const char *gap = "   ";

	if (both > l->columns)
		gap = "\n  ";
	put_name(l, name, !*place, l->columns);
	if (*place) {
		strbuf_puts(&l->text, gap);
		fit_end(&l->text, place,
			at_most(place_width, l->columns - strlen("  ")));
	}
	if (both > l->columns)
		both = place_width + strlen("  ");
	if (!sum)
		strbuf_putc(&l->text, '\n');
	else
		strbuf_puts(&l->text, both + sum > l->columns ? "\n  " : "   ");
}

struct error *listing_begin(struct listing *l,
			    const struct annotate_part *part,
			    const char *name, const char *place)
{
	struct error *error;

	l->has_totals = part->kind != ANNOTATE_NATIVE;
	error = weigh(l, part);
	if (error)
		return error;
	if (l->text.len)
		strbuf_putc(&l->text, '\n');
	put_heading(l, name, place);
	for (size_t i = 0; i < l->event_count; i++) {
		if (l->event_count > 1) {
			strbuf_fill(&l->text, ' ', GAP);
			put_event_name(l, i, 24);
			strbuf_puts(&l->text, ": ");
		}
		put_sum(l, i);
		strbuf_putc(&l->text, '\n');
	}
	return NULL;
}

void listing_put_error(struct listing *l, const char *what,
		       const struct error *error)
{
	strbuf_clear(&l->scratch);
	error_format(error, &l->scratch);
	strbuf_puts(&l->text, what);
	text_append(&l->text, l->scratch.data, l->scratch.len);
	strbuf_putc(&l->text, '\n');
}

void listing_wrap(struct listing *l, size_t begin)
{
	strbuf_clear(&l->scratch);
	fit_lines(&l->scratch, l->text.data + begin, l->columns);
	strbuf_truncate(&l->text, begin);
	strbuf_append(&l->text, l->scratch.data, l->scratch.len);
}

static void put_event_titles(struct listing *l)
{
	for (size_t i = 0; i < l->event_count; i++) {
		size_t begin = l->text.len, used;

		put_event_name(l, i, pair_width(l) - GAP);
		used = printable_width(l->text.data + begin,
				       l->text.len - begin);
		strbuf_fill(&l->text, ' ', pair_width(l) - used);
	}
	listing_end_row(l);
}

void listing_put_titles(struct listing *l, const char *label, const char *text,
			const char *extra, size_t width)
{
	int cell = (int)l->cell_width;

	if (l->event_count > 1)
		put_event_titles(l);
	for (size_t i = 0; i < l->event_count; i++) {
		strbuf_printf(&l->text, "%*s  ", cell, "own");
		if (l->has_totals)
			strbuf_printf(&l->text, "%*s  ", cell, "total");
	}
	strbuf_printf(&l->text, "%*s  %-*s%s", (int)l->label_width, label,
		      (int)width, text, extra);
	listing_end_row(l);
}

/* --- Rows --------------------------------------------------------------- */

void listing_put_row(struct listing *l, const struct listing_cell *cells,
		     const char *label, bool is_marked)
{
	int width = (int)l->label_width;

	for (size_t i = 0; i < l->event_count; i++) {
		put_cell(l, i, cells[i].own);
		if (l->has_totals)
			put_cell(l, i, cells[i].total);
	}
	strbuf_printf(&l->text, "%*s%s", width, label,
		      is_marked ? "> " : "  ");
}

/* Into scratch: tabs as an editor shows them, no more than can be seen. */
static void expand(struct listing *l, const char *text, size_t n)
{
	size_t column = 0, most = 8 * l->columns;

	strbuf_clear(&l->scratch);
	for (size_t i = 0; i < n && i < most; i++) {
		size_t blanks = TAB - column % TAB;

		if (text[i] == '\t')
			strbuf_fill(&l->scratch, ' ', blanks);
		else
			strbuf_putc(&l->scratch, text[i]);
		/* Bytes that go on with a character take no column. */
		if (text[i] == '\t')
			column += blanks;
		else
			column += ((unsigned char)text[i] & 0xc0) != 0x80;
	}
}

size_t listing_put_text(struct listing *l, const char *text, size_t n,
			size_t width, bool is_hot)
{
	size_t begin;

	expand(l, text, n);
	put_style(l, is_hot ? BOLD : "");
	begin = l->text.len;
	fit_begin(&l->text, l->scratch.data, l->scratch.len, width);
	n = printable_width(l->text.data + begin, l->text.len - begin);
	put_style(l, is_hot ? PLAIN : "");
	return n;
}

size_t listing_text_width(struct listing *l, const char *text, size_t n)
{
	expand(l, text, n);
	return printable_width(l->scratch.data, l->scratch.len);
}

void listing_end_row(struct listing *l)
{
	size_t n = l->text.len;

	while (n && l->text.data[n - 1] == ' ')
		n--;
	strbuf_truncate(&l->text, n);
	strbuf_putc(&l->text, '\n');
}

/* --- Spans -------------------------------------------------------------- */

struct error *listing_add_span(struct listing_spans *spans, size_t first,
			       size_t last)
{
	const struct listing_span span = { first, last };
	struct listing_span *before =
		spans->count ? vec_last(spans) : NULL;

	if (last < first)
		return NULL;
	if (before && first <= before->last + LISTING_FOLD_MIN) {
		if (last > before->last)
			before->last = last;
		return NULL;
	}
	return vec_push(spans, span) ? NULL : error_no_memory();
}
