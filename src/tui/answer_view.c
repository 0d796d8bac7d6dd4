// SPDX-License-Identifier: GPL-2.0-only
#include "tui/answer_view.h"

#include <string.h>

#include "explore/own_selected.h"
#include "explore/own_text.h"
#include "explore/own_title.h"
#include "tui/annotate_view.h"
#include "tui/information.h"
#include "tui/menu.h"
#include "tui/zoom_list.h"
#include "view/printable.h"
#include "view/spent_text.h"
#include "view/text.h"

struct answer_view {
	struct ui *ui;
	struct own_rows *rows;
	const struct answer_input *input;
	struct view view;
};

/* Of which screens a line of the help is. */
enum whose {
	ALL,
	RECORDED,
	/* Of a program that runs. */
	LIVE,
};

struct help_line {
	enum whose whose;
	/* No line is wider than a narrow terminal, of 60 columns. */
	const char *text;
};

static const struct help_line help_lines[] = {
	{ ALL, "Own time is that of a Python function, or line, with all" },
	{ ALL, "native code, kernel and interpreter below it; total has" },
	{ ALL, "the Python functions that it calls, too." },
	{ ALL, "" },
	{ ALL, "q  Esc      go one step back: out of a view, a zoom" },
	{ ALL, "q           on the first screen: quit; Ctrl-C: at once" },
	{ ALL, "" },
	{ ALL, "Up, Down, Page Up, Page Down, Space, Home, End   move" },
	{ ALL, "<  >        scroll sideways" },
	{ ALL, "Enter       the source of the row, with own and total of" },
	{ ALL, "            each line; all rows; the thread" },
	{ RECORDED, "a           annotate: the source, or the instructions" },
	{ ALL, "w           who calls the function" },
	{ ALL, "m           show a menu for the row" },
	{ ALL, "+  Right    open the row: what its own time was spent in," },
	{ ALL, "            the functions of a file" },
	{ ALL, "Left        close it, go to the row above, go back" },
	{ ALL, "" },
	{ ALL, "1           everything on one screen" },
	{ ALL, "2 3 4 5     own time by function, line, file, thread" },
	{ RECORDED, "            (with --async total time by task)" },
	{ RECORDED, "v           Python only; with native code; the table of" },
	{ RECORDED, "            all functions, as perf has it" },
	{ RECORDED, "x           the table, and back" },
	{ LIVE, "v           with native code, Python only" },
	{ LIVE, "W           the last seconds; the last minute; all" },
	{ LIVE, "P           pause, go on" },
	{ ALL, "o           order by total, by own time" },
	{ ALL, "l           time in libraries: for your own functions that" },
	{ ALL, "            call them; or for theirs" },
	{ ALL, "" },
	{ ALL, "s           search the rows as you type" },
	{ ALL, "n  N        go to the next match, the previous match" },
	{ ALL, "" },
	{ ALL, "z           zoom into the row's function, or out" },
	{ ALL, "t  p  c     zoom into a thread, process, command; or out" },
	{ ALL, "d  k        zoom into the row's file, the kernel; or out" },
	{ ALL, "/           zoom into functions by name, file.py or" },
	{ ALL, "            file.py:37; empty: out" },
	{ ALL, "Esc         stop long work" },
	{ ALL, "F           show percentages of the zoom or everything" },
	{ ALL, "" },
	{ ALL, "Tab, Shift-Tab   show the next event, the previous event" },
	{ RECORDED, "i           show how it was recorded, and what it lacks" },
	{ LIVE, "i           show what is wrong with the samples" },
	{ ALL, "D           show the names of the row in full, its weights" },
	{ ALL, "H           show the line above the rows, or one more row" },
	{ ALL, "h  ?  F1    show these keys" },
};

static void put_help(bool is_live, struct strbuf *out)
{
	enum whose other = is_live ? RECORDED : LIVE;

	for (size_t i = 0; i < sizeof(help_lines) / sizeof(*help_lines); i++)
		if (help_lines[i].whose != other)
			strbuf_printf(out, "%s\n", help_lines[i].text);
}

/* --- Drawing ------------------------------------------------------------ */

static size_t columns_of(const struct answer_view *a)
{
	size_t lines, columns;

	screen_size(&lines, &columns);
	return columns + a->view.shift;
}

