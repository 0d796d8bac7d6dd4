// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report on a terminal, below the terminal: which rows there are, zooms
 * and their arithmetic, annotation, what may be put on a screen.
 */
#include <elf.h>
#include <limits.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_tree.h"
#include "model.h"
#include "symbolize/kernel_code.h"
#include "explore/annotate.h"
#include "explore/browser.h"
#include "explore/disassembly.h"
#include "explore/entries.h"
#include "explore/line.h"
#include "view/printable.h"
#include "explore/row_details.h"
#include "explore/source.h"
#include "explore/zoom.h"

/* --- Browser ------------------------------------------------------------ */

/* A tree in which every node down to `depth` has `width` children. */
struct bush {
	struct browser browser;
	uint32_t width;
	uint32_t depth;
	size_t filled;
};

static struct error *bush_fill(void *arg, struct browser *browser,
			       uint32_t node)
{
	struct bush *bush = arg;
	uint32_t level = browser->nodes.data[node].level;

	bush->filled++;
	for (uint32_t i = 0; i < bush->width; i++) {
		struct error *error = browser_add(browser, node, 0, i,
						  level + 1 < bush->depth);

		if (error)
			return error;
	}
	return NULL;
}

static void bush_text(void *arg, const struct browser *browser, uint32_t node,
		      struct strbuf *out)
{
	(void)arg;
	strbuf_printf(out, "Node %u at %u", node,
		      browser->nodes.data[node].level);
}

static void bush_init(struct bush *bush, uint32_t roots, uint32_t width,
		      uint32_t depth)
{
	const struct browser_source source = { .fill = bush_fill,
					       .text = bush_text,
					       .arg = bush };

	*bush = (struct bush){ .width = width, .depth = depth };
	browser_init(&bush->browser, &source);
	for (uint32_t i = 0; i < roots; i++)
		model_check(browser_add(&bush->browser, BROWSER_NONE, 0, i,
					depth > 0));
	model_check(browser_show(&bush->browser));
}

/* Rows are what a walk over the open nodes gives, whatever was done to them. */
static void check_rows(const struct browser *b)
{
	uint32_t id = b->first;
	size_t row = 0;

	while (id != BROWSER_NONE) {
		const struct browser_node *node = &b->nodes.data[id];

		assert_true(row < b->rows.count);
		assert_int_equal(b->rows.data[row++], id);
		if (node->is_open && node->first_child != BROWSER_NONE) {
			id = node->first_child;
			continue;
		}
		while (id != BROWSER_NONE &&
		       b->nodes.data[id].next == BROWSER_NONE)
			id = b->nodes.data[id].parent;
		if (id != BROWSER_NONE)
			id = b->nodes.data[id].next;
	}
	assert_int_equal(row, b->rows.count);
	assert_true(!b->rows.count || b->selected < b->rows.count);
	assert_true(b->top <= b->selected || !b->rows.count);
	assert_true(b->selected < b->top + b->height);
}

static void test_rows_follow_what_is_open(void **state)
{
	struct bush bush;
	struct browser *b = &bush.browser;
	bool complete;

	(void)state;
	bush_init(&bush, 3, 2, 2);
	browser_resize(b, 4);
	assert_int_equal(b->rows.count, 3);
	browser_move(b, 1);
	model_check(browser_toggle(b));
	assert_int_equal(b->rows.count, 5);
	check_rows(b);
	browser_move(b, 1);
	model_check(browser_toggle(b));
	assert_int_equal(b->rows.count, 7);
	check_rows(b);
	/* Closed and opened again, what is below is as it was. */
	browser_select(b, 1);
	browser_close(b);
	assert_int_equal(b->rows.count, 3);
	check_rows(b);
	assert_int_equal(bush.filled, 2);
	model_check(browser_toggle(b));
	assert_int_equal(b->rows.count, 7);
	assert_int_equal(bush.filled, 2);
	/* Left: to the parent, then closed, then nowhere. */
	browser_select(b, 3);
	assert_true(browser_leave(b));
	assert_int_equal(b->selected, 2);
	assert_true(browser_leave(b));
	assert_int_equal(b->rows.count, 5);
	assert_true(browser_leave(b));
	assert_true(browser_leave(b));
	assert_int_equal(b->rows.count, 3);
	assert_false(browser_leave(b));
	model_check(browser_open_all(b, BROWSER_NONE, &complete));
	assert_true(complete);
	assert_int_equal(b->rows.count, 3 * (1 + 2 + 4));
	check_rows(b);
	/* Of a selection deep below, its root is left. */
	browser_select(b, 20);
	model_check(browser_close_all(b, BROWSER_NONE));
	assert_int_equal(b->selected, 2);
	check_rows(b);
	browser_deinit(b);
}

static void test_any_order_of_keys_keeps_rows_right(void **state)
{
	struct bush bush;
	struct browser *b = &bush.browser;
	unsigned int chance = 1;
	bool complete;

	(void)state;
	bush_init(&bush, 20, 3, 4);
	for (int i = 0; i < 3000; i++) {
		chance = chance * 1103515245 + 12345;
		browser_resize(b, 1 + (chance >> 8) % 7);
		browser_select(b, (chance >> 12) % (b->rows.count + 3));
		switch ((chance >> 16) % 9) {
		case 0:
			(void)browser_leave(b);
			break;
		case 1:
			browser_close(b);
			break;
		case 2:
			model_check(browser_open_all(
				b, browser_selected(b), &complete));
			break;
		case 3:
			model_check(
				browser_close_all(b, browser_selected(b)));
			break;
		case 4:
			browser_page(b, chance & 1 ? 1 : -1);
			break;
		default:
			model_check(browser_toggle(b));
		}
		check_rows(b);
	}
	browser_deinit(b);
}

