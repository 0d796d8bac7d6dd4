// SPDX-License-Identifier: GPL-2.0-only
#include "tui/report_view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output_error.h"
#include "base/plural.h"
#include "explore/entries.h"
#include "explore/own_rows.h"
#include "explore/row_details.h"
#include "explore/sources.h"
#include "tui/annotate_view.h"
#include "tui/answer_view.h"
#include "tui/information.h"
#include "tui/report_menu.h"
#include "tui/zoom_list.h"
#include "view/text.h"

enum {
	/* kaa.hist.0 and so on. */
	PRINTS_MAX = 1000,
};

struct report_view {
	struct ui *ui;
	const struct profile *profile;
	struct view view;
	/* Events that have samples; their entries, once they were looked at. */
	VEC(uint32_t) events;
	VEC(struct entries *) entries;
	VEC(struct own_rows *) answers;
	size_t current;
	/* What is shown: the answer, or the table. */
	bool shows_answer;
	/* It was opened from the other, which was the first, with so many zooms. */
	bool from_other;
	size_t zooms_before;
	/* What the answer is made with. */
	struct answer_options answer_options;
	struct sources sources;
	/* What the recording lacks. */
	struct strbuf notes;
};

/* No line is wider than a narrow terminal, of 60 columns. */
static const char keys[] =
	"q  Esc      go one step back: out of a zoom, the table\n"
	"q           on the first screen: quit; Ctrl-C: at once\n"
	"\n"
	"Up, Down, Page Up, Page Down, Space, Home, End   move\n"
	"<  >        scroll sideways\n"
	"Enter  m    show a menu for the row\n"
	"+           open or close what is below the row\n"
	"Right       open the row\n"
	"Left        close it, go to the row above, zoom out\n"
	"e           open or close everything below the entry\n"
	"E  C        open everything, close everything\n"
	"\n"
	"a           annotate the function by line, instruction\n"
	"l           show entries and callchains by Python line\n"
	"g           show callchains from the caller or the callee\n"
	"o           show functions with or without callees\n"
	"\n"
	"s           search the visible rows as you type;\n"
	"            file.py:37 finds the function with that line\n"
	"n  N        go to the next match, the previous match\n"
	"            (lower case also finds upper case)\n"
	"\n"
	"t  p  c     zoom into a thread, process, command; or out\n"
	"d  k        zoom into the row's file, the kernel; or out\n"
	"/           zoom into functions by name, file.py or\n"
	"            file.py:37; empty: out\n"
	"Esc         stop long work\n"
	"F           show percentages of the zoom or everything\n"
	"L           leave out entries below a percentage\n"
	"\n"
	"Tab, Shift-Tab   show the next event, the previous event\n"
	"i           show how it was recorded, and what it lacks\n"
	"D           show file, build-id, addresses, samples\n"
	"V           show files with their directories\n"
	"H           show column titles, or one more row\n"
	"P           write the rows to a new file kaa.hist.N\n"
	"v  x        show own time of Python code, and back\n"
	"h  ?  F1    show these keys\n";

static struct entries *entries_of(const struct report_view *r)
{
	return r->entries.data[r->current];
}

/* --- Drawing ------------------------------------------------------------ */

static void title(void *arg, struct strbuf *out)
{
	const struct report_view *r = arg;

	if (r->events.count > 1)
		strbuf_printf(out, "[%zu of %zu] ", r->current + 1,
			      r->events.count);
	entries_title(entries_of(r), out);
	if (r->notes.len)
		strbuf_puts(out, "  (i: notes)");
}

static void head(void *arg, struct line *line)
{
	entries_titles(entries_of(arg), line);
}

static void row(void *arg, uint32_t node, struct line *line)
{
	entries_row(entries_of(arg), node, line);
}

static void status(void *arg, size_t columns, struct strbuf *out)
{
	const struct report_view *r = arg;

	(void)columns;
	view_put_hint(&r->view,
		      !r->from_other && !entries_of(r)->zooms.count, out);
}

static struct error *fit(void *arg, size_t height)
{
	struct report_view *r = arg;
	size_t lines, columns;

	(void)height;
	screen_size(&lines, &columns);
	entries_of(r)->columns = columns + r->view.shift;
	return NULL;
}