static void title(void *arg, struct strbuf *out)
{
	static const char notes[] = "  (i: notes)";
	const struct answer_view *a = arg;
	bool has_notes = a->input->notes->len;
	size_t lines, columns;

	screen_size(&lines, &columns);
	/* Where a view says which row it is at. */
	columns -= columns > 40 && !a->view.hides_position ? 12 : 0;
	columns -= columns > 40 && has_notes ? sizeof(notes) - 1 : 0;
	if (a->input->live) {
		a->input->live->title(a->input->live->arg, out);
		columns -= columns > out->len ? out->len : 0;
	}
	own_title_put(a->rows, columns, !a->input->live, out);
	if (has_notes)
		strbuf_puts(out, notes);
}

static void head(void *arg, struct line *line)
{
	struct answer_view *a = arg;

	own_text_head(a->rows, columns_of(a), line);
}

static void row(void *arg, uint32_t node, struct line *line)
{
	struct answer_view *a = arg;

	own_text_row(a->rows, node, columns_of(a), line);
}

/* Where q quits. */
static bool is_first_screen(const struct answer_view *a)
{
	return a->rows->view == OWN_OVERVIEW && !a->input->from_table &&
	       a->rows->zooms.count <= a->input->zooms_before;
}

/* The row's names, where the row has not all of them; or the hint. */
static void status(void *arg, size_t columns, struct strbuf *out)
{
	static const char keys_hint[] = "  h: keys";
	struct answer_view *a = arg;
	/* Names give way to what tells how to get on, but in a very narrow window. */
	size_t hint = columns > 4 * strlen(keys_hint) ? strlen(keys_hint) : 0;
	size_t used;

	if (a->rows->browser.rows.count)
		own_text_cut(a->rows, browser_selected(&a->rows->browser),
			     columns_of(a), columns - hint, out);
	if (!out->len) {
		view_put_hint(&a->view, is_first_screen(a), out);
		return;
	}
	used = printable_width(out->data, out->len) + strlen(keys_hint);
	if (used > columns)
		return;
	strbuf_fill(out, ' ', columns - used);
	strbuf_puts(out, keys_hint);
}

static struct error *fit(void *arg, size_t height)
{
	struct answer_view *a = arg;

	a->view.hides_position = a->rows->view == OWN_OVERVIEW;
	return own_rows_resize(a->rows, height);
}

/* --- Views -------------------------------------------------------------- */

static struct error *show(struct answer_view *a, enum own_view view)
{
	a->view.shift = 0;
	return own_rows_show(a->rows, view, a->rows->with_native,
			     a->rows->by_total);
}

static struct error *wish(struct answer_view *a, enum answer_wish what,
			  bool *leave)
{
	return a->input->wish(a->input->arg, what, NULL, leave);
}

/* Python only, with native code, all. */
static struct error *next_depth(struct answer_view *a, bool *leave)
{
	struct own_rows *rows = a->rows;
	struct error *error;

	const struct profile_event *event =
		&rows->profile->events.data[rows->event];

	if (!rows->with_native && event->python_only) {
		ui_say(a->ui,
		       event->is_imported ?
			       "there is no native code in what was imported" :
			       "recorded without native code, which 'kaa record --native' adds");
		return NULL;
	}
	if (!rows->with_native) {
		ui_say(a->ui, a->input->live ?
				      "with native code" :
				      "with native code: v for the table of all functions");
		return own_rows_show(rows,
				     rows->view == OWN_OVERVIEW ? OWN_OVERVIEW :
								  OWN_FUNCTIONS,
				     true, rows->by_total);
	}
	error = own_rows_show(rows, rows->view, false, rows->by_total);
	return error || a->input->live ? error :
					 wish(a, ANSWER_TABLE, leave);
}

static struct error *change_order(struct answer_view *a)
{
	struct own_rows *rows = a->rows;

	ui_say(a->ui, rows->by_total ? "ordered by own time" :
				       "ordered by total");
	return own_rows_show(rows, rows->view, rows->with_native,
			     !rows->by_total);
}

static struct error *change_libraries(struct answer_view *a)
{
	bool without = !a->rows->without_libraries;
	struct error *error = own_rows_count_libraries(a->rows, without);

	if (!error)
		ui_say(a->ui, without ? "libraries count for your functions that call them" :
					"libraries count for their own functions");
	return error;
}

/* --- Zooms -------------------------------------------------------------- */

static struct error *zoom_into(struct answer_view *a, const struct zoom *zoom)
{
	a->view.shift = 0;
	return own_rows_zoom(a->rows, zoom);
}

static struct error *zoom_task(struct answer_view *a, enum zoom_kind kind)
{
	struct own_rows *rows = a->rows;
	struct zoom zoom;
	bool left, chosen = true;
	struct error *error = own_rows_unzoom(rows, kind, &left);