static void test_an_empty_browser(void **state)
{
	struct bush bush;
	struct browser *b = &bush.browser;
	bool found, complete;

	(void)state;
	bush_init(&bush, 0, 0, 0);
	assert_int_equal(browser_selected(b), BROWSER_NONE);
	browser_move(b, 1);
	browser_page(b, -1);
	model_check(browser_toggle(b));
	browser_close(b);
	assert_false(browser_leave(b));
	model_check(browser_open_all(b, BROWSER_NONE, &complete));
	model_check(browser_search(b, "x", 0, 1, &found));
	assert_false(found);
	browser_deinit(b);
}

static void test_search_goes_around(void **state)
{
	struct bush bush;
	struct browser *b = &bush.browser;
	bool found;

	(void)state;
	bush_init(&bush, 30, 0, 0);
	model_check(browser_search(b, "node 2", 3, 1, &found));
	assert_true(found);
	assert_int_equal(b->selected, 20);
	model_check(browser_search(b, "Node 7 ", b->selected, 1, &found));
	assert_true(found);
	assert_int_equal(b->selected, 7);
	model_check(browser_search(b, "Node 2", 6, -1, &found));
	assert_int_equal(b->selected, 2);
	model_check(browser_search(b, "Node 2", 1, -1, &found));
	assert_int_equal(b->selected, 29);
	/* An upper-case letter means itself. */
	model_check(browser_search(b, "NODE", 0, 1, &found));
	assert_false(found);
	assert_int_equal(b->selected, 29);
	browser_deinit(b);
}

/* 100,000 entries; a chain of 60,000; what is too much is left closed. */
static void test_large_forests(void **state)
{
	struct bush bush;
	struct browser *b = &bush.browser;
	bool complete;

	(void)state;
	bush_init(&bush, 100000, 10, 1);
	model_check(browser_open_all(b, BROWSER_NONE, &complete));
	assert_true(complete);
	assert_int_equal(b->rows.count, 1100000);
	browser_select(b, SIZE_MAX);
	assert_int_equal(b->selected, 1099999);
	model_check(browser_close_all(b, BROWSER_NONE));
	assert_int_equal(b->selected, 99999);
	browser_deinit(b);

	bush_init(&bush, 1, 1, 60000);
	model_check(browser_open_all(b, BROWSER_NONE, &complete));
	assert_int_equal(b->rows.count, 60001);
	browser_deinit(b);

	bush_init(&bush, 4, 1000, 2);
	model_check(browser_open_all(b, BROWSER_NONE, &complete));
	assert_false(complete);
	assert_in_range(b->rows.count, BROWSER_ROWS_MAX / 2,
			BROWSER_ROWS_MAX + 3000);
	check_rows(b);
	browser_deinit(b);
}

/* --- Characters --------------------------------------------------------- */

static void check_printable(const char *text, const wchar_t *expected)
{
	size_t n = strlen(text), at = 0, i = 0;

	for (; at < n; i++) {
		struct printable p;

		at += printable_next(text + at, n - at, &p);
		assert_true(at <= n);
		if (expected[i] != p.ch)
			fail_msg("'%s', character %zu: U+%04X, not U+%04X",
				 text, i, (unsigned int)p.ch,
				 (unsigned int)expected[i]);
	}
	assert_int_equal(expected[i], 0);
}

static void test_nothing_dangerous_is_printed(void **state)
{
	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		fail_msg("there is no locale C.UTF-8");
	check_printable("a\x1b[2Jb\x07\r\n\t\x7f", L"a?[2Jb?????");
	/* C1, as UTF-8 and as it is. */
	check_printable("\xc2\x9b"
			"31m \x9b",
			L"?31m ?");
	/* Overlong, surrogate, beyond Unicode, cut. */
	check_printable("\xc0\x9b", L"??");
	check_printable("\xed\xa0\x80", L"???");
	check_printable("\xf4\x90\x80\x80", L"????");
	check_printable("ab\xe2\x82", L"ab??");
	/* Directions of writing, and what has no width but is no mark. */
	check_printable("\xe2\x80\xae"
			"x\xe2\x80\x8b\xef\xbb\xbf",
			L"?x??");
	check_printable("h\xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x90\x8d",
			L"h\u00e9 \u65e5 \U0001f40d");
	assert_int_equal(printable_width("h\xc3\xa9\xe6\x97\xa5", 6), 4);
	assert_int_equal(printable_width("e\xcc\x81", 3), 1);
	setlocale(LC_CTYPE, "C");
	check_printable("h\xc3\xa9", L"h?");
}

