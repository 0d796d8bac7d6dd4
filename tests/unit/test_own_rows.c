// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows that a report on a terminal opens with: that they add up, whatever is
 * zoomed into, and that their text fits and tells them apart.
 */
#include "assert_ok.h"

#include "explore/annotate.h"
#include "explore/own_rows.h"
#include "explore/own_selected.h"
#include "explore/own_text.h"
#include "explore/own_title.h"
#include "model.h"
#include "view/printable.h"

#define MAIN "py:py::<module>:/srv/x.py@90"
#define F "py:py::f:/srv/x.py"
#define G "py:py::g:/srv/y.py"

static void put_source(void *arg, const char *file, uint32_t line,
		       struct strbuf *out)
{
	(void)arg;
	(void)file;
	strbuf_printf(out, "\t\tsource of line %u, as long as a line of code may be;", line);
}

static const struct answer_options options = { .folder = "/srv",
					       .source = put_source };

static void init(struct model *m)
{
	model_init(m, NULL);
	m->profile->events.data[0].kind = EVENT_ON_CPU;
	m->profile->events.data[0].unit = EVENT_NANOSECONDS;
}

/* Two threads; all that follows is counted by hand from this. */
static void fill(struct model *m)
{
	init(m);
	model_sample(m, 1, "_start");
	model_sample(m, 2, MAIN " I:eval " F "@3");
	model_sample(m, 4, MAIN " I:eval " F "@3 list_sort");
	model_sample(m, 8, MAIN " I:eval " F "@4 I:eval " G "@8 lib:deflate");
	m->task = model_task(m, 101, "worker");
	model_sample(m, 16, G "@8 lib:deflate k:__x64_sys_read");
	model_sample(m, 32, G "@9 I:eval " F "@3 list_sort");
}

static struct own_rows *rows_of(const struct model *m)
{
	struct own_rows *rows = NULL;

	assert_ok(own_rows_create(m->profile, 0, &options, NULL, &rows));
	assert_ok(own_rows_resize(rows, 30));
	return rows;
}

static void show(struct own_rows *rows, enum own_view view, bool with_native)
{
	assert_ok(own_rows_show(rows, view, with_native, false));
}

/* The row of that node, to be freed. */
static char *text_of(struct own_rows *rows, uint32_t node, size_t columns)
{
	struct line line = LINE_INIT;

	own_text_row(rows, node, columns, &line);
	return line.text.data;
}

static uint64_t own_of(const struct own_rows *rows, uint32_t node)
{
	const struct browser_node *n = &rows->browser.nodes.data[node];
	const struct own_time *own = rows->made.own;

	switch (n->kind) {
	case OWN_FUNCTION:
		return own->functions.data[n->ref].own.period;
	case OWN_LINE:
		return own->lines.data[n->ref].own.period;
	case OWN_FILE:
		return own->files.data[n->ref].own.period;
	case OWN_THREAD:
		return rows->made.threads.data[n->ref].period;
	case OWN_CODE:
		return rows->made.codes.data[n->ref].period;
	case OWN_PART:
	case OWN_USER:
		return rows->made.pieces.data[n->ref].period;
	case OWN_REST:
		return rows->rest_period[n->ref];
	}
	return 0;
}

/* What the top of a view weighs; each row that opens, as what is below it. */
static uint64_t sum_of(struct own_rows *rows)
{
	struct browser *b = &rows->browser;
	size_t count = b->rows.count;
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t node = b->rows.data[i];

		sum += own_of(rows, node);
	}
	for (size_t i = count; i--;) {
		uint32_t node = b->rows.data[i];
		uint64_t below = 0;

		if (!b->nodes.data[node].can_open)
			continue;
		browser_select(b, i);
		assert_ok(browser_open(b));
		for (uint32_t id = b->nodes.data[node].first_child;
		     id != BROWSER_NONE; id = b->nodes.data[id].next)
			below += own_of(rows, id);
		assert_int_equal(below, own_of(rows, node));
	}
	return sum;
}

static void check_sums(struct own_rows *rows, uint64_t all)
{
	assert_int_equal(rows->made.own->all.period, all);
	for (unsigned int native = 0; native < 2; native++)
		for (unsigned int view = OWN_FUNCTIONS; view < OWN_CALLERS;
		     view++) {
			show(rows, (enum own_view)view, native);
			assert_int_equal(sum_of(rows), all);
		}
}

static void zoom(struct own_rows *rows, struct zoom zoom)
{
	assert_ok(own_rows_zoom(rows, &zoom));
}

static void leave(struct own_rows *rows, bool expected)
{
	bool left;

	assert_ok(own_rows_leave(rows, &left));
	assert_int_equal(left, expected);
}

#define LOADS "py:py::loads:/usr/lib/python3.11/json/__init__.py"

