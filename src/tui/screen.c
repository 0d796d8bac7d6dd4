// SPDX-License-Identifier: GPL-2.0-only
#include "tui/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
/* term.h makes words of everyday language macros. */
#undef columns
#undef lines

#include "base/clock.h"
#include "view/printable.h"

enum {
	/* ms after an Escape in which the rest of a key's bytes arrive. */
	ESCAPE_DELAY = 50,
	/* Keys typed ahead. */
	TYPED_MAX = 64,
};

static const int caught[] = { SIGINT,	SIGTERM,  SIGHUP, SIGQUIT,
			      SIGTSTP, SIGWINCH, SIGCONT };
#define CAUGHT (sizeof(caught) / sizeof(caught[0]))

/* Of the one screen that there is. */
static struct {
	SCREEN *terminal;
	struct sigaction before[CAUGHT];
	char *locale;
	bool ended;
	int signal;
	attr_t attributes[TUI_STYLES];
	short pairs[TUI_STYLES];
	/* Keys that came while nobody waited for one. */
	uint32_t typed[TYPED_MAX];
	size_t typed_count;
	/* All is to be drawn again. */
	bool changed;
} screen;

/* A byte for each signal: its number. */
static int signal_pipe[2] = { -1, -1 };

/* --- Signals ------------------------------------------------------------ */

static void on_signal(int number)
{
	unsigned char byte = (unsigned char)number;
	int saved = errno;

	/* A full pipe wakes the reader as well. */
	if (write(signal_pipe[1], &byte, 1) < 0)
		errno = saved;
	errno = saved;
}

static void catch_signal(int number, struct sigaction *before)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	sigaction(number, NULL, before);
	/* What was ignored stays so: nohup, a shell without job control. */
	if (before->sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

static struct error *catch_signals(void)
{
	if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK))
		return error_os(errno, NULL, "cannot make a pipe");
	for (size_t i = 0; i < CAUGHT; i++)
		catch_signal(caught[i], &screen.before[i]);
	return NULL;
}

static void release_signals(void)
{
	for (size_t i = 0; i < CAUGHT; i++)
		sigaction(caught[i], &screen.before[i], NULL);
	close(signal_pipe[0]);
	close(signal_pipe[1]);
	signal_pipe[0] = signal_pipe[1] = -1;
}

/* Takes the window's size over, if it changed. */
static void fit_window(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row ||
	    !size.ws_col)
		return;
	if (size.ws_row != LINES || size.ws_col != COLS)
		resizeterm(size.ws_row, size.ws_col);
}

/* Ctrl-Z: the shell gets its terminal back, until it says `fg`. */
static void stop(void)
{
	struct sigaction fallback = { .sa_handler = SIG_DFL }, own;

	endwin();
	sigaction(SIGTSTP, &fallback, &own);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &own, NULL);
	fit_window();
	clearok(stdscr, TRUE);
}

static void take_signal(int number)
{
	switch (number) {
	case SIGTSTP:
		stop();
		break;
	case SIGCONT:
		/* After SIGSTOP, which tells nobody, the modes are the shell's. */
		if (!isendwin())
			reset_prog_mode();
		clearok(stdscr, TRUE);
		fit_window();
		break;
	case SIGWINCH:
		fit_window();
		break;
	default:
		screen.ended = true;
		screen.signal = number;
	}
}

/* --- Opening and closing ------------------------------------------------ */

bool screen_possible(void)
{
	const char *term = getenv("TERM");
	const char *cup;
	int result;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !term ||
	    !*term || !strcmp(term, "dumb"))
		return false;
	if (setupterm(term, STDOUT_FILENO, &result) != OK)
		return false;
	cup = tigetstr("cup");
	if (cup == (char *)-1)
		cup = NULL;
	del_curterm(cur_term);
	return cup != NULL;
}

/* https://no-color.org: set to anything, it means none. */
static bool wants_colors(void)
{
	const char *none = getenv("NO_COLOR");

	return has_colors() && !(none && *none);
}

static void choose_styles(void)
{
	screen.attributes[TUI_BAR] = A_REVERSE;
	screen.attributes[TUI_HEAD] = A_BOLD;
	screen.attributes[TUI_SELECTED] = A_REVERSE;
	screen.attributes[TUI_HOT] = A_BOLD;
	screen.attributes[TUI_WARM] = A_NORMAL;
	memset(screen.pairs, 0, sizeof(screen.pairs));
	if (!wants_colors() || start_color() != OK)
		return;
	use_default_colors();
	init_pair(1, COLOR_RED, -1);
	init_pair(2, COLOR_GREEN, -1);
	screen.pairs[TUI_HOT] = 1;
	screen.pairs[TUI_WARM] = 2;
}