static void test_alignment(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	line_align(&out, "ab", 2, 4, false);
	line_align(&out, "cd", 2, 4, true);
	line_align(&out, "abcdefgh", 8, 6, false);
	line_align(&out, "xyz", 3, 0, false);
	assert_string_equal(out.data, "ab    cdabcd..xyz");
	strbuf_clear(&out);
	/* Two columns each: one does not fit before the dots. */
	line_align(&out, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 9, 5, false);
	assert_string_equal(out.data, "\xe6\x97\xa5.. ");
	strbuf_deinit(&out);
	setlocale(LC_CTYPE, "C");
}

/* --- Entries ------------------------------------------------------------ */

#define GLUE "_start I:_PyEval_EvalFrameDefault "
#define MODULE GLUE "py:py::<module>:/srv/x.py@9 "

/* 100 in all: 70 of thread 100, 30 of thread 101. */
static void fill_threads(struct model *m)
{
	uint32_t first = m->task;

	model_sample(m, 40, MODULE "py:py::foo:/srv/x.py@3 long_add");
	model_sample(m, 20, MODULE "py:py::foo:/srv/x.py@4");
	model_sample(m, 10, MODULE "py:py::bar:/srv/x.py@6 k:sys_read");
	m->task = model_task(m, 101, "worker");
	model_sample(m, 25, MODULE "py:py::foo:/srv/x.py@3");
	model_sample(m, 5, MODULE "py:py::bar:/srv/x.py@7");
	m->task = first;
}

/* The report of a model; of fill_threads() unless a test says otherwise. */
struct fixture {
	struct model model;
	struct report_options options;
	struct entries *entries;
};

static struct entries *open_entries(struct fixture *f)
{
	report_options_init(&f->options);
	model_check(entries_create(f->model.profile, &f->options, 0, NULL,
				   &f->entries));
	return f->entries;
}

static int set_up_empty(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	model_init(&f->model, NULL);
	*state = f;
	return 0;
}

static int set_up(void **state)
{
	set_up_empty(state);
	fill_threads(&((struct fixture *)*state)->model);
	open_entries(*state);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	entries_destroy(f->entries);
	model_deinit(&f->model);
	free(f);
	return 0;
}

static struct entries *entries_of(void **state)
{
	return ((struct fixture *)*state)->entries;
}

/* The row that has the text, without blanks at its end; NULL: there is none. */
static char *find_row(struct entries *e, const char *text)
{
	_cleanup_line_ struct line line = LINE_INIT;

	vec_for_each(node, &e->made.browser.rows) {
		entries_row(e, *node, &line);
		if (strstr(line.text.data, text))
			return strdup(line.text.data);
	}
	return NULL;
}

static void check_row(struct entries *e, const char *text, const char *has)
{
	_cleanup_free_ char *row = find_row(e, text);

	if (!row || !strstr(row, has))
		fail_msg("no '%s' in the row of '%s': %s", has, text,
			 row ? row : "(there is none)");
}

static void check_no_row(struct entries *e, const char *text)
{
	_cleanup_free_ char *row = find_row(e, text);

	if (row)
		fail_msg("there is a row: %s", row);
}

static void test_rows_of_entries(void **state)
{
	struct entries *e = entries_of(state);
	struct strbuf title = STRBUF_INIT;

	entries_title(e, &title);
	assert_string_equal(title.data, "Samples: 5 of 'cycles', 100");
	check_row(e, "python3  [python]           [.] py::foo",
		  "+   60.00%    20.00%  ");
	check_row(e, "worker   [python]           [.] py::foo",
		  "+   25.00%    25.00%  ");
	check_row(e, "[k] sys_read", "   10.00%    10.00%");
	check_row(e, "long_add", "40.00%    40.00%");
	strbuf_deinit(&title);
}

static void check_lines(struct entries *e, size_t from,
			const char *const *expected)
{
	_cleanup_line_ struct line line = LINE_INIT;

	for (; *expected; expected++, from++) {
		assert_true(from < e->made.browser.rows.count);
		entries_row(e, e->made.browser.rows.data[from], &line);
		assert_string_equal(line.text.data, *expected);
	}
}

/* As the text report draws them, with what its threshold leaves out. */
static void test_chains_below_entries(void **state)
{
	static const char *const below_foo[] = {
		"   -  60.00% py::foo:/srv/x.py",
		"         40.00% long_add",
		NULL,
	};
	struct entries *e = entries_of(state);
	bool found, complete;

	model_check(browser_search(&e->made.browser, "_start", 0, 1, &found));
	assert_true(found);
	model_check(browser_open(&e->made.browser));
	/* sys_read is below bar; it is a run with it. */
	check_lines(e, e->made.browser.selected + 1,
		    (const char *const[]){ "     _start",
					   "     py::<module>:/srv/x.py",
					   "   +  60.00% py::foo:/srv/x.py",
					   "   +  10.00% py::bar:/srv/x.py",
					   NULL });
	browser_move(&e->made.browser, 3);
	model_check(browser_toggle(&e->made.browser));
	check_lines(e, e->made.browser.selected, below_foo);
	/* From the function up. */
	e->options.callgraph.order = CALLGRAPH_CALLEE;
	model_check(entries_rebuild(e, true));
	model_check(browser_search(&e->made.browser, "long_add", 0, 1, &found));
	model_check(browser_open(&e->made.browser));
	check_lines(e, e->made.browser.selected + 1,
		    (const char *const[]){ "     long_add",
					   "     py::foo:/srv/x.py",
					   "     py::<module>:/srv/x.py",
					   "     _start", NULL });
	/* What 30 % leaves out is told. */
	e->options.callgraph.order = CALLGRAPH_CALLER;
	e->options.callgraph.threshold = 30;
	model_check(entries_rebuild(e, true));
	model_check(browser_open_all(&e->made.browser, BROWSER_NONE,
				     &complete));
	check_row(e, "[...]", " 10.00% [...]");
}