	if (error || left)
		return error;
	if (kind != ZOOM_THREAD || !own_selected_thread(rows, &zoom))
		error = zoom_list(a->ui, rows->event, rows->made.keep, kind,
				  &zoom, &chosen);
	return error || !chosen ? error : zoom_into(a, &zoom);
}

/* Out of what has the kind, or into what the row has. */
static struct error *zoom_row(struct answer_view *a, bool is_known,
			      const struct zoom *zoom, const char *what)
{
	if (is_known)
		return zoom_into(a, zoom);
	ui_say(a->ui, "this row has no %s", what);
	return NULL;
}

static struct error *zoom_function(struct answer_view *a)
{
	struct zoom zoom;
	bool left;
	struct error *error = own_rows_unzoom(a->rows, ZOOM_FUNCTION, &left);

	if (error || left)
		return error;
	return zoom_row(a, own_selected_function(a->rows, &zoom), &zoom,
			"Python function");
}

static struct error *zoom_file(struct answer_view *a)
{
	enum zoom_kind kind = zooms_has(&a->rows->zooms, ZOOM_SOURCE) ?
				      ZOOM_SOURCE :
				      ZOOM_DSO;
	struct zoom zoom;
	bool left;
	struct error *error = own_rows_unzoom(a->rows, kind, &left);

	if (error || left)
		return error;
	return zoom_row(a, own_selected_file(a->rows, &zoom), &zoom,
			"file");
}

static struct error *zoom_kernel(struct answer_view *a)
{
	const struct zoom zoom = { .kind = ZOOM_KERNEL };
	bool left;
	struct error *error = own_rows_unzoom(a->rows, ZOOM_KERNEL, &left);

	return error || left ? error : zoom_into(a, &zoom);
}

static struct error *zoom_symbol(struct answer_view *a)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct zoom zoom;
	bool accepted, left;
	char *name;
	struct error *error = view_prompt(a->ui, &a->view,
					  "Only functions whose name contains (empty: all)", &text,
					  NULL, NULL, &accepted);

	if (error || !accepted)
		return error;
	if (!text.len)
		return own_rows_unzoom(a->rows, ZOOM_SYMBOL, &left);
	name = strbuf_take(&text);
	if (!name)
		return error_no_memory();
	error = zoom_by_symbol(a->rows->profile, name, &zoom);
	return error ? error : zoom_into(a, &zoom);
}

static struct error *step_back(void *arg, bool *leave, bool *is_first)
{
	struct answer_view *a = arg;
	bool left;

	*is_first = is_first_screen(a);
	if (*is_first)
		return NULL;
	if (a->rows->view == OWN_CALLERS)
		return own_rows_leave_callers(a->rows);
	if (a->rows->zooms.count > a->input->zooms_before)
		return own_rows_leave(a->rows, &left);
	if (a->rows->view != OWN_OVERVIEW)
		return show(a, OWN_OVERVIEW);
	return wish(a, ANSWER_TABLE, leave);
}

static struct error *go_back(struct answer_view *a, bool *leave)
{
	return view_step_back(a->ui, &a->view, leave);
}

/* --- The row ------------------------------------------------------------ */

static struct error *show_code(struct answer_view *a,
			       const struct own_code *code, bool *leave)
{
	if (code->subject == PROFILE_NONE) {
		ui_say(a->ui, "this row has no code of its own");
		return NULL;
	}
	return a->input->wish(a->input->arg, ANSWER_CODE,
			      profile_frame(a->rows->profile, code->subject),
			      leave);
}

static struct error *refresh(struct answer_view *a);

/* As long as the user looks at it, with what the lines weigh by then. */
static struct error *annotate_live(struct answer_view *a)
{
	const struct own_entry *entry = own_selected_entry(a->rows);
	uint32_t line = own_selected_line(a->rows), file;
	struct annotate_stay stay = {};
	struct error *error;

	if (!entry || !entry->is_python || entry->file == PROFILE_NONE) {
		ui_say(a->ui, "this row has no Python source");
		return NULL;
	}
	file = entry->file;
	do {
		error = annotate_file(a->ui, a->rows, file, line, &stay);
		if (!error && stay.is_due)
			error = refresh(a);
	} while (!error && stay.is_due);
	return error;
}

static struct error *annotate(struct answer_view *a, bool *leave)
{
	const struct own_code *code = own_selected_code(a->rows);
	const struct browser_node *node = own_selected_node(a->rows);

