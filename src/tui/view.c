// SPDX-License-Identifier: GPL-2.0-only
#include "tui/view.h"

#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "view/printable.h"

enum {
	/* Columns of a step sideways. */
	SHIFT_STEP = 8,
	SHIFT_MAX = 4096,
	/* Bytes of a line that is typed. */
	PROMPT_MAX = 256,
	/* ms until work is called long, and between looks at the keys then. */
	WORK_PATIENCE = 200,
	WORK_STEP = 100,
};

/* --- Long work ---------------------------------------------------------- */

/* Over the last line of what is on the screen. */
static void show_work(const char *what, uint64_t done, uint64_t total)
{
	double percent = total ? 100.0 * (double)done / (double)total : 0.0;
	size_t rows, columns, used;
	char text[128];
	int n = snprintf(text, sizeof(text), "%s: %.0f%%  (Esc: stop)", what,
			 percent);

	screen_size(&rows, &columns);
	used = screen_text(rows - 1, 0, columns, TUI_BAR, text, (size_t)n, 0);
	screen_fill(rows - 1, used, columns - used, TUI_BAR);
	screen_show();
}

static bool go_on(void *arg, const char *what, uint64_t done, uint64_t total)
{
	struct ui *ui = arg;
	int64_t now = clock_ms();

	if (now < ui->next_look)
		return true;
	ui->next_look = now + WORK_STEP;
	show_work(what, done, total);
	return !screen_interrupted();
}

void ui_begin(struct ui *ui)
{
	ui->watch.stopped = false;
	ui->next_look = clock_ms() + WORK_PATIENCE;
}

void ui_init(struct ui *ui, const struct tui_input *input)
{
	*ui = (struct ui){ .input = input,
			   .message = STRBUF_INIT,
			   .pattern = STRBUF_INIT,
			   .watch = { .go_on = go_on, .arg = ui } };
	ui_begin(ui);
}

/* What was stopped is said; other errors are handed on. */
static struct error *take_stop(struct ui *ui, struct error *error)
{
	if (!error || error->code != ERROR_INTERRUPTED)
		return error;
	error_destroy(error);
	ui_say(ui, "stopped");
	return NULL;
}

void ui_deinit(struct ui *ui)
{
	strbuf_deinit(&ui->message);
	strbuf_deinit(&ui->pattern);
}

void ui_say(struct ui *ui, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	strbuf_clear(&ui->message);
	strbuf_vprintf(&ui->message, format, args);
	va_end(args);
}

void ui_say_error(struct ui *ui, struct error *error)
{
	strbuf_clear(&ui->message);
	error_format(error, &ui->message);
	error_destroy(error);
}

void view_deinit(struct view *view)
{
	line_deinit(&view->line);
	strbuf_deinit(&view->bar);
}

/* --- Drawing ------------------------------------------------------------ */

/* Which lines of the screen are what; small screens have rows alone. */
struct layout {
	size_t rows;
	size_t columns;
	bool has_title;
	bool has_head;
	bool has_status;
	size_t first;
	size_t height;
};

static struct layout lay_out(const struct view *view)
{
	struct layout l = {};

	screen_size(&l.rows, &l.columns);
	l.has_status = l.rows >= 2;
	l.has_title = l.rows >= 3;
	l.has_head = view->head && !view->hides_head && l.rows >= 5;
	l.first = (size_t)l.has_title + l.has_head;
	l.height = l.rows - l.first - l.has_status;
	return l;
}

static void draw_bar(size_t row, size_t columns, const struct strbuf *text)
{
	size_t used = screen_text(row, 0, columns, TUI_BAR, text->data,
				  text->len, 0);

	screen_fill(row, used, columns - used, TUI_BAR);
}

static void draw_title(struct view *view, const struct layout *l)
{
	const struct browser *b = view->browser;
	char place[64];
	size_t n;

	strbuf_clear(&view->bar);
	view->title(view->arg, &view->bar);
	draw_bar(0, l->columns, &view->bar);
	n = (size_t)snprintf(place, sizeof(place), " %zu/%zu",
			     b->rows.count ? b->selected + 1 : 0,
			     b->rows.count);
	if (n * 3 < l->columns && !view->hides_position)
		screen_text(0, l->columns - n, n, TUI_BAR, place, n, 0);
}

