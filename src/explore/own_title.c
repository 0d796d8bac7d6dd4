// SPDX-License-Identifier: GPL-2.0-only
#include "explore/own_title.h"

#include <inttypes.h>
#include <string.h>

#include "base/name_match.h"
#include "base/plural.h"
#include "view/fit.h"
#include "view/own_name.h"
#include "view/printable.h"
#include "view/text.h"

enum {
	GAP = 3,
	/* Of the program. */
	PROGRAM_MIN = 12,
};

/* What stands in it, in this order; a text is empty where it has nothing to say. */
enum piece {
	PROGRAM,
	PYTHON,
	/* The event, and the others. */
	EVENTS,
	TIME,
	SAMPLES,
	PIECES,
};

struct title {
	struct strbuf pieces[PIECES];
	size_t columns;
};

static void deinit_title(struct title *t)
{
	for (size_t i = 0; i < PIECES; i++)
		strbuf_deinit(&t->pieces[i]);
}

static size_t at_most(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t at_least(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* --- Events ------------------------------------------------------------- */

static const struct profile_event *event_of(const struct own_rows *rows)
{
	return &rows->profile->events.data[rows->event];
}

static bool is_other_event(const struct own_rows *rows, size_t event)
{
	const struct profile_event *e = &rows->profile->events.data[event];

	return event != rows->event && e->samples && event_kind_is_shown(e->kind);
}

static bool has_other_events(const struct own_rows *rows)
{
	for (size_t i = 0; i < rows->profile->events.count; i++)
		if (is_other_event(rows, i))
			return true;
	return false;
}

static void put_event_name(const struct own_rows *rows, size_t event,
			   struct strbuf *out)
{
	text_string(out, rows->profile, rows->profile->events.data[event].name,
		    "");
}

/* "off-cpu (Tab: cpu-clock, page-faults)", in the order in which Tab shows them. */
static void put_events(const struct own_rows *rows, struct strbuf *out)
{
	size_t count = rows->profile->events.count;
	const char *before = " (Tab: ";

	put_event_name(rows, rows->event, out);
	for (size_t i = 1; i < count; i++) {
		size_t event = (rows->event + i) % count;

		if (!is_other_event(rows, event))
			continue;
		strbuf_puts(out, before);
		put_event_name(rows, event, out);
		before = ", ";
	}
	strbuf_putc(out, ')');
}

/* --- What percentages are of -------------------------------------------- */

static const char all_is[] = "100% is ";

/* Of CPU time everybody takes it for granted. */
static void put_time(const struct own_rows *rows, struct strbuf *out)
{
	const struct profile_event *event = event_of(rows);

	if (event->unit == EVENT_NANOSECONDS && event->kind != EVENT_ON_CPU)
		strbuf_puts(out, all_is);
	strbuf_puts(out, rows->made.summary[ANSWER_TIME].data);
}

/* --- Too little room ---------------------------------------------------- */

static size_t width_of(const struct strbuf *text)
{
	return printable_width(text->data, text->len);
}

/* By how many columns it is too wide. */
static size_t excess(const struct title *t)
{
	size_t need = 0;

	for (size_t i = 0; i < PIECES; i++)
		need += t->pieces[i].len ? GAP + width_of(&t->pieces[i]) : 0;
	return need - at_most(need, t->columns + GAP);
}

/* The piece ends before that text, if it has it; "": nothing of it stays. */
static void end_before(struct title *t, enum piece piece, const char *text,
		       const char *instead)
{
	struct strbuf *out = &t->pieces[piece];
	const char *at = out->len && excess(t) ? strstr(out->data, text) : NULL;

	if (!at)
		return;
	strbuf_truncate(out, (size_t)(at - out->data));
	strbuf_puts(out, instead);
}

/* The piece without its first n bytes. */
static void begin_at(struct title *t, enum piece piece, size_t n)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct strbuf *out = &t->pieces[piece];

	strbuf_puts(&text, out->data + n);
	strbuf_clear(out);
	strbuf_puts(out, text.data);
}

/* A script's file without its folders. */
static void drop_folders(struct title *t)
{
	const struct strbuf *program = &t->pieces[PROGRAM];
	const char *slash = strrchr(program->data, '/');

	if (slash && excess(t) && name_ends_with(program->data, ".py"))
		begin_at(t, PROGRAM, (size_t)(slash + 1 - program->data));
}

/* It loses its beginning, as places do. */
static void shorten_program(struct title *t)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct strbuf *out = &t->pieces[PROGRAM];
	size_t width = width_of(out);
	size_t room = at_least(PROGRAM_MIN, width - at_most(width, excess(t)));

	if (room >= width)
		return;
	strbuf_puts(&name, out->data);
	strbuf_clear(out);
	fit_end(out, name.data, room);
}

