// SPDX-License-Identifier: GPL-2.0-only
#include "explore/own_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/path_name.h"
#include "base/plural.h"
#include "profile/symbol_word.h"
#include "view/fit.h"
#include "view/own_name.h"
#include "view/printable.h"
#include "view/spent_text.h"
#include "view/text.h"

enum {
	SIGN_WIDTH = 2,
	/* "100.0%  " */
	WEIGHT_WIDTH = 8,
	GAP = 2,
	/* What is below a row. */
	INDENT = 2,
	/* Of a row among callers, at most. */
	INDENT_MAX = 24,
	NUMBER_WIDTH = 8,
	/*
	 * What own time was spent in, or a line of source: its first words, in a
	 * narrow window and in one of 80 columns; and how much a long place leaves
	 * to them.
	 */
	REST_LEAST = 12,
	REST_MIN = 16,
	REST_GOOD = 26,
	SOURCE_MIN = 28,
	/* Of a function's name; less does not tell functions apart. */
	NAME_MIN = 12,
	/* Of a place; less than the first does not tell functions apart. */
	PLACE_MIN = 14,
	PLACE_GOOD = 24,
	DOTS_WIDTH = 3,
	COLUMNS_MIN = 20,
};

static const char spent_title[] = "spent in, %";

/* The columns of a view. */
struct layout {
	bool has_total;
	size_t name;
	size_t place;
	/* Of a place, at least; and what it has before others give way. */
	size_t place_min;
	size_t place_good;
	/* What the names of files need, without their folders. */
	size_t file;
	/* What the last column needs to show all that it has, as far as is known. */
	size_t rest_all;
	/* The last column; 0: there is none. */
	size_t rest;
};

/* --- Names -------------------------------------------------------------- */

static const struct own_entry *function_of(const struct own_rows *rows,
					   uint32_t function)
{
	return &rows->made.own->functions.data[function];
}

static void put_code_name(const struct own_rows *rows,
			  const struct own_code *code, struct strbuf *out)
{
	if (code->function != BROWSER_NONE)
		own_name_function(rows->profile,
				  function_of(rows, code->function), out);
	else
		spent_text_function(rows->profile, code->kind, code->subject,
				    out);
}

static void put_task(const struct own_rows *rows, uint32_t ref,
		     struct strbuf *out)
{
	const struct zoom_choice *choice = &rows->made.threads.data[ref];
	const char *name;
	size_t length;

	if (rows->made.has_tasks) {
		const char *symbol =
			profile_string(rows->profile, choice->zoom.name, "");

		if (task_symbol_parse(symbol, &name, &length) && name)
			text_append(out, name, length);
		else
			strbuf_puts(out, "[tasks without a name, or not read]");
		return;
	}
	if (profile_task_is_ending(profile_task(rows->profile, choice->task)))
		strbuf_puts(out, OWN_NAME_ENDING);
	else
		text_string(out, rows->profile, choice->comm, "");
}

static const struct own_caller *caller_of(const struct own_rows *rows,
					  const struct browser_node *node)
{
	return &rows->made.callers.data[node->ref];
}

/* Where it calls; of the function itself where it is defined. */
static struct own_entry call_of(const struct own_rows *rows,
				const struct browser_node *node)
{
	const struct own_caller *caller = caller_of(rows, node);
	struct own_entry entry = caller->entry;

	if (caller->line)
		entry.line = caller->line;
	return entry;
}

static void put_name(const struct own_rows *rows,
		     const struct browser_node *node, struct strbuf *out)
{
	const struct profile *p = rows->profile;
	const struct own_time *own = rows->made.own;
	const struct own_piece *piece = rows->made.pieces.data + node->ref;

	switch (node->kind) {
	case OWN_FUNCTION:
		own_name_function(p, function_of(rows, node->ref), out);
		break;
	case OWN_LINE:
		own_name_line(p, rows->names, &own->lines.data[node->ref], out);
		break;
	case OWN_FILE:
		own_name_file(p, rows->names, &own->files.data[node->ref], out);
		break;
	case OWN_THREAD:
		put_task(rows, node->ref, out);
		break;
	case OWN_CODE:
		put_code_name(rows, &rows->made.codes.data[node->ref], out);
		break;
	case OWN_PART:
		spent_text_part(p, rows->made.codes.data[piece->code].kind,
				rows->made.codes.data[piece->code].subject,
				out);
		break;
	case OWN_USER:
		own_name_function(p, function_of(rows, piece->function), out);
		break;
	case OWN_CALLER:
		own_name_function(p, &caller_of(rows, node)->entry, out);
		break;
	}
}