	if (!node)
		return NULL;
	if (code && spent_has_subject(code->kind))
		return show_code(a, code, leave);
	return a->input->live ? annotate_live(a) :
				annotate_source(a->ui, a->rows);
}

static struct error *enter(struct answer_view *a, bool *leave)
{
	const struct browser_node *node = own_selected_node(a->rows);
	struct error *error = NULL;
	struct zoom zoom;

	if (!node)
		return NULL;
	if (node->kind == OWN_HEADING || node->kind == OWN_REST)
		return show(a, (enum own_view)node->ref);
	if (!own_selected_thread(a->rows, &zoom))
		return annotate(a, leave);
	if (!zooms_has(&a->rows->zooms, zoom.kind))
		error = zoom_into(a, &zoom);
	return error ? error : show(a, OWN_OVERVIEW);
}

static struct error *show_callers(struct answer_view *a)
{
	struct zoom zoom;

	if (!own_selected_function(a->rows, &zoom)) {
		ui_say(a->ui, "this row has no Python function");
		return NULL;
	}
	a->view.shift = 0;
	return own_rows_show_callers(a->rows, &zoom);
}

static struct error *open_row(struct answer_view *a)
{
	const struct browser_node *node = own_selected_node(a->rows);

	if (node && !node->can_open)
		ui_say(a->ui, "nothing is below this row; Enter shows its source");
	return browser_toggle(&a->rows->browser);
}

static struct error *go_left(struct answer_view *a, bool *leave)
{
	return browser_leave(&a->rows->browser) ? NULL : go_back(a, leave);
}

/* Its names in full. */
static struct error *show_details(struct answer_view *a)
{
	const struct browser_node *node = own_selected_node(a->rows);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error;

	if (!node || node->kind == OWN_HEADING || node->kind == OWN_REST)
		return NULL;
	own_text_details(a->rows, node, &text);
	error = strbuf_error(&text);
	return error ? error :
		       view_text(a->ui, "Details of the row", text.data, NULL);
}

/* --- The menu ----------------------------------------------------------- */

static void add_row_items(struct menu *menu, const struct own_rows *rows)
{
	const struct browser_node *node = own_selected_node(rows);
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct zoom zoom;

	if (own_selected_entry(rows))
		menu_add(menu, 'a', "a", "Show the source");
	if (own_selected_function(rows, &zoom)) {
		zoom_format(&zoom, rows->profile, &name);
		menu_add(menu, 'w', "w", "Who calls %s", name.data);
		menu_add(menu, 'z', "z", "Zoom into %s", name.data);
	}
	if (node && node->kind > OWN_REST)
		menu_add(menu, 'D', "D", "Details: names in full, weights");
	if (node && node->can_open)
		menu_add(menu, '+', "+",
			 node->is_open ? "Close the row" : "Open the row");
}

static void add_zoom_items(struct menu *menu, const struct own_rows *rows)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct zoom zoom;

	if (own_selected_file(rows, &zoom)) {
		zoom_format(&zoom, rows->profile, &name);
		menu_add(menu, 'd', "d", "Zoom into %s", name.data);
	}
	menu_add(menu, 't', "t", "Zoom into a thread, or out");
	menu_add(menu, '/', "/", "Zoom into functions by name");
	if (rows->zooms.count)
		menu_add(menu, TUI_KEY_ESCAPE, "Esc", "Leave the last zoom");
}

static struct error *show_menu(struct answer_view *a)
{
	_cleanup_menu_ struct menu menu = {};

	add_row_items(&menu, a->rows);
	add_zoom_items(&menu, a->rows);
	menu_add(&menu, 'v', "v",
		 !a->rows->with_native ? "With native code" :
		 a->input->live	       ? "Python only" :
					 "All functions, as perf has them");
	menu_add(&menu, 'l', "l", a->rows->without_libraries ?
					  "Functions of libraries, too" :
					  "Own functions alone, with the libraries they call");
	if (a->input->has_events)
		menu_add(&menu, TUI_KEY_TAB, "Tab", "The next event");
	menu_add(&menu, 'i', "i", "How it was recorded");
	menu_add(&menu, 'h', "h", "All keys");
	menu_add(&menu, 'q', "q", "Go back, or exit");
	return menu_run(a->ui, &a->view, &menu);
}

/* --- Keys --------------------------------------------------------------- */

