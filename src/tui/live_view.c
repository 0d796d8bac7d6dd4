// SPDX-License-Identifier: GPL-2.0-only
#include "tui/live_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/plural.h"
#include "explore/own_follow.h"
#include "explore/own_rows.h"
#include "explore/sources.h"
#include "tui/answer_view.h"
#include "tui/information.h"
#include "tui/screen.h"
#include "tui/view.h"
#include "view/fit.h"
#include "view/printable.h"
#include "view/text.h"

enum {
	/* A refresh takes at most this part of the time. */
	COST_PART = 50,
	/* Until there is something to show. */
	FIRST_MS = 200,
	/* To look what it waits in meanwhile, from time to time. */
	WAITS_MS = 1000,
	MS = 1000000,
};

struct live_view {
	struct ui *ui;
	const struct tui_live *live;
	struct tui_input input;
	struct profile *profile;
	struct own_states states;
	struct own_rows *rows;
	/* Of all snapshots: handles of events stay. */
	uint32_t event;
	struct sources sources;
	struct answer_options answer_options;
	struct strbuf notes;
	/* Before the first sample: what is shown, and when to look again. */
	struct strbuf waits;
	struct view *waiting;
	int64_t waits_at;
	uint64_t window;
	struct strbuf hint;
	/* How often its threads were looked at, and one of them could run. */
	unsigned int looks;
	unsigned int could_run;
	bool is_paused;
	/* The last samples are on the screen. */
	bool is_over;
};

/* --- Snapshots ------------------------------------------------------------ */

static uint32_t first_event(const struct profile *profile, bool of_cpu)
{
	for (uint32_t i = 0; i < profile->events.count; i++) {
		enum event_kind kind = profile->events.data[i].kind;

		if (of_cpu ? kind == EVENT_ON_CPU : event_kind_is_shown(kind))
			return i;
	}
	return PROFILE_NONE;
}

/*
 * As answer_event() chooses, who knows all samples: these are the first, so that what
 * counts is what the events are.
 */
static uint32_t choose_event(const struct profile *profile)
{
	uint32_t event = first_event(profile, true);

	return event != PROFILE_NONE ? event : first_event(profile, false);
}

static uint64_t length_of(const struct profile *profile)
{
	const struct metadata *metadata;

	if (!profile->recordings.count)
		return 0;
	metadata = &profile->recordings.data[0].metadata;
	return metadata->last_sample_time - metadata->first_sample_time;
}

/* states are those of the rows. */
static struct error *make_rows(struct live_view *l, struct profile *profile,
			       struct own_states *states, struct own_rows **ret)
{
	struct error *error =
		l->live->threads(l->live->arg, profile, states);

	states->length = length_of(profile);
	if (!error)
		error = own_rows_create(profile, l->event, &l->answer_options,
					NULL, ret);
	if (!error)
		error = own_rows_set_states(*ret, states);
	if (!error && l->rows)
		error = own_rows_follow(*ret, l->rows);
	return error;
}

/* What the recorder has said last, a line. */
static void put_note(struct live_view *l, struct strbuf *out)
{
	size_t before = out->len;

	l->live->note(l->live->arg, out);
	if (out->len > before)
		strbuf_putc(out, '\n');
}

static bool can_run(const struct own_states *states)
{
	vec_for_each(thread, &states->threads)
		if (thread->state == 'R')
			return true;
	return false;
}

/* The last looks count for as much as all before them. */
static void note_state(struct live_view *l)
{
	enum { LOOKS = 8 };

	if (l->looks == LOOKS) {
		l->looks /= 2;
		l->could_run /= 2;
	}
	l->looks++;
	l->could_run += can_run(&l->states);
}

/* Takes the profile over. */
static struct error *show_profile(struct live_view *l, struct profile *profile)
{
	struct own_states states = {};
	struct own_rows *rows = NULL;
	struct error *error = make_rows(l, profile, &states, &rows);

	if (error) {
		own_rows_destroy(rows);
		own_states_deinit(&states);
		profile_destroy(profile);
		return error;
	}
	own_rows_destroy(l->rows);
	own_states_deinit(&l->states);
	profile_destroy(l->profile);
	l->rows = rows;
	l->profile = profile;
	l->states = states;
	rows->states = &l->states;
	note_state(l);
	l->input.profile = profile;
	strbuf_clear(&l->notes);
	put_note(l, &l->notes);
	return information_notes(&l->input, &l->notes);
}

