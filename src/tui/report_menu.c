// SPDX-License-Identifier: GPL-2.0-only
#include "tui/report_menu.h"

#include "explore/row_details.h"
#include "tui/menu.h"
#include "view/text.h"

/* Columns of a name in the menu. */
enum { NAME_WIDTH = 40 };

/* A name that is cut where it gets too long. */
static void put_name(struct strbuf *out, const char *name, size_t n)
{
	line_align(out, name, n, n > NAME_WIDTH ? NAME_WIDTH : 0, false);
}

static void put_string(struct strbuf *out, const struct entries *e,
		       uint32_t string, const char *none)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	text_string(&name, e->profile, string, none);
	put_name(out, name.data, name.len);
}

static void put_row_name(struct strbuf *out, const struct entries *e)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	row_name(e, &name);
	put_name(out, name.data, name.len);
}

/* What concerns the row's function. */
static void add_function(struct menu *menu, const struct entries *e,
			 const char *name)
{
	const struct profile_frame *frame = entries_selected_frame(e);
	uint32_t node = browser_selected(&e->made.browser);
	bool is_function = e->made.browser.nodes.data[node].kind != ENTRIES_ENTRY ||
			   entries_are_functions(e);

	if (is_function && frame && frame->symbol != PROFILE_NONE)
		menu_add(menu, 'a', "a", "Annotate %s", name);
}

/* Into what the row is of, or else into one that is asked for then. */
static void add_task_zoom(struct menu *menu, const struct entries *e,
			  uint32_t key, const char *name, enum zoom_kind kind,
			  const char *what)
{
	_cleanup_strbuf_ struct strbuf of_row = STRBUF_INIT;
	struct zoom zoom;

	if (zooms_has(&e->zooms, kind)) {
		menu_add(menu, key, name, "Zoom out of the %s", what);
	} else if (entries_selected_task(e, kind, &zoom)) {
		zoom_format(&zoom, e->profile, &of_row);
		menu_add(menu, key, name, "Zoom into %s", of_row.data);
	} else {
		menu_add(menu, key, name, "Zoom into a %s", what);
	}
}

static void add_dso_zoom(struct menu *menu, const struct entries *e)
{
	const struct profile_frame *frame = entries_selected_frame(e);
	const struct profile_dso *dso =
		frame ? profile_dso(e->profile, frame->dso) : NULL;
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	put_string(&name, e, dso ? dso->short_name : PROFILE_NONE, "[unknown]");
	if (zooms_has(&e->zooms, ZOOM_DSO))
		menu_add(menu, 'd', "d", "Zoom out of the file");
	else if (browser_selected(&e->made.browser) != BROWSER_NONE)
		menu_add(menu, 'd', "d", "Zoom into the file %s", name.data);
}

static void add_zooms(struct menu *menu, const struct entries *e)
{
	add_task_zoom(menu, e, 't', "t", ZOOM_THREAD, "thread");
	add_task_zoom(menu, e, 'p', "p", ZOOM_PROCESS, "process");
	add_task_zoom(menu, e, 'c', "c", ZOOM_COMM, "command");
	add_dso_zoom(menu, e);
	menu_add(menu, 'k', "k", zooms_has(&e->zooms, ZOOM_KERNEL)
					 ? "Zoom out of the kernel"
					 : "Zoom into the kernel");
	menu_add(menu, '/', "/", "Zoom into functions by name");
	if (e->zooms.count)
		menu_add(menu, TUI_KEY_ESCAPE, "Esc", "Leave the last zoom");
}

static void add_opening(struct menu *menu, const struct entries *e,
			const char *name)
{
	const struct browser *b = &e->made.browser;
	uint32_t id = browser_selected(b);
	uint32_t root = browser_root(b, id);

	if (b->nodes.data[id].can_open)
		menu_add(menu, '+', "+",
			 b->nodes.data[id].is_open ? "Collapse %s"
						   : "Expand %s (one level)",
			 name);
	if (b->nodes.data[root].can_open)
		menu_add(menu, 'e', "e",
			 b->nodes.data[root].is_open
				 ? "Collapse all below the entry"
				 : "Expand all below the entry");
}

static void fill(struct menu *menu, const struct entries *e, bool has_events)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	if (browser_selected(&e->made.browser) != BROWSER_NONE) {
		put_row_name(&name, e);
		add_function(menu, e, name.data);
		menu_add(menu, 'D', "D", "Details of %s", name.data);
		add_opening(menu, e, name.data);
	}
	add_zooms(menu, e);
	if (has_events)
		menu_add(menu, TUI_KEY_TAB, "Tab", "The next event");
	menu_add(menu, 'P', "P", "Write all rows to a file");
	menu_add(menu, 'i', "i", "How it was recorded");
	menu_add(menu, 'h', "h", "All keys");
	menu_add(menu, 'q', "q", "Go back, or exit");
}

struct error *report_menu(struct ui *ui, struct view *view,
			  const struct entries *entries, bool has_events)
{
	_cleanup_menu_ struct menu menu = {};

	fill(&menu, entries, has_events);
	return menu_run(ui, view, &menu);
}
