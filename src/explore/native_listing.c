// SPDX-License-Identifier: GPL-2.0-only
#include "explore/native_listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "explore/native_rows.h"

enum {
	/* Rows around those that were hit. */
	CONTEXT = 5,
	CONTEXT_HOT = 2,
	HOT_ROWS = 5,
};

struct native_listing {
	struct listing *l;
	const struct annotate_part *part;
	/* Of each event that is shown. */
	struct native_rows *rows;
	struct listing_spans spans;
};

/* --- What of them is to be seen ----------------------------------------- */

static uint64_t period_of(const struct native_listing *n, size_t row)
{
	const struct own_weight *hit = native_rows_hit(n->rows, 0, row);

	return hit ? hit->period : 0;
}

/* What a row needs to be one of the hottest. */
static uint64_t hot_period(const struct native_listing *n)
{
	uint64_t most[HOT_ROWS] = {};

	for (size_t i = 0; i < n->rows->all.count; i++) {
		uint64_t period = period_of(n, i);

		for (size_t k = 0; k < HOT_ROWS; k++) {
			uint64_t lower = most[k];

			if (period <= lower)
				continue;
			most[k] = period;
			period = lower;
		}
	}
	return most[HOT_ROWS - 1] ? most[HOT_ROWS - 1] : 1;
}

static bool is_seen(const struct native_listing *n, size_t row, uint64_t hot)
{
	if (n->l->options->only_hottest)
		return period_of(n, row) >= hot;
	return native_rows_is_hit(n->rows, row);
}

static struct error *find_spans(struct native_listing *n)
{
	const struct listing_options *o = n->l->options;
	size_t context = o->has_context  ? o->context :
			 o->only_hottest ? CONTEXT_HOT :
					   CONTEXT;
	size_t last = n->rows->all.count ? n->rows->all.count - 1 : 0;
	uint64_t hot = hot_period(n);
	struct error *error = NULL;

	if (o->shows_all && n->rows->all.count)
		return listing_add_span(&n->spans, 0, last);
	for (size_t i = 0; i < n->rows->all.count && !error; i++)
		if (is_seen(n, i, hot))
			error = listing_add_span(
				&n->spans, i > context ? i - context : 0,
				last - i > context ? i + context : last);
	return error;
}

static void put_instruction(struct native_listing *n, size_t at)
{
	const struct disassembly_line *row = &n->rows->all.data[at];
	struct listing_cell cells[LISTING_EVENTS_MAX] = {};
	struct listing *l = n->l;
	char label[24] = "";
	bool is_hot = false;

	for (size_t i = 0; i < l->event_count; i++) {
		cells[i].own = native_rows_hit(n->rows, i, at);
		is_hot |= cells[i].own && listing_share(l, i, cells[i].own) >=
						  LISTING_HOT;
	}
	if (row->is_instruction)
		snprintf(label, sizeof(label), "%" PRIx64, row->address);
	listing_put_row(l, cells, label, false);
	(void)listing_put_text(l, row->text, row->length,
			       l->columns - listing_text_column(l), is_hot);
	listing_end_row(l);
}

/* Rows [first, end) that are not shown. */
static void put_fold(struct native_listing *n, size_t first, size_t end)
{
	struct own_weight sums[LISTING_EVENTS_MAX] = {};
	struct listing_cell cells[LISTING_EVENTS_MAX] = {};
	uint64_t samples = 0;

	if (first >= end)
		return;
	for (size_t i = 0; i < n->l->event_count; i++) {
		for (size_t at = first; at < end; at++) {
			const struct own_weight *hit =
				native_rows_hit(n->rows, i, at);

			sums[i].period += hit ? hit->period : 0;
			sums[i].samples += hit ? hit->samples : 0;
		}
		cells[i].own = &sums[i];
		samples += sums[i].samples;
	}
	listing_put_row(n->l, cells, "...", false);
	strbuf_printf(&n->l->text, "%zu line%s%s", end - first,
		      end - first == 1 ? "" : "s",
		      samples ? "" : " without samples");
	listing_end_row(n->l);
}

static void put_rows(struct native_listing *n)
{
	size_t next = 0;

	vec_for_each(span, &n->spans) {
		put_fold(n, next, span->first);
		for (size_t i = span->first; i <= span->last; i++)
			put_instruction(n, i);
		next = span->last + 1;
	}
	put_fold(n, next, n->rows->all.count);
}

/* --- All ---------------------------------------------------------------- */

static struct error *begin(struct native_listing *n)
{
	const struct profile *profile = n->l->profile;
	const struct profile_symbol *symbol =
		profile_symbol(profile, n->part->symbol);
	const struct profile_dso *dso = profile_dso(profile, symbol->dso);
	char last[24];

	snprintf(last, sizeof(last), "%" PRIx64, symbol->end);
	n->l->label_width = strlen(last);
	return listing_begin(n->l, n->part,
			     profile_string(profile, symbol->name, "?"),
			     dso ? profile_string(profile, dso->short_name, "") :
				   "");
}

static struct error *find_rows(struct native_listing *n)
{
	const struct listing *l = n->l;
	uint32_t events[LISTING_EVENTS_MAX];

	for (size_t i = 0; i < l->event_count; i++)
		events[i] = l->weights->events.data[i].event;
	return native_rows_create(&l->code, l->profile, events, l->event_count,
				  n->part->frame, true, &n->rows);
}

/* What there is to know before the rows. */
static void put_notes(struct native_listing *n)
{
	struct strbuf *text = &n->l->text;
	size_t before;

	if (n->rows->why)
		listing_put_error(n->l, "there is no code to show: ",
				  n->rows->why);
	before = text->len;
	native_rows_tell_missing(n->rows, text);
	strbuf_puts(text, text->len > before ? "\n" : "");
}

static struct error *put_all(struct native_listing *n)
{
	struct error *error = find_rows(n);

	if (!error)
		error = begin(n);
	if (error)
		return error;
	put_notes(n);
	error = find_spans(n);
	if (error)
		return error;
	listing_put_titles(n->l, "address", n->rows->why ? "" : "instruction",
			   "", 0);
	put_rows(n);
	return NULL;
}

struct error *native_listing_put(struct listing *listing,
				 const struct annotate_part *part)
{
	struct native_listing n = { .l = listing, .part = part };
	struct error *error = put_all(&n);

	native_rows_destroy(n.rows);
	vec_deinit(&n.spans);
	return error ? error : strbuf_error(&listing->text);
}