/* --- Events ------------------------------------------------------------- */

static struct error *show_event(struct report_view *r, size_t index)
{
	struct entries **entries = &r->entries.data[index];
	struct error *error = NULL;

	if (!*entries)
		error = entries_create(r->profile, r->ui->input->options,
				       r->events.data[index], &r->ui->watch,
				       entries);
	if (error)
		return error;
	r->current = index;
	r->view.browser = &(*entries)->made.browser;
	return NULL;
}

static struct error *next_event(struct report_view *r, bool forward)
{
	size_t count = r->events.count;

	if (count < 2) {
		ui_say(r->ui, "this recording has only one event");
		return NULL;
	}
	return show_event(r, (r->current + (forward ? 1 : count - 1)) % count);
}

/* --- The answer --------------------------------------------------------- */

static void init_answer(struct report_view *r)
{
	const struct tui_input *input = r->ui->input;

	r->sources = (struct sources){ .symfs = input->symfs,
				       .recorded = input->recorded,
				       .recordings = source_recordings_all(
					       input->profile) };
	r->answer_options = (struct answer_options){
		.without_libraries = input->without_libraries,
		.folder = input->folder,
		.source = sources_answer_line,
		.source_arg = &r->sources,
		.is_filtered = input->is_filtered,
	};
}

static struct error *make_answer(struct report_view *r, size_t index)
{
	struct own_rows **rows = &r->answers.data[index];
	struct error *error = NULL;

	if (!*rows)
		error = own_rows_create(r->profile, r->events.data[index],
					&r->answer_options, &r->ui->watch,
					rows);
	if (!error)
		r->current = index;
	return error;
}

/* Options of the command line that choose entries, which it has not. */
static bool chooses_entries(const struct report_options *o)
{
	return o->comms.count || o->dsos.count || o->symbols.count ||
	       o->symbol_filter || o->exclude_other || o->ignore_callees;
}

/* To the other of answer and table. */
static void change_form(struct report_view *r, size_t zooms)
{
	r->from_other = !r->from_other;
	r->zooms_before = r->from_other ? zooms : 0;
}

/* Of the samples that the table is zoomed into. */
static struct error *open_answer(struct report_view *r, bool *leave)
{
	struct entries *e = entries_of(r);
	struct own_rows *rows;
	struct error *error = make_answer(r, r->current);

	if (error)
		return error;
	rows = r->answers.data[r->current];
	if (e->zooms.count || rows->zooms.count)
		error = own_rows_set_zooms(rows, &e->zooms);
	if (error)
		return error;
	if (chooses_entries(&e->options))
		ui_say(r->ui, "options that choose entries of the table do not count here");
	r->shows_answer = *leave = true;
	change_form(r, e->zooms.count);
	return NULL;
}

/* The table, of the samples that the answer is zoomed into. */
static struct error *open_table(struct report_view *r,
				const struct own_rows *rows)
{
	struct error *error = show_event(r, r->current);
	struct entries *e;

	if (error)
		return error;
	e = entries_of(r);
	if (!rows->zooms.count && !e->zooms.count)
		return NULL;
	error = zooms_copy(&rows->zooms, &e->zooms);
	return error ? error : entries_rebuild(e, false);
}

static struct error *other_answer(struct report_view *r, bool forward,
				  bool *leave)
{
	size_t count = r->events.count;
	struct error *error;

	if (count < 2) {
		ui_say(r->ui, "this recording has only one event");
		return NULL;
	}
	error = make_answer(r, (r->current + (forward ? 1 : count - 1)) % count);
	*leave = !error;
	return error;
}

static struct error *grant(void *arg, enum answer_wish wish,
			   const struct profile_frame *code, bool *leave)
{
	struct report_view *r = arg;
	const struct own_rows *rows = r->answers.data[r->current];
	struct error *error;

	switch (wish) {
	case ANSWER_NEXT_EVENT:
	case ANSWER_PREVIOUS_EVENT:
		return other_answer(r, wish == ANSWER_NEXT_EVENT, leave);
	case ANSWER_CODE:
		error = open_table(r, rows);
		return error ? error :
			       annotate_view(r->ui, entries_of(r), code);
	case ANSWER_TABLE:
		break;
	}
	error = open_table(r, rows);
	*leave = !error;
	r->shows_answer = !*leave;
	if (!error)
		change_form(r, rows->zooms.count);
	return error;
}