static enum tui_style heat(double percent)
{
	if (percent >= 5.0)
		return TUI_HOT;
	return percent >= 0.5 ? TUI_WARM : TUI_PLAIN;
}

/* Draws text[from, to) at *column, and moves on. */
static void draw_part(const struct line *line, size_t from, size_t to,
		      size_t row, size_t *column, enum tui_style style,
		      size_t skip)
{
	if (from < to)
		*column += screen_text(row, *column, SIZE_MAX, style,
				       line->text.data + from, to - from, skip);
}

static void draw_line(const struct line *line, size_t row, size_t shift,
		      enum tui_style style, size_t columns)
{
	size_t fixed = line->fixed, column = 0;
	/* Of a line that moves as a whole the number is not told apart. */
	bool colored = style == TUI_PLAIN && line->number_end &&
		       (!shift || line->number_end <= fixed);
	size_t from = 0;

	if (colored) {
		draw_part(line, 0, line->number, row, &column, style, 0);
		draw_part(line, line->number, line->number_end, row, &column,
			  heat(line->percent), 0);
		from = line->number_end;
	}
	if (from < fixed) {
		draw_part(line, from, fixed, row, &column, style, 0);
		from = fixed;
	}
	draw_part(line, from, line->text.len, row, &column, style, shift);
	if (style == TUI_SELECTED)
		screen_fill(row, column, columns - column, style);
}

static void draw_empty(const char *text, const struct layout *l)
{
	for (size_t i = 0, n; i < l->height && *text; i++) {
		n = strcspn(text, "\n");
		screen_text(l->first + i, 2, SIZE_MAX, TUI_PLAIN, text, n, 0);
		text += n + (text[n] == '\n');
	}
}

static void draw_rows(struct view *view, const struct layout *l)
{
	const char *empty = view->empty ? view->empty :
					  "(nothing here; Esc goes back)";
	struct browser *b = view->browser;

	browser_resize(b, l->height);
	for (size_t i = 0; i < l->height && b->top + i < b->rows.count; i++) {
		size_t row = b->top + i;
		enum tui_style style = TUI_PLAIN;

		line_clear(&view->line);
		view->row(view->arg, b->rows.data[row], &view->line);
		if (row == b->selected)
			style = TUI_SELECTED;
		else if (view->line.is_heading)
			style = TUI_HEAD;
		draw_line(&view->line, l->first + i, view->shift, style,
			  l->columns);
	}
	if (!b->rows.count)
		draw_empty(empty, l);
}

void view_draw(struct ui *ui, struct view *view)
{
	struct layout l = lay_out(view);

	screen_begin();
	if (l.has_title)
		draw_title(view, &l);
	if (l.has_head) {
		line_clear(&view->line);
		view->head(view->arg, &view->line);
		draw_line(&view->line, l.first - 1, view->shift, TUI_HEAD,
			  l.columns);
	}
	draw_rows(view, &l);
	if (!l.has_status && !ui->message.len)
		return;
	strbuf_clear(&view->bar);
	if (ui->message.len)
		strbuf_puts(&view->bar, ui->message.data);
	else if (view->status)
		view->status(view->arg, l.columns, &view->bar);
	if (!view->bar.len)
		strbuf_puts(&view->bar, view->hint);
	draw_bar(l.rows - 1, l.columns, &view->bar);
}

/* --- The prompt --------------------------------------------------------- */

static void draw_prompt(struct ui *ui, struct view *view, const char *label,
			const struct strbuf *text)
{
	struct layout l;
	size_t start, width;

	view_draw(ui, view);
	l = lay_out(view);
	strbuf_clear(&view->bar);
	strbuf_printf(&view->bar, "%s: %s", label, text->data);
	draw_bar(l.rows - 1, l.columns, &view->bar);
	width = printable_width(view->bar.data, view->bar.len);
	/* Of what is longer than the screen, the end. */
	start = width >= l.columns ? width - l.columns + 1 : 0;
	if (start) {
		screen_fill(l.rows - 1, 0, l.columns, TUI_BAR);
		screen_text(l.rows - 1, 0, l.columns, TUI_BAR, view->bar.data,
			    view->bar.len, start);
	}
	screen_cursor(l.rows - 1, width - start);
	screen_show();
}

