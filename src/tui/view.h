/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A browser on the screen: a title, rows, a line for messages; the keys that
 * all views have in common, and a prompt. What is special to a view is in its
 * callbacks.
 */
#ifndef KAA_TUI_VIEW_H
#define KAA_TUI_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/watch.h"
#include "explore/browser.h"
#include "explore/line.h"
#include "tui/screen.h"
#include "tui/tui.h"

/* What lives as long as the screen. */
struct ui {
	const struct tui_input *input;
	/* Shown in the last line until the next key. */
	struct strbuf message;
	/* What was searched for last. */
	struct strbuf pattern;
	/* Leave all views. */
	bool quit;
	/* A key that is taken for pressed next; 0: none. */
	uint32_t pressed;
	/* When views that have a tick get it, in ms of CLOCK_MONOTONIC. */
	int64_t tick_at;
	/*
	 * For what may take long: tells of it in the last line, and stops it
	 * at Escape, or when the session ends. Private: when to do so next, ms.
	 */
	struct watch watch;
	int64_t next_look;
};

void ui_init(struct ui *ui, const struct tui_input *input);
void ui_deinit(struct ui *ui);
/* Sets the message; names in it are sanitized when it is drawn. */
void ui_say(struct ui *ui, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same for an error that does not end the session; destroys it. */
void ui_say_error(struct ui *ui, struct error *error);

/* What ui->watch is given to begins now. */
void ui_begin(struct ui *ui);

struct view {
	struct browser *browser;
	void *arg;
	/* The last line, if there is no message; lines of help. */
	const char *hint;
	const char *help;
	/*
	 * Appends what stands there instead of the hint, in so many columns;
	 * nothing: the hint. NULL: always the hint.
	 */
	void (*status)(void *arg, size_t columns, struct strbuf *out);
	/* E opens all rows. */
	bool opens_all;
	/* '/' searches, as 's' does. */
	bool slash_searches;
	/* Over another view, to which q goes back. */
	bool is_inner;
	/*
	 * One step back, where the user took one. *leave: that is another view;
	 * *is_first: there was none, and q quits. NULL: there never is one.
	 */
	struct error *(*back)(void *arg, bool *leave, bool *is_first);
	void (*title)(void *arg, struct strbuf *out);
	/* The line above the rows; NULL: none. */
	void (*head)(void *arg, struct line *line);
	bool hides_head;
	/* Which row of how many is no matter. */
	bool hides_position;
	/* Before it is drawn in a window of so many rows; NULL: never. */
	struct error *(*fit)(void *arg, size_t rows);
	void (*row)(void *arg, uint32_t node, struct line *line);
	/* At ui->tick_at, which it sets anew. NULL: it is for nothing. */
	struct error *(*tick)(void *arg, bool *leave);
	/* Lines instead of rows, if there are none; NULL: that there is nothing. */
	const char *empty;
	/* Keys that are not common to all; *leave: the view is done. */
	struct error *(*key)(void *arg, uint32_t key, bool *leave);
	/* Columns scrolled sideways. */
	size_t shift;
	/* Scratch. */
	struct line line;
	struct strbuf bar;
};

void view_deinit(struct view *view);
/*
 * Shows it until the user leaves. Errors end the session, but for
 * ERROR_INTERRUPTED, of which the last line tells.
 */
struct error *view_run(struct ui *ui, struct view *view);
/* The view that runs takes the key as the next one. */
void view_press(struct ui *ui, uint32_t key);
/* Draws it, for what is to stand over it; not yet seen. */
void view_draw(struct ui *ui, struct view *view);
/* Appends the hint, and what q does: on the first screen it quits. */
void view_put_hint(const struct view *view, bool is_first, struct strbuf *out);
/* As Escape does: by view->back, or says that q quits. */
struct error *view_step_back(struct ui *ui, struct view *view, bool *leave);
/* Moves a browser, if the key is one that does. */
bool view_move(struct browser *browser, uint32_t key);
/*
 * Asks for a line of text below the view; text holds what is there to begin
 * with. on_change may be NULL. *accepted false: Escape.
 */
struct error *view_prompt(struct ui *ui, struct view *view, const char *label,
			  struct strbuf *text,
			  struct error *(*on_change)(void *arg,
						     const char *text),
			  void *arg, bool *accepted);

/*
 * A text in lines. *chosen, unless NULL, is the line on which Enter was
 * pressed, or SIZE_MAX.
 */
struct error *view_text(struct ui *ui, const char *title, const char *text,
			size_t *chosen);

#endif
