// SPDX-License-Identifier: GPL-2.0-only
#include "tui/menu.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/printable.h"

enum {
	/* Columns of a key's name, and between it and the text. */
	NAME_WIDTH = 5,
	/* "│ " and " │". */
	BORDER_WIDTH = 2,
};

/* A menu that is seen. */
struct shown_menu {
	const struct menu *menu;
	struct browser browser;
	struct strbuf line;
	/* The inside of the box. */
	size_t row;
	size_t column;
	size_t height;
	size_t width;
	bool has_border;
};

void menu_deinit(struct menu *menu)
{
	vec_for_each(item, &menu->items)
		free(item->text);
	vec_deinit(&menu->items);
}

void menu_add(struct menu *menu, uint32_t key, const char *name,
	      const char *format, ...)
{
	struct menu_item item = { .key = key, .name = name };
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&item.text, format, args);
	va_end(args);
	if (n >= 0 && vec_push(&menu->items, item))
		return;
	if (n >= 0)
		free(item.text);
	menu->failed = true;
}

static void put_item(struct shown_menu *m, const struct menu_item *item)
{
	strbuf_clear(&m->line);
	line_align(&m->line, item->name, strlen(item->name), NAME_WIDTH, false);
	strbuf_puts(&m->line, item->text);
}

static size_t widest(struct shown_menu *m)
{
	size_t most = 0;

	vec_for_each(item, &m->menu->items) {
		size_t width;

		put_item(m, item);
		width = printable_width(m->line.data, m->line.len);
		if (width > most)
			most = width;
	}
	return most;
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* In the middle of the screen, with a border where there is room for one. */
static void lay_out(struct shown_menu *m)
{
	size_t rows, columns, border;

	screen_size(&rows, &columns);
	m->has_border = rows >= 6 && columns >= 20;
	border = m->has_border ? BORDER_WIDTH : 0;
	m->width = min_size(widest(m), columns - 2 * border);
	m->height = min_size(m->menu->items.count,
			     rows - (m->has_border ? 2 : 0));
	m->row = (rows - m->height) / 2;
	m->column = (columns - m->width) / 2;
	browser_resize(&m->browser, m->height);
}

static void draw(struct ui *ui, struct view *view, struct shown_menu *m)
{
	size_t border;

	view_draw(ui, view);
	lay_out(m);
	border = m->has_border ? BORDER_WIDTH : 0;
	if (m->has_border)
		screen_box(m->row - 1, m->column - border, m->height + 2,
			   m->width + 2 * border);
	for (size_t i = 0; i < m->height; i++) {
		size_t item = m->browser.top + i, used;
		enum tui_style style = item == m->browser.selected
					       ? TUI_SELECTED
					       : TUI_PLAIN;

		put_item(m, &m->menu->items.data[item]);
		used = screen_text(m->row + i, m->column, m->width, style,
				   m->line.data, m->line.len, 0);
		screen_fill(m->row + i, m->column + used, m->width - used,
			    style);
	}
	screen_show();
}

static bool press(struct ui *ui, const struct menu *menu, uint32_t key)
{
	vec_for_each(item, &menu->items)
		if (item->key == key) {
			view_press(ui, key);
			return true;
		}
	return false;
}

/* False: the menu is done with. */
static bool handle(struct ui *ui, struct shown_menu *m, uint32_t key)
{
	switch (key) {
	case TUI_KEY_ENDED:
		ui->quit = true;
		return false;
	case TUI_KEY_ESCAPE:
	case TUI_KEY_LEFT:
	case 'q':
		return false;
	case TUI_KEY_ENTER:
	case TUI_KEY_RIGHT:
		view_press(ui, m->menu->items.data[m->browser.selected].key);
		return false;
	}
	return view_move(&m->browser, key) || !press(ui, m->menu, key);
}

static struct error *list_items(struct shown_menu *m)
{
	struct error *error = NULL;

	for (size_t i = 0; i < m->menu->items.count && !error; i++)
		error = browser_add(&m->browser, BROWSER_NONE, 0, (uint32_t)i,
				    false);
	return error ? error : browser_show(&m->browser);
}

struct error *menu_run(struct ui *ui, struct view *view,
		       const struct menu *menu)
{
	const struct browser_source source = {};
	struct shown_menu m = { .menu = menu, .line = STRBUF_INIT };
	struct error *error;

	if (menu->failed)
		return error_no_memory();
	browser_init(&m.browser, &source);
	error = list_items(&m);
	if (!error)
		ui_say(ui, "Enter, or the key: do it  Esc: back");
	if (!error)
		do
			draw(ui, view, &m);
		while (handle(ui, &m, screen_key()));
	strbuf_clear(&ui->message);
	browser_deinit(&m.browser);
	strbuf_deinit(&m.line);
	return error;
}