/* The function that has the line, though its row does not say so. */
static void test_functions_by_their_lines(void **state)
{
	struct entries *e = entries_of(state);
	struct browser *b = &e->made.browser;
	struct zoom zoom = {};
	bool found;

	model_check(browser_search(b, "x.py:6", 0, 1, &found));
	assert_true(found);
	assert_string_equal(
		profile_string(e->profile,
			       profile_symbol(e->profile,
					      entries_selected_frame(e)->symbol)
				       ->name,
			       ""),
		"py::bar:/srv/x.py");
	model_check(browser_search(b, "x.py:5", 0, 1, &found));
	assert_false(found);
	model_check(browser_search(b, "foo:x.py", 0, 1, &found));
	assert_true(found);
	model_check(zoom_by_symbol(e->profile, strdup("x.py:6"), &zoom));
	model_check(entries_zoom(e, &zoom));
	/* 10 of thread 100, 5 of thread 101. */
	assert_int_equal(e->made.browser.rows.count, 2);
	check_row(e, "py::bar", "66.67%");
	check_no_row(e, "py::foo");
	model_check(zoom_by_symbol(e->profile, strdup("bar:x.py"), &zoom));
	model_check(entries_zoom(e, &zoom));
	check_row(e, "py::bar", "66.67%");
	model_check(zoom_by_symbol(e->profile, strdup("x.py:3"), &zoom));
	model_check(entries_zoom(e, &zoom));
	assert_int_equal(e->made.browser.rows.count, 0);
}

static void test_zooms_and_their_arithmetic(void **state)
{
	struct entries *e = entries_of(state);
	struct strbuf title = STRBUF_INIT;
	bool left;

	model_check(entries_zoom(
		e, &(struct zoom){ .kind = ZOOM_THREAD, .id = 101 }));
	check_row(e, "py::foo", "83.33%    83.33%");
	check_no_row(e, "long_add");
	entries_title(e, &title);
	assert_string_equal(
		title.data,
		"in thread 101  Samples: 2 of 'cycles', 30 (30.00% of all)");
	/* In it, one function: 5 of 30, which is 100 % of what is shown. */
	model_check(entries_zoom(e, &(struct zoom){ .kind = ZOOM_SYMBOL,
						    .text = strdup("bar") }));
	check_row(e, "py::bar", "100.00%   100.00%");
	assert_int_equal(e->made.browser.rows.count, 1);
	e->whole = true;
	model_check(entries_rebuild(e, false));
	check_row(e, "py::bar", "5.00%     5.00%");
	e->whole = false;
	model_check(entries_leave(e, &left));
	assert_true(left);
	check_row(e, "py::foo", "83.33%    83.33%");
	model_check(entries_leave(e, &left));
	assert_true(left);
	model_check(entries_leave(e, &left));
	assert_false(left);
	check_row(e, "python3  [python]           [.] py::foo", "60.00%");
	/* By file: entries in it, of samples that pass through it. */
	model_check(entries_zoom(e, &(struct zoom){ .kind = ZOOM_KERNEL }));
	check_row(e, "sys_read", "100.00%   100.00%");
	assert_int_equal(e->made.browser.rows.count, 1);
	strbuf_deinit(&title);
}

/* Names of files give way to those of functions, and numbers to nothing. */
static void test_a_narrow_window(void **state)
{
	struct entries *e = entries_of(state);

	check_row(e, "sys_read",
		  "10.00%    10.00%  python3  [kernel.kallsyms]  [k] sys_read");
	e->columns = 80;
	check_row(e, "sys_read",
		  "10.00%    10.00%  python3  [kernel...  [k] sys_read");
	e->columns = 20;
	check_row(e, "sys_read",
		  "10.00%    10.00%  python3  [kernel...  [k] sys_read");
	e->columns = 85;
	check_row(e, "sys_read",
		  "10.00%    10.00%  python3  [kernel.ka..  [k] sys_read");
}

static struct zoom function_zoom(const struct profile *profile,
				 const char *name)
{
	vec_for_each(symbol, &profile->symbols)
		if (!strcmp(profile_string(profile, symbol->name, ""), name))
			return (struct zoom){ .kind = ZOOM_FUNCTION,
					      .id = (int32_t)symbol->line,
					      .name = symbol->name };
	fail_msg("no symbol '%s'", name);
	return (struct zoom){};
}