/* What tells least gives way first. */
static void fit_title(struct title *t)
{
	end_before(t, PYTHON, "", "");
	/* What is wrong with the samples, which the notes say, too. */
	end_before(t, SAMPLES, ", ", "");
	drop_folders(t);
	end_before(t, SAMPLES, "", "");
	/* How long it was recorded. */
	end_before(t, TIME, " in ", "");
	/* The events after the next one. */
	end_before(t, EVENTS, ", ", ", ...)");
	shorten_program(t);
	end_before(t, EVENTS, ": ", ")");
	if (excess(t) && strstr(t->pieces[TIME].data, all_is))
		begin_at(t, TIME, strlen(all_is));
	end_before(t, EVENTS, "", "");
	end_before(t, TIME, "", "");
}

static void put_summary(const struct own_rows *rows, size_t columns,
			bool says_keys, struct strbuf *out)
{
	_cleanup_(deinit_title) struct title t = { .columns = columns };
	const struct strbuf *summary = rows->made.summary;
	bool says_events = says_keys && has_other_events(rows), is_first = true;

	for (size_t i = 0; i < PIECES; i++)
		t.pieces[i] = (struct strbuf)STRBUF_INIT;
	strbuf_puts(&t.pieces[PROGRAM], summary[ANSWER_PROGRAM].data);
	strbuf_puts(&t.pieces[PYTHON], summary[ANSWER_PYTHON].data);
	strbuf_puts(&t.pieces[SAMPLES], summary[ANSWER_SAMPLES].data);
	if (says_events)
		put_events(rows, &t.pieces[EVENTS]);
	/* What counts no time has only a name. */
	if (!says_events || event_of(rows)->unit == EVENT_NANOSECONDS)
		put_time(rows, &t.pieces[TIME]);
	fit_title(&t);
	for (size_t i = 0; i < PIECES; i++) {
		if (!t.pieces[i].len)
			continue;
		strbuf_puts(out, is_first ? "" : "   ");
		strbuf_puts(out, t.pieces[i].data);
		is_first = false;
	}
}

/* --- Views and zooms ---------------------------------------------------- */

static void put_called(const struct own_rows *rows, size_t columns,
		       struct strbuf *out)
{
	static const char before[] = "Callers of ";
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	size_t room = columns - at_most(columns, strlen(before));

	own_name_function(rows->profile, &rows->made.callers.data[0].entry,
			  &name);
	strbuf_puts(out, before);
	fit_name(out, name.data, at_most(room, printable_width(name.data, name.len)));
	strbuf_trim_end(out);
	strbuf_puts(out, ": ");
}

static void put_view_name(const struct own_rows *rows, size_t columns,
			  struct strbuf *out)
{
	static const char *const names[OWN_VIEWS] = {
		[OWN_FUNCTIONS] = "Functions",
		[OWN_LINES] = "Lines",
		[OWN_FILES] = "Files",
		[OWN_THREADS] = "Threads",
	};

	if (rows->view == OWN_CALLERS)
		put_called(rows, columns, out);
	if (names[rows->view])
		strbuf_printf(out, "%s%s: ",
			      rows->view == OWN_THREADS && rows->made.has_tasks ?
				      "Tasks" :
				      names[rows->view],
			      rows->view == OWN_FUNCTIONS && rows->with_native ?
				      " and native code" :
				      "");
}

