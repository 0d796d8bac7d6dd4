/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal, through ncurses: keys in, text in styles out. All that knows
 * of a terminal is in here; there is one screen at a time.
 *
 * While the screen is open, SIGINT, SIGTERM, SIGHUP and SIGQUIT end the wait
 * for a key (screen_ended()), and Ctrl-Z stops the process with the terminal as
 * it was; the old ways to take these signals come back with
 * screen_close(). A change of the window's size is a key, TUI_KEY_RESIZE.
 *
 * Text is drawn by view/printable.h: foreign bytes never reach the terminal.
 */
#ifndef KAA_TUI_SCREEN_H
#define KAA_TUI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A character's code point, or one of these. */
enum tui_key {
	TUI_KEY_ESCAPE = 27,
	TUI_KEY_TAB = 9,
	TUI_KEY_ENTER = 0x110000,
	TUI_KEY_BACKSPACE,
	TUI_KEY_UP,
	TUI_KEY_DOWN,
	TUI_KEY_LEFT,
	TUI_KEY_RIGHT,
	TUI_KEY_PAGE_UP,
	TUI_KEY_PAGE_DOWN,
	TUI_KEY_HOME,
	TUI_KEY_END,
	TUI_KEY_BACK_TAB,
	TUI_KEY_HELP,
	/* Draw again. */
	TUI_KEY_RESIZE,
	/* screen_ended() */
	TUI_KEY_ENDED,
	/* Time is over: screen_key_until(). */
	TUI_KEY_TICK,
	TUI_KEY_OTHER,
};

enum tui_style {
	TUI_PLAIN,
	/* The first line and the last. */
	TUI_BAR,
	TUI_HEAD,
	TUI_SELECTED,
	/* Numbers from 5 % on, from 0.5 % on. */
	TUI_HOT,
	TUI_WARM,
	TUI_STYLES,
};

/*
 * True if standard input and output are a terminal on which the cursor can be
 * moved.
 */
bool screen_possible(void);

/* ERROR_UNSUPPORTED if it is not possible. */
struct error *screen_open(void);
/* The terminal as it was. Legal if there is no screen. */
void screen_close(void);

/* At least 1 each. */
void screen_size(size_t *rows, size_t *columns);
/* An empty screen, not yet seen. */
void screen_begin(void);
/*
 * Draws n bytes at a place, without the first `skip` columns of them, in at
 * most width columns, and nothing outside the screen. Returns the columns
 * used.
 */
size_t screen_text(size_t row, size_t column, size_t width,
		   enum tui_style style, const char *text, size_t n,
		   size_t skip);
/* Blanks in a style. */
void screen_fill(size_t row, size_t column, size_t width,
		 enum tui_style style);
/* An empty box with a border, at least 2 by 2. */
void screen_box(size_t row, size_t column, size_t height, size_t width);
/* Shows the cursor there, until screen_begin(). */
void screen_cursor(size_t row, size_t column);
/* What was drawn is seen. */
void screen_show(void);

/* Waits for a key. */
uint32_t screen_key(void);
/* The same until then, in ms of CLOCK_MONOTONIC. */
uint32_t screen_key_until(int64_t time);
/*
 * Without waiting: Escape was pressed, or screen_ended(). Other keys are kept for
 * screen_key().
 */
bool screen_interrupted(void);
/* The terminal is gone, or a signal asks to end. */
bool screen_ended(void);
/* Which signal; 0: none. */
int screen_signal(void);

#endif