/* No entry is both: the last one is shown, of samples that pass through each. */
static void test_zooms_into_callers_and_callees(void **state)
{
	struct entries *e = entries_of(state);
	struct zoom module = function_zoom(e->profile,
					   "py::<module>:/srv/x.py");
	struct zoom foo = function_zoom(e->profile, "py::foo:/srv/x.py");
	struct zoom bar = function_zoom(e->profile, "py::bar:/srv/x.py");
	bool left;

	model_check(entries_zoom(e, &module));
	model_check(entries_zoom(e, &bar));
	check_row(e, "py::bar", "66.67%");
	check_no_row(e, "py::foo");
	check_no_row(e, "py::<module>");
	model_check(entries_zoom(e, &(struct zoom){ .kind = ZOOM_KERNEL }));
	check_row(e, "sys_read", "100.00%   100.00%");
	assert_int_equal(e->made.browser.rows.count, 1);
	model_check(entries_zoom(e, &module));
	check_row(e, "py::<module>", "100.00%     0.00%");
	assert_int_equal(e->made.browser.rows.count, 1);
	/* What is not called from bar in the kernel. */
	model_check(entries_zoom(e, &foo));
	assert_int_equal(e->made.browser.rows.count, 0);
	model_check(entries_leave(e, &left));
	model_check(entries_leave(e, &left));
	check_row(e, "sys_read", "100.00%   100.00%");
}

static void select_row(struct entries *e, const char *text)
{
	bool found;

	model_check(browser_search(&e->made.browser, text, 0, 1, &found));
	assert_true(found);
}

static void check_details(struct entries *e, const char *const *lines)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	row_details(e, &text);
	for (; *lines; lines++)
		if (!strstr(text.data, *lines))
			fail_msg("no '%s' in\n%s", *lines, text.data);
}

static void test_details_of_rows(void **state)
{
	struct entries *e = entries_of(state);

	select_row(e, "long_add");
	check_details(e, (const char *const[]){
				 "function      : long_add\n",
				 "kind          : native\n",
				 " of the file, 4096 bytes\n",
				 "file          : python3.11\n",
				 "with callees  : 40, 40.00%\n",
				 "samples       : 1 in itself\n",
				 "command       : python3\n", NULL });
	select_row(e, "_start");
	model_check(browser_open(&e->made.browser));
	browser_move(&e->made.browser, 3);
	check_details(e, (const char *const[]){
				 "function      : py::foo:/srv/x.py\n",
				 "kind          : Python\n",
				 "this branch   : 60, 60.00%\n",
				 "samples       : 2\n", NULL });
	select_row(e, "sys_read");
	check_details(e, (const char *const[]){ "kind          : kernel\n",
						"in itself     : 10, 10.00%\n",
						NULL });
}

/* Of the model's files the path is the name. */
static void test_rows_with_files(void **state)
{
	struct entries *e = entries_of(state);

	e->verbose = true;
	select_row(e, "_start");
	model_check(browser_open(&e->made.browser));
	check_row(e, "py::foo", "60.00% py::foo:/srv/x.py  [python]");
	check_row(e, "[k] sys_read", "python3  [kernel.kallsyms]  [k] sys_read");
}

static void test_the_task_of_a_row(void **state)
{
	struct entries *e = entries_of(state);
	struct zoom zoom;

	select_row(e, "worker");
	assert_true(entries_selected_task(e, ZOOM_COMM, &zoom));
	assert_string_equal(profile_string(e->profile, zoom.name, ""),
			    "worker");
	/* comm, dso, sym do not tell it. */
	assert_false(entries_selected_task(e, ZOOM_THREAD, &zoom));
	model_check(report_parse_sort(&e->options, "tid"));
	model_check(entries_rebuild(e, true));
	browser_select(&e->made.browser, 1);
	assert_true(entries_selected_task(e, ZOOM_THREAD, &zoom));
	assert_int_equal(zoom.id, 101);
}

/* Stops at the n-th look. */
struct stopper {
	struct watch watch;
	int looks;
};

static bool look(void *arg, const char *what, uint64_t done, uint64_t total)
{
	struct stopper *stopper = arg;

	assert_non_null(what);
	assert_true(done <= total);
	return stopper->looks-- > 0;
}

static void stopper_init(struct stopper *stopper, int looks)
{
	*stopper = (struct stopper){ .watch = { .go_on = look, .arg = stopper },
				     .looks = looks };
}

/* 2,000 functions, each hit once and called once. */
static void fill_many(struct model *m)
{
	for (int i = 0; i < 2000; i++) {
		char stack[64];

		snprintf(stack, sizeof(stack), "main f%d", i);
		model_sample(m, 1 + (uint64_t)i, stack);
	}
}

/* All rows, in one text. */
static char *all_rows(struct entries *e)
{
	_cleanup_line_ struct line line = LINE_INIT;
	struct strbuf all = STRBUF_INIT;

	entries_title(e, &all);
	vec_for_each(node, &e->made.browser.rows) {
		entries_row(e, *node, &line);
		strbuf_puts(&all, line.text.data);
		strbuf_putc(&all, '\n');
	}
	return strbuf_take(&all);
}

static void check_interrupted(struct error *error)
{
	assert_non_null(error);
	assert_int_equal(error->code, ERROR_INTERRUPTED);
	error_destroy(error);
}

