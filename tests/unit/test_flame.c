// SPDX-License-Identifier: GPL-2.0-only
/* The tree of flame graphs, on profiles whose stacks the test knows; and texts in pages. */
#include "assert_ok.h"

#include "flame/flame_page.h"
#include "flame/flame_text.h"
#include "flame/flame_tree.h"
#include "model.h"
#include "view/json_text.h"

/* Python functions of one file. */
#define F "py:py::f:/srv/x.py"
#define G "py:py::g:/srv/x.py"

/* A function of a file that model.h does not know. */
static uint32_t frame_in(struct model *m, const char *symbol, const char *file)
{
	struct profile_frame frame = { .symbol = PROFILE_NONE,
				       .kind = PROFILE_FRAME_PYTHON,
				       .line = 1,
				       .file = model_string(m, file) };
	uint32_t id;

	frame.dso = model_dso(m, "[python]", PROFILE_DSO_PYTHON);
	model_symbol(m, symbol, &frame);
	assert_ok(profile_intern_frame(m->profile, &frame, &id));
	return id;
}

static uint32_t frame_marked(struct model *m, const char *name)
{
	struct profile_frame frame = { .symbol = PROFILE_NONE,
				       .kind = PROFILE_FRAME_MARKER,
				       .file = PROFILE_NONE };
	uint32_t id;

	frame.dso = model_dso(m, "[python]", PROFILE_DSO_PYTHON);
	model_symbol(m, name, &frame);
	assert_ok(profile_intern_frame(m->profile, &frame, &id));
	return id;
}

static void sample_of_frames(struct model *m, const uint32_t *frames, size_t n)
{
	struct profile_sample sample = { .period = 1,
					 .count = 1,
					 .stack = PROFILE_NONE,
					 .task = m->task };

	for (size_t i = 0; i < n; i++)
		assert_ok(profile_stack_push(m->profile, sample.stack,
					     frames[i], &sample.stack));
	assert_ok(profile_add_sample(m->profile, &sample));
}

static struct flame_tree *tree_of(const struct model *m,
				  const struct flame_options *options)
{
	struct flame_tree *tree;

	assert_ok(flame_tree_create(options, &tree));
	assert_ok(flame_tree_add(tree, m->profile, 0, FLAME_AFTER));
	assert_ok(flame_tree_finish(tree));
	return tree;
}

static uint32_t depth_of(const struct flame_tree *tree, uint32_t node)
{
	uint32_t depth = 0;

	while ((node = tree->nodes.data[node].parent) != FLAME_NONE)
		depth++;
	return depth;
}

/* A node in a line: blanks for its depth, its name, total and own period. */
static char *print(const struct flame_tree *tree, enum flame_side side)
{
	struct strbuf out = STRBUF_INIT;

	for (uint32_t i = 0; i < tree->nodes.count; i++) {
		const struct flame_node *node = &tree->nodes.data[i];
		const struct flame_function *function =
			&tree->functions.data[node->function];

		strbuf_fill(&out, ' ', depth_of(tree, i));
		strbuf_puts(&out, flame_text(tree, function->name));
		if (function->line)
			strbuf_printf(&out, ":%u", function->line);
		strbuf_printf(&out, " %d %d\n",
			      (int)node->total[side].period,
			      (int)node->own[side].period);
	}
	return strbuf_take(&out);
}

static void check(struct model *m, const struct flame_options *options,
		  const char *expected)
{
	struct flame_tree *tree = tree_of(m, options);
	char *text = print(tree, FLAME_AFTER);

	assert_string_equal(text, expected);
	free(text);
	flame_tree_destroy(tree);
}