static void append_utf8(struct strbuf *out, uint32_t ch)
{
	if (ch < 0x80) {
		strbuf_putc(out, (char)ch);
		return;
	}
	if (ch < 0x800) {
		strbuf_putc(out, (char)(0xc0 | ch >> 6));
	} else {
		if (ch < 0x10000) {
			strbuf_putc(out, (char)(0xe0 | ch >> 12));
		} else {
			strbuf_putc(out, (char)(0xf0 | ch >> 18));
			strbuf_putc(out, (char)(0x80 | (ch >> 12 & 0x3f)));
		}
		strbuf_putc(out, (char)(0x80 | (ch >> 6 & 0x3f)));
	}
	strbuf_putc(out, (char)(0x80 | (ch & 0x3f)));
}

/* Takes the last character away, with all of its bytes. */
static void erase_last(struct strbuf *text)
{
	size_t n = text->len;

	while (n && ((unsigned char)text->data[n - 1] & 0xc0) == 0x80)
		n--;
	strbuf_truncate(text, n ? n - 1 : 0);
}

/* True if the text changed. */
static bool edit(struct strbuf *text, uint32_t key)
{
	enum { CTRL_U = 21, CTRL_W = 23 };

	if (key == TUI_KEY_BACKSPACE && text->len) {
		erase_last(text);
		return true;
	}
	if (key == CTRL_U || key == CTRL_W) {
		strbuf_clear(text);
		return true;
	}
	if (key < 0x20 || key >= TUI_KEY_ENTER || text->len > PROMPT_MAX)
		return false;
	append_utf8(text, key);
	return true;
}

struct error *view_prompt(struct ui *ui, struct view *view, const char *label,
			  struct strbuf *text,
			  struct error *(*on_change)(void *arg,
						     const char *text),
			  void *arg, bool *accepted)
{
	*accepted = false;
	for (;;) {
		struct error *error = NULL;
		uint32_t key;

		draw_prompt(ui, view, label, text);
		key = screen_key();
		strbuf_clear(&ui->message);
		if (key == TUI_KEY_ESCAPE || key == TUI_KEY_ENDED)
			return NULL;
		if (key == TUI_KEY_ENTER) {
			*accepted = true;
			return strbuf_error(text);
		}
		ui_begin(ui);
		if (edit(text, key) && on_change)
			error = take_stop(ui, on_change(arg, text->data));
		if (error)
			return error;
	}
}

/* --- Search ------------------------------------------------------------- */

struct search {
	struct browser *browser;
	/* Where it began, and the window there. */
	size_t selected;
	size_t top;
	bool found;
	/* What was looked for last, to its end. */
	struct strbuf before;
};

static void search_back(struct search *search)
{
	search->browser->top = search->top;
	browser_select(search->browser, search->selected);
}

/* An upper-case letter behind lower case looks for something else. */
static bool has_new_case(const char *before, const char *text)
{
	return !browser_has_upper(before) && browser_has_upper(text);
}

static struct error *search_as_typed(void *arg, const char *text)
{
	struct search *search = arg;
	struct strbuf *before = &search->before;
	/* What has more is not before what has less, and not where none has. */
	bool is_longer = before->len &&
			 !strncmp(text, before->data, before->len) &&
			 !has_new_case(before->data, text);
	size_t from = is_longer && search->found ? search->browser->selected
						 : search->selected;
	struct error *error = NULL;

	/* But what has other names may be called so only now. */
	if (is_longer && !search->found &&
	    !search->browser->source.start_search)
		return NULL;
	strbuf_clear(before);
	search->found = true;
	if (!*text)
		search_back(search);
	else
		error = browser_search(search->browser, text, from, 1,
				       &search->found);
	if (!error)
		strbuf_puts(before, text);
	return error;
}