/* Of what is zoomed into, and after each other choice. */
static void test_libraries_may_count_for_who_calls_them(void **state)
{
	struct line title = LINE_INIT;
	struct own_rows *rows;
	struct model m;
	bool left;

	(void)state;
	init(&m);
	model_sample(&m, 1, "_start");
	model_sample(&m, 2, MAIN " I:eval " F "@3 I:eval " LOADS " list_sort");
	model_sample(&m, 4, MAIN " I:eval " LOADS " I:eval " G "@8 lib:deflate");
	m.task = model_task(&m, 101, "worker");
	model_sample(&m, 8, LOADS);
	rows = rows_of(&m);
	check_sums(rows, 15);
	assert_int_equal(rows->made.own->functions.count, 5);
	assert_ok(own_rows_count_libraries(rows, true));
	check_sums(rows, 15);
	/* f, g, the body that has none itself, and what is in no file of the program. */
	assert_int_equal(rows->made.own->functions.count, 4);
	assert_int_equal(rows->made.own->kinds[SPENT_LIBRARY].period, 10);
	own_title_put(rows, 200, false, &title.text);
	assert_non_null(strstr(title.text.data, ", libraries count for their callers"));
	zoom(rows, (struct zoom){ .kind = ZOOM_THREAD, .id = 100 });
	check_sums(rows, 7);
	assert_int_equal(rows->made.own->kinds[SPENT_LIBRARY].period, 2);
	assert_ok(own_rows_count_libraries(rows, false));
	check_sums(rows, 7);
	assert_int_equal(rows->made.own->kinds[SPENT_LIBRARY].period, 0);
	assert_ok(own_rows_leave(rows, &left));
	assert_true(left);
	check_sums(rows, 15);
	strbuf_deinit(&title.text);
	own_rows_destroy(rows);
	model_deinit(&m);
}

static void test_rows_add_up_to_all_samples(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct zoom function;
	struct model m;

	(void)state;
	fill(&m);
	rows = rows_of(&m);
	check_sums(rows, 63);
	zoom(rows, (struct zoom){ .kind = ZOOM_THREAD, .id = 101 });
	check_sums(rows, 48);
	/* Those that pass through the kernel, in that thread. */
	zoom(rows, (struct zoom){ .kind = ZOOM_KERNEL });
	check_sums(rows, 16);
	leave(rows, true);
	leave(rows, true);
	leave(rows, false);
	check_sums(rows, 63);
	zoom(rows, (struct zoom){ .kind = ZOOM_SOURCE,
				  .name = model_string(&m, "/srv/y.py") });
	check_sums(rows, 56);
	leave(rows, true);
	/* f is the heaviest: 2 + 4 + 32 of its own, and 8 of g that it calls. */
	show(rows, OWN_FUNCTIONS, false);
	assert_true(own_selected_function(rows, &function));
	assert_string_equal(profile_string(m.profile, function.name, ""),
			    "py::f:/srv/x.py");
	zoom(rows, function);
	check_sums(rows, 46);
	/* With g, of another file: no frame is of both. */
	zoom(rows, (struct zoom){ .kind = ZOOM_SOURCE,
				  .name = model_string(&m, "/srv/y.py") });
	check_sums(rows, 40);
	model_deinit(&m);
}

static const struct own_code *code_of(const struct own_rows *rows,
				      const char *name)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	for (uint32_t i = 0; i < rows->browser.rows.count; i++) {
		const struct browser_node *node =
			&rows->browser.nodes.data[rows->browser.rows.data[i]];

		strbuf_clear(&text);
		own_text_names(rows, node, &text);
		if (!strncmp(text.data, name, strlen(name)))
			return &rows->made.codes.data[node->ref];
	}
	fail_msg("no row %s", name);
	return NULL;
}

static void test_a_thread_that_is_zoomed_into_is_named(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	_cleanup_strbuf_ struct strbuf title = STRBUF_INIT;
	struct model m;

	(void)state;
	fill(&m);
	rows = rows_of(&m);
	zoom(rows, (struct zoom){ .kind = ZOOM_THREAD, .id = 101 });
	own_title_put(rows, 80, true, &title);
	assert_string_equal(title.data,
			    "in thread 101 (worker)   0 ms CPU   2 samples, 76.2% of all");
	/* A narrow window loses what tells least, and not which thread it is. */
	for (size_t columns = 22; columns < 80; columns++) {
		strbuf_clear(&title);
		own_title_put(rows, columns, true, &title);
		assert_true(title.len <= columns);
		assert_int_equal(strncmp(title.data, "in thread 101 (worker)", 22), 0);
	}
	/* It needs no section. */
	for (uint32_t i = 0; i < rows->browser.nodes.count; i++)
		assert_int_not_equal(rows->browser.nodes.data[i].kind,
				     OWN_THREAD);
	model_deinit(&m);
}

static void test_native_code_has_rows_of_its_own(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct model m;

	(void)state;
	fill(&m);
	rows = rows_of(&m);
	show(rows, OWN_FUNCTIONS, true);
	assert_int_equal(code_of(rows, "list_sort ")->period, 36);
	assert_int_equal(code_of(rows, "deflate libother.so")->period, 8);
	assert_int_equal(code_of(rows, "read() kernel")->period, 16);
	/* What the interpreter needed for the function. */
	assert_int_equal(code_of(rows, "f x.py")->period, 2);
	model_deinit(&m);
}

