// SPDX-License-Identifier: GPL-2.0-only
#include "export/page_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/plural.h"
#include "explore/listing.h"
#include "explore/native_rows.h"

enum {
	/* Of all functions with a listing. */
	FUNCTIONS_MAX = 30,
	TEXT_MAX = 1 << 20,
	/* After that no other function is begun. */
	WORK_MS = 2000,
	/* Rows around those that were hit. */
	CONTEXT = 20,
};

/* Of all samples of an event: what a function has itself to get a listing. */
#define SHARE_MIN 0.01

/* A function that has enough samples. */
struct page_listing {
	/* Of the profile: one of its frames, its symbol. */
	uint32_t frame;
	uint32_t symbol;
	/* Of all samples, in the event that it has most of. */
	double share;
};

struct page_code {
	const struct export_groups *groups;
	const struct profile *profile;
	const struct code_places *places;
	struct page_columns *columns;
	struct page_numbers events;
	VEC(struct page_listing) listings;
	int64_t end;
	size_t text_bytes;
	struct strbuf text;
	/* The columns. */
	struct page_numbers functions, whys, ends;
	struct page_numbers kinds, labels, texts, row_functions;
	struct page_numbers hit_rows, hit_events;
	VEC(double) hit_weights;
};

/* --- Which functions ---------------------------------------------------- */

/* By symbol. */
struct page_code_sums {
	double *of_event;
	struct page_listing *best;
};

static bool is_folded(const struct page_code *c,
		      const struct profile_frame *frame)
{
	return frame->flags & PROFILE_FRAME_INTERPRETER &&
	       !c->groups->stacks->options.interpreter_frames;
}

/* That a row of the profile hit. NULL: no function in C that the page has. */
static const struct profile_frame *hit_frame(const struct page_code *c,
					     size_t row)
{
	uint32_t stack = c->profile->samples.stack[row];
	const struct profile_frame *frame =
		stack == PROFILE_NONE ? NULL :
					native_hits_frame(c->profile, stack);

	return frame && frame->kind == PROFILE_FRAME_NATIVE &&
			       frame->symbol != PROFILE_NONE &&
			       !is_folded(c, frame) ?
		       frame :
		       NULL;
}

static double sum_group(const struct page_code *c,
			const struct export_group *group,
			struct page_code_sums *sums)
{
	double all = 0;

	for (size_t i = 0; i < group->count; i++) {
		size_t row = c->groups->rows[group->first + i];
		const struct profile_frame *frame = hit_frame(c, row);
		double weight =
			(double)export_row_weight(c->groups, group, row);

		all += weight;
		if (!frame)
			continue;
		sums->of_event[frame->symbol] += weight;
		sums->best[frame->symbol].frame =
			(uint32_t)(frame - c->profile->frames.data);
	}
	return all;
}

static void end_event(const struct page_code *c, double all,
		      struct page_code_sums *sums)
{
	for (uint32_t i = 0; i < c->profile->symbols.count; i++) {
		double share = all > 0 ? sums->of_event[i] / all : 0;

		sums->of_event[i] = 0;
		if (share > sums->best[i].share)
			sums->best[i].share = share;
	}
}

static struct error *sum_all(struct page_code *c, struct page_code_sums *sums)
{
	const struct export_groups *groups = c->groups;

	for (size_t i = 0; i < groups->all.count;) {
		size_t end = export_groups_end(groups, i);
		double all = 0;

		if (!vec_push(&c->events, groups->all.data[i].event))
			return error_no_memory();
		for (; i < end; i++)
			all += sum_group(c, &groups->all.data[i], sums);
		end_event(c, all, sums);
	}
	return NULL;
}

