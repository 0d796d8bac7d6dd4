// SPDX-License-Identifier: GPL-2.0-only
#include "explore/python_listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "explore/python_block.h"
#include "profile/frame_line.h"
#include "profile/spent.h"
#include "profile/symbol_word.h"
#include "view/fit.h"
#include "view/printable.h"
#include "view/spent_text.h"
#include "view/text.h"

enum {
	/* Lines around those that are to be seen. */
	CONTEXT_FUNCTION = 10,
	CONTEXT_LINE = 5,
	CONTEXT_FILE = 3,
	CONTEXT_HOT = 2,
	/* A header of more lines is folded, too. */
	HEADER_MAX = 12,
	/* What own time consists of. */
	SPENT_MIN = 26,
	/* Of a column that stands beside no source. */
	SPENT_ALONE = 36,
	SPENT_GAP = 3,
	SPENT_MAX = 70,
	/* No column of source text is wider beside it. */
	TEXT_MAX = 90,
	/* Functions of one line that are looked at, and those that are named. */
	OWNERS_MAX = 16,
	OWNERS_SHOWN = 3,
	OWNER_WIDTH = 24,
};

/* From this share of own time on a line says what it was spent in, %. */
#define SPENT_SHARE 1.0
/* And it is one of the hottest, %. */
#define HOT_SHARE 0.5
/* A line that calls what takes this much is to be seen, too, %. */
#define CALLS_SHARE 10.0
/* And one that calls this much of what the line does that calls most. */
#define CALLS_OF_MOST 0.5

struct python_listing {
	struct listing *l;
	const struct annotate_part *part;
	/* NULL: its name is that of no file. */
	const struct sources_file *file;
	size_t lines;
	/* Of the file that are meant. */
	size_t first;
	size_t header_last;
	size_t last;
	/* Those that samples have; and what is to be seen. */
	struct weights_lines points;
	/* Of a module's body: those that only other functions have. */
	struct weights_lines others;
	struct listing_spans spans;
	/* The column behind the source for what time was spent in; 0: none. */
	size_t spent_column;
	/* The function has no sample in a line that is known. */
	bool has_no_lines;
	struct strbuf name;
	struct strbuf spent;
};