static void test_the_overview_has_the_size_of_the_window(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct model m;

	(void)state;
	init(&m);
	for (unsigned int i = 0; i < 90; i++) {
		char stack[128];

		m.task = model_task(&m, 100 + (int)i % 12, "worker");
		snprintf(stack, sizeof(stack), MAIN " I:eval py:py::f%u:/srv/x.py@%u",
			 i, 100 + i);
		model_sample(&m, 1000 + i * i, stack);
	}
	rows = rows_of(&m);
	for (size_t height = 12; height < 70; height++) {
		uint64_t sum = 0;

		assert_ok(own_rows_resize(rows, height));
		assert_int_equal(rows->browser.rows.count, rows->browser.nodes.count);
		assert_true(rows->browser.rows.count <= height);
		/* What room there is, is used. */
		assert_true(rows->browser.rows.count + 1 >=
			    (height < 50 ? height : 50));
		for (uint32_t i = 0; i < rows->browser.nodes.count; i++)
			sum += own_of(rows, i);
		/* Each of three sections has all samples. */
		assert_int_equal(sum, 3 * rows->made.own->all.period);
		/* The heaviest function is what is selected. */
		assert_int_equal(own_selected_node(rows)->kind, OWN_FUNCTION);
		assert_int_equal(own_of(rows, browser_selected(&rows->browser)),
				 1000 + 89 * 89);
	}
	model_deinit(&m);
}

/* Most functions only call others: by total time they count, too, where rows are left out. */
static void test_what_only_calls_is_left_out_by_count(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct model m;

	(void)state;
	init(&m);
	for (unsigned int i = 0; i < 40; i++) {
		char stack[192];

		snprintf(stack, sizeof(stack),
			 MAIN " I:eval py:py::outer%u:/srv/x.py@%u I:eval py:py::inner%u:/srv/x.py@%u",
			 i, 100 + i, i % 6, 200 + i % 6);
		model_sample(&m, 1000 + i, stack);
	}
	rows = rows_of(&m);
	assert_ok(own_rows_show(rows, OWN_OVERVIEW, false, true));
	for (size_t height = 12; height < 70; height++) {
		uint64_t sum = 0;

		assert_ok(own_rows_resize(rows, height));
		for (uint32_t i = 0; i < rows->browser.nodes.count; i++)
			sum += own_of(rows, i);
		assert_int_equal(sum, 2 * rows->made.own->all.period);
		assert_int_equal(rows->shown[OWN_FUNCTIONS] +
					 rows->rest_count[OWN_FUNCTIONS],
				 rows->made.own->functions.count);
		assert_int_equal(rows->shown[OWN_LINES] +
					 rows->rest_count[OWN_LINES],
				 rows->made.own->lines.count);
	}
	model_deinit(&m);
}

static void fill_with_long_names(struct model *m)
{
	init(m);
	model_sample(m, 50,
		     MAIN " I:eval "
			  "py:py::Orders.with_a_very_long_name_of_its_own.<locals>.and_a_function_in_it:"
			  "/srv/a/package/in/many/folders/below/the/current/one/module.py@12345 "
			  "lib:a_native_function<with<many,template>,arguments>::of_its_class");
	model_sample(m, 49,
		     MAIN " I:eval "
			  "py:py::Orders.with_a_very_long_name_of_its_own.<locals>.and_another:"
			  "/srv/a/package/in/many/folders/below/the/current/one/other.py@1 ");
	model_sample(m, 20, MAIN " I:eval " F "@3");
	model_sample(m, 10, "lib:no_python_at_all");
	m->task = model_task(m, 4321, "a-name-of-15-by");
	model_sample(m, 9, MAIN " I:eval " G "@4 k:__x64_sys_read");
}

/* What stands behind the numbers. */
static const char *names_in(const char *text)
{
	return text + strspn(text, " +-%.0123456789");
}

static bool are_siblings(const struct browser *b, size_t i, size_t k)
{
	const struct browser_node *x = &b->nodes.data[b->rows.data[i]];
	const struct browser_node *y = &b->nodes.data[b->rows.data[k]];

	return x->kind == y->kind && x->parent == y->parent &&
	       x->kind > OWN_REST;
}

/* All rows, open: none is too wide, and no two are one. */
static void check_texts(struct own_rows *rows, size_t columns)
{
	struct browser *b = &rows->browser;
	bool complete;

	assert_ok(browser_open_all(b, BROWSER_NONE, &complete));
	browser_resize(b, b->rows.count);
	for (size_t i = 0; i < b->rows.count; i++) {
		char *text = text_of(rows, b->rows.data[i], columns);

		if (printable_width(text, strlen(text)) > columns)
			fail_msg("at %zu: %s", columns, text);
		for (size_t k = 0; k < i; k++) {
			char *other = text_of(rows, b->rows.data[k], columns);

			if (are_siblings(b, i, k))
				assert_string_not_equal(names_in(text),
							names_in(other));
			free(other);
		}
		free(text);
	}
}