/* Start-up and the interpreter are left out, and heavier siblings stand first. */
static void test_sums(void **state)
{
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 1, "I:_start I:main I:eval " F " list_sort k:page_fault");
	model_sample(&m, 4, "I:_start I:main I:eval " F " I:eval " G);
	model_sample(&m, 2, "I:_start I:main I:eval " F "@7 I:eval " G "@9 malloc");
	model_sample(&m, 8, "I:_start I:main I:eval");
	check(&m, &(struct flame_options){ .native = true },
	      "_start 8 0\n main 8 0\n  eval 8 8\n"
	      "f 7 0\n g 6 4\n  malloc 2 2\n list_sort 1 0\n  page_fault 1 1\n");
	check(&m, &(struct flame_options){}, "[no Python code] 8 8\nf 7 1\n g 6 6\n");
	check(&m, &(struct flame_options){ .lines = true },
	      "[no Python code] 8 8\nf:1 5 1\n g:1 4 4\nf:7 2 0\n g:9 2 2\n");
	check(&m,
	      &(struct flame_options){ .native = true,
				       .interpreter_frames = true },
	      "_start 15 0\n main 15 0\n  eval 15 8\n   f 7 0\n    eval 6 0\n"
	      "     g 6 4\n      malloc 2 2\n    list_sort 1 0\n     page_fault 1 1\n");
	model_deinit(&m);
}

/* Python code that only starts a program is left out, unless nothing else is there. */
static void test_start(void **state)
{
	struct model m;
	uint32_t frames[3];

	(void)state;
	model_init(&m, NULL);
	frames[0] = frame_in(&m, "py::_run_code:<frozen runpy>",
			     "<frozen runpy>");
	frames[1] = frame_in(&m, "py::main:/srv/x.py", "/srv/x.py");
	frames[2] = frame_in(&m, "py::run_path:/usr/lib/python3.9/runpy.py",
			     "/usr/lib/python3.9/runpy.py");
	sample_of_frames(&m, frames, 3);
	/* What runs in it alone is its own. */
	sample_of_frames(&m, frames, 1);
	check(&m, &(struct flame_options){},
	      "main 1 0\n run_path 1 1\n_run_code 1 1\n");
	model_deinit(&m);
}

static void test_threads(void **state)
{
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 1, "I:eval " F);
	m.task = model_task(&m, 101, "early");
	model_sample(&m, 2, "I:eval " F);
	m.task = model_task(&m, 101, "helper");
	model_sample(&m, 3, "I:eval " F);
	model_sample(&m, 1, "");
	check(&m, &(struct flame_options){ .threads = true },
	      "helper 6 0\n f 5 5\n [unknown] 1 1\npython3 1 0\n f 1 1\n");
	check(&m, &(struct flame_options){}, "f 6 6\n[unknown] 1 1\n");
	model_deinit(&m);
}

/* Another process has a thread of that number later. */
static void test_a_number_again(void **state)
{
	struct model m;
	struct profile_task task = { .pid = 200,
				     .tid = 101,
				     .name = PROFILE_NONE };

	(void)state;
	model_init(&m, NULL);
	m.task = model_task(&m, 101, "first");
	model_sample(&m, 2, "I:eval " F);
	task.comm = model_string(&m, "second");
	assert_ok(profile_intern_task(m.profile, &task, &m.task));
	model_sample(&m, 1, "I:eval " F);
	check(&m, &(struct flame_options){ .threads = true },
	      "first 2 0\n f 2 2\nsecond 1 0\n f 1 1\n");
	model_deinit(&m);
}

static uint32_t kind_of(const struct flame_tree *tree, const char *name)
{
	vec_for_each(node, &tree->nodes) {
		const struct flame_function *function =
			&tree->functions.data[node->function];

		if (!strcmp(flame_text(tree, function->name), name))
			return function->kind;
	}
	fail_msg("no node %s", name);
	return 0;
}