static struct error *search(struct ui *ui, struct view *view)
{
	struct search state = { .browser = view->browser,
				.selected = view->browser->selected,
				.top = view->browser->top,
				.before = STRBUF_INIT };
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	bool accepted;
	struct error *error =
		view_prompt(ui, view, "Search", &text, search_as_typed, &state,
			    &accepted);

	strbuf_deinit(&state.before);
	if (error)
		return error;
	if (!accepted || !text.len) {
		search_back(&state);
		return NULL;
	}
	strbuf_clear(&ui->pattern);
	strbuf_append(&ui->pattern, text.data, text.len);
	if (!state.found)
		ui_say(ui, "no visible row contains '%s'%s", text.data,
		       view->opens_all ? "; press E to open all rows" : "");
	return NULL;
}

static struct error *search_again(struct ui *ui, struct view *view, int step)
{
	struct browser *b = view->browser;
	size_t row = b->selected, from;
	bool found = false;
	struct error *error;

	if (!ui->pattern.len) {
		ui_say(ui, "press s to search first");
		return NULL;
	}
	from = step > 0 ? row + 1 : row ? row - 1 : b->rows.count - 1;
	error = browser_search(b, ui->pattern.data, from, step, &found);
	if (!error && !found)
		ui_say(ui, "no visible row contains '%s'", ui->pattern.data);
	else if (!error && (step > 0 ? b->selected <= row : b->selected >= row))
		ui_say(ui, "search for '%s' continued beyond the %s", ui->pattern.data,
		       step > 0 ? "end" : "beginning");
	return error;
}

/* --- Keys --------------------------------------------------------------- */

bool view_move(struct browser *browser, uint32_t key)
{
	switch (key) {
	case TUI_KEY_UP:
		browser_move(browser, -1);
		return true;
	case TUI_KEY_DOWN:
		browser_move(browser, 1);
		return true;
	case TUI_KEY_PAGE_UP:
		browser_page(browser, -1);
		return true;
	case TUI_KEY_PAGE_DOWN:
	case ' ':
		browser_page(browser, 1);
		return true;
	case TUI_KEY_HOME:
		browser_select(browser, 0);
		return true;
	case TUI_KEY_END:
		browser_select(browser, SIZE_MAX);
		return true;
	case TUI_KEY_RESIZE:
		return true;
	}
	return false;
}

static bool shift(struct view *view, uint32_t key)
{
	switch (key) {
	case '>':
		if (view->shift < SHIFT_MAX)
			view->shift += SHIFT_STEP;
		return true;
	case '<':
		view->shift -= view->shift ? SHIFT_STEP : 0;
		return true;
	}
	return false;
}

void view_put_hint(const struct view *view, bool is_first, struct strbuf *out)
{
	strbuf_printf(out, "%s  q: %s", view->hint, is_first ? "quit" : "back");
}

struct error *view_step_back(struct ui *ui, struct view *view, bool *leave)
{
	bool is_first = false;
	struct error *error = view->back(view->arg, leave, &is_first);

	if (!error && is_first)
		ui_say(ui, "q quits");
	return error;
}

static struct error *leave_or_quit(struct ui *ui, struct view *view, bool *leave)
{
	bool is_first = true;
	struct error *error = NULL;

	if (view->back) {
		is_first = false;
		error = view->back(view->arg, leave, &is_first);
	}
	if (error || !is_first)
		return error;
	*leave = true;
	ui->quit |= !view->is_inner;
	return NULL;
}

static struct error *handle(struct ui *ui, struct view *view, uint32_t key,
			    bool *leave)
{
	if (view_move(view->browser, key) || shift(view, key))
		return NULL;
	switch (key) {
	case 's':
		return search(ui, view);
	case 'n':
		return search_again(ui, view, 1);
	case 'N':
		return search_again(ui, view, -1);
	case 'h':
	case '?':
	case TUI_KEY_HELP:
		if (!view->help)
			return NULL;
		return view_text(ui, "Keys", view->help, NULL);
	case 'q':
		return leave_or_quit(ui, view, leave);
	case '/':
		if (view->slash_searches)
			return search(ui, view);
		break;
	}
	return view->key ? view->key(view->arg, key, leave) : NULL;
}