static struct error *run_answer(struct report_view *r)
{
	const struct answer_input input = { .notes = &r->notes,
					    .has_events = r->events.count > 1,
					    .from_table = r->from_other,
					    .zooms_before = r->zooms_before,
					    .wish = grant,
					    .arg = r };

	return answer_view(r->ui, r->answers.data[r->current], &input);
}

/* --- Zooms -------------------------------------------------------------- */

static struct error *zoom_into(struct report_view *r, struct zoom zoom)
{
	struct error *error = entries_zoom(entries_of(r), &zoom);

	r->view.shift = 0;
	return error;
}

/* Out of it, into what the row is of, or else into what the user chooses. */
static struct error *zoom_task(struct report_view *r, enum zoom_kind kind)
{
	struct entries *e = entries_of(r);
	struct zoom zoom;
	bool chosen = true;
	struct error *error = NULL;

	if (zooms_remove(&e->zooms, kind))
		return entries_rebuild(e, false);
	if (!entries_selected_task(e, kind, &zoom))
		error = zoom_list(r->ui, e->event, e->made.keep, kind, &zoom,
				  &chosen);
	return error || !chosen ? error : zoom_into(r, zoom);
}

static struct error *zoom_dso(struct report_view *r)
{
	struct entries *e = entries_of(r);
	const struct profile_frame *frame = entries_selected_frame(e);
	const struct profile_dso *dso =
		frame ? profile_dso(e->profile, frame->dso) : NULL;
	const struct zoom zoom = { .kind = ZOOM_DSO,
				   .name = dso ? dso->short_name
					       : PROFILE_NONE };

	if (zooms_remove(&e->zooms, ZOOM_DSO))
		return entries_rebuild(e, false);
	if (entries_selected(e) == BROWSER_NONE)
		return NULL;
	return zoom_into(r, zoom);
}

static struct error *zoom_kernel(struct report_view *r)
{
	struct entries *e = entries_of(r);

	if (zooms_remove(&e->zooms, ZOOM_KERNEL))
		return entries_rebuild(e, false);
	return zoom_into(r, (struct zoom){ .kind = ZOOM_KERNEL });
}

static struct error *zoom_symbol(struct report_view *r)
{
	struct entries *e = entries_of(r);
	struct strbuf text = STRBUF_INIT;
	struct zoom zoom;
	char *name;
	bool accepted;
	struct error *error = view_prompt(r->ui, &r->view, "Only functions whose name contains (empty: all)",
					  &text, NULL, NULL, &accepted);

	if (error || !accepted) {
		strbuf_deinit(&text);
		return error;
	}
	if (!text.len) {
		strbuf_deinit(&text);
		return zooms_remove(&e->zooms, ZOOM_SYMBOL)
			       ? entries_rebuild(e, false)
			       : NULL;
	}
	name = strbuf_take(&text);
	if (!name)
		return error_no_memory();
	error = zoom_by_symbol(e->profile, name, &zoom);
	return error ? error : zoom_into(r, zoom);
}

static struct error *step_back(void *arg, bool *leave, bool *is_first)
{
	struct report_view *r = arg;
	struct entries *e = entries_of(r);
	bool left;
	struct error *error;

	if (r->from_other && e->zooms.count <= r->zooms_before)
		return open_answer(r, leave);
	error = entries_leave(e, &left);
	if (!error)
		*is_first = !left;
	return error;
}

/* --- Other forms of the report ------------------------------------------ */

/* The lines' column stands before the functions', which take what is left. */
static void add_lines(struct report_options *o)
{
	const struct report_column lines = { REPORT_FIELD_KEY, REPORT_SRCLINE };
	struct report_columns sort = {};

	if (o->fields.count || report_has_key(o, REPORT_SRCLINE) ||
	    !report_has_key(o, REPORT_SYMBOL))
		return;
	for (size_t i = 0; i < o->columns.count; i++) {
		struct report_column c = o->columns.list[i];

		if (c.field != REPORT_FIELD_KEY)
			continue;
		if (c.key == REPORT_SYMBOL)
			sort.list[sort.count++] = lines;
		sort.list[sort.count++] = c;
	}
	o->sort = sort;
}