/* Of code that is no Python its library. */
static void put_function_place(const struct own_rows *rows,
			       const struct own_entry *function,
			       struct strbuf *out)
{
	if (function->is_python)
		own_name_place(rows->names, function, out);
	else
		spent_text_library(rows->profile, rows->made.own, function, out);
}

/* Where a function is; what kind of code something else is. */
static void put_place(const struct own_rows *rows,
		      const struct browser_node *node, struct strbuf *out)
{
	const struct own_code *code;
	struct own_entry call;

	switch (node->kind) {
	case OWN_CALLER:
		call = call_of(rows, node);
		own_name_place(rows->names, &call, out);
		break;
	case OWN_FUNCTION:
		put_function_place(rows, function_of(rows, node->ref), out);
		break;
	case OWN_USER:
		put_function_place(rows,
				   function_of(rows, rows->made.pieces
							     .data[node->ref]
							     .function),
				   out);
		break;
	case OWN_CODE:
		code = &rows->made.codes.data[node->ref];
		if (code->function != BROWSER_NONE)
			own_name_place(rows->names,
				       function_of(rows, code->function), out);
		else if (code->kind == SPENT_KERNEL ||
			 code->kind == SPENT_LIBRARY)
			strbuf_puts(out, spent_kind_text(code->kind));
		else
			spent_text_file(rows->profile, code->kind,
					code->subject, out);
		break;
	}
}

static void put_source(const struct own_rows *rows,
		       const struct own_entry *line, struct strbuf *out)
{
	const struct answer_options *o = rows->options;
	const char *file = profile_string(rows->profile, line->file, NULL);

	if (file && line->line && o->source)
		o->source(o->source_arg, file, line->line, out);
}

void own_text_names(const struct own_rows *rows,
		    const struct browser_node *node, struct strbuf *out)
{
	put_name(rows, node, out);
	strbuf_putc(out, ' ');
	put_place(rows, node, out);
	if (node->kind == OWN_LINE)
		put_source(rows, &rows->made.own->lines.data[node->ref], out);
	if (node->kind == OWN_THREAD && !rows->made.has_tasks)
		strbuf_printf(out, "%" PRId32,
			      rows->made.threads.data[node->ref].zoom.id);
}

/* --- Columns ------------------------------------------------------------ */

static enum own_view view_of(const struct browser_node *node)
{
	switch (node->kind) {
	case OWN_LINE:
		return OWN_LINES;
	case OWN_FILE:
		return OWN_FILES;
	case OWN_THREAD:
		return OWN_THREADS;
	case OWN_CALLER:
		return OWN_CALLERS;
	}
	return OWN_FUNCTIONS;
}