/* The first that is not before the line. */
static size_t find_line(const struct weights_lines *lines, size_t line)
{
	size_t low = 0, high = lines->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (lines->data[middle] < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_line(const struct weights_lines *lines, size_t line)
{
	size_t at = find_line(lines, line);

	return at < lines->count && lines->data[at] == line;
}

static const struct own_entry *line_of(const struct python_listing *p,
				       size_t event, size_t line)
{
	if (has_line(&p->others, line))
		return NULL;
	return weights_line(p->l->weights, event, p->part->file,
			    (uint32_t)line);
}

/* --- Which lines -------------------------------------------------------- */

static bool is_whole_file(const struct python_listing *p)
{
	const char *name = profile_string(p->l->profile, p->part->name, "");

	return p->part->kind == ANNOTATE_FILE || spent_is_module_body(name);
}

/* A frame of the function, or of the file, itself. */
static bool is_meant(const struct python_listing *p,
		     const struct profile_frame *frame)
{
	const struct profile_symbol *symbol =
		profile_symbol(p->l->profile, frame->symbol);

	if (frame->kind != PROFILE_FRAME_PYTHON || !symbol || !frame->line)
		return false;
	return is_whole_file(p) ? frame->file == p->part->file :
				  symbol->name == p->part->name &&
					  symbol->line == p->part->def;
}

/* Their lines are part of it, wherever the source says that it ends. */
static void include_frames(struct python_listing *p)
{
	p->has_no_lines = true;
	vec_for_each(frame, &p->l->profile->frames) {
		if (!is_meant(p, frame))
			continue;
		if (frame_has_line(p->l->profile, frame))
			p->has_no_lines = false;
		if (frame->line < p->first)
			p->first = frame->line;
		if (frame->line > p->last)
			p->last = frame->line;
	}
}

static void find_block(struct python_listing *p)
{
	struct python_block block = { p->part->def, p->part->def,
				      p->part->def };

	if (p->lines && p->part->def)
		block = python_block_find(&p->file->source, p->part->def);
	p->first = block.first;
	p->last = block.last;
	p->header_last = block.header_last;
	if (!p->part->def)
		p->first = SIZE_MAX;
	include_frames(p);
	if (p->first > p->last)
		p->first = p->header_last = p->last;
	if (p->header_last < p->first)
		p->header_last = p->first;
	if (p->header_last > p->first + HEADER_MAX)
		p->header_last = p->first;
}

/* Lines that samples have in the function of the part itself, ascending. */
static struct error *find_own_lines(const struct python_listing *p,
				    struct weights_lines *ret)
{
	vec_for_each(frame, &p->l->profile->frames) {
		const struct profile_symbol *symbol =
			profile_symbol(p->l->profile, frame->symbol);

		if (frame->kind == PROFILE_FRAME_PYTHON && symbol &&
		    symbol->name == p->part->name &&
		    !vec_push(ret, frame->line))
			return error_no_memory();
	}
	weights_lines_sort(ret);
	return NULL;
}

/* The body of a module ends nowhere; other functions have parts of their own. */
static struct error *leave_others_out(struct python_listing *p)
{
	struct weights_lines own = {};
	struct error *error = find_own_lines(p, &own);
	size_t kept = 0;

	for (size_t i = 0; i < p->points.count && !error; i++) {
		uint32_t line = p->points.data[i];

		if (has_line(&own, line))
			p->points.data[kept++] = line;
		else if (!vec_push(&p->others, line))
			error = error_no_memory();
	}
	p->points.count = kept;
	vec_deinit(&own);
	return error;
}

static struct error *find_lines(struct python_listing *p)
{
	struct error *error;

	if (is_whole_file(p)) {
		p->first = p->header_last = 1;
		p->last = p->lines ? p->lines : 1;
		include_frames(p);
	} else {
		find_block(p);
	}
	error = weights_find_lines(p->l->weights, p->part->file,
				   (uint32_t)p->first, (uint32_t)p->last,
				   &p->points);
	if (!error && p->part->kind == ANNOTATE_FUNCTION && is_whole_file(p))
		error = leave_others_out(p);
	return error;
}

/* --- What of them is to be seen ----------------------------------------- */

static size_t context_of(const struct python_listing *p)
{
	const struct listing_options *o = p->l->options;

	if (o->has_context)
		return o->context;
	if (o->only_hottest)
		return CONTEXT_HOT;
	if (p->part->kind == ANNOTATE_LINE)
		return CONTEXT_LINE;
	return is_whole_file(p) ? CONTEXT_FILE : CONTEXT_FUNCTION;
}

/* The hottest line that is not marked yet; false: there is none. */
static bool mark_hottest(const struct python_listing *p, bool *marks, bool any)
{
	size_t best = SIZE_MAX;
	uint64_t most = 0;

	for (size_t i = 0; i < p->points.count; i++) {
		const struct own_entry *entry =
			line_of(p, 0, p->points.data[i]);

		if (marks[i] || !entry || entry->own.period <= most)
			continue;
		if (!any && listing_share(p->l, 0, &entry->own) < HOT_SHARE)
			continue;
		best = i;
		most = entry->own.period;
	}
	if (best == SIZE_MAX)
		return false;
	return marks[best] = true;
}

static double total_share(const struct python_listing *p, size_t point)
{
	const struct own_entry *entry = line_of(p, 0, p->points.data[point]);

	return entry ? listing_share(p->l, 0, &entry->total) : 0;
}

/* Lines with little own time, where much of the function's time goes by. */
static void mark_calls(const struct python_listing *p, bool *marks)
{
	double most = 0, enough;

	for (size_t i = 0; i < p->points.count; i++)
		if (total_share(p, i) > most)
			most = total_share(p, i);
	enough = most * CALLS_OF_MOST < CALLS_SHARE ? most * CALLS_OF_MOST :
						      CALLS_SHARE;
	for (size_t i = 0; i < p->points.count; i++)
		marks[i] |= most > 0 && total_share(p, i) >= enough;
}

/* By point: it is to be seen, with its context. */
static bool *mark_points(const struct python_listing *p)
{
	bool *marks = calloc(p->points.count + 1, sizeof(*marks));

	for (size_t i = 0; marks && i < p->points.count; i++)
		marks[i] = !p->l->options->only_hottest &&
			   (p->part->kind != ANNOTATE_LINE ||
			    p->points.data[i] == p->part->line);
	if (marks && p->l->options->only_hottest)
		for (int i = 0; i < PYTHON_LISTING_HOT; i++)
			if (!mark_hottest(p, marks, !i))
				break;
	if (marks && p->l->options->only_hottest)
		mark_calls(p, marks);
	return marks;
}

static struct error *see(struct python_listing *p, size_t first, size_t last)
{
	if (first < p->first + LISTING_FOLD_MIN)
		first = p->first;
	if (last + LISTING_FOLD_MIN > p->last)
		last = p->last;
	return listing_add_span(&p->spans, first, last);
}

/* The surroundings of a line end where other functions were at work. */
static struct error *see_around(struct python_listing *p, size_t at,
				size_t context)
{
	const struct weights_lines *others = &p->others;
	size_t first = at > p->first + context ? at - context : p->first;
	size_t last = p->last - at > context ? at + context : p->last;
	size_t next = find_line(others, at);

	if (next && others->data[next - 1] >= first)
		first = others->data[next - 1] + 1;
	if (next < others->count && others->data[next] <= last)
		last = others->data[next] - 1;
	return see(p, first, last);
}

static struct error *find_spans(struct python_listing *p)
{
	size_t context = context_of(p);
	_cleanup_free_ bool *marks = mark_points(p);
	struct error *error = NULL;

	if (!marks)
		return error_no_memory();
	if (p->l->options->shows_all)
		return see(p, p->first, p->last);
	if (!is_whole_file(p))
		error = listing_add_span(&p->spans, p->first, p->header_last);
	for (size_t i = 0; i < p->points.count && !error; i++) {
		if (marks[i])
			error = see_around(p, p->points.data[i], context);
	}
	return error;
}

/* --- What own time was spent in ----------------------------------------- */

static void put_owner(struct python_listing *p, const struct own_entry *owner)
{
	const char *symbol =
		profile_string(p->l->profile, owner->name, "unknown code");
	struct python_symbol python = { symbol, strlen(symbol), "" };

	(void)python_symbol_parse(symbol, &python);
	python_symbol_keep_last(&python);
	strbuf_puts(&p->spent, "in ");
	fit_begin(&p->spent, python.qualname, python.qualname_length,
		  OWNER_WIDTH);
	strbuf_puts(&p->spent, ": ");
}

static bool is_part(const struct python_listing *p,
		    const struct own_entry *function)
{
	return function->name == p->part->name &&
	       function->line == p->part->def;
}

/* Parts of one function, which stand together. */
struct owner {
	const struct own_part *parts;
	size_t count;
	uint64_t period;
};

static int compare_owners(const void *x, const void *y)
{
	const struct owner *a = x, *b = y;

	return (a->period < b->period) - (a->period > b->period);
}

/* The heaviest first; returns how many, of which as many as fit are given. */
static size_t find_owners(const struct own_time *own,
			  const struct own_entry *line, struct owner *owners)
{
	size_t count = 0;
	uint32_t last = PROFILE_NONE;

	for (uint32_t i = 0; i < line->part_count; i++) {
		const struct own_part *part =
			&own->line_parts.data[line->first_part + i];

		if (part->function != last && count++ < OWNERS_MAX)
			owners[count - 1] = (struct owner){ .parts = part };
		last = part->function;
		if (count > OWNERS_MAX)
			continue;
		owners[count - 1].count++;
		owners[count - 1].period += part->weight.period;
	}
	qsort(owners, count < OWNERS_MAX ? count : OWNERS_MAX, sizeof(*owners),
	      compare_owners);
	return count;
}

/* Where a row has no room for all, each has one of its own. */
static void put_owners(struct python_listing *p, const struct own_time *own,
		       const struct owner *owners, size_t count, size_t width)
{
	uint64_t all = p->l->options->is_local ?
			       p->l->whole.data[0].total.period :
			       own->all.period;
	size_t shown = count < OWNERS_SHOWN ? count : OWNERS_SHOWN;
	bool has_rows = width < shown * SPENT_MIN;

	for (size_t i = 0; i < shown; i++) {
		const struct own_entry *function =
			&own->functions.data[owners[i].parts->function];
		size_t used, room, before = p->spent.len, row, start;

		if (before)
			strbuf_puts(&p->spent, has_rows ? "\n" : "; ");
		row = has_rows ? p->spent.len : 0;
		if (count > 1 || (p->part->kind != ANNOTATE_FILE &&
				  !is_part(p, function)))
			put_owner(p, function);
		start = p->spent.len;
		used = printable_width(p->spent.data + row, start - row);
		/* The first part stands there however little room there is. */
		room = width > used ? width - used : 0;
		room /= has_rows ? 1 : shown - i;
		spent_text_some(p->l->profile, owners[i].parts,
				owners[i].count, all,
				room > SPENT_MIN / 2 ? room : SPENT_MIN / 2,
				&p->spent);
		/* Polled: nothing is known of it. */
		if (p->spent.len == start)
			strbuf_truncate(&p->spent, before);
	}
	if (count > shown && p->spent.len)
		strbuf_printf(&p->spent, "%sin %zu other%s",
			      has_rows ? "\n" : "; ", count - shown,
			      plural(count - shown));
}

/* Into p->spent, of the first event; nothing for a line that has too little. */
static void find_spent(struct python_listing *p, size_t line, size_t width)
{
	const struct own_time *own = p->l->weights->events.data[0].own;
	const struct own_entry *entry = line_of(p, 0, line);
	struct owner owners[OWNERS_MAX] = {};

	strbuf_clear(&p->spent);
	if (p->l->options->value != LISTING_PERCENT || !entry ||
	    !entry->part_count ||
	    listing_share(p->l, 0, &entry->own) < SPENT_SHARE)
		return;
	put_owners(p, own, owners, find_owners(own, entry, owners), width);
}

/* --- Rows --------------------------------------------------------------- */

static const char *source_text(const struct python_listing *p, size_t line,
			       size_t *n)
{
	*n = 0;
	return p->lines ? source_line(&p->file->source, line, n) : "";
}

static size_t text_room(const struct python_listing *p)
{
	return p->l->columns - listing_text_column(p->l);
}

/*
 * Where it begins for all lines: behind the longest that leaves room for it. A
 * line that leaves none has it in the next row.
 */
static void find_spent_column(struct python_listing *p)
{
	size_t title = strlen("source") + SPENT_GAP;
	size_t room = text_room(p), most, widest = 0;
	bool has_any = false;

	p->spent_column = 0;
	most = room > SPENT_MIN ? room - SPENT_MIN : room / 2;
	if (most > TEXT_MAX)
		most = TEXT_MAX;
	vec_for_each(line, &p->points) {
		size_t n, width;
		const char *text = source_text(p, *line, &n);

		find_spent(p, *line, SPENT_MIN);
		if (!p->spent.len)
			continue;
		has_any = true;
		width = listing_text_width(p->l, text, n) + SPENT_GAP;
		if (width <= most && width > widest)
			widest = width;
	}
	if (!has_any || widest) {
		p->spent_column = widest && widest < title ? title : widest;
		return;
	}
	widest = room > SPENT_ALONE + SPENT_ALONE / 2 ? room - SPENT_ALONE :
							room / 3;
	p->spent_column = widest < most ? widest : most;
}

/* Behind the source if there is room, else in rows of its own. */
static void put_spent(struct python_listing *p, size_t line, size_t used)
{
	struct listing *l = p->l;
	size_t at = p->spent_column, width = text_room(p) - at;
	const char *row, *end;

	if (!at)
		return;
	if (width > SPENT_MAX)
		width = SPENT_MAX;
	find_spent(p, line, width);
	for (row = p->spent.data; *row; row = *end ? end + 1 : end) {
		end = row + strcspn(row, "\n");
		if (used + SPENT_GAP > at) {
			listing_end_row(l);
			used = 0;
			strbuf_fill(&l->text, ' ', listing_text_column(l));
		}
		strbuf_fill(&l->text, ' ', at - used);
		fit_begin(&l->text, row, (size_t)(end - row), width);
		used = at;
	}
}

static void put_line(struct python_listing *p, size_t line)
{
	struct listing_cell cells[LISTING_EVENTS_MAX] = {};
	char label[24];
	bool is_hot = false;
	const char *text;
	size_t n;

	for (size_t i = 0; i < p->l->event_count; i++) {
		const struct own_entry *entry = line_of(p, i, line);

		if (!entry)
			continue;
		cells[i] = (struct listing_cell){ &entry->own, &entry->total };
		is_hot |= listing_share(p->l, i, &entry->own) >= LISTING_HOT;
	}
	snprintf(label, sizeof(label), "%zu", line);
	listing_put_row(p->l, cells, label,
			p->part->kind == ANNOTATE_LINE &&
				line == p->part->line);
	text = source_text(p, line, &n);
	n = listing_put_text(p->l, text, n, text_room(p), is_hot);
	put_spent(p, line, n);
	listing_end_row(p->l);
}

/* Lines that are not shown: how many, and what their own time is. */
static void put_fold(struct python_listing *p, size_t first, size_t last)
{
	struct own_weight sums[LISTING_EVENTS_MAX] = {};
	struct listing_cell cells[LISTING_EVENTS_MAX] = {};
	size_t begin = find_line(&p->points, first);
	size_t end = find_line(&p->points, last + 1);

	/* Of lines that the file does not have only those with samples count. */
	if (begin == end && last > p->lines)
		last = p->lines;
	if (first > last)
		return;
	for (size_t i = 0; i < p->l->event_count; i++) {
		for (size_t at = begin; at < end; at++) {
			const struct own_entry *entry =
				line_of(p, i, p->points.data[at]);

			sums[i].period += entry ? entry->own.period : 0;
			sums[i].samples += entry ? entry->own.samples : 0;
		}
		cells[i].own = &sums[i];
	}
	listing_put_row(p->l, cells, "...", false);
	strbuf_printf(&p->l->text, "%zu line%s", last - first + 1,
		      first == last ? "" : "s");
	if (begin == end && find_line(&p->others, first) <
				    find_line(&p->others, last + 1))
		strbuf_puts(&p->l->text, " of other functions");
	else if (begin == end)
		strbuf_puts(&p->l->text, " without samples");
	listing_end_row(p->l);
}

static void put_span(struct python_listing *p, const struct listing_span *span)
{
	size_t line = span->first, point;

	for (; line <= span->last && line <= p->lines; line++)
		put_line(p, line);
	/* What the file does not have has numbers alone. */
	point = find_line(&p->points, line);
	for (; point < p->points.count && p->points.data[point] <= span->last;
	     point++)
		put_line(p, p->points.data[point]);
}

/* --- What is to be said ------------------------------------------------- */

static void put_file(struct python_listing *p)
{
	const char *path = profile_string(p->l->profile, p->part->file, "?");

	text_append(&p->l->text, path, strlen(path));
}

static void put_notes(struct python_listing *p)
{
	struct strbuf *out = &p->l->text;
	size_t begin = out->len;
	size_t last = p->points.count ? *vec_last(&p->points) : 0;

	if (!p->file) {
		put_file(p);
		strbuf_puts(out, " is no file, so there is no source to show\n");
	} else if (p->file->error) {
		listing_put_error(p->l, "there is no source to show: ",
				  p->file->error);
	} else if (last > p->lines) {
		put_file(p);
		source_tell_no_line(&p->file->source, last, out);
		/* The text of none is what ran. */
		p->lines = 0;
	} else if (sources_has_changed(p->l->sources, p->file)) {
		put_file(p);
		strbuf_puts(out,
			    " has changed since the recording: its lines may be others now\n");
	}
	if (p->has_no_lines)
		strbuf_printf(out,
			      "the recording does not contain lines of this %s; all time stands at the def of a function\n",
			      is_whole_file(p) ? "file" : "function");
	listing_wrap(p->l, begin);
}

static void find_name(struct python_listing *p)
{
	const char *symbol = profile_string(p->l->profile, p->part->name, "?");
	struct python_symbol python = { symbol, strlen(symbol), "" };

	strbuf_clear(&p->name);
	if (p->part->kind == ANNOTATE_FILE) {
		strbuf_puts(&p->name, place_name(p->l->names, p->part->file));
		return;
	}
	(void)python_symbol_parse(symbol, &python);
	strbuf_append(&p->name, python.qualname, python.qualname_length);
}

static struct error *begin(struct python_listing *p)
{
	const struct annotate_part *part = p->part;
	_cleanup_strbuf_ struct strbuf place = STRBUF_INIT;
	char last[24];

	find_name(p);
	if (part->kind != ANNOTATE_FILE) {
		uint32_t line = part->kind == ANNOTATE_LINE ? part->line :
							      part->def;

		strbuf_puts(&place, place_name(p->l->names, part->file));
		if (line)
			strbuf_printf(&place, ":%" PRIu32, line);
	}
	snprintf(last, sizeof(last), "%zu", p->last);
	p->l->label_width = strlen(last) < 5 ? 5 : strlen(last);
	return listing_begin(p->l, part, p->name.data, place.data);
}

/* Into p->spent: of which event, where there are several. */
static void put_spent_title(struct python_listing *p)
{
	const struct profile *profile = p->l->profile;
	const struct weights *weights = p->l->weights;
	uint32_t event = weights->events.data[0].event;

	strbuf_puts(&p->spent, "spent in");
	if (p->l->event_count == 1)
		return;
	strbuf_puts(&p->spent, ", ");
	text_string(&p->spent, profile, profile->events.data[event].name, "");
}

static void put_all(struct python_listing *p)
{
	size_t next = p->first;

	put_notes(p);
	/* A recording without lines may not even say where the def is. */
	if (!is_whole_file(p) && !p->part->def && p->has_no_lines)
		return;
	find_spent_column(p);
	strbuf_clear(&p->spent);
	if (p->spent_column)
		put_spent_title(p);
	listing_put_titles(p->l, "line", p->lines ? "source" : "",
			   p->spent.data, p->spent_column);
	vec_for_each(span, &p->spans) {
		put_fold(p, next, span->first - 1);
		put_span(p, span);
		next = span->last + 1;
	}
	put_fold(p, next, p->last);
}

static void find_file(struct python_listing *p)
{
	const struct listing *l = p->l;

	p->file = sources_find(l->sources, profile_string(l->profile, p->part->file,
							  "<unknown>"));
	p->lines = p->file ? p->file->source.starts.count : 0;
}

struct error *python_listing_lines(struct listing *listing,
				   const struct annotate_part *part,
				   struct weights_lines *ret)
{
	struct python_listing p = { .l = listing, .part = part };
	struct error *error;

	find_file(&p);
	error = find_lines(&p);
	vec_for_each(line, &p.points)
		if (!error && !vec_push(ret, *line))
			error = error_no_memory();
	vec_deinit(&p.points);
	vec_deinit(&p.others);
	return error;
}

struct error *python_listing_put(struct listing *listing,
				 const struct annotate_part *part)
{
	struct python_listing p = { .l = listing,
				    .part = part,
				    .name = STRBUF_INIT,
				    .spent = STRBUF_INIT };
	struct error *error;

	find_file(&p);
	error = find_lines(&p);
	if (!error)
		error = begin(&p);
	if (!error)
		error = find_spans(&p);
	if (!error)
		put_all(&p);
	vec_deinit(&p.points);
	vec_deinit(&p.others);
	vec_deinit(&p.spans);
	strbuf_deinit(&p.name);
	strbuf_deinit(&p.spent);
	return error ? error : strbuf_error(&listing->text);
}