/* Whenever it is stopped, all is as it was, and can be done again. */
static void test_a_stopped_change_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct entries *e;
	struct stopper stopper;
	int looks = 0;

	fill_many(&f->model);
	e = open_entries(f);
	model_check(entries_zoom(e, &(struct zoom){ .kind = ZOOM_SYMBOL,
						    .text = strdup("1") }));
	browser_select(&e->made.browser, 100);
	model_check(browser_open(&e->made.browser));
	e->watch = &stopper.watch;
	for (;; looks++) {
		_cleanup_free_ char *before = all_rows(e), *after = NULL;
		struct error *error;

		stopper_init(&stopper, looks);
		e->whole = true;
		e->options.children = false;
		error = entries_zoom(e, &(struct zoom){ .kind = ZOOM_SYMBOL,
							.text = strdup("0") });
		if (!error)
			break;
		check_interrupted(error);
		assert_false(e->whole);
		assert_true(e->options.children);
		assert_int_equal(e->zooms.count, 1);
		assert_string_equal(e->zooms.data[0].text, "1");
		assert_int_equal(e->made.browser.selected, 100);
		after = all_rows(e);
		assert_string_equal(before, after);
	}
	/* It was stopped while samples were counted, and while sorting. */
	assert_true(looks > 2000 / WATCH_EVERY);
	assert_int_equal(e->zooms.count, 2);
	assert_true(e->whole);
}

/* Without zooms it is what it was, unless other things were changed meanwhile. */
static void test_leaving_zooms_needs_no_work(void **state)
{
	struct entries *e = entries_of(state);
	_cleanup_free_ char *before = NULL, *after = NULL, *limited = NULL;
	const struct calltree *tree;
	bool left;

	select_row(e, "_start");
	model_check(browser_open(&e->made.browser));
	before = all_rows(e);
	tree = e->made.tree;
	model_check(entries_zoom(
		e, &(struct zoom){ .kind = ZOOM_THREAD, .id = 100 }));
	model_check(entries_zoom(e, &(struct zoom){ .kind = ZOOM_KERNEL }));
	e->whole = true;
	model_check(entries_rebuild(e, false));
	select_row(e, "sys_read");
	model_check(entries_leave(e, &left));
	assert_ptr_not_equal(e->made.tree, tree);
	model_check(entries_leave(e, &left));
	assert_ptr_equal(e->made.tree, tree);
	after = all_rows(e);
	assert_string_equal(before, after);
	check_rows(&e->made.browser);
	/* On the entry that was selected in the zoom. */
	check_details(e, (const char *const[]){ "sys_read\n", NULL });
	model_check(entries_zoom(e, &(struct zoom){ .kind = ZOOM_KERNEL }));
	e->options.percent_limit = 50;
	model_check(entries_rebuild(e, false));
	model_check(entries_leave(e, &left));
	limited = all_rows(e);
	assert_null(strstr(limited, "sys_read"));
	assert_non_null(strstr(limited, "_start"));
	/* And with other places. */
	model_check(entries_zoom(e, &(struct zoom){ .kind = ZOOM_KERNEL }));
	e->options.children = false;
	e->options.percent_limit = 0;
	model_check(entries_rebuild(e, true));
	model_check(entries_leave(e, &left));
	check_no_row(e, "_start");
	check_row(e, "sys_read", "10.00%");
}

static void test_options_after_zooms_are_those_shown(void **state)
{
	struct fixture *f = *state;
	struct entries *e;
	struct stopper stopper;
	bool left;

	fill_many(&f->model);
	e = open_entries(f);
	model_check(entries_zoom(e, &(struct zoom){ .kind = ZOOM_SYMBOL,
						    .text = strdup("1") }));
	e->options.percent_limit = 50;
	model_check(entries_rebuild(e, false));
	model_check(entries_leave(e, &left));
	e->options.percent_limit = 0;
	model_check(entries_rebuild(e, false));
	/* What is stopped leaves them. */
	e->watch = &stopper.watch;
	stopper_init(&stopper, 0);
	e->options.percent_limit = 50;
	check_interrupted(entries_rebuild(e, false));
	assert_true(e->options.percent_limit < 1);
}

static void test_opening_and_searching_can_be_stopped(void **state)
{
	struct fixture *f = *state;
	struct entries *e;
	struct stopper stopper;
	bool complete, found;

	fill_many(&f->model);
	e = open_entries(f);
	e->made.browser.source.watch = &stopper.watch;
	stopper_init(&stopper, 1);
	check_interrupted(browser_open_all(&e->made.browser, BROWSER_NONE,
					   &complete));
	check_rows(&e->made.browser);
	assert_true(e->made.browser.rows.count > 2001);
	browser_select(&e->made.browser, 3);
	stopper_init(&stopper, 1);
	check_interrupted(browser_search(&e->made.browser, "no such", 3, 1,
					 &found));
	assert_int_equal(e->made.browser.selected, 3);
	stopper_init(&stopper, INT_MAX);
	model_check(browser_open_all(&e->made.browser, BROWSER_NONE,
				     &complete));
	assert_true(complete);
	check_rows(&e->made.browser);
}

static void test_choices(void **state)
{
	zoom_choice_vec choices = {};
	struct entries *e = entries_of(state);

	model_check(zoom_choices(e->profile, 0, NULL, ZOOM_THREAD, &choices));
	assert_int_equal(choices.count, 2);
	assert_int_equal(choices.data[0].zoom.id, 100);
	assert_int_equal(choices.data[0].period, 70);
	assert_int_equal(choices.data[1].zoom.id, 101);
	assert_int_equal(choices.data[1].count, 2);
	vec_clear(&choices);
	model_check(zoom_choices(e->profile, 0, NULL, ZOOM_PROCESS, &choices));
	assert_int_equal(choices.count, 1);
	assert_int_equal(choices.data[0].period, 100);
	vec_deinit(&choices);
}