/* What a title of a zoom says beside what it is; "" where it has nothing to say. */
enum zoom_piece { ZOOM_TIME, ZOOM_SAMPLES, ZOOM_SHARE, ZOOM_WHOLE, ZOOM_PIECES };

struct zoom_title {
	struct strbuf pieces[ZOOM_PIECES];
	/* Columns that are left for them. */
	size_t room;
};

static bool is_too_wide(const struct zoom_title *t)
{
	size_t need = 0;

	for (size_t i = 0; i < ZOOM_PIECES; i++)
		need += width_of(&t->pieces[i]);
	return need > t->room;
}

static void drop(struct zoom_title *t, enum zoom_piece piece, const char *from)
{
	const char *at = strstr(t->pieces[piece].data, from);

	if (at && is_too_wide(t))
		strbuf_truncate(&t->pieces[piece],
				(size_t)(at - t->pieces[piece].data));
}

static void put_zoom_pieces(const struct own_rows *rows, size_t room,
			    struct strbuf *out)
{
	const struct own_weight *all = &rows->made.own->all;
	struct zoom_title t = { .room = room };

	for (size_t i = 0; i < ZOOM_PIECES; i++)
		t.pieces[i] = (struct strbuf)STRBUF_INIT;
	strbuf_printf(&t.pieces[ZOOM_TIME], "   %s",
		      rows->made.summary[ANSWER_TIME].data);
	strbuf_printf(&t.pieces[ZOOM_SAMPLES], "   %" PRIu64 " sample%s",
		      all->samples, plural(all->samples));
	if (rows->all_period)
		strbuf_printf(&t.pieces[ZOOM_SHARE], ", %.1f%% of all",
			      100.0 * (double)all->period /
				      (double)rows->all_period);
	if (rows->all_period && rows->whole)
		strbuf_puts(&t.pieces[ZOOM_WHOLE], " (which are 100%)");
	/* What tells least gives way first. */
	drop(&t, ZOOM_TIME, " in ");
	drop(&t, ZOOM_SAMPLES, "");
	drop(&t, ZOOM_WHOLE, "");
	drop(&t, ZOOM_SHARE, "");
	drop(&t, ZOOM_TIME, "");
	for (size_t i = 0; i < ZOOM_PIECES; i++) {
		strbuf_puts(out, t.pieces[i].data);
		strbuf_deinit(&t.pieces[i]);
	}
}

/* The number tells a thread from others, and the ends of its name do. */
static void put_zoom(const struct own_rows *rows, size_t columns,
		     struct strbuf *out)
{
	enum { NAME_MIN = 8, BRACKETS = 3 };
	_cleanup_strbuf_ struct strbuf what = STRBUF_INIT, name = STRBUF_INIT;
	size_t used;

	strbuf_puts(&what, "in ");
	zooms_format(&rows->zooms, rows->profile, &what);
	used = width_of(&what);
	if (zooms_has(&rows->zooms, ZOOM_THREAD) && !rows->made.has_tasks &&
	    rows->made.threads.count == 1) {
		text_string(&name, rows->profile,
			    rows->made.threads.data[0].comm, "");
		strbuf_puts(&what, " (");
		fit_middle(&what, name.data,
			   at_least(NAME_MIN, columns - at_most(columns,
						used + BRACKETS)));
		strbuf_putc(&what, ')');
		used = width_of(&what);
	}
	strbuf_puts(out, what.data);
	put_zoom_pieces(rows, columns - at_most(columns, used), out);
}

void own_title_put(const struct own_rows *rows, size_t columns, bool says_keys,
		   struct strbuf *out)
{
	size_t before = out->len, used;

	put_view_name(rows, columns, out);
	used = out->len - before;
	if (rows->zooms.count)
		put_zoom(rows, columns - at_most(columns, used), out);
	else
		put_summary(rows, columns > used ? columns - used : 0,
			    says_keys, out);
}