static int compare_listings(const void *x, const void *y)
{
	const struct page_listing *a = x, *b = y;

	if (a->share != b->share)
		return a->share < b->share ? 1 : -1;
	return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

static struct error *find_listings(struct page_code *c)
{
	size_t count = c->profile->symbols.count;
	_cleanup_free_ double *of_event = calloc(count + 1, sizeof(*of_event));
	_cleanup_free_ struct page_listing *best =
		calloc(count + 1, sizeof(*best));
	struct page_code_sums sums = { of_event, best };
	struct error *error =
		of_event && best ? sum_all(c, &sums) : error_no_memory();

	for (uint32_t i = 0; i < count && !error; i++) {
		best[i].symbol = i;
		if (best[i].share >= SHARE_MIN &&
		    !vec_push(&c->listings, best[i]))
			error = error_no_memory();
	}
	if (!error && c->listings.count)
		qsort(c->listings.data, c->listings.count,
		      sizeof(*c->listings.data), compare_listings);
	return error;
}

/* --- Rows --------------------------------------------------------------- */

static struct error *add_text(struct page_code *c, struct page_numbers *numbers)
{
	uint32_t number;
	struct error *error = strbuf_error(&c->text);

	if (!error)
		error = page_text(c->columns, c->text.data, &number);
	if (!error && !vec_push(numbers, number))
		error = error_no_memory();
	c->text_bytes += c->text.len;
	strbuf_clear(&c->text);
	return error;
}

static struct error *add_gap(struct page_code *c, size_t rows, const char *why)
{
	struct error *error;

	if (!rows)
		return NULL;
	strbuf_puts(&c->text, "...");
	error = add_text(c, &c->labels);
	strbuf_printf(&c->text, "%zu line%s %s", rows, plural(rows), why);
	if (!error)
		error = add_text(c, &c->texts);
	return error || (vec_push(&c->row_functions, PROFILE_NONE) &&
			 vec_push(&c->kinds, PAGE_CODE_GAP)) ?
		       error :
		       error_no_memory();
}

/* In the unit of export_row_weight(). */
static double weight_of(const struct page_code *c, uint32_t event,
			const struct own_weight *hit)
{
	return (double)(c->profile->events.data[event].period ? hit->period :
								hit->samples);
}

static struct error *add_hits(struct page_code *c,
			      const struct native_rows *rows, size_t row)
{
	for (size_t i = 0; i < c->events.count; i++) {
		const struct own_weight *hit = native_rows_hit(rows, i, row);
		uint32_t event = c->events.data[i];

		if (hit && (!vec_push(&c->hit_rows, (uint32_t)c->kinds.count) ||
			    !vec_push(&c->hit_events, event) ||
			    !vec_push(&c->hit_weights,
				      weight_of(c, event, hit))))
			return error_no_memory();
	}
	return NULL;
}

static struct error *add_row(struct page_code *c,
			     const struct native_rows *rows, size_t at)
{
	const struct disassembly_line *row = &rows->all.data[at];
	uint32_t frame = native_rows_frame(rows, at);
	uint32_t function =
		frame == PROFILE_NONE ?
			PROFILE_NONE :
			export_stacks_function(c->groups->stacks, frame);
	struct error *error = add_hits(c, rows, at);

	strbuf_printf(&c->text, "%" PRIx64, row->address);
	if (!error)
		error = add_text(c, &c->labels);
	strbuf_append(&c->text, row->text, row->length);
	if (!error)
		error = add_text(c, &c->texts);
	return error || (vec_push(&c->row_functions, function) &&
			 vec_push(&c->kinds, PAGE_CODE_INSTRUCTION)) ?
		       error :
		       error_no_memory();
}

static struct error *find_spans(const struct native_rows *rows,
				struct listing_spans *spans)
{
	size_t count = rows->all.count;
	struct error *error = NULL;

	for (size_t i = 0; i < count && !error; i++)
		if (native_rows_is_hit(rows, i))
			error = listing_add_span(
				spans, i > CONTEXT ? i - CONTEXT : 0,
				i + CONTEXT < count ? i + CONTEXT : count - 1);
	return error;
}

static bool has_room(const struct page_code *c)
{
	return c->text_bytes < TEXT_MAX;
}

static struct error *add_rows(struct page_code *c, const struct native_rows *rows)
{
	struct listing_spans spans = {};
	struct error *error = find_spans(rows, &spans);
	size_t next = 0;

	for (size_t i = 0; i < spans.count && has_room(c) && !error; i++) {
		const struct listing_span *span = &spans.data[i];

		error = add_gap(c, span->first - next, "without samples");
		for (next = span->first;
		     next <= span->last && has_room(c) && !error; next++)
			error = add_row(c, rows, next);
	}
	if (!error)
		error = add_gap(c, rows->all.count - next,
				has_room(c) ? "without samples" :
					      "for which there is no room");
	vec_deinit(&spans);
	return error;
}

/* --- Functions ---------------------------------------------------------- */

/* What is there instead of the code, or what is missing of it. */
static void put_why(struct page_code *c, const struct native_rows *rows)
{
	if (rows->why)
		error_format(rows->why, &c->text);
	else
		native_rows_tell_missing(rows, &c->text);
}

static struct error *add_code(struct page_code *c,
			      const struct page_listing *listing)
{
	_cleanup_native_rows_ struct native_rows *rows = NULL;
	struct error *error =
		native_rows_create(c->places, c->profile, c->events.data,
				   c->events.count, listing->frame, false,
				   &rows);

	if (!error)
		error = add_rows(c, rows);
	if (error)
		return error;
	put_why(c, rows);
	return add_text(c, &c->whys);
}

/* False: there is room and time for another one. Else why its listing has no rows. */
static bool put_refusal(struct page_code *c, size_t number)
{
	if (number >= FUNCTIONS_MAX)
		strbuf_printf(&c->text,
			      "a page has the instructions of %d functions, and others are heavier",
			      FUNCTIONS_MAX);
	else if (!has_room(c))
		strbuf_puts(&c->text,
			    "the instructions of heavier functions take all the room");
	else if (clock_ms() > c->end)
		strbuf_puts(&c->text,
			    "reading the instructions of heavier functions took all the time");
	return c->text.len > 0;
}

static struct error *add_listing(struct page_code *c, size_t number)
{
	const struct page_listing *listing = &c->listings.data[number];
	struct error *error = put_refusal(c, number) ?
				      add_text(c, &c->whys) :
				      add_code(c, listing);

	if (error)
		return error;
	return vec_push(&c->functions,
			export_stacks_function(c->groups->stacks,
					       listing->frame)) &&
			       vec_push(&c->ends, (uint32_t)c->kinds.count) ?
		       NULL :
		       error_no_memory();
}

/* --- Stacks ------------------------------------------------------------- */

static uint32_t *filled_with_none(size_t count)
{
	uint32_t *all = calloc(count + 1, sizeof(*all));

	for (size_t i = 0; all && i < count; i++)
		all[i] = PROFILE_NONE;
	return all;
}

/* of_symbol: of each symbol its listing. */
static void find_codes(const struct page_code *c, const uint32_t *numbers,
		       const uint32_t *of_symbol, uint32_t *codes)
{
	const struct export_groups *groups = c->groups;

	vec_for_each(group, &groups->all)
		for (size_t i = 0; i < group->count; i++) {
			size_t row = groups->rows[group->first + i];
			const struct profile_frame *frame = hit_frame(c, row);

			if (frame && of_symbol[frame->symbol] != PROFILE_NONE)
				codes[numbers[export_row_node(groups, row)]] =
					of_symbol[frame->symbol];
		}
}

/* By stack: the listing of the code that its samples hit, inlined code included. */
static struct error *add_stacks(const struct page_code *c,
				const uint32_t *numbers)
{
	size_t count = c->groups->stacks->nodes.count;
	_cleanup_free_ uint32_t *of_symbol =
		filled_with_none(c->profile->symbols.count);
	_cleanup_free_ uint32_t *codes = filled_with_none(count);

	if (!of_symbol || !codes)
		return error_no_memory();
	for (uint32_t i = 0; i < c->listings.count; i++)
		of_symbol[c->listings.data[i].symbol] = i;
	if (c->listings.count)
		find_codes(c, numbers, of_symbol, codes);
	return page_column_add(c->columns, "stack.code", codes, sizeof(*codes),
			       count);
}

/* --- All ---------------------------------------------------------------- */

static struct error *add_columns(struct page_code *c)
{
	const struct {
		const char *name;
		const struct page_numbers *numbers;
	} all[] = {
		{ "code.function", &c->functions }, { "code.why", &c->whys },
		{ "code.end", &c->ends },	    { "row.kind", &c->kinds },
		{ "row.label", &c->labels },	    { "row.text", &c->texts },
		{ "row.function", &c->row_functions },
		{ "hit.row", &c->hit_rows },	    { "hit.event", &c->hit_events },
	};
	struct error *error = NULL;

	for (size_t i = 0; !error && i < sizeof(all) / sizeof(*all); i++)
		error = page_column_add_numbers(c->columns, all[i].name,
						all[i].numbers);
	return error ? error :
		       page_column_add(c->columns, "hit.weight",
				       c->hit_weights.data ?
					       (void *)c->hit_weights.data :
					       "",
				       sizeof(*c->hit_weights.data),
				       c->hit_weights.count);
}

static void deinit(struct page_code *c)
{
	vec_deinit(&c->events);
	vec_deinit(&c->listings);
	vec_deinit(&c->functions);
	vec_deinit(&c->whys);
	vec_deinit(&c->ends);
	vec_deinit(&c->kinds);
	vec_deinit(&c->labels);
	vec_deinit(&c->texts);
	vec_deinit(&c->row_functions);
	vec_deinit(&c->hit_rows);
	vec_deinit(&c->hit_events);
	vec_deinit(&c->hit_weights);
	strbuf_deinit(&c->text);
}

struct error *page_code_add(const struct export_groups *groups,
			    const uint32_t *numbers,
			    const struct code_places *places,
			    struct page_columns *columns)
{
	struct page_code c = { .groups = groups,
			       .profile = groups->stacks->profile,
			       .places = places,
			       .columns = columns,
			       .text = STRBUF_INIT };
	struct error *error = places ? find_listings(&c) : NULL;

	c.end = clock_ms() + WORK_MS;
	for (size_t i = 0; i < c.listings.count && !error; i++)
		error = add_listing(&c, i);
	if (!error)
		error = add_columns(&c);
	if (!error)
		error = add_stacks(&c, numbers);
	deinit(&c);
	return error;
}