static size_t at_least(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t at_most(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Several callers of one row are indented; one alone is behind "called by". */
static void put_branch(const struct own_rows *rows,
		       const struct browser_node *node, struct strbuf *out)
{
	const struct own_caller *caller;

	if (node->kind != OWN_CALLER)
		return;
	caller = caller_of(rows, node);
	strbuf_fill(out, ' ', at_most(caller->branches * INDENT, INDENT_MAX));
	if (caller->parent != PROFILE_NONE &&
	    caller->branches == rows->made.callers.data[caller->parent].branches)
		strbuf_puts(out, "< ");
}

/* What own time was spent in; to no avail once that is as wide as it may be. */
static void measure_spent(struct own_rows *rows, const struct browser_node *node)
{
	struct own_widths *widths = &rows->widths[view_of(node)];

	if (node->kind != OWN_FUNCTION || widths->rest >= REST_GOOD)
		return;
	strbuf_clear(&rows->word);
	spent_text_parts(rows->profile, rows->made.own,
			 function_of(rows, node->ref), REST_GOOD, &rows->word);
	widths->rest = at_least(widths->rest, printable_width(rows->word.data,
							      rows->word.len));
}

static void measure(struct own_rows *rows, const struct browser_node *node)
{
	struct own_widths *widths = &rows->widths[view_of(node)];
	const char *file;
	size_t width;

	strbuf_clear(&rows->word);
	put_branch(rows, node, &rows->word);
	put_name(rows, node, &rows->word);
	width = printable_width(rows->word.data, rows->word.len);
	if (width > widths->name)
		widths->name = width;
	strbuf_clear(&rows->word);
	put_place(rows, node, &rows->word);
	width = printable_width(rows->word.data, rows->word.len);
	if (width > widths->place)
		widths->place = width;
	file = path_name(rows->word.data);
	width = printable_width(file, strlen(file));
	if (width > widths->file)
		widths->file = width;
	measure_spent(rows, node);
}

/* A line without a number has the room of its source. */
static bool has_no_source(const struct own_rows *rows,
			  const struct browser_node *node)
{
	return node->kind == OWN_LINE &&
	       !rows->made.own->lines.data[node->ref].line;
}

/* What is at the top of the rows, and in columns of names. */
static const struct browser_node *measured_node(const struct own_rows *rows,
						size_t row)
{
	const struct browser *b = &rows->browser;
	const struct browser_node *node =
		&b->nodes.data[b->rows.data[row]];

	if (node->kind == OWN_CALLER)
		return node;
	return node->level || node->kind <= OWN_REST ||
			       has_no_source(rows, node) ?
		       NULL :
		       node;
}

/* Bytes at the end that two texts have in common. */
static size_t common_end(const char *a, const char *b)
{
	size_t x = strlen(a), y = strlen(b), n = 0;

	while (n < x && n < y && a[x - 1 - n] == b[y - 1 - n])
		n++;
	return n;
}

/* Names of functions that one cannot tell apart where there is little room. */
static bool look_alike(const char *name, const char *other)
{
	_cleanup_strbuf_ struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;

	fit_name(&a, name, NAME_MIN);
	fit_name(&b, other, NAME_MIN);
	return !strcmp(a.data, b.data);
}

/* What is cut has three dots, and is to have one character more. */
static void tell_apart(struct own_rows *rows, const struct browser_node *node,
		       const struct browser_node *other)
{
	enum { DOTS_AND_ONE = 4 };
	struct own_widths *widths = &rows->widths[view_of(node)];
	bool is_function = view_of(node) == OWN_FUNCTIONS ||
			   view_of(node) == OWN_CALLERS;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t same;

	if (view_of(other) != view_of(node))
		return;
	strbuf_clear(&rows->word);
	put_name(rows, node, &rows->word);
	put_name(rows, other, &text);
	if (is_function && !look_alike(rows->word.data, text.data))
		return;
	if (is_function) {
		strbuf_clear(&rows->word);
		strbuf_clear(&text);
		put_place(rows, node, &rows->word);
		put_place(rows, other, &text);
	}
	same = common_end(rows->word.data, text.data);
	if (same + DOTS_AND_ONE > widths->apart && same < rows->word.len)
		widths->apart = same + DOTS_AND_ONE;
}

/* In the window before. */
static bool was_seen(const struct own_rows *rows, size_t row)
{
	return row >= rows->window_top && row < rows->window_end;
}

/*
 * The rows down to the end of the window, so that columns only get wider; those
 * in the window are to be told apart.
 */
static void measure_window(struct own_rows *rows)
{
	const struct browser *b = &rows->browser;
	const struct browser_node *node, *other;
	size_t end = b->top + b->height;

	if (end > b->rows.count)
		end = b->rows.count;
	/* Rows that are opened stand among those that were measured. */
	if (rows->view == OWN_CALLERS && rows->measured > b->top)
		rows->measured = b->top;
	for (; rows->measured < end; rows->measured++) {
		node = measured_node(rows, rows->measured);
		if (node)
			measure(rows, node);
	}
	if (rows->window_top == b->top && rows->window_end == end)
		return;
	for (size_t i = b->top; i < end; i++) {
		node = measured_node(rows, i);
		for (size_t k = b->top; node && k < i; k++) {
			other = measured_node(rows, k);
			if (other && !(was_seen(rows, i) && was_seen(rows, k)))
				tell_apart(rows, node, other);
		}
	}
	rows->window_top = b->top;
	rows->window_end = end;
}

static const char *name_title(const struct own_rows *rows, enum own_view view)
{
	switch (view) {
	case OWN_LINES:
		return "line";
	case OWN_FILES:
		return "file";
	case OWN_CALLERS:
		return "function, its callers";
	default:
		return rows->with_native ? "function, native code" : "function";
	}
}

/* Name and place in the room that there is, if that is too little. */
static void fit_names(struct layout *l, size_t room)
{
	size_t gap = l->place ? GAP : 0;
	size_t least = at_least(l->place_min, at_most(l->file, room / 3));

	if (l->place && l->name + gap + least <= room) {
		l->place = at_most(l->place, room - gap - l->name);
		return;
	}
	l->place = at_most(l->place, at_most(least, room * 2 / 3));
	l->name = at_most(l->name,
			  room > gap + l->place ? room - gap - l->place : 1);
}

/* Of name and place, what tells something. */
static size_t least_names(const struct layout *l)
{
	return at_most(l->name, NAME_MIN) + GAP + at_most(l->place, l->place_min);
}

/* There is room for all of the name; a long place leaves some to the last column. */
static void share_spare(struct layout *l, size_t room)
{
	size_t place = at_most(l->place, l->place_good);
	size_t rest = room - l->name - GAP - place - GAP;
	size_t spare = rest - at_most(rest, at_most(l->rest_all, REST_GOOD));

	spare = at_most(spare, l->place - place);
	l->place = place + spare;
	l->rest = rest - spare;
}

/* There is none; a name has at least half of what it shares with a place. */
static void squeeze_names(struct layout *l, size_t room)
{
	size_t file = at_most(l->place, at_least(l->place_min,
						 at_most(l->file, l->place_good)));
	size_t half = at_most(room / 2, room - at_most(l->place, l->place_min));

	l->name = at_most(l->name, at_least(room - at_most(room, file), half));
	l->place = at_most(l->place, room - l->name);
}

static bool has_room_for_rest(const struct layout *l, size_t room)
{
	return least_names(l) + GAP + at_most(l->rest_all, REST_LEAST) <= room;
}

/*
 * A long place loses its beginning first, then the last column its end, then a name
 * its middle. There is no last column only where the window is too narrow for that:
 * some rows that then look alike do not take it from all others.
 */
static void share_function(struct layout *l, size_t room)
{
	struct layout alike = *l;
	size_t rest;

	l->has_total = least_names(l) + WEIGHT_WIDTH <= room;
	room -= l->has_total ? WEIGHT_WIDTH : 0;
	alike.has_total = l->has_total;
	alike.place_min = PLACE_MIN;
	alike.place_good = PLACE_GOOD;
	if (l->rest_all && !has_room_for_rest(l, room) && has_room_for_rest(&alike, room))
		*l = alike;
	if (!l->rest_all || !has_room_for_rest(l, room)) {
		fit_names(l, room);
		return;
	}
	/* In a window of 80 columns the minimum. */
	rest = at_least(REST_LEAST, at_most(REST_MIN, room / 4 + 1));
	rest = at_most(at_most(rest, l->rest_all), room - least_names(l) - GAP);
	if (l->name + GAP + at_most(l->place, l->place_good) + GAP + rest > room) {
		l->rest = rest;
		squeeze_names(l, room - GAP - rest - GAP);
		return;
	}
	share_spare(l, room);
}

/* The source of a call is there where nothing else gives way for it. */
static void share_caller(struct layout *l, size_t room)
{
	l->has_total = false;
	l->rest_all = REST_GOOD;
	if (l->name + GAP + at_most(l->place, l->place_good) + GAP + REST_MIN > room)
		fit_names(l, room);
	else
		share_spare(l, room);
}

/* The same of a line, and its text. */
static void share_line(struct layout *l, size_t room)
{
	if (at_most(l->name, l->place_min) + GAP + REST_MIN + WEIGHT_WIDTH > room)
		l->has_total = false;
	else
		room -= WEIGHT_WIDTH;
	if (l->name > l->place_good)
		l->name = at_most(l->name,
				  room > l->place_good + GAP + SOURCE_MIN ?
					  room - GAP - SOURCE_MIN :
					  l->place_good);
	fit_names(l, room);
	if (room >= l->name + GAP + REST_MIN)
		l->rest = room - l->name - GAP;
}

static struct layout lay_out(struct own_rows *rows, enum own_view view,
			     size_t columns)
{
	const char *title = name_title(rows, view);
	size_t room = columns - SIGN_WIDTH - WEIGHT_WIDTH;
	struct layout l = { .has_total = true };

	measure_window(rows);
	l.place_min = at_least(PLACE_MIN, rows->widths[view].apart);
	l.place_good = at_least(PLACE_GOOD, rows->widths[view].apart);
	l.file = rows->widths[view].file + DOTS_WIDTH;
	l.name = at_least(rows->widths[view].name, strlen(title));
	if (view == OWN_LINES) {
		share_line(&l, room);
		return l;
	}
	if (view == OWN_CALLERS) {
		l.place = at_least(rows->widths[view].place,
				   strlen("called at"));
		share_caller(&l, room);
		return l;
	}
	if (view == OWN_FUNCTIONS)
		l.place = at_least(rows->widths[view].place,
				   strlen("defined in"));
	if (view == OWN_FUNCTIONS && !rows->with_native) {
		if (rows->widths[view].rest)
			l.rest_all = at_least(rows->widths[view].rest,
					      strlen(spent_title));
		share_function(&l, room);
		return l;
	}
	if (at_most(l.name, PLACE_GOOD) +
		    (l.place ? GAP + at_most(l.place, l.place_min) : 0) +
		    WEIGHT_WIDTH > room)
		l.has_total = false;
	else
		room -= WEIGHT_WIDTH;
	fit_names(&l, room);
	return l;
}

/* --- Rows --------------------------------------------------------------- */

static double percent_of(const struct own_rows *rows, uint64_t period)
{
	uint64_t all = rows->whole ? rows->all_period :
				     rows->made.own->all.period;

	return all ? 100.0 * (double)period / (double)all : 0;
}

static void put_weight(const struct own_rows *rows, uint64_t period,
		       struct line *line)
{
	line->number = line->text.len;
	line->percent = percent_of(rows, period);
	strbuf_printf(&line->text, "%5.1f%%", line->percent);
	line->number_end = line->text.len;
	strbuf_puts(&line->text, "  ");
}

static void put_total(const struct own_rows *rows, const struct layout *l,
		      const struct own_entry *entry, struct line *line)
{
	if (!l->has_total)
		return;
	if (entry)
		strbuf_printf(&line->text, "%5.1f%%  ",
			      percent_of(rows, entry->total.period));
	else
		strbuf_fill(&line->text, ' ', WEIGHT_WIDTH);
}

static void put_place_column(struct own_rows *rows,
			     const struct browser_node *node, size_t width,
			     struct line *line)
{
	strbuf_clear(&rows->word);
	put_place(rows, node, &rows->word);
	fit_end(&line->text, rows->word.data, width);
}

static void put_name_column(struct own_rows *rows,
			    const struct browser_node *node, size_t width,
			    struct line *line)
{
	strbuf_clear(&rows->word);
	put_name(rows, node, &rows->word);
	if (node->kind == OWN_FILE)
		fit_end(&line->text, rows->word.data, width);
	else
		fit_name(&line->text, rows->word.data, width);
}

/* Where there is no source, the place has its room, too. */
static void put_line_columns(struct own_rows *rows,
			     const struct own_entry *entry,
			     const struct layout *l, struct line *line)
{
	_cleanup_strbuf_ struct strbuf source = STRBUF_INIT;
	size_t name = l->name;

	if (l->rest)
		put_source(rows, entry, &source);
	if (l->rest && !source.len)
		name += GAP + l->rest;
	own_name_fit_line(rows->profile, rows->names, entry, name, &line->text);
	if (!source.len)
		return;
	strbuf_puts(&line->text, "  ");
	fit_code(&line->text, &source, l->rest);
}

/* An entry, and code beside them. */
static void put_entry(struct own_rows *rows, const struct browser_node *node,
		      uint64_t period, const struct own_entry *entry,
		      size_t columns, struct line *line)
{
	struct layout l = lay_out(rows, view_of(node), columns);

	put_weight(rows, period, line);
	put_total(rows, &l, entry, line);
	line->fixed = line->text.len;
	if (node->kind == OWN_LINE) {
		put_line_columns(rows, entry, &l, line);
		return;
	}
	put_name_column(rows, node, l.name, line);
	if (l.place) {
		strbuf_puts(&line->text, "  ");
		put_place_column(rows, node, l.place, line);
	}
	if (!l.rest || node->kind != OWN_FUNCTION)
		return;
	strbuf_puts(&line->text, "  ");
	spent_text_parts(rows->profile, rows->made.own, entry, l.rest,
			 &line->text);
}

/* What is below a row: a name and where it is, as far as there is room. */
static void put_below(struct own_rows *rows, const struct browser_node *node,
		      uint64_t period, const struct own_entry *entry,
		      size_t columns, struct line *line)
{
	enum own_view view = rows->view == OWN_OVERVIEW ? OWN_FUNCTIONS :
							  rows->view;
	struct layout l = lay_out(rows, view, columns);
	size_t room = columns - SIGN_WIDTH - WEIGHT_WIDTH - INDENT - GAP -
		      (l.has_total ? WEIGHT_WIDTH : 0);
	size_t name, place;

	put_weight(rows, period, line);
	put_total(rows, &l, entry, line);
	line->fixed = line->text.len;
	strbuf_fill(&line->text, ' ', INDENT);
	strbuf_clear(&rows->word);
	put_name(rows, node, &rows->word);
	name = printable_width(rows->word.data, rows->word.len);
	strbuf_clear(&rows->word);
	put_place(rows, node, &rows->word);
	place = printable_width(rows->word.data, rows->word.len);
	fit_share(room, &name, &place);
	put_name_column(rows, node, name, line);
	if (!place)
		return;
	strbuf_puts(&line->text, "  ");
	put_place_column(rows, node, place, line);
}

static void put_caller(struct own_rows *rows, const struct browser_node *node,
		       size_t columns, struct line *line)
{
	struct layout l = lay_out(rows, OWN_CALLERS, columns);
	struct own_entry call = call_of(rows, node);
	_cleanup_strbuf_ struct strbuf source = STRBUF_INIT;
	size_t branch;

	put_weight(rows, caller_of(rows, node)->entry.total.period, line);
	line->fixed = line->text.len;
	strbuf_clear(&rows->word);
	put_branch(rows, node, &rows->word);
	branch = at_most(rows->word.len, l.name / 2);
	strbuf_append(&line->text, rows->word.data + rows->word.len - branch,
		      branch);
	put_name_column(rows, node, l.name - branch, line);
	strbuf_puts(&line->text, "  ");
	put_place_column(rows, node, l.place, line);
	if (l.rest)
		put_source(rows, &call, &source);
	if (!source.len)
		return;
	strbuf_puts(&line->text, "  ");
	fit_code(&line->text, &source, l.rest);
}

static bool has_cpu_share(const struct own_rows *rows)
{
	const struct profile_event *event =
		&rows->profile->events.data[rows->event];

	return rows->states->length && event->unit == EVENT_NANOSECONDS &&
	       event->kind == EVENT_ON_CPU;
}

/* What it does now; before that, how much of a CPU it had. */
static void put_state(const struct own_rows *rows,
		      const struct zoom_choice *choice, struct strbuf *out)
{
	if (has_cpu_share(rows))
		strbuf_printf(out, "%5.1f%%  ",
			      100.0 * (double)choice->period /
				      (double)rows->states->length);
	strbuf_printf(out, "%-*s  ", OWN_STATE_WIDTH,
		      own_states_word(rows->states, choice->zoom.id));
}

static void put_thread_title(const struct own_rows *rows, struct strbuf *out)
{
	if (rows->made.has_tasks) {
		strbuf_puts(out, "   share  task");
		return;
	}
	strbuf_puts(out, rows->has_processes ? "   share  process    thread  " :
					       "   share    thread  ");
	if (rows->states && has_cpu_share(rows))
		strbuf_puts(out, "of CPU  ");
	if (rows->states)
		strbuf_printf(out, "%-*s  ", OWN_STATE_WIDTH, "state");
	strbuf_puts(out, "name");
}

static void put_thread_numbers(const struct own_rows *rows,
			       const struct zoom_choice *choice,
			       struct strbuf *out)
{
	const struct profile_task *task =
		profile_task(rows->profile, choice->task);

	if (rows->has_processes)
		strbuf_printf(out, "%*" PRId32 "  ", NUMBER_WIDTH, task->pid);
	if (profile_task_is_ending(task))
		strbuf_fill(out, ' ', NUMBER_WIDTH + 2);
	else
		strbuf_printf(out, "%*" PRId32 "  ", NUMBER_WIDTH,
			      choice->zoom.id);
	if (rows->states)
		put_state(rows, choice, out);
}

static void put_process(struct own_rows *rows, const struct zoom_choice *choice)
{
	const struct profile_task *task =
		profile_task(rows->profile, choice->task);

	if (!rows->has_processes || rows->made.has_tasks ||
	    profile_task_is_ending(task))
		return;
	if (task->pid == task->tid)
		process_words_put_script(&rows->words, rows->names, task,
					 &rows->word);
	process_words_put_parent(&rows->words, task->pid, &rows->word);
}

static void put_thread(struct own_rows *rows, uint32_t ref, size_t columns,
		       struct line *line)
{
	const struct zoom_choice *choice = &rows->made.threads.data[ref];
	size_t used;

	put_weight(rows, choice->period, line);
	line->fixed = line->text.len;
	if (!rows->made.has_tasks)
		put_thread_numbers(rows, choice, &line->text);
	used = line->text.len;
	strbuf_clear(&rows->word);
	put_task(rows, ref, &rows->word);
	put_process(rows, choice);
	fit_middle(&line->text, rows->word.data,
		   columns > used ? columns - used : 0);
}

static void put_heading(struct own_rows *rows, enum own_view view,
			size_t columns, struct line *line)
{
	struct layout l = lay_out(rows, view, columns);
	const char *title = name_title(rows, view);

	if (view == OWN_THREADS) {
		put_thread_title(rows, &line->text);
		return;
	}
	strbuf_puts(&line->text,
		    view == OWN_CALLERS ? "   total  " : "     own  ");
	if (l.has_total)
		strbuf_puts(&line->text, " total  ");
	line->fixed = line->text.len;
	fit_end(&line->text, title, l.name);
	if (l.place) {
		strbuf_puts(&line->text, "  ");
		fit_end(&line->text,
			view == OWN_CALLERS ? "called at" : "defined in",
			l.place);
	}
	if (l.rest && l.rest_all && view == OWN_FUNCTIONS)
		strbuf_printf(&line->text, "  %s", spent_title);
	if (l.rest && (view == OWN_LINES || view == OWN_CALLERS))
		strbuf_puts(&line->text, "  source");
}

static const char *noun_of(const struct own_rows *rows, enum own_view view)
{
	switch (view) {
	case OWN_LINES:
		return "line";
	case OWN_FILES:
		return "file";
	case OWN_THREADS:
		return rows->made.has_tasks ? "task" : "thread";
	default:
		return rows->with_native ? "row" : "function";
	}
}

static void put_rest(struct own_rows *rows, enum own_view view, size_t columns,
		     struct line *line)
{
	struct layout l = lay_out(rows, view, columns);

	put_weight(rows, rows->rest_period[view], line);
	if (view != OWN_THREADS)
		put_total(rows, &l, NULL, line);
	line->fixed = line->text.len;
	strbuf_printf(&line->text, "%zu more %s%s (Enter: all)",
		      rows->rest_count[view], noun_of(rows, view),
		      plural(rows->rest_count[view]));
}

static void put_sign(const struct browser_node *node, struct strbuf *out)
{
	strbuf_puts(out, !node->can_open ? "  " : node->is_open ? "- " : "+ ");
}

/* Whose own and total the row has, or NULL. */
static const struct own_entry *entry_of(const struct own_rows *rows,
					const struct browser_node *node)
{
	const struct own_time *own = rows->made.own;
	uint32_t function;

	switch (node->kind) {
	case OWN_FUNCTION:
		return function_of(rows, node->ref);
	case OWN_LINE:
		return &own->lines.data[node->ref];
	case OWN_FILE:
		return &own->files.data[node->ref];
	case OWN_CODE:
		function = rows->made.codes.data[node->ref].function;
		return function == BROWSER_NONE ? NULL :
						  function_of(rows, function);
	}
	return NULL;
}

/* What the row itself weighs. */
static uint64_t own_of(const struct own_rows *rows,
		       const struct browser_node *node)
{
	if (node->kind == OWN_CODE)
		return rows->made.codes.data[node->ref].period;
	if (node->kind == OWN_PART || node->kind == OWN_USER)
		return rows->made.pieces.data[node->ref].period;
	return entry_of(rows, node)->own.period;
}

static void put_row(struct own_rows *rows, const struct browser_node *node,
		    size_t columns, struct line *line)
{
	if (node->level)
		put_below(rows, node, own_of(rows, node), entry_of(rows, node),
			  columns, line);
	else
		put_entry(rows, node, own_of(rows, node), entry_of(rows, node),
			  columns, line);
}

void own_text_row(struct own_rows *rows, uint32_t id, size_t columns,
		  struct line *line)
{
	const struct browser_node *node = &rows->browser.nodes.data[id];

	if (columns < COLUMNS_MIN)
		columns = COLUMNS_MIN;
	line_clear(line);
	if (node->kind == OWN_HEADING) {
		line->is_heading = true;
		put_heading(rows, (enum own_view)node->ref, columns, line);
		return;
	}
	put_sign(node, &line->text);
	if (node->kind == OWN_REST)
		put_rest(rows, (enum own_view)node->ref, columns, line);
	else if (node->kind == OWN_THREAD)
		put_thread(rows, node->ref, columns, line);
	else if (node->kind == OWN_CALLER)
		put_caller(rows, node, columns, line);
	else
		put_row(rows, node, columns, line);
}

/* --- Names in full ------------------------------------------------------- */

/* What is at hand of a name is in the row. */
static bool is_in(const struct line *line, const char *name)
{
	return strstr(line->text.data, name) != NULL;
}

void own_text_cut(struct own_rows *rows, uint32_t id, size_t columns,
		  size_t room, struct strbuf *out)
{
	const struct browser_node *node = &rows->browser.nodes.data[id];
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT, place = STRBUF_INIT;
	_cleanup_line_ struct line line = LINE_INIT;
	size_t rest;

	if (node->kind <= OWN_REST)
		return;
	own_text_row(rows, id, columns, &line);
	put_name(rows, node, &name);
	put_place(rows, node, &place);
	/* Where everything is on one screen, keys matter more than folders. */
	if (is_in(&line, name.data) &&
	    is_in(&line, rows->view == OWN_OVERVIEW ? path_name(place.data) :
						      place.data))
		return;
	rest = printable_width(place.data, place.len);
	rest = at_most(rest, at_least(PLACE_GOOD, room / 4));
	fit_name(out, name.data, room > rest + GAP ? room - rest - GAP : room);
	strbuf_trim_end(out);
	room -= at_most(room, printable_width(out->data, out->len) + GAP);
	if (!place.len || !room)
		return;
	strbuf_fill(out, ' ', GAP);
	fit_end(out, place.data, room);
	strbuf_trim_end(out);
}

/* --- Details ------------------------------------------------------------ */

static void put_field(struct strbuf *out, const char *name, const char *text)
{
	strbuf_printf(out, "%-8s: ", name);
	text_append(out, text, strlen(text));
	strbuf_putc(out, '\n');
}

static void put_share(const struct own_rows *rows, const char *name,
		      uint64_t period, const uint64_t *samples,
		      struct strbuf *out)
{
	strbuf_printf(out, "%-8s: %.2f%%, ", name, percent_of(rows, period));
	if (samples)
		strbuf_printf(out, "%" PRIu64 " sample%s, ", *samples, plural(*samples));
	strbuf_printf(out, "period %" PRIu64 "\n", period);
}

static void put_entry_details(const struct own_rows *rows,
			      const struct own_entry *entry,
			      struct strbuf *out)
{
	if (entry->file != PROFILE_NONE)
		put_field(out, "source",
			  profile_string(rows->profile, entry->file, ""));
	if (entry->line)
		strbuf_printf(out, "%-8s: %" PRIu32 "\n", "line", entry->line);
	put_share(rows, "own", entry->own.period, &entry->own.samples, out);
	put_share(rows, "total", entry->total.period, &entry->total.samples,
		  out);
}

static void put_spent_details(const struct own_rows *rows,
			      const struct own_entry *function,
			      struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	strbuf_puts(out, "\nSpent in\n\n");
	for (uint32_t i = 0; i < function->part_count; i++) {
		const struct own_part *part =
			&rows->made.own->parts.data[function->first_part + i];

		strbuf_clear(&name);
		spent_text_part(rows->profile, part->kind, part->subject,
				&name);
		strbuf_printf(out, "%6.2f%%  ",
			      percent_of(rows, part->weight.period));
		text_append(out, name.data, name.len);
		strbuf_putc(out, '\n');
	}
}

void own_text_details(const struct own_rows *rows,
		      const struct browser_node *node, struct strbuf *out)
{
	const struct own_entry *entry = entry_of(rows, node);
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	put_name(rows, node, &name);
	put_field(out, "name", name.data);
	strbuf_clear(&name);
	put_place(rows, node, &name);
	if (name.len)
		put_field(out, "in", name.data);
	if (entry)
		put_entry_details(rows, entry, out);
	if (node->kind == OWN_FUNCTION)
		put_spent_details(rows, entry, out);
	if (node->kind == OWN_CALLER)
		put_share(rows, "total",
			  caller_of(rows, node)->entry.total.period,
			  &caller_of(rows, node)->entry.total.samples, out);
	if (node->kind == OWN_CODE)
		put_share(rows, "here",
			  rows->made.codes.data[node->ref].period, NULL, out);
	if (node->kind == OWN_THREAD)
		put_share(rows, "share",
			  rows->made.threads.data[node->ref].period,
			  &rows->made.threads.data[node->ref].count, out);
	if (node->kind == OWN_PART || node->kind == OWN_USER)
		put_share(rows, "here",
			  rows->made.pieces.data[node->ref].period, NULL, out);
}

/* --- Above the rows ----------------------------------------------------- */

/* As many of the kinds as there is room for. */
static void put_kinds(struct own_rows *rows, size_t columns, struct strbuf *out)
{
	static const char more[] = ", ...";
	size_t n;

	strbuf_clear(&rows->word);
	if (!rows->zooms.count)
		answer_doubts(rows->profile, rows->event, rows->options,
			      rows->made.own, &rows->word);
	if (rows->word.len) {
		fit_begin(out, rows->word.data, strcspn(rows->word.data, "\n"),
			  columns);
		return;
	}
	strbuf_puts(&rows->word, "Spent in: ");
	n = rows->word.len;
	spent_text_kinds(rows->profile, rows->event, rows->made.own, &rows->word);
	if (rows->word.len == n)
		return;
	n = rows->word.len;
	while (n > columns - (n < rows->word.len ? strlen(more) : 0))
		do
			n--;
		while (n && rows->word.data[n] != ',');
	strbuf_append(out, rows->word.data, n);
	if (n < rows->word.len)
		strbuf_puts(out, more);
}

void own_text_head(struct own_rows *rows, size_t columns, struct line *line)
{
	if (columns < COLUMNS_MIN)
		columns = COLUMNS_MIN;
	line_clear(line);
	if (rows->view == OWN_OVERVIEW)
		put_kinds(rows, columns, &line->text);
	else
		put_heading(rows, rows->view, columns, line);
}