static void set_modes(void)
{
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_DELAY);
	curs_set(0);
	choose_styles();
}

struct error *screen_open(void)
{
	const char *locale = setlocale(LC_CTYPE, NULL);
	struct error *error;

	if (!screen_possible())
		return error_create(
			ERROR_UNSUPPORTED,
			"standard input and output are not a terminal with cursor movement; use --stdio");
	screen.locale = strdup(locale ? locale : "C");
	screen.ended = screen.changed = false;
	screen.signal = 0;
	screen.typed_count = 0;
	error = catch_signals();
	if (error)
		return error;
	/* Before the terminal, which is told what characters there are. */
	setlocale(LC_CTYPE, "");
	fflush(stdout);
	screen.terminal = newterm(NULL, stdout, stdin);
	if (!screen.terminal) {
		screen_close();
		return error_create(ERROR_UNSUPPORTED,
				    "cannot use a terminal of type '%s'; use --stdio",
				    getenv("TERM"));
	}
	set_modes();
	return NULL;
}

void screen_close(void)
{
	if (signal_pipe[0] < 0)
		return;
	if (screen.terminal) {
		endwin();
		delscreen(screen.terminal);
		screen.terminal = NULL;
	}
	if (screen.locale)
		setlocale(LC_CTYPE, screen.locale);
	free(screen.locale);
	screen.locale = NULL;
	release_signals();
}

/* --- Output ------------------------------------------------------------- */

void screen_size(size_t *rows, size_t *columns)
{
	*rows = LINES > 0 ? (size_t)LINES : 1;
	*columns = COLS > 0 ? (size_t)COLS : 1;
}

void screen_begin(void)
{
	curs_set(0);
	erase();
}

static void put_character(wchar_t ch, enum tui_style style)
{
	wchar_t text[2] = { ch, L'\0' };
	cchar_t cell;

	setcchar(&cell, text, screen.attributes[style], screen.pairs[style],
		 NULL);
	add_wch(&cell);
}

/* The columns from `column` on that are on the screen, at most width. */
static size_t clip(size_t row, size_t column, size_t width)
{
	size_t rows, columns;

	screen_size(&rows, &columns);
	if (row >= rows || column >= columns)
		return 0;
	return width < columns - column ? width : columns - column;
}

size_t screen_text(size_t row, size_t column, size_t width,
		   enum tui_style style, const char *text, size_t n,
		   size_t skip)
{
	size_t used = 0, skipped = 0;

	width = clip(row, column, width);
	if (!width)
		return 0;
	move((int)row, (int)column);
	for (size_t i = 0; i < n;) {
		struct printable p;

		i += printable_next(text + i, n - i, &p);
		if (skipped < skip) {
			skipped += (size_t)p.width;
			continue;
		}
		/* A mark without a character to stand on. */
		if (!p.width && !used)
			continue;
		if (used + (size_t)p.width > width)
			break;
		put_character(p.ch, style);
		used += (size_t)p.width;
	}
	return used;
}

void screen_fill(size_t row, size_t column, size_t width, enum tui_style style)
{
	width = clip(row, column, width);
	if (width)
		move((int)row, (int)column);
	for (size_t i = 0; i < width; i++)
		put_character(L' ', style);
}

static void put_border(size_t row, size_t column, const cchar_t *piece)
{
	if (clip(row, column, 1))
		mvadd_wch((int)row, (int)column, piece);
}

/* Of characters that the terminal has, or of "+-|". */
void screen_box(size_t row, size_t column, size_t height, size_t width)
{
	size_t bottom = row + height - 1, right = column + width - 1;

	for (size_t i = row; i <= bottom; i++) {
		screen_fill(i, column, width, TUI_PLAIN);
		put_border(i, column, WACS_VLINE);
		put_border(i, right, WACS_VLINE);
	}
	for (size_t i = column; i <= right; i++) {
		put_border(row, i, WACS_HLINE);
		put_border(bottom, i, WACS_HLINE);
	}
	put_border(row, column, WACS_ULCORNER);
	put_border(row, right, WACS_URCORNER);
	put_border(bottom, column, WACS_LLCORNER);
	put_border(bottom, right, WACS_LRCORNER);
}