static void test_kinds(void **state)
{
	struct model m;
	struct flame_tree *tree;
	uint32_t frames[2];

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 1, F " gc_collect_main dict_traverse k:page_fault");
	model_sample(&m, 1, F " take_gil lib:pthread_cond_timedwait");
	model_sample(&m, 1, F " lib:malloc");
	model_sample(&m, 1, F " lib:gc_collect_main");
	frames[0] = frame_marked(&m, "[truncated stack]");
	frames[1] = frame_in(&m, "py::f:/srv/x.py", "/srv/x.py");
	sample_of_frames(&m, frames, 2);
	frames[0] = frame_in(&m, "py::a:/usr/lib/python3.11/json/decoder.py",
			     "/usr/lib/python3.11/json/decoder.py");
	frames[1] = frame_in(&m, "py::b:/v/lib/python3.11/site-packages/b.py",
			     "/v/lib/python3.11/site-packages/b.py");
	sample_of_frames(&m, frames, 2);
	tree = tree_of(&m, &(struct flame_options){ .native = true });
	assert_int_equal(kind_of(tree, "f"), FLAME_PROGRAM);
	assert_int_equal(kind_of(tree, "[truncated stack]"), FLAME_MARKER);
	assert_int_equal(kind_of(tree, "a"), FLAME_STANDARD);
	assert_int_equal(kind_of(tree, "b"), FLAME_PACKAGE);
	assert_int_equal(kind_of(tree, "gc_collect_main"), FLAME_COLLECTOR);
	assert_int_equal(kind_of(tree, "dict_traverse"), FLAME_COLLECTOR);
	assert_int_equal(kind_of(tree, "page_fault"), FLAME_KERNEL);
	assert_int_equal(kind_of(tree, "take_gil"), FLAME_GIL);
	assert_int_equal(kind_of(tree, "pthread_cond_timedwait"), FLAME_GIL);
	assert_int_equal(kind_of(tree, "malloc"), FLAME_ALLOCATION);
	flame_tree_destroy(tree);
	model_deinit(&m);
}

/* What libraries do is their caller's; a function that they call is shown. */
static void test_libraries(void **state)
{
	static const char *const library = "/v/lib/python3.11/site-packages/b.py";
	const struct flame_options options = { .native = true,
					       .without_libraries = true };
	struct model m;
	uint32_t frames[4];

	(void)state;
	model_init(&m, NULL);
	frames[0] = frame_in(&m, "py::b:/v/lib/python3.11/site-packages/b.py",
			     library);
	frames[1] = frame_in(&m, "py::f:/srv/x.py", "/srv/x.py");
	frames[2] = frame_in(&m, "py::c:/v/lib/python3.11/site-packages/b.py",
			     library);
	frames[3] = frame_in(&m, "py::g:/srv/x.py", "/srv/x.py");
	for (size_t n = 1; n <= 4; n++)
		sample_of_frames(&m, frames, n);
	sample_of_frames(&m, frames, 3);
	model_sample(&m, 3, "I:_start lib:work");
	model_sample(&m, 2, F " malloc");
	check(&m, &options,
	      "f 6 3\n malloc 2 2\n g 1 1\n[not in your files] 4 4\n");
	check(&m, &(struct flame_options){ .without_libraries = true },
	      "f 6 5\n g 1 1\n[not in your files] 4 4\n");
	model_deinit(&m);
}

/* What is not kept is counted, and its weight stays. */
static void test_rest(void **state)
{
	const struct flame_options options = { .nodes_max = 3 };
	struct flame_tree *tree;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 9, F " " G);
	model_sample(&m, 8, F);
	model_sample(&m, 7, G);
	model_sample(&m, 2, F " " F " " F);
	model_sample(&m, 1, G " " F);
	tree = tree_of(&m, &options);
	assert_int_equal(tree->rest_nodes, 3);
	flame_tree_destroy(tree);
	check(&m, &options,
	      "f 19 8\n g 9 9\n [smaller boxes] 2 2\n"
	      "g 8 7\n [smaller boxes] 1 1\n");
	model_deinit(&m);
}

/* Two profiles that share nothing: a function is its name and file. */
static void test_compare(void **state)
{
	const struct flame_options options = { .compare = FLAME_BY_SHARE,
					       .threads = true };
	struct model before, after;
	struct flame_tree *tree;
	char *text;

	(void)state;
	model_init(&before, NULL);
	model_sample(&before, 30, F " " G);
	model_sample(&before, 10, F);
	model_init(&after, NULL);
	after.task = model_task(&after, 7, "python3");
	model_string(&after, "other");
	model_sample(&after, 5, F);
	model_sample(&after, 5, G);
	assert_ok(flame_tree_create(&options, &tree));
	assert_ok(flame_tree_add(tree, before.profile, 0, FLAME_BEFORE));
	assert_ok(flame_tree_add(tree, after.profile, 0, FLAME_AFTER));
	model_deinit(&before);
	model_deinit(&after);
	assert_ok(flame_tree_finish(tree));
	text = print(tree, FLAME_AFTER);
	assert_string_equal(text, "python3 10 0\n f 5 5\n  g 0 0\n g 5 5\n");
	free(text);
	text = print(tree, FLAME_BEFORE);
	assert_string_equal(text, "python3 40 0\n f 40 10\n  g 30 30\n g 0 0\n");
	free(text);
	/* f: half of what is, all of what was. */
	assert_true(flame_size(tree, tree->nodes.data[1].total) == 0.75);
	/* By time it is 5 and 40 of what both took. */
	tree->options.compare = FLAME_BY_TIME;
	assert_true(flame_run(tree) == 25);
	assert_true(flame_share(tree, tree->nodes.data[1].total,
				FLAME_AFTER) == 0.2);
	assert_true(flame_size(tree, tree->nodes.data[1].total) == 0.9);
	flame_tree_destroy(tree);
}