/* By Python line, or by function, as the command line had it else. */
static void toggle_lines(struct report_view *r, struct report_options *o)
{
	const struct report_options *given = r->ui->input->options;
	bool lines = o->callgraph.key == CHAIN_KEY_SRCLINE;

	if (lines) {
		o->callgraph.key = given->callgraph.key == CHAIN_KEY_SRCLINE
					   ? CHAIN_KEY_FUNCTION
					   : given->callgraph.key;
		o->sort = given->sort;
		return;
	}
	o->callgraph.key = CHAIN_KEY_SRCLINE;
	add_lines(o);
}

static struct error *change(struct report_view *r, uint32_t key)
{
	struct entries *e = entries_of(r);
	struct report_options *o = &e->options;
	bool chains = r->profile->events.data[e->event].has_callchain;

	if (key == 'l') {
		toggle_lines(r, o);
	} else if (!chains || o->callgraph.type == CALLGRAPH_NONE) {
		ui_say(r->ui, "there are no callchains");
		return NULL;
	} else if (key == 'g') {
		o->callgraph.order = report_caller_order(o) ? CALLGRAPH_CALLEE
							    : CALLGRAPH_CALLER;
		ui_say(r->ui, "callchains from the %s",
		       report_caller_order(o) ? "outermost caller down"
					      : "function up to its callers");
	} else {
		o->children = !o->children;
		ui_say(r->ui, o->children ? "with callees"
					  : "each function by itself");
	}
	return entries_rebuild(e, true);
}

static struct error *toggle_whole(struct report_view *r)
{
	struct entries *e = entries_of(r);

	e->whole = !e->whole;
	ui_say(r->ui, e->whole ? "percentages of everything"
			       : "percentages of the zoom");
	return entries_rebuild(e, false);
}

static struct error *limit_percent(struct report_view *r)
{
	struct entries *e = entries_of(r);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	bool accepted;
	char *end;
	double value;
	struct error *error = view_prompt(r->ui, &r->view, "Percent, at least",
					  &text, NULL, NULL, &accepted);

	if (error || !accepted)
		return error;
	value = strtod(text.data, &end);
	if (end == text.data || *end || !(value >= 0 && value <= 100)) {
		ui_say(r->ui, "'%s' is not a percentage", text.data);
		return NULL;
	}
	e->options.percent_limit = e->options.callgraph.threshold = value;
	return entries_rebuild(e, false);
}

/* --- Opening ------------------------------------------------------------ */

static struct error *open_all(struct report_view *r, uint32_t node)
{
	struct browser *b = r->view.browser;
	bool complete;
	struct error *error = browser_open_all(b, node, &complete);

	if (!error && !complete)
		ui_say(r->ui, "there is no room for more rows; some entries stay closed");
	return error;
}

/* All below the entry: open, or closed if it is open. */
static struct error *toggle_entry(struct report_view *r)
{
	struct browser *b = r->view.browser;
	uint32_t node = browser_root(b, browser_selected(b));

	if (node == BROWSER_NONE)
		return NULL;
	if (b->nodes.data[node].is_open)
		return browser_close_all(b, node);
	return open_all(r, node);
}

static struct error *go_left(struct report_view *r, bool *leave)
{
	return browser_leave(r->view.browser) ?
		       NULL :
		       view_step_back(r->ui, &r->view, leave);
}

static struct error *toggle_row(struct report_view *r)
{
	struct browser *b = r->view.browser;
	uint32_t node = browser_selected(b);

	if (node != BROWSER_NONE && !b->nodes.data[node].can_open)
		ui_say(r->ui, "nothing is below this row; press a to annotate it");
	return browser_toggle(b);
}

static struct error *annotate(struct report_view *r)
{
	struct entries *e = entries_of(r);
	uint32_t node = browser_selected(&e->made.browser);

	if (node != BROWSER_NONE &&
	    e->made.browser.nodes.data[node].kind == ENTRIES_ENTRY &&
	    !entries_are_functions(e)) {
		ui_say(r->ui, "this row is not a function (see --sort)");
		return NULL;
	}
	return annotate_view(r->ui, e, entries_selected_frame(e));
}

