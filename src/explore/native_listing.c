// SPDX-License-Identifier: GPL-2.0-only
#include "explore/native_listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "explore/disassembly.h"
#include "explore/native_hits.h"

enum {
	/* Rows around those that were hit. */
	CONTEXT = 5,
	CONTEXT_HOT = 2,
	HOT_ROWS = 5,
};

struct native_listing {
	struct listing *l;
	const struct annotate_part *part;
	/* One for each event that is shown. */
	struct native_hits *hits[LISTING_EVENTS_MAX];
	struct strbuf assembly;
	VEC(struct disassembly_line) rows;
	struct listing_spans spans;
	/* Of the first event, in instructions of the rows. */
	uint64_t found;
};

static const struct own_weight *hit_at(const struct native_listing *n,
				       size_t event,
				       const struct disassembly_line *row)
{
	return row->is_instruction ?
		       native_hits_at(n->hits[event], row->address) :
		       NULL;
}

/* --- Rows --------------------------------------------------------------- */

static bool has_address(const struct native_listing *n, size_t events,
			uint64_t address)
{
	for (size_t i = 0; i < events; i++)
		if (native_hits_at(n->hits[i], address))
			return true;
	return false;
}

static int compare_rows(const void *x, const void *y)
{
	const struct disassembly_line *a = x, *b = y;

	return compare_u64(a->address, b->address);
}

/* Where there is no code: the addresses that were hit, ascending. */
static struct error *add_addresses(struct native_listing *n)
{
	for (size_t i = 0; i < n->l->event_count; i++)
		vec_for_each(hit, &n->hits[i]->places) {
			const struct disassembly_line row = {
				.is_instruction = true,
				.address = hit->at,
				.text = "",
			};

			/* An event before this one has a row for it. */
			if (has_address(n, i, hit->at))
				continue;
			if (!vec_push(&n->rows, row))
				return error_no_memory();
		}
	if (n->rows.count)
		qsort(n->rows.data, n->rows.count, sizeof(*n->rows.data),
		      compare_rows);
	return NULL;
}

static struct error *add_instructions(struct native_listing *n)
{
	struct disassembly_lines lines = { .text = n->assembly.data };
	struct disassembly_line row;

	while (disassembly_next(&lines, &row))
		if (!vec_push(&n->rows, row))
			return error_no_memory();
	return NULL;
}

static struct error *fill(struct native_listing *n)
{
	const struct profile *profile = n->l->profile;
	bool has_source = true;
	struct error *error = code_disassemble(
		&n->l->code, profile, profile_frame(profile, n->part->frame),
		&n->assembly, &has_source);

	if (!error)
		return add_instructions(n);
	if (error->code == ERROR_NO_MEMORY)
		return error;
	listing_put_error(n->l, "there is no code to show: ", error);
	error_destroy(error);
	return add_addresses(n);
}

static void count_found(struct native_listing *n)
{
	vec_for_each(row, &n->rows) {
		const struct own_weight *hit = hit_at(n, 0, row);

		n->found += hit ? hit->samples : 0;
	}
	if (n->found < n->hits[0]->all.samples)
		strbuf_printf(&n->l->text,
			      "%" PRIu64 " of %" PRIu64
			      " samples are at addresses that the code does not have\n",
			      n->hits[0]->all.samples - n->found,
			      n->hits[0]->all.samples);
}

/* --- What of them is to be seen ----------------------------------------- */

static uint64_t period_of(const struct native_listing *n, size_t row)
{
	const struct own_weight *hit = hit_at(n, 0, &n->rows.data[row]);

	return hit ? hit->period : 0;
}

/* What a row needs to be one of the hottest. */
static uint64_t hot_period(const struct native_listing *n)
{
	uint64_t most[HOT_ROWS] = {};

	for (size_t i = 0; i < n->rows.count; i++) {
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
	for (size_t i = 0; i < n->l->event_count; i++)
		if (hit_at(n, i, &n->rows.data[row]))
			return true;
	return false;
}

static struct error *find_spans(struct native_listing *n)
{
	const struct listing_options *o = n->l->options;
	size_t context = o->has_context  ? o->context :
			 o->only_hottest ? CONTEXT_HOT :
					   CONTEXT;
	size_t last = n->rows.count ? n->rows.count - 1 : 0;
	uint64_t hot = hot_period(n);
	struct error *error = NULL;

	if (o->shows_all && n->rows.count)
		return listing_add_span(&n->spans, 0, last);
	for (size_t i = 0; i < n->rows.count && !error; i++)
		if (is_seen(n, i, hot))
			error = listing_add_span(
				&n->spans, i > context ? i - context : 0,
				last - i > context ? i + context : last);
	return error;
}

static void put_instruction(struct native_listing *n, size_t at)
{
	const struct disassembly_line *row = &n->rows.data[at];
	struct listing_cell cells[LISTING_EVENTS_MAX] = {};
	struct listing *l = n->l;
	char label[24] = "";
	bool is_hot = false;

	for (size_t i = 0; i < l->event_count; i++) {
		cells[i].own = hit_at(n, i, row);
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
				hit_at(n, i, &n->rows.data[at]);

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
	put_fold(n, next, n->rows.count);
}

/* --- All ---------------------------------------------------------------- */

static struct error *find_hits(struct native_listing *n)
{
	struct listing *l = n->l;
	struct error *error = NULL;

	for (size_t i = 0; i < l->event_count && !error; i++)
		error = native_hits_create(l->profile,
					   l->weights->events.data[i].event,
					   n->part->symbol, &n->hits[i]);
	return error;
}

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

static struct error *put_all(struct native_listing *n)
{
	struct error *error = find_hits(n);

	if (!error)
		error = begin(n);
	if (!error)
		error = fill(n);
	if (error)
		return error;
	count_found(n);
	error = find_spans(n);
	if (error)
		return error;
	listing_put_titles(n->l, "address", n->assembly.len ? "instruction" : "",
			   "", 0);
	put_rows(n);
	return NULL;
}

struct error *native_listing_put(struct listing *listing,
				 const struct annotate_part *part)
{
	struct native_listing n = { .l = listing,
				    .part = part,
				    .assembly = STRBUF_INIT };
	struct error *error = put_all(&n);

	for (size_t i = 0; i < LISTING_EVENTS_MAX; i++)
		native_hits_destroy(n.hits[i]);
	strbuf_deinit(&n.assembly);
	vec_deinit(&n.rows);
	vec_deinit(&n.spans);
	return error ? error : strbuf_error(&listing->text);
}