static struct error *zoom_key(struct answer_view *a, uint32_t pressed,
			      bool *leave)
{
	switch (pressed) {
	case 't':
		return zoom_task(a, ZOOM_THREAD);
	case 'p':
		return zoom_task(a, ZOOM_PROCESS);
	case 'c':
		return zoom_task(a, ZOOM_COMM);
	case 'z':
		return zoom_function(a);
	case 'd':
		return zoom_file(a);
	case 'k':
		return zoom_kernel(a);
	case '/':
		return zoom_symbol(a);
	case TUI_KEY_ESCAPE:
		return go_back(a, leave);
	case 'F':
		a->rows->whole = !a->rows->whole;
		ui_say(a->ui, a->rows->whole ? "percentages of everything" :
					       "percentages of the zoom");
		return NULL;
	}
	return NULL;
}

static struct error *view_key(struct answer_view *a, uint32_t pressed,
			      bool *leave)
{
	switch (pressed) {
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
		return show(a, OWN_OVERVIEW + (enum own_view)(pressed - '1'));
	case 'v':
		return next_depth(a, leave);
	case 'x':
		return wish(a, ANSWER_TABLE, leave);
	case 'o':
		return change_order(a);
	case 'l':
		return change_libraries(a);
	case TUI_KEY_TAB:
		return wish(a, ANSWER_NEXT_EVENT, leave);
	case TUI_KEY_BACK_TAB:
		return wish(a, ANSWER_PREVIOUS_EVENT, leave);
	case 'i':
		return information_view(a->ui, a->input->notes);
	case 'D':
		return show_details(a);
	case 'H':
		a->view.hides_head = !a->view.hides_head;
		return NULL;
	}
	if (!a->input->live && pressed < 0x80 && strchr("eECglLPV", (int)pressed) && pressed)
		ui_say(a->ui, "'%c' is a key of the table, which x shows",
		       (char)pressed);
	return zoom_key(a, pressed, leave);
}

static struct error *row_key(struct answer_view *a, uint32_t pressed,
			     bool *leave)
{
	switch (pressed) {
	case TUI_KEY_ENTER:
		return enter(a, leave);
	case 'a':
		return annotate(a, leave);
	case 'w':
		return show_callers(a);
	case 'm':
		return show_menu(a);
	case '+':
		return open_row(a);
	case TUI_KEY_RIGHT:
		return browser_open(&a->rows->browser);
	case TUI_KEY_LEFT:
		return go_left(a, leave);
	}
	return view_key(a, pressed, leave);
}

/* --- Of a program that runs --------------------------------------------- */

static void set_rows(struct answer_view *a, struct own_rows *rows)
{
	a->rows = rows;
	a->view.browser = &rows->browser;
	a->view.hint = a->input->live->hint(a->input->live->arg);
}

static struct error *refresh(struct answer_view *a)
{
	struct own_rows *rows = a->rows;
	struct error *error =
		a->input->live->refresh(a->input->live->arg, &rows);

	set_rows(a, rows);
	return error;
}

static struct error *tick(void *arg, bool *leave)
{
	(void)leave;
	return refresh(arg);
}

static struct error *live_key(struct answer_view *a, uint32_t pressed,
			      bool *taken)
{
	struct own_rows *rows = a->rows;
	struct error *error = a->input->live->key(a->input->live->arg, pressed,
						  &rows, taken);

	set_rows(a, rows);
	return error;
}

static struct error *key(void *arg, uint32_t pressed, bool *leave)
{
	struct answer_view *a = arg;
	bool taken = false;
	struct error *error = NULL;

	if (a->input->live)
		error = live_key(a, pressed, &taken);
	return error || taken ? error : row_key(a, pressed, leave);
}

struct error *answer_view(struct ui *ui, struct own_rows *rows,
			  const struct answer_input *input)
{
	struct answer_view a = { .ui = ui, .rows = rows, .input = input };
	_cleanup_strbuf_ struct strbuf help = STRBUF_INIT;
	struct error *error;

	put_help(input->live, &help);
	a.view = (struct view){
		.browser = &rows->browser,
		.arg = &a,
		.hint = "h: keys  Enter: source  w: callers  1-5: views  v: native  x: table",
		.help = help.data,
		.status = status,
		.title = title,
		.head = head,
		.fit = fit,
		.row = row,
		.key = key,
		.back = step_back,
		.line = LINE_INIT,
		.bar = STRBUF_INIT,
	};
	if (input->live) {
		a.view.tick = tick;
		a.view.empty = "no samples in this time";
		set_rows(&a, rows);
	}
	error = strbuf_error(&help);
	if (!error)
		error = view_run(ui, &a.view);
	view_deinit(&a.view);
	return error;
}