static struct error *take_snapshot(struct live_view *l)
{
	struct profile *profile;
	struct error *error =
		l->live->snapshot(l->live->arg, l->window, &profile);

	if (error)
		return error;
	if (l->event == PROFILE_NONE)
		l->event = choose_event(profile);
	if (l->event != PROFILE_NONE)
		return show_profile(l, profile);
	profile_destroy(profile);
	return NULL;
}

static int64_t cpu_time(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* What takes long is done less often; a busy machine does not count. */
static void set_next(struct live_view *l, int64_t began)
{
	int64_t rest = (cpu_time() - began) * COST_PART / MS;
	int64_t delay = l->rows ? l->live->delay_ms : FIRST_MS;

	l->ui->tick_at = clock_ms() + (delay > rest ? delay : rest);
}

/* The state before the snapshot: what comes meanwhile is for the next one. */
static struct error *refresh(struct live_view *l)
{
	struct tui_live_state state = l->live->state(l->live->arg);
	int64_t began = cpu_time();
	struct error *error = NULL;

	if (!l->is_over)
		error = take_snapshot(l);
	l->is_over = state.has_ended;
	set_next(l, began);
	return error;
}

/* --- Before the first sample ---------------------------------------------- */

static void wait_title(void *arg, struct strbuf *out)
{
	const struct live_view *l = arg;

	if (l->live->script)
		text_append(out, l->live->script, strlen(l->live->script));
	else
		strbuf_puts(out, "kaa top");
}

static void no_row(void *arg, uint32_t node, struct line *line)
{
	(void)arg;
	(void)node;
	(void)line;
}

/* What the recorder says while there is nothing else. */
static void say_note(struct live_view *l)
{
	static const char more[] = " (i: all of it)";
	_cleanup_strbuf_ struct strbuf note = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf part = STRBUF_INIT;
	size_t rows, columns;

	l->live->note(l->live->arg, &note);
	if (!note.len)
		return;
	screen_size(&rows, &columns);
	if (printable_width(note.data, note.len) <= columns ||
	    columns < 2 * strlen(more)) {
		ui_say(l->ui, "%s", note.data);
		return;
	}
	fit_begin(&part, note.data, note.len,
		  columns - (l->rows ? strlen(more) : 0));
	ui_say(l->ui, "%s%s", part.data, l->rows ? more : "");
}

/* All of it, in lines, where nothing else is on the screen; returns how many. */
static size_t put_whole_note(struct live_view *l, size_t columns,
			     struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf note = STRBUF_INIT;
	size_t lines = 1, begin = out->len;

	put_note(l, &note);
	if (note.len <= columns)
		return 0;
	fit_lines(out, note.data, columns);
	strbuf_putc(out, '\n');
	for (size_t i = begin; i < out->len; i++)
		lines += out->data[i] == '\n';
	return lines;
}

static const char waiting[] = "waiting for the first samples";

/* Title, status, what stands first, and room around it. */
enum { WAITS_AROUND = 5, WAITS_MARGIN = 4 };

static void look_at_waits(struct live_view *l)
{
	size_t rows, columns, around = WAITS_AROUND;

	if (clock_ms() < l->waits_at)
		return;
	l->waits_at = clock_ms() + WAITS_MS;
	screen_size(&rows, &columns);
	strbuf_clear(&l->waits);
	strbuf_printf(&l->waits, "%s\n\n", waiting);
	if (columns > WAITS_MARGIN)
		around += put_whole_note(l, columns - WAITS_MARGIN, &l->waits);
	if (rows > around && columns > WAITS_MARGIN)
		l->live->waits(l->live->arg, rows - around,
			       columns - WAITS_MARGIN, &l->waits);
	l->waiting->empty = l->waits.data;
}

static struct error *wait_tick(void *arg, bool *leave)
{
	struct live_view *l = arg;
	struct error *error = refresh(l);

	say_note(l);
	*leave = l->rows || l->is_over;
	if (!error && !*leave)
		look_at_waits(l);
	return error;
}

static struct error *wait_for_samples(struct live_view *l)
{
	const struct browser_source source = {};
	struct browser browser;
	struct view view = { .browser = &browser,
			     .arg = l,
			     .hint = "q: quit",
			     .empty = waiting,
			     .hides_position = true,
			     .title = wait_title,
			     .row = no_row,
			     .tick = wait_tick,
			     .line = LINE_INIT,
			     .bar = STRBUF_INIT };
	struct error *error;

	browser_init(&browser, &source);
	l->ui->tick_at = clock_ms() + FIRST_MS;
	l->waiting = &view;
	l->waits_at = clock_ms() + WAITS_MS;
	error = view_run(l->ui, &view);
	/* The information has it; keys stand in its place now. */
	if (l->rows && !l->is_over)
		strbuf_clear(&l->ui->message);
	browser_deinit(&browser);
	view_deinit(&view);
	return error;
}

/* --- The screen ----------------------------------------------------------- */

static struct error *live_refresh(void *arg, struct own_rows **rows)
{
	struct live_view *l = arg;
	struct error *error = NULL;

	if (l->is_paused)
		l->ui->tick_at = INT64_MAX;
	else
		error = refresh(l);
	*rows = l->rows;
	return error;
}

/* "10 s", "since the start"; and whether it stands still. */
static void live_title(void *arg, struct strbuf *out)
{
	struct live_view *l = arg;
	struct tui_live_state state = l->live->state(l->live->arg);
	uint64_t lost;

	if (l->window)
		strbuf_printf(out, "last %g s", (double)l->window / 1e9);
	else
		strbuf_puts(out, state.has_forgotten ? "all that is kept" :
						       "since the start");
	lost = l->profile->events.data[l->event].lost;
	if (lost)
		strbuf_printf(out, ", %" PRIu64 " sample%s lost", lost,
			      plural(lost));
	if (l->is_over)
		strbuf_puts(out, ", ended");
	else if (l->is_paused)
		strbuf_puts(out, ", paused");
	strbuf_puts(out, "   ");
}

/*
 * Where it waits is not among what is shown. Who could run most often when kaa looked
 * waits for a processor, and nowhere in the program.
 */
static bool mostly_waits(const struct live_view *l)
{
	return l->live->is_of_processes && !l->rows->zooms.count &&
	       l->could_run <= l->looks / 2 &&
	       answer_mostly_waits(&l->profile->events.data[l->event],
				   l->rows->made.own->all.period,
				   l->states.length);
}

/* Before what view.c ends the line with. */
static bool has_room(const struct strbuf *line, size_t more)
{
	static const char quit[] = "  q: quit";
	size_t rows, columns;

	screen_size(&rows, &columns);
	return printable_width(line->data, line->len) + more + strlen(quit) <=
	       columns;
}

/* The command as it is typed, and what else there is room for; the keys in any case. */
static const char *waits_hint(struct live_view *l, const char *otherwise)
{
	static const char start[] = "it runs little: ", keys[] = "  h: keys",
			  more[] = " shows where   h: keys  P: pause";
	const struct metadata *metadata =
		&l->profile->recordings.data[0].metadata;
	struct strbuf *out = &l->hint;

	strbuf_clear(out);
	strbuf_puts(out, start);
	answer_put_wall_command(metadata, true, out);
	if (!has_room(out, strlen(keys))) {
		strbuf_clear(out);
		strbuf_printf(out, "%s'--mode wall'", start);
	}
	if (!has_room(out, strlen(keys)))
		return otherwise;
	strbuf_puts(out, has_room(out, strlen(more)) ? more : keys);
	return out->failed ? otherwise : out->data;
}

static const char *live_hint(void *arg)
{
	static const char hint[] =
		"h: keys  Enter: source  w: callers  o: order  W: window  P: pause";
	struct live_view *l = arg;

	if (l->is_over)
		say_note(l);
	return mostly_waits(l) ? waits_hint(l, hint) : hint;
}

static void toggle_pause(struct live_view *l)
{
	l->is_paused = !l->is_paused;
	/* Now. */
	l->ui->tick_at = l->is_paused ? INT64_MAX : clock_ms();
	ui_say(l->ui, l->is_paused ? "paused: P goes on" : "goes on");
}

/* What was asked for, a minute, all. */
static struct error *next_window(struct live_view *l)
{
	static const uint64_t minute = UINT64_C(60000) * MS;

	if (l->window == l->live->window && l->window < minute)
		l->window = minute;
	else
		l->window = l->window ? 0 : l->live->window;
	l->is_over = false;
	return refresh(l);
}

static struct error *live_key(void *arg, uint32_t key, struct own_rows **rows,
			      bool *taken)
{
	struct live_view *l = arg;
	struct error *error = NULL;

	*taken = true;
	if (key == 'P')
		toggle_pause(l);
	else if (key == 'W')
		error = next_window(l);
	else
		*taken = false;
	*rows = l->rows;
	return error;
}

static bool is_event_shown(const struct live_view *l, uint32_t event)
{
	const struct profile_event *e = &l->profile->events.data[event];

	return event_kind_is_shown(e->kind);
}

/* The next one, around the end; itself if there is no other. */
static uint32_t event_beside(const struct live_view *l, bool forward)
{
	uint32_t count = (uint32_t)l->profile->events.count, event = l->event;

	do {
		event = (event + (forward ? 1 : count - 1)) % count;
	} while (event != l->event && !is_event_shown(l, event));
	return event;
}

static struct error *next_event(struct live_view *l, bool forward, bool *leave)
{
	uint32_t event = event_beside(l, forward);

	if (event == l->event) {
		ui_say(l->ui, "there is only one event");
		return NULL;
	}
	l->event = event;
	l->is_over = false;
	*leave = true;
	ui_say(l->ui, "%s",
	       profile_string(l->profile, l->profile->events.data[event].name,
			      ""));
	return refresh(l);
}

static struct error *grant(void *arg, enum answer_wish wish,
			   const struct profile_frame *code, bool *leave)
{
	struct live_view *l = arg;

	(void)code;
	switch (wish) {
	case ANSWER_NEXT_EVENT:
	case ANSWER_PREVIOUS_EVENT:
		return next_event(l, wish == ANSWER_NEXT_EVENT, leave);
	case ANSWER_TABLE:
		ui_say(l->ui, "the table of all functions is for recordings: kaa record, kaa report");
		return NULL;
	case ANSWER_CODE:
		ui_say(l->ui, "instructions are for recordings: kaa record, kaa report");
		return NULL;
	}
	return NULL;
}

static bool has_events(const struct live_view *l)
{
	return event_beside(l, true) != l->event;
}

static struct error *show(struct live_view *l)
{
	const struct answer_live live = { .refresh = live_refresh,
					  .title = live_title,
					  .hint = live_hint,
					  .key = live_key,
					  .arg = l };
	struct answer_input input = { .notes = &l->notes,
				      .wish = grant,
				      .arg = l,
				      .live = &live };
	struct error *error = NULL;

	while (!error && !l->ui->quit) {
		input.has_events = has_events(l);
		error = answer_view(l->ui, l->rows, &input);
	}
	return error;
}

static void init(struct live_view *l)
{
	const struct tui_live *live = l->live;

	l->sources = (struct sources){ .recorded = live->began };
	l->answer_options = (struct answer_options){
		.folder = live->folder,
		.source = sources_answer_line,
		.source_arg = &l->sources,
		.is_live = true,
		.script = live->script,
	};
	l->input = (struct tui_input){ .folder = live->folder,
				       .answer_event = PROFILE_NONE,
				       .path = "kaa top" };
}

static void deinit(struct live_view *l)
{
	own_rows_destroy(l->rows);
	own_states_deinit(&l->states);
	profile_destroy(l->profile);
	sources_deinit(&l->sources);
	strbuf_deinit(&l->notes);
	strbuf_deinit(&l->waits);
	strbuf_deinit(&l->hint);
}

struct error *tui_live(const struct tui_live *live, int *signal)
{
	struct ui ui;
	struct live_view l = { .ui = &ui,
			       .live = live,
			       .event = PROFILE_NONE,
			       .window = live->window,
			       .notes = STRBUF_INIT,
			       .waits = STRBUF_INIT,
			       .hint = STRBUF_INIT };
	struct error *error = screen_open();

	if (error)
		return error;
	init(&l);
	ui_init(&ui, &l.input);
	error = wait_for_samples(&l);
	if (!error && l.rows)
		error = show(&l);
	*signal = screen_signal();
	screen_close();
	ui_deinit(&ui);
	deinit(&l);
	return error;
}