/* Of callers those of the function that is called last. */
static void show_any(struct own_rows *rows, enum own_view view,
		     bool with_native)
{
	struct zoom function;

	if (view != OWN_CALLERS) {
		show(rows, view, with_native);
		return;
	}
	show(rows, OWN_FUNCTIONS, false);
	assert_true(own_selected_function(rows, &function));
	assert_ok(own_rows_show_callers(rows, &function));
}

static void test_rows_fit_and_differ_at_any_width(void **state)
{
	static const size_t widths[] = { 40, 60, 80, 100, 120, 200 };
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct line line = LINE_INIT;
	struct model m;

	(void)state;
	fill_with_long_names(&m);
	rows = rows_of(&m);
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++)
		for (unsigned int view = 0; view < 2 * OWN_VIEWS; view++) {
			show_any(rows, (enum own_view)(view / 2), view % 2);
			check_texts(rows, widths[i]);
			own_text_head(rows, widths[i], &line);
			assert_true(printable_width(line.text.data,
						    line.text.len) <=
				    widths[i]);
		}
	line_deinit(&line);
	model_deinit(&m);
}

/* Names that say nothing, and files that differ far from their ends. */
static void test_files_of_one_name_are_told_apart(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct model m;

	(void)state;
	fill_with_long_names(&m);
	model_sample(&m, 6, "py:py::<module>:/opt/the_first_package/of/several/__init__.py@1");
	model_sample(&m, 5, "py:py::<module>:/opt/another_package/of/several/__init__.py@1");
	rows = rows_of(&m);
	for (size_t columns = 80; columns <= 200; columns += 40)
		for (unsigned int view = 0; view < 2 * OWN_VIEWS; view++) {
			show_any(rows, (enum own_view)(view / 2), view % 2);
			check_texts(rows, columns);
		}
	model_deinit(&m);
}

/* As of trampolines: a file has many functions, of which no line is known. */
static void test_what_has_no_line_is_told_apart_by_function(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct annotation *annotation = NULL;
	struct model m;
	char *text;

	(void)state;
	init(&m);
	model_sample(&m, 5, F "@0");
	model_sample(&m, 3, "py:py::a_function_of_another_name:/srv/x.py@0");
	model_sample(&m, 2, "py:py::a_function_with_a_line:/srv/x.py@7");
	rows = rows_of(&m);
	show(rows, OWN_LINES, false);
	check_texts(rows, 60);
	text = text_of(rows, 1, 80);
	assert_non_null(strstr(text, "  x.py (a_function_of_another_name) "));
	free(text);
	assert_ok(annotation_of_file(rows->made.own,
				     own_selected_entry(rows)->file,
				     &annotation));
	assert_int_equal(annotation->elsewhere, 2);
	assert_int_equal(annotation->places.count, 1);
	annotation_destroy(annotation);
	model_deinit(&m);
}

static void assert_row(struct own_rows *rows, uint32_t node, size_t columns,
		       const char *expected)
{
	char *text = text_of(rows, node, columns);

	assert_string_equal(text, expected);
	free(text);
}

/* Names are cut rather than columns, down to 60 columns. */
static void test_narrow_windows_have_all_columns(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 70, MAIN " I:eval " F "@3 list_sort");
	model_sample(&m, 30,
		     MAIN " I:eval py:py::a_name_of_thirty_two_characters__:/srv/a/b/c/d.py@3");
	rows = rows_of(&m);
	show(rows, OWN_FUNCTIONS, false);
	assert_row(rows, 1, 100, "+  30.0%   30.0%  a_name_of_thirty_two_characters__  a/b/c/d.py  interpreter 30");
	assert_row(rows, 1, 80, "+  30.0%   30.0%  a_name_of_thirty_two_characters__  a/b/c/d.py  interpreter 30");
	assert_row(rows, 1, 66, "+  30.0%   30.0%  a_name...characters__  a/b/c/d.py  interpr... 30");
	assert_row(rows, 1, 60, "+  30.0%   30.0%  a_na...racters__  a/b/c/d.py  interp... 30");
	/* Then there is no room for what it was spent in, and then for total. */
	assert_row(rows, 1, 52, "+  30.0%   30.0%  a_name..._characters__  a/b/c/d.py");
	assert_row(rows, 1, 40, "+  30.0%  a_nam...aracters__  a/b/c/d.py");
	model_deinit(&m);
}

/* Own, total, function, place, what it was spent in; own, total, line, source. */
static void check_columns(struct own_rows *rows, enum own_view view,
			  size_t columns)
{
	const char *title = view == OWN_LINES ? "  source" : "  spent in, %";
	struct line line = LINE_INIT;

	show(rows, view, false);
	own_text_head(rows, columns, &line);
	assert_memory_equal(line.text.data, "     own   total  ", 18);
	assert_non_null(strstr(line.text.data, title));
	own_text_row(rows, rows->browser.rows.data[0], columns, &line);
	assert_true(printable_width(line.text.data, line.text.len) <= columns);
	/* The first words of the last column. */
	assert_non_null(strstr(line.text.data, view == OWN_LINES ? "  source of l" :
								   "  a_na"));
	line_deinit(&line);
}