/* --- Annotation --------------------------------------------------------- */

static const struct profile_frame *frame_of(struct entries *e, const char *name)
{
	select_row(e, name);
	return entries_selected_frame(e);
}

static void check_weight(const struct annotation *a, uint64_t at,
			 uint64_t period, uint64_t self)
{
	const struct annotate_weight *w = annotation_find(a, at);

	assert_non_null(w);
	assert_int_equal(w->period, period);
	assert_int_equal(w->self_period, self);
}

static void test_lines_of_a_python_function(void **state)
{
	_cleanup_(cleanup_annotation_) struct annotation *a = NULL;
	struct entries *e = entries_of(state);

	model_check(annotation_create(e, frame_of(e, "py::foo"), &a));
	assert_true(a->is_python);
	assert_int_equal(a->places.count, 2);
	check_weight(a, 3, 65, 25);
	check_weight(a, 4, 20, 20);
	assert_null(annotation_find(a, 5));
	assert_int_equal(annotation_last(a), 4);
	assert_int_equal(a->whole.period, 85);
	assert_int_equal(a->whole.self_period, 45);
	assert_int_equal(a->whole.count, 3);
	assert_int_equal(a->total_period, 100);
}

/* A sample counts once for a line, and once for the function. */
static void test_lines_of_a_recursion(void **state)
{
	_cleanup_(cleanup_annotation_) struct annotation *a = NULL;
	struct fixture *f = *state;
	struct entries *e;

	model_sample(&f->model, 10, MODULE "py:py::f:/srv/x.py@5 py:py::f:/srv/x.py@5 "
				    "py:py::f:/srv/x.py@6");
	model_sample(&f->model, 1, MODULE "py:py::f:/srv/x.py@5");
	e = open_entries(f);
	model_check(annotation_create(e, frame_of(e, "py::f:"), &a));
	check_weight(a, 5, 11, 1);
	check_weight(a, 6, 10, 10);
	assert_int_equal(a->whole.period, 11);
	assert_int_equal(a->whole.count, 2);
}

static void test_addresses_of_a_native_function(void **state)
{
	_cleanup_(cleanup_annotation_) struct annotation *a = NULL;
	const struct profile_frame *frame;
	struct entries *e = entries_of(state);

	frame = frame_of(e, "long_add");
	model_check(annotation_create(e, frame, &a));
	assert_false(a->is_python);
	assert_int_equal(a->places.count, 1);
	check_weight(a, frame->rel, 0, 40);
	assert_int_equal(a->elsewhere, 0);
	assert_int_equal(a->whole.self_period, 40);
}

static void test_lines_of_objdump(void **state)
{
	static const char *const no[] = { "", ":", ":\t", "  \tx",
					  "0000000000401136 <main>:",
					  "int f() { return g: }", "zz:\tx",
					  "11112222333344445:\tx" };
	uint64_t address;
	size_t text;

	(void)state;
	assert_true(disassembly_address("  40113a:\tpush   %rbp", 22, &address,
					&text));
	assert_int_equal(address, 0x40113a);
	assert_int_equal(text, 10);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(disassembly_address(no[i], strlen(no[i]),
						 &address, &text));
}

/* --- Code that is in no file -------------------------------------------- */

#define CODE_AT 0xffffffff81001000

static const uint8_t code[] = { 0x8d, 0x44, 0x7f, 0x01, 0xc3 };

static void test_instructions_of_bytes(void **state)
{
	const struct jit_image image = { .name = "triple",
					 .code = { code, sizeof(code) } };
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	bool has_source = true;

	(void)state;
	model_check(disassembly_code(&image, CODE_AT, NULL, &out,
				     &has_source));
	assert_non_null(strstr(out.data, "<triple>:"));
	assert_non_null(strstr(out.data, "ffffffff81001000:\tlea    0x1(%rdi,%rdi,2),%eax"));
	assert_non_null(strstr(out.data, "ffffffff81001004:\tret"));
}

/* A core file with the code at CODE_AT, below a folder that stands for "/". */
static void write_kcore(const char *root, const char *magic)
{
	Elf64_Ehdr header = { .e_ident = { [EI_CLASS] = ELFCLASS64,
					   [EI_DATA] = ELFDATA2LSB },
			      .e_type = ET_CORE,
			      .e_phoff = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 2 };
	const Elf64_Phdr segments[2] = {
		{ .p_type = PT_NOTE, .p_vaddr = CODE_AT, .p_filesz = 4096 },
		{ .p_type = PT_LOAD,
		  .p_vaddr = CODE_AT - 0x10,
		  .p_filesz = 0x10 + sizeof(code),
		  .p_offset = 0x1000 },
	};
	char bytes[0x1010 + sizeof(code)] = {};

	memcpy(header.e_ident, magic, SELFMAG);
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), segments, sizeof(segments));
	memcpy(bytes + 0x1010, code, sizeof(code));
	fake_file_write_bytes(root, "/proc/kcore", bytes, sizeof(bytes));
}