void screen_cursor(size_t row, size_t column)
{
	if (!clip(row, column, 1))
		return;
	curs_set(1);
	move((int)row, (int)column);
}

void screen_show(void)
{
	refresh();
}

/* --- Keys --------------------------------------------------------------- */

static uint32_t function_key(wint_t code)
{
	switch (code) {
	case KEY_UP:
		return TUI_KEY_UP;
	case KEY_DOWN:
		return TUI_KEY_DOWN;
	case KEY_LEFT:
		return TUI_KEY_LEFT;
	case KEY_RIGHT:
		return TUI_KEY_RIGHT;
	case KEY_PPAGE:
		return TUI_KEY_PAGE_UP;
	case KEY_NPAGE:
		return TUI_KEY_PAGE_DOWN;
	case KEY_HOME:
		return TUI_KEY_HOME;
	case KEY_END:
		return TUI_KEY_END;
	case KEY_BTAB:
		return TUI_KEY_BACK_TAB;
	case KEY_ENTER:
		return TUI_KEY_ENTER;
	case KEY_BACKSPACE:
		return TUI_KEY_BACKSPACE;
	case KEY_HELP:
	case KEY_F(1):
		return TUI_KEY_HELP;
	case KEY_RESIZE:
		return TUI_KEY_RESIZE;
	default:
		return TUI_KEY_OTHER;
	}
}

/* True if there was one. */
static bool read_key(uint32_t *ret)
{
	wint_t ch = 0;
	int kind = get_wch(&ch);

	if (kind == ERR)
		return false;
	if (kind == KEY_CODE_YES)
		*ret = function_key(ch);
	else if (ch == L'\r' || ch == L'\n')
		*ret = TUI_KEY_ENTER;
	else if (ch == 0x7f || ch == 0x08)
		*ret = TUI_KEY_BACKSPACE;
	else
		*ret = (uint32_t)ch;
	return true;
}

/* True if there was one. */
static bool read_signals(void)
{
	unsigned char numbers[64];
	ssize_t n = read(signal_pipe[0], numbers, sizeof(numbers));

	for (ssize_t i = 0; i < n; i++)
		take_signal(numbers[i]);
	return n > 0;
}

/* Ready, but nothing to read: the other end is gone. */
static bool input_is_gone(short events)
{
	int n = 0;

	return events && (ioctl(STDIN_FILENO, FIONREAD, &n) || !n);
}

/* Waits for a key or a signal; notices if the terminal is gone. */
static void wait_for_input(int timeout)
{
	struct pollfd fds[2] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = signal_pipe[0], .events = POLLIN },
	};

	if (poll(fds, 2, timeout) < 0 && errno != EINTR)
		screen.ended = true;
	else if (input_is_gone(fds[0].revents))
		screen.ended = true;
}

static uint32_t take_typed(void)
{
	uint32_t key = screen.typed[0];

	screen.typed_count--;
	memmove(screen.typed, screen.typed + 1,
		screen.typed_count * sizeof(screen.typed[0]));
	return key;
}

/* For poll(); -1: there is no end. */
static int time_left(int64_t until)
{
	int64_t left;

	if (until == INT64_MAX)
		return -1;
	left = until - clock_ms();
	return left <= 0 ? 0 : left < INT32_MAX ? (int)left : INT32_MAX;
}

uint32_t screen_key_until(int64_t until)
{
	for (;;) {
		uint32_t key;
		int left;

		if (read_signals() || screen.changed) {
			screen.changed = false;
			return screen.ended ? TUI_KEY_ENDED : TUI_KEY_RESIZE;
		}
		if (screen.ended)
			return TUI_KEY_ENDED;
		if (screen.typed_count)
			return take_typed();
		/* What ncurses has read ahead comes first. */
		if (read_key(&key))
			return key;
		left = time_left(until);
		if (!left)
			return TUI_KEY_TICK;
		wait_for_input(left);
	}
}

uint32_t screen_key(void)
{
	return screen_key_until(INT64_MAX);
}

bool screen_interrupted(void)
{
	uint32_t key;

	screen.changed |= read_signals();
	while (!screen.ended && read_key(&key)) {
		if (key == TUI_KEY_ESCAPE) {
			screen.typed_count = 0;
			return true;
		}
		if (screen.typed_count < TYPED_MAX)
			screen.typed[screen.typed_count++] = key;
	}
	if (!screen.ended)
		wait_for_input(0);
	return screen.ended;
}

bool screen_ended(void)
{
	return screen.ended;
}

int screen_signal(void)
{
	return screen.signal;
}