static void test_long_names_leave_room_for_all_columns(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct model m;

	(void)state;
	fill_with_long_names(&m);
	rows = rows_of(&m);
	for (size_t columns = 60; columns <= 120; columns++) {
		check_columns(rows, OWN_FUNCTIONS, columns);
		check_columns(rows, OWN_LINES, columns);
	}
	model_deinit(&m);
}

/* Two files of little time, whose ends are alike, take no column from all others. */
static void test_some_that_are_alike_take_no_column(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct model m;

	(void)state;
	fill_with_long_names(&m);
	model_sample(&m, 1, "py:py::<module>:/opt/one/json/decoder.py@1");
	model_sample(&m, 1, "py:py::<module>:/opt/two/json/decoder.py@1");
	rows = rows_of(&m);
	for (size_t columns = 60; columns <= 120; columns++)
		check_columns(rows, OWN_FUNCTIONS, columns);
	model_deinit(&m);
}

/* Nothing is known of what time was spent in: names have the room of that. */
static void test_names_are_not_cut_for_an_empty_column(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct line line = LINE_INIT;
	struct model m;

	(void)state;
	init(&m);
	m.profile->events.data[0].python_only = true;
	model_sample(&m, 70, F "@3");
	model_sample(&m, 30, "py:py::a_name_of_thirty_two_characters__:/srv/a/b/c/d.py@3");
	rows = rows_of(&m);
	show(rows, OWN_FUNCTIONS, false);
	own_text_head(rows, 66, &line);
	assert_null(strstr(line.text.data, "spent in"));
	assert_row(rows, 1, 66, "+  30.0%   30.0%  a_name_of_thirty_two_characters__  a/b/c/d.py");
	line_deinit(&line);
	model_deinit(&m);
}

/* What the last line says of the row that is selected. */
static void test_names_that_are_cut_are_shown_in_full(void **state)
{
	static const char name[] =
		"Orders.with_a_very_long_name_of_its_own.<locals>.and_another";
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct model m;

	(void)state;
	fill_with_long_names(&m);
	rows = rows_of(&m);
	show(rows, OWN_FUNCTIONS, false);
	own_text_cut(rows, 1, 80, 200, &text);
	assert_memory_equal(text.data, name, strlen(name));
	assert_non_null(strstr(text.data, "the/current/one/other.py"));
	strbuf_clear(&text);
	own_text_cut(rows, 1, 80, 80, &text);
	assert_memory_equal(text.data, "Orders.with_a_", strlen("Orders.with_a_"));
	assert_true(printable_width(text.data, text.len) <= 80);
	assert_non_null(strstr(text.data, "and_another  ..."));
	strbuf_clear(&text);
	/* What is not cut needs no other line. */
	own_text_cut(rows, 2, 80, 80, &text);
	own_text_cut(rows, 1, 200, 80, &text);
	assert_int_equal(text.len, 0);
	model_deinit(&m);
}

/* 80 of f in the first thread, 20 in another one. */
static struct own_rows *rows_with_a_worker(struct model *m, int tid,
					   const char *stack)
{
	init(m);
	model_sample(m, 80, F "@3");
	m->task = model_task(m, tid, "worker");
	model_sample(m, 20, stack);
	return rows_of(m);
}

static void test_percentages_are_of_the_zoom_or_of_everything(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct model m;
	char *text;

	(void)state;
	rows = rows_with_a_worker(&m, 101, G "@3");
	zoom(rows, (struct zoom){ .kind = ZOOM_THREAD, .id = 101 });
	show(rows, OWN_FILES, false);
	text = text_of(rows, 0, 80);
	assert_string_equal(text, "+ 100.0%  100.0%  y.py");
	free(text);
	rows->whole = true;
	text = text_of(rows, 0, 80);
	assert_string_equal(text, "+  20.0%   20.0%  y.py");
	free(text);
	model_deinit(&m);
}

/* It has no number any more: none is made up for it. */
static void test_what_was_ending_has_no_number(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct model m;
	char *text;

	(void)state;
	rows = rows_with_a_worker(&m, -1, "k:do_exit");
	show(rows, OWN_THREADS, false);
	text = text_of(rows, 1, 80);
	assert_non_null(strstr(text, "20.0%            [threads that were ending]"));
	free(text);
	model_deinit(&m);
}

static void check_lines(struct own_rows *rows, const char *const *lines, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		char *text = text_of(rows, i, 80);

		assert_string_equal(text, lines[i]);
		free(text);
	}
}