static void check_kernel_error(const char *root, uint64_t address, size_t size,
			       enum error_code error_code)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct error *error = kernel_code_read(root, address, size, &out);

	assert_non_null(error);
	assert_int_equal(error->code, error_code);
	assert_int_equal(out.len, 0);
	error_destroy(error);
}

static void test_code_of_the_kernel(void **state)
{
	char root[] = "/tmp/kaa-test-XXXXXX";
	char path[80];
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_non_null(mkdtemp(root));
	check_kernel_error(root, CODE_AT, 1, ERROR_OS);
	write_kcore(root, ELFMAG);
	model_check(kernel_code_read(root, CODE_AT, sizeof(code), &out));
	assert_int_equal(out.len, sizeof(code));
	assert_memory_equal(out.data, code, sizeof(code));
	/* A note is no memory; nothing beyond the end, nor around it. */
	check_kernel_error(root, CODE_AT + 1, sizeof(code), ERROR_NOT_FOUND);
	check_kernel_error(root, CODE_AT - 0x11, 1, ERROR_NOT_FOUND);
	check_kernel_error(root, CODE_AT, SIZE_MAX - 4, ERROR_NOT_FOUND);
	snprintf(path, sizeof(path), "%s/proc/kcore", root);
	assert_int_equal(truncate(path, 0x1012), 0);
	check_kernel_error(root, CODE_AT, sizeof(code), ERROR_TRUNCATED);
	write_kcore(root, "none");
	check_kernel_error(root, CODE_AT, sizeof(code), ERROR_FORMAT);
	assert_int_equal(fake_tree_remove(root), 0);
}

/* --- Sources ------------------------------------------------------------ */

static void check_source_error(const char *path, const char *has)
{
	struct source source;
	struct strbuf text = STRBUF_INIT;
	struct error *error = source_read(NULL, path, &source);

	assert_non_null(error);
	error_format(error, &text);
	assert_non_null(strstr(text.data, has));
	strbuf_deinit(&text);
	error_destroy(error);
}

static void test_sources_are_bounded(void **state)
{
	char folder[] = "/tmp/kaa-test-XXXXXX";
	char path[64];
	struct source source;
	const char *line;
	size_t n;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	/* Not waited for. */
	check_source_error(path, "is not a regular file");
	unlink(path);
	check_source_error(folder, "is not a regular file");
	check_source_error("/dev/zero", "is not a regular file");
	check_source_error("/nowhere/x.py", "No such file");
	snprintf(path, sizeof(path), "%s/x.py", folder);
	file = fopen(path, "w");
	fputs("one\r\n\nthree", file);
	fclose(file);
	model_check(source_read(NULL, path, &source));
	assert_int_equal(source.starts.count, 3);
	line = source_line(&source, 1, &n);
	assert_int_equal(n, 3);
	assert_memory_equal(line, "one", 3);
	(void)source_line(&source, 2, &n);
	assert_int_equal(n, 0);
	line = source_line(&source, 3, &n);
	assert_memory_equal(line, "three", n);
	assert_int_equal(n, 5);
	(void)source_line(&source, 4, &n);
	assert_int_equal(n, 0);
	source_deinit(&source);
	assert_int_equal(truncate(path, SOURCE_SIZE_MAX + 1), 0);
	check_source_error(path, "is larger than 16 MiB");
	unlink(path);
	rmdir(folder);
}

#define REPORT_TEST(name) \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_follow_what_is_open),
		cmocka_unit_test(test_any_order_of_keys_keeps_rows_right),
		cmocka_unit_test(test_an_empty_browser),
		cmocka_unit_test(test_search_goes_around),
		cmocka_unit_test(test_large_forests),
		cmocka_unit_test(test_nothing_dangerous_is_printed),
		cmocka_unit_test(test_alignment),
		REPORT_TEST(test_rows_of_entries),
		REPORT_TEST(test_chains_below_entries),
		REPORT_TEST(test_functions_by_their_lines),
		REPORT_TEST(test_zooms_and_their_arithmetic),
		REPORT_TEST(test_zooms_into_callers_and_callees),
		REPORT_TEST(test_a_narrow_window),
		REPORT_TEST(test_details_of_rows),
		REPORT_TEST(test_rows_with_files),
		REPORT_TEST(test_the_task_of_a_row),
		cmocka_unit_test_setup_teardown(
			test_a_stopped_change_changes_nothing, set_up_empty,
			tear_down),
		REPORT_TEST(test_leaving_zooms_needs_no_work),
		cmocka_unit_test_setup_teardown(
			test_options_after_zooms_are_those_shown, set_up_empty,
			tear_down),
		cmocka_unit_test_setup_teardown(
			test_opening_and_searching_can_be_stopped, set_up_empty,
			tear_down),
		REPORT_TEST(test_choices),
		REPORT_TEST(test_lines_of_a_python_function),
		cmocka_unit_test_setup_teardown(test_lines_of_a_recursion,
						set_up_empty, tear_down),
		REPORT_TEST(test_addresses_of_a_native_function),
		cmocka_unit_test(test_lines_of_objdump),
		cmocka_unit_test(test_instructions_of_bytes),
		cmocka_unit_test(test_code_of_the_kernel),
		cmocka_unit_test(test_sources_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