/* --- Information -------------------------------------------------------- */

static struct error *show_details(struct report_view *r)
{
	const struct entries *e = entries_of(r);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error;

	if (browser_selected(&e->made.browser) == BROWSER_NONE)
		return NULL;
	row_details(e, &text);
	error = strbuf_error(&text);
	return error ? error
		     : view_text(r->ui, "Details of the row", text.data, NULL);
}

/* --- Printing ----------------------------------------------------------- */

/* A new file, never one that is there. */
static struct error *create_print(char *name, size_t size, FILE **ret)
{
	for (int i = 0; i < PRINTS_MAX; i++) {
		int fd;

		snprintf(name, size, "kaa.hist.%d", i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return output_error(errno, name);
		*ret = fdopen(fd, "w");
		if (*ret)
			return NULL;
		close(fd);
		return error_no_memory();
	}
	return error_create(ERROR_LIMIT, "there are already %d files kaa.hist.N",
			    PRINTS_MAX);
}

static void print_row(const struct line *line, FILE *out)
{
	size_t n = line->text.len;

	while (n && line->text.data[n - 1] == ' ')
		n--;
	fwrite(line->text.data, 1, n, out);
	fputc('\n', out);
}

static void print_rows(struct report_view *r, FILE *out)
{
	struct browser *b = r->view.browser;
	struct line *line = &r->view.line;

	line_clear(line);
	entries_title(entries_of(r), &line->text);
	fputs("# ", out);
	print_row(line, out);
	head(r, line);
	fputs("#\n#", out);
	print_row(line, out);
	fputs("#\n", out);
	for (size_t i = 0; i < b->rows.count; i++) {
		if (!watch_goes_on(&r->ui->watch, "writing", i, b->rows.count))
			return;
		row(r, b->rows.data[i], line);
		print_row(line, out);
	}
	if (r->notes.len)
		fprintf(out, "\n%s", r->notes.data);
}

static struct error *print(struct report_view *r)
{
	char name[32];
	FILE *out = NULL;
	struct error *error = create_print(name, sizeof(name), &out);
	bool failed;

	if (error) {
		ui_say_error(r->ui, error);
		return NULL;
	}
	print_rows(r, out);
	failed = ferror(out);
	failed |= fclose(out) != 0;
	/* Half a report is none. */
	if (failed || r->ui->watch.stopped)
		unlink(name);
	error = watch_error(&r->ui->watch);
	if (error)
		return error;
	if (failed)
		ui_say(r->ui, "cannot write '%s': %s", name, strerror(errno));
	else
		ui_say(r->ui, "wrote %zu row%s to '%s'",
		       r->view.browser->rows.count,
		       plural(r->view.browser->rows.count), name);
	return NULL;
}

/* --- Keys --------------------------------------------------------------- */

static struct error *zoom_key(struct report_view *r, uint32_t pressed,
			      bool *leave)
{
	switch (pressed) {
	case 't':
		return zoom_task(r, ZOOM_THREAD);
	case 'p':
		return zoom_task(r, ZOOM_PROCESS);
	case 'c':
		return zoom_task(r, ZOOM_COMM);
	case 'd':
		return zoom_dso(r);
	case 'k':
		return zoom_kernel(r);
	case '/':
		return zoom_symbol(r);
	case TUI_KEY_ESCAPE:
		return view_step_back(r->ui, &r->view, leave);
	case 'F':
		return toggle_whole(r);
	}
	return NULL;
}

static struct error *key(void *arg, uint32_t pressed, bool *leave)
{
	struct report_view *r = arg;