/* As in the report: who runs which script, and for whom. */
static void test_what_processes_are(void **state)
{
	static const char *const lines[] = {
		"   50.0%       100       100  python3 (x.py)",
		"   30.0%       101       101  python3 (x.py), worker of 100",
		"   15.0%       102       102  python3, child of 100",
		"    5.0%       100       103  Thread-1",
	};
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 50, MAIN " I:eval " F "@3");
	m.task = model_child(&m, 101, "python3", 100);
	model_sample(&m, 30, MODEL_WORKER F "@3");
	m.task = model_child(&m, 102, "python3", 100);
	model_sample(&m, 15, "py:py::<module>:<string>@1");
	m.task = model_task(&m, 103, "Thread-1");
	model_sample(&m, 5, F "@3");
	rows = rows_of(&m);
	show(rows, OWN_THREADS, false);
	check_lines(rows, lines, 4);
	model_deinit(&m);
}

/* They stand where threads do in other recordings, and one can be looked at alone. */
static void test_tasks_of_asyncio(void **state)
{
	static const char *const lines[] = { "   80.0%  b c", "   15.0%  a",
					     "    5.0%  [tasks without a name, or not read]" };
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	_cleanup_strbuf_ struct strbuf title = STRBUF_INIT;
	struct zoom task;
	struct model m;

	(void)state;
	init(&m);
	m.profile->events.data[0].kind = EVENT_TASKS;
	model_task_sample(&m, 15, "task a", F "@3");
	model_task_sample(&m, 50, "task b c", F "@3");
	model_task_sample(&m, 30, "task b c", G "@4");
	model_task_sample(&m, 5, "task", F "@3");
	rows = rows_of(&m);
	show(rows, OWN_THREADS, false);
	check_lines(rows, lines, 3);
	browser_select(&rows->browser, 0);
	assert_true(own_selected_thread(rows, &task));
	zoom(rows, task);
	check_sums(rows, 80);
	own_title_put(rows, 80, true, &title);
	assert_non_null(strstr(title.data, "in task b c"));
	model_deinit(&m);
}

static bool never(void *arg, const char *what, uint64_t done, uint64_t total)
{
	(void)what;
	(void)done;
	(void)total;
	return !*(bool *)arg;
}

static void test_a_zoom_that_is_stopped_changes_nothing(void **state)
{
	bool stops = false;
	struct watch watch = { .go_on = never, .arg = &stops };
	struct zoom thread = { .kind = ZOOM_THREAD, .id = 101 };
	struct own_rows *rows = NULL;
	struct error *error;
	struct model m;

	(void)state;
	init(&m);
	for (unsigned int i = 0; i < 2 * WATCH_EVERY; i++)
		model_sample(&m, 1, i % 2 ? F "@3" : G "@3");
	assert_ok(own_rows_create(m.profile, 0, &options, &watch, &rows));
	stops = true;
	error = own_rows_zoom(rows, &thread);
	assert_non_null(error);
	assert_int_equal(error->code, ERROR_INTERRUPTED);
	error_destroy(error);
	assert_int_equal(rows->zooms.count, 0);
	assert_int_equal(rows->made.own->all.samples, 2 * WATCH_EVERY);
	watch.stopped = stops = false;
	check_sums(rows, 2 * WATCH_EVERY);
	own_rows_destroy(rows);
	model_deinit(&m);
}

static void test_hostile_names_are_no_escapes(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	_cleanup_strbuf_ struct strbuf title = STRBUF_INIT;
	struct model m;

	(void)state;
	init(&m);
	m.task = model_task(&m, 7, "w\x1b[1m");
	model_sample(&m, 3, "I:eval py:py::f\x1b[2J:/srv/\x1b]0;x.py@3 lib:n\x1b]0;x");
	m.task = model_task(&m, 8, "w\n");
	model_sample(&m, 3, "I:eval py:py::<module>:/srv/\x1b]0;x.py@3 k:n\x1b]0;x");
	rows = rows_of(&m);
	for (unsigned int view = 0; view < 2 * OWN_VIEWS; view++) {
		bool complete;

		show_any(rows, (enum own_view)(view / 2), view % 2);
		assert_ok(browser_open_all(&rows->browser, BROWSER_NONE,
					   &complete));
		for (size_t i = 0; i < rows->browser.rows.count; i++) {
			char *text = text_of(rows, rows->browser.rows.data[i],
					     80);

			assert_null(strpbrk(text, "\x1b\n"));
			free(text);
		}
		own_title_put(rows, 80, true, &title);
		assert_null(strpbrk(title.data, "\x1b\n"));
	}
	model_deinit(&m);
}

static void test_the_source_of_a_row(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	const struct own_entry *entry;
	const struct annotate_weight *weight;
	struct annotation *annotation = NULL;
	struct model m;

	(void)state;
	fill(&m);
	rows = rows_of(&m);
	show(rows, OWN_FILES, false);
	entry = own_selected_entry(rows);
	assert_string_equal(profile_string(m.profile, entry->file, ""),
			    "/srv/x.py");
	/* Line 3 of x.py: 2 + 4 + 32. */
	assert_int_equal(own_selected_line(rows), 3);
	assert_ok(annotation_of_file(rows->made.own, entry->file, &annotation));
	weight = annotation_find(annotation, 3);
	assert_int_equal(weight->self_period, 38);
	assert_int_equal(weight->period, 38);
	/* Of line 4 it was spent in g. */
	weight = annotation_find(annotation, 4);
	assert_int_equal(weight->self_period, 0);
	assert_int_equal(weight->period, 8);
	assert_int_equal(annotation->whole.self_period, 38);
	assert_int_equal(annotation->whole.period, 46);
	assert_int_equal(annotation->total_period, 63);
	annotation_destroy(annotation);
	model_deinit(&m);
}