void view_press(struct ui *ui, uint32_t key)
{
	ui->pressed = key;
}

static uint32_t next_key(struct ui *ui, const struct view *view)
{
	uint32_t key = ui->pressed;

	ui->pressed = 0;
	if (key)
		return key;
	return view->tick ? screen_key_until(ui->tick_at) : screen_key();
}

/* What was said stays until the next key. */
static struct error *act(struct ui *ui, struct view *view, uint32_t key,
			 bool *leave)
{
	if (key == TUI_KEY_TICK)
		return view->tick(view->arg, leave);
	if (key != TUI_KEY_RESIZE)
		strbuf_clear(&ui->message);
	return handle(ui, view, key, leave);
}

struct error *view_run(struct ui *ui, struct view *view)
{
	bool leave = false;

	while (!leave && !ui->quit) {
		struct error *error =
			view->fit ? view->fit(view->arg, lay_out(view).height) :
				    NULL;
		uint32_t key;

		if (error)
			return error;
		view_draw(ui, view);
		screen_show();
		key = next_key(ui, view);
		if (key == TUI_KEY_ENDED) {
			ui->quit = true;
			break;
		}
		ui_begin(ui);
		error = take_stop(ui, act(ui, view, key, &leave));
		if (error)
			return error;
	}
	return NULL;
}

/* --- Lines of text ------------------------------------------------------ */

struct text_view {
	const char *title;
	const char *text;
	VEC(size_t) starts;
	struct browser browser;
	bool is_menu;
	size_t chosen;
};

static size_t line_length(const struct text_view *t, uint32_t node)
{
	return strcspn(t->text + t->starts.data[node], "\n");
}

static void text_title(void *arg, struct strbuf *out)
{
	const struct text_view *t = arg;

	strbuf_puts(out, t->title);
}

static void text_search(void *arg, const struct browser *browser, uint32_t node,
			struct strbuf *out)
{
	const struct text_view *t = arg;

	(void)browser;
	strbuf_append(out, t->text + t->starts.data[node],
		      line_length(t, node));
}

static void text_row(void *arg, uint32_t node, struct line *line)
{
	text_search(arg, NULL, node, &line->text);
}

static struct error *text_key(void *arg, uint32_t key, bool *leave)
{
	struct text_view *t = arg;

	if (t->is_menu && (key == TUI_KEY_ENTER || key == TUI_KEY_RIGHT) &&
	    t->browser.rows.count)
		t->chosen = t->browser.selected;
	*leave = key == TUI_KEY_ESCAPE || key == TUI_KEY_LEFT ||
		 t->chosen != SIZE_MAX;
	return NULL;
}

static struct error *split_lines(struct text_view *t)
{
	for (size_t at = 0; t->text[at];) {
		struct error *error =
			browser_add(&t->browser, BROWSER_NONE, 0,
				    (uint32_t)t->starts.count, false);

		if (error)
			return error;
		if (!vec_push(&t->starts, at))
			return error_no_memory();
		at += strcspn(t->text + at, "\n");
		at += t->text[at] == '\n';
	}
	return browser_show(&t->browser);
}

struct error *view_text(struct ui *ui, const char *title, const char *text,
			size_t *chosen)
{
	struct text_view t = { .title = title,
			       .text = text,
			       .is_menu = chosen != NULL,
			       .chosen = SIZE_MAX };
	struct view view = { .browser = &t.browser,
			     .arg = &t,
			     .hint = chosen ? "Enter: choose  Esc: back"
					    : "Esc: back  s: search",
			     .slash_searches = true,
			     .is_inner = true,
			     .title = text_title,
			     .row = text_row,
			     .key = text_key,
			     .line = LINE_INIT,
			     .bar = STRBUF_INIT };
	const struct browser_source source = { .text = text_search, .arg = &t };
	struct error *error;

	browser_init(&t.browser, &source);
	error = split_lines(&t);
	if (!error)
		error = view_run(ui, &view);
	if (!error && chosen)
		*chosen = t.chosen;
	browser_deinit(&t.browser);
	vec_deinit(&t.starts);
	view_deinit(&view);
	return error;
}