/* --- Texts -------------------------------------------------------------- */

#define BAD "\xef\xbf\xbd"

static void test_xml(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	flame_text_xml(&out, "</script><img src=x onerror='a(\"b\")'>&amp;");
	assert_string_equal(
		out.data,
		"&lt;/script&gt;&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt;&amp;amp;");
	strbuf_clear(&out);
	flame_text_xml(&out, "a\x1b\x7f\n\xc2\x9b\xe2\x80\xa8\xe2\x80\xae\xff\xc3\xa4\xef\xbf\xbe");
	assert_string_equal(out.data, "a" BAD BAD "\n" BAD BAD BAD BAD
				      "\xc3\xa4" BAD);
	strbuf_clear(&out);
	flame_text_xml_max(&out, "a<b>c", 3);
	assert_string_equal(out.data, "a&lt;\xe2\x80\xa6");
	strbuf_clear(&out);
	flame_text_xml_max(&out, "a<b", 3);
	assert_string_equal(out.data, "a&lt;b");
	strbuf_deinit(&out);
}

static void test_json(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	json_text(&out, "</script>\"\\'&\n\xe2\x80\xa9\xc3\x28");
	assert_string_equal(
		out.data,
		"\"\\u003c/script\\u003e\\u0022\\u005c\\u0027\\u0026\\n" BAD BAD
		"(\"");
	strbuf_deinit(&out);
}

static void test_bytes(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct strbuf bytes = STRBUF_INIT;

	(void)state;
	flame_text_base64(&out, (const uint8_t *)"Mango", 5);
	assert_string_equal(out.data, "TWFuZ28=");
	strbuf_clear(&out);
	flame_text_base64(&out, (const uint8_t *)"", 0);
	assert_string_equal(out.data, "");
	flame_text_number(&bytes, 0);
	flame_text_number(&bytes, 127);
	flame_text_number(&bytes, 300);
	assert_int_equal(bytes.len, 4);
	assert_memory_equal(bytes.data, "\0\x7f\xac\x02", 4);
	strbuf_deinit(&out);
	strbuf_deinit(&bytes);
}

static char *written(const struct flame_tree *tree,
		     const struct flame_head *head,
		     struct error *(*write)(const struct flame_tree *,
					    const struct flame_head *, FILE *))
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_ok(write(tree, head, out));
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Names end no element, in any of their places. */
static void test_hostile_names(void **state)
{
	const char *const name = "]]></script><svg/onload=alert(1)>";
	const struct flame_head head = { .title = name,
					 .summary = name,
					 .notes = name };
	struct model m;
	struct flame_tree *tree;
	char *text;

	(void)state;
	model_init(&m, NULL);
	m.task = model_task(&m, 101, name);
	model_sample(&m, 1, "py:py::]]></script><svg/onload=alert(1)>:/srv/x.py");
	tree = tree_of(&m, &(struct flame_options){ .threads = true });
	text = written(tree, &head, flame_page_write);
	assert_non_null(strstr(text, FLAME_MARK));
	assert_true(strstr(text, FLAME_MARK) - text < FLAME_MARK_WITHIN / 2);
	assert_null(strstr(text, "<svg/onload"));
	free(text);
	text = written(tree, &head, flame_picture_write);
	assert_true(strstr(text, FLAME_MARK) == text);
	assert_null(strstr(text, "<svg/onload"));
	assert_null(strstr(text, "]]></script><"));
	free(text);
	flame_tree_destroy(tree);
	model_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_a_number_again),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_xml),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_hostile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