static void select_function(struct own_rows *rows, const char *name,
			    struct zoom *ret)
{
	bool found;

	show(rows, OWN_FUNCTIONS, false);
	assert_ok(browser_search(&rows->browser, name, 0, 1, &found));
	assert_true(found);
	assert_true(own_selected_function(rows, ret));
}

/* Blanks are one. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from != ' ' || to == text || to[-1] != ' ')
			*to++ = *from;
	*to = '\0';
}

static void check_callers(struct own_rows *rows, const char *const *expected)
{
	for (size_t i = 0; i < rows->browser.rows.count; i++) {
		char *text = text_of(rows, rows->browser.rows.data[i], 60);

		assert_non_null(expected[i]);
		squeeze(text);
		if (strncmp(text, expected[i], strlen(expected[i])))
			fail_msg("not '%s': %s", expected[i], text);
		free(text);
	}
	assert_null(expected[rows->browser.rows.count]);
}

static void test_callers_are_counted_by_line(void **state)
{
	/* Of 63: 46 through f, 14 from the module and 32 from g. */
	static const char *const of_f[] = { "- 73.0% f x.py ",
					    " 50.8% g y.py:9 ",
					    " 22.2% <module> x.py:90 ",
					    NULL };
	static const char *const in_thread[] = { "- 66.7% f x.py ",
						 " 66.7% g y.py:9 ",
						 NULL };
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct zoom function;
	struct model m;
	bool left;

	(void)state;
	fill(&m);
	rows = rows_of(&m);
	select_function(rows, "f x.py", &function);
	assert_ok(own_rows_show_callers(rows, &function));
	check_callers(rows, of_f);
	browser_select(&rows->browser, 1);
	assert_int_equal(own_selected_line(rows), 9);
	/* Of other samples, and back. */
	zoom(rows, (struct zoom){ .kind = ZOOM_THREAD, .id = 101 });
	check_callers(rows, in_thread);
	assert_ok(own_rows_unzoom(rows, ZOOM_THREAD, &left));
	check_callers(rows, of_f);
	assert_ok(own_rows_leave_callers(rows));
	assert_int_equal(rows->view, OWN_FUNCTIONS);
	assert_true(own_selected_function(rows, &function));
	model_deinit(&m);
}

/* A recursion has one row, and one caller alone is behind what it calls. */
static void test_callers_of_a_recursion(void **state)
{
	static const char *const of_g[] = { "- 100.0% g y.py ",
					    "- 40.0% f x.py:5 ",
					    " 40.0% < <module> x.py:90 ",
					    "- 40.0% g y.py:1 ",
					    "- 40.0% < f x.py:5 ",
					    " 40.0% < <module> x.py:90 ",
					    " 20.0% <module> x.py:90 ",
					    NULL };
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct zoom function;
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 10, MAIN " " F "@5 " G "@1");
	model_sample(&m, 30, MAIN " " F "@5 " F "@5 " F "@5 " G "@1");
	model_sample(&m, 40, MAIN " " F "@5 " F "@5 " G "@1 " G "@1");
	model_sample(&m, 20, MAIN " " G "@1");
	rows = rows_of(&m);
	select_function(rows, "g y.py", &function);
	assert_ok(own_rows_show_callers(rows, &function));
	check_callers(rows, of_g);
	model_deinit(&m);
}

static void add_event(struct model *m, const char *name, enum event_kind kind,
		      enum event_unit unit)
{
	const struct profile_event event = { .name = model_string(m, name),
					     .kind = kind,
					     .unit = unit };
	uint32_t id;

	model_check(profile_add_event(m->profile, &event, &id));
	/* As if it had one. */
	m->profile->events.data[id].samples = kind != EVENT_DUMMY;
}

static void assert_title(const struct own_rows *rows, size_t columns,
			 const char *expected)
{
	_cleanup_strbuf_ struct strbuf title = STRBUF_INIT;

	own_title_put(rows, columns, true, &title);
	assert_string_equal(title.data, expected);
}

static void fill_with_waits(struct model *m)
{
	init(m);
	m->profile->events.data[0].name = model_string(m, "off-cpu");
	m->profile->events.data[0].kind = EVENT_WAIT;
	model_sample(m, 16820000000, "py:py::<module>:/srv/a/folder/waiting.py@90");
}