	switch (pressed) {
	case TUI_KEY_ENTER:
	case 'm':
		return report_menu(r->ui, &r->view, entries_of(r),
				   r->events.count > 1);
	case '+':
		return toggle_row(r);
	case TUI_KEY_RIGHT:
		return browser_open(r->view.browser);
	case TUI_KEY_LEFT:
		return go_left(r, leave);
	case 'e':
		return toggle_entry(r);
	case 'E':
		return open_all(r, BROWSER_NONE);
	case 'C':
		return browser_close_all(r->view.browser, BROWSER_NONE);
	case 'a':
		return annotate(r);
	case 'l':
	case 'g':
	case 'o':
		return change(r, pressed);
	case TUI_KEY_TAB:
	case TUI_KEY_BACK_TAB:
		return next_event(r, pressed == TUI_KEY_TAB);
	case 'L':
		return limit_percent(r);
	case 'i':
		return information_view(r->ui, &r->notes);
	case 'D':
		return show_details(r);
	case 'H':
		r->view.hides_head = !r->view.hides_head;
		return NULL;
	case 'V':
		entries_of(r)->verbose = !entries_of(r)->verbose;
		return NULL;
	case 'P':
		return print(r);
	case 'v':
	case 'x':
		return open_answer(r, leave);
	}
	return zoom_key(r, pressed, leave);
}

static struct error *list_events(struct report_view *r)
{
	for (size_t i = 0; i < r->profile->events.count; i++)
		if (r->profile->events.data[i].samples &&
		    (!vec_push(&r->events, (uint32_t)i) ||
		     !vec_push(&r->entries, NULL) ||
		     !vec_push(&r->answers, NULL)))
			return error_no_memory();
	if (!r->events.count)
		return error_create(ERROR_NOT_FOUND,
				    "'%s' has no samples to show",
				    r->ui->input->path);
	return NULL;
}

/* Lines on the first screen may have another text. Until the next key: notes have it, too. */
static void tell_sources(struct report_view *r, const struct own_rows *rows)
{
	_cleanup_strbuf_ struct strbuf changed = STRBUF_INIT;

	own_rows_read_sources(rows);
	sources_tell(&r->sources, &r->notes);
	sources_put_changed(&r->sources, &changed);
	if (changed.len)
		ui_say(r->ui, "%s (i: notes)  h: keys", changed.data);
}

/* With the answer, if the user wants that of an event; or the table. */
static struct error *open_first(struct report_view *r)
{
	uint32_t event = r->ui->input->answer_event;

	struct error *error;
	size_t i = 0;

	while (i < r->events.count && r->events.data[i] != event)
		i++;
	if (i == r->events.count)
		return show_event(r, 0);
	r->shows_answer = true;
	error = make_answer(r, i);
	if (!error && r->ui->input->by_total)
		error = own_rows_show(r->answers.data[i],
				      r->answers.data[i]->view,
				      r->answers.data[i]->with_native, true);
	if (error)
		return error;
	answer_notes(r->profile, r->events.data[i],
		     r->answers.data[i]->made.own, &r->notes);
	tell_sources(r, r->answers.data[i]);
	return NULL;
}

static struct error *run(struct report_view *r)
{
	struct error *error = open_first(r);

	while (!error && !r->ui->quit)
		error = r->shows_answer ? run_answer(r) :
					  view_run(r->ui, &r->view);
	return error;
}

static void deinit(struct report_view *r)
{
	vec_for_each(entries, &r->entries)
		entries_destroy(*entries);
	vec_for_each(rows, &r->answers)
		own_rows_destroy(*rows);
	vec_deinit(&r->entries);
	vec_deinit(&r->answers);
	vec_deinit(&r->events);
	sources_deinit(&r->sources);
	strbuf_deinit(&r->notes);
	view_deinit(&r->view);
}

struct error *report_view(struct ui *ui)
{
	struct report_view r = { .ui = ui,
				 .profile = ui->input->profile,
				 .notes = STRBUF_INIT };
	struct error *error = list_events(&r);

	r.view = (struct view){
		.arg = &r,
		.hint = r.events.count > 1 ?
				"h: keys  Tab: event  Enter: menu  +: open  a: annotate  x: own time" :
				"h: keys  Enter: menu  +: open  a: annotate  l: lines  x: own time",
		.help = keys,
		.opens_all = true,
		.title = title,
		.head = head,
		.status = status,
		.fit = fit,
		.row = row,
		.key = key,
		.back = step_back,
		.line = LINE_INIT,
		.bar = STRBUF_INIT,
	};
	init_answer(&r);
	if (!error)
		error = information_notes(ui->input, &r.notes);
	if (!error)
		error = run(&r);
	deinit(&r);
	return error;
}