static void test_the_title_says_what_percentages_are_of(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL, *all = NULL;
	struct model m;

	(void)state;
	fill_with_waits(&m);
	rows = rows_of(&m);
	assert_title(rows, 80, "a/folder/waiting.py   100% is 16.82 s off the CPU   1 sample, none lost");
	/* Folders and samples give way before time. */
	assert_title(rows, 56, "waiting.py   100% is 16.82 s off the CPU   1 sample");
	assert_title(rows, 42, "waiting.py   100% is 16.82 s off the CPU");
	assert_title(rows, 36, "waiting.py   16.82 s off the CPU");
	m.profile->events.data[0].kind = EVENT_WALL;
	all = rows_of(&m);
	assert_title(all, 80, "a/folder/waiting.py   100% is 16.82 s of threads   1 sample, none lost");
	model_deinit(&m);
}

static void test_the_title_says_which_events_there_are(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct model m;

	(void)state;
	fill_with_waits(&m);
	add_event(&m, "dummy:u", EVENT_DUMMY, EVENT_COUNT);
	rows = rows_of(&m);
	assert_title(rows, 80, "a/folder/waiting.py   100% is 16.82 s off the CPU   1 sample, none lost");
	add_event(&m, "cpu-clock", EVENT_ON_CPU, EVENT_NANOSECONDS);
	assert_title(rows, 90, "a/folder/waiting.py   off-cpu (Tab: cpu-clock)   100% is 16.82 s off the CPU   1 sample");
	assert_title(rows, 68, "waiting.py   off-cpu (Tab: cpu-clock)   100% is 16.82 s off the CPU");
	assert_title(rows, 60, "waiting.py   off-cpu (Tab)   100% is 16.82 s off the CPU");
	assert_title(rows, 48, "waiting.py   off-cpu (Tab)   16.82 s off the CPU");
	assert_title(rows, 42, "waiting.py   16.82 s off the CPU");
	assert_title(rows, 20, "waiting.py");
	add_event(&m, "page-faults", EVENT_OCCURRENCE, EVENT_COUNT);
	assert_title(rows, 120, "a/folder/waiting.py   off-cpu (Tab: cpu-clock, page-faults)   100% is 16.82 s off the CPU   1 sample, none lost");
	assert_title(rows, 74, "waiting.py   off-cpu (Tab: cpu-clock, ...)   100% is 16.82 s off the CPU");
	/* Text has no keys. */
	own_title_put(rows, 120, false, &text);
	assert_null(strstr(text.data, "Tab"));
	model_deinit(&m);
}

/* Its name says all of what it counts, and is there once. */
static void test_the_title_of_an_event_that_counts_no_time(void **state)
{
	_cleanup_own_rows_ struct own_rows *rows = NULL;
	struct model m;

	(void)state;
	fill_with_waits(&m);
	m.profile->events.data[0].name = model_string(&m, "page-faults");
	m.profile->events.data[0].kind = EVENT_OCCURRENCE;
	m.profile->events.data[0].unit = EVENT_COUNT;
	rows = rows_of(&m);
	assert_title(rows, 80, "a/folder/waiting.py   page-faults   1 sample, none lost");
	add_event(&m, "cpu-clock", EVENT_ON_CPU, EVENT_NANOSECONDS);
	assert_title(rows, 80, "a/folder/waiting.py   page-faults (Tab: cpu-clock)   1 sample, none lost");
	model_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libraries_may_count_for_who_calls_them),
		cmocka_unit_test(test_rows_add_up_to_all_samples),
		cmocka_unit_test(test_a_thread_that_is_zoomed_into_is_named),
		cmocka_unit_test(test_native_code_has_rows_of_its_own),
		cmocka_unit_test(test_the_overview_has_the_size_of_the_window),
		cmocka_unit_test(test_what_only_calls_is_left_out_by_count),
		cmocka_unit_test(test_rows_fit_and_differ_at_any_width),
		cmocka_unit_test(test_files_of_one_name_are_told_apart),
		cmocka_unit_test(test_what_has_no_line_is_told_apart_by_function),
		cmocka_unit_test(test_narrow_windows_have_all_columns),
		cmocka_unit_test(test_long_names_leave_room_for_all_columns),
		cmocka_unit_test(test_some_that_are_alike_take_no_column),
		cmocka_unit_test(test_names_are_not_cut_for_an_empty_column),
		cmocka_unit_test(test_names_that_are_cut_are_shown_in_full),
		cmocka_unit_test(test_percentages_are_of_the_zoom_or_of_everything),
		cmocka_unit_test(test_what_was_ending_has_no_number),
		cmocka_unit_test(test_what_processes_are),
		cmocka_unit_test(test_tasks_of_asyncio),
		cmocka_unit_test(test_a_zoom_that_is_stopped_changes_nothing),
		cmocka_unit_test(test_hostile_names_are_no_escapes),
		cmocka_unit_test(test_the_source_of_a_row),
		cmocka_unit_test(test_callers_are_counted_by_line),
		cmocka_unit_test(test_callers_of_a_recursion),
		cmocka_unit_test(test_the_title_says_what_percentages_are_of),
		cmocka_unit_test(test_the_title_says_which_events_there_are),
		cmocka_unit_test(test_the_title_of_an_event_that_counts_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
