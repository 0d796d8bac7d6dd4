// SPDX-License-Identifier: GPL-2.0-only
/* Source text with weights: files, where functions end, and the listing. */
#include "assert_ok.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explore/listing.h"
#include "explore/native_listing.h"
#include "explore/python_block.h"
#include "explore/python_listing.h"
#include "explore/sources.h"
#include "model.h"

static char folder[] = "/tmp/kaa-annotate-XXXXXX";
static char srv[PATH_MAX];

/* The path of a file in the folder, valid until the next call. */
static const char *path_of(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static const char *write_file(const char *name, const char *text)
{
	const char *path = path_of(name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	return path;
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = { "x.py", "page.html", "script" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(path_of(names[i]));
	return rmdir(folder);
}

/* --- Files -------------------------------------------------------------- */

static void test_a_file_is_read_once(void **state)
{
	_cleanup_sources_ struct sources sources = {};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct sources_file *file;

	(void)state;
	file = sources_find(&sources, write_file("x.py", "one\ntwo\n"));
	assert_non_null(file);
	assert_null(file->error);
	unlink(path_of("x.py"));
	assert_ptr_equal(sources_find(&sources, path_of("x.py")), file);
	assert_int_equal(sources.files.count, 1);
	sources_put_line(&sources, path_of("x.py"), 2, &text);
	sources_put_line(&sources, path_of("x.py"), 3, &text);
	assert_string_equal(text.data, "two");
}

static void test_what_is_no_file_has_no_lines(void **state)
{
	_cleanup_sources_ struct sources sources = {};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct sources_file *file;

	(void)state;
	assert_null(sources_find(&sources, "<string>"));
	sources_put_line(&sources, "<string>", 1, &text);
	file = sources_find(&sources, "/nowhere/x.zip/x.py");
	assert_non_null(file);
	assert_non_null(file->error);
	sources_put_line(&sources, "/nowhere/x.zip/x.py", 1, &text);
	sources_tell(&sources, &text);
	assert_string_equal(text.data, "");
}

static void test_a_changed_file_is_told(void **state)
{
	_cleanup_sources_ struct sources sources = { .symfs = folder,
						     .recorded = 1000000000 };
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	(void)state;
	write_file("x.py", "one\n");
	assert_true(sources_has_changed(&sources,
					sources_find(&sources, "/x.py")));
	sources_tell(&sources, &text);
	assert_string_equal(
		text.data,
		"/x.py has changed since the recording: its lines may be others now\n");
	strbuf_clear(&text);
	sources_put_changed(&sources, &text);
	assert_string_equal(text.data, "x.py has changed since the recording");
	/* Its time says so alone: it may still be the same. */
	strbuf_clear(&text);
	sources_answer_line(&sources, "/x.py", 1, &text);
	assert_string_equal(text.data, "one");
	write_file("y.py", "one\n");
	sources_put_line(&sources, "/y.py", 1, &text);
	sources_put_line(&sources, "/nowhere.py", 1, &text);
	unlink(path_of("y.py"));
	strbuf_clear(&text);
	sources_put_changed(&sources, &text);
	assert_string_equal(
		text.data,
		"x.py and 1 other file have changed since the recording");
	sources.recorded = INT64_MAX;
	assert_false(sources_has_changed(&sources, sources.files.data[0]));
	strbuf_clear(&text);
	sources_put_changed(&sources, &text);
	assert_string_equal(text.data, "");
	/* Without the time of the recording nothing can be said. */
	sources.recorded = 0;
	assert_false(sources_has_changed(&sources, sources.files.data[0]));
}

/* Lines that a file does not have are not of it; those of a template never are. */
static void test_a_file_without_the_lines_is_told(void **state)
{
	_cleanup_sources_ struct sources sources = { .symfs = folder };
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	(void)state;
	write_file("x.py", "one\n");
	write_file("page.html", "one\ntwo\nthree\n");
	write_file("script", "one\n");
	sources_put_line(&sources, "/x.py", 9, &text);
	sources_put_line(&sources, "/x.py", 4, &text);
	sources_put_line(&sources, "/page.html", 2, &text);
	sources_put_line(&sources, "/script", 2, &text);
	/* What is not there has no lines anyway. */
	sources_put_line(&sources, "/y.py", 2, &text);
	sources_tell(&sources, &text);
	assert_string_equal(
		text.data,
		"/x.py has 1 line, but samples are on line 9: it is not the file that ran\n"
		"'/page.html' is a template: the lines are of the Python code that was made from it\n"
		"/script has 1 line, but samples are on line 2: it is not the file that ran\n");
}

/* Of the file, among many others that come before it and behind it. */
static void add_hash(struct model *m, uint32_t recording, const char *text)
{
	struct metadata *metadata = &m->profile->recordings.data[recording].metadata;
	char path[16];

	for (unsigned int i = 0; i < 200; i++) {
		struct metadata_source source = { .size = 1 };

		/* "/z0.py", "/y0.py", ... "/z1.py" */
		snprintf(path, sizeof(path), "/%c%u.py", 'z' - i % 26, i / 26);
		assert_ok(metadata_copy(metadata, i == 2 ? "/x.py" : path, &source.path));
		if (i == 2) {
			source.size = strlen(text);
			source.hash = content_hash_of(text, strlen(text));
		}
		assert_true(vec_push(&metadata->sources, source));
	}
	metadata_sort_sources(metadata);
}

static bool has_changed(const struct model *m, uint32_t first, uint32_t end, int64_t recorded)
{
	_cleanup_sources_ struct sources sources = {
		.symfs = folder,
		.recorded = recorded,
		.recordings = { m->profile, first, end },
	};

	return sources_has_changed(&sources, sources_find(&sources, "/x.py"));
}

/* What a recording says of the file counts, not when it was changed; else that. */
static void test_a_hash_tells_the_file(void **state)
{
	enum { LONG_AGO = 1 };
	struct model m;

	(void)state;
	model_init(&m, NULL);
	while (m.profile->recordings.count < 3)
		assert_ok(profile_add_recording(m.profile, &(uint32_t){ 0 }));
	add_hash(&m, 0, "one\n");
	add_hash(&m, 1, "two\n");
	write_file("x.py", "one\n");
	assert_false(has_changed(&m, 0, 1, LONG_AGO));
	assert_true(has_changed(&m, 1, 2, INT64_MAX));
	assert_true(has_changed(&m, 0, 2, INT64_MAX));
	assert_true(has_changed(&m, 2, 3, LONG_AGO));
	assert_false(has_changed(&m, 2, 3, INT64_MAX));
	assert_false(has_changed(&m, 0, 0, 0));
	model_deinit(&m);
}

/* Who may not read a file is told so, else it looks as if there were no source. */
static void test_an_unreadable_file_is_told(void **state)
{
	enum { NOBODY = 65534 };
	_cleanup_sources_ struct sources sources = {};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	bool is_root = !geteuid();
	char expected[PATH_MAX + 64];

	(void)state;
	write_file("x.py", "one\n");
	chmod(path_of("x.py"), 0);
	if (is_root)
		assert_int_equal(seteuid(NOBODY), 0);
	sources_put_line(&sources, path_of("x.py"), 1, &text);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_string_equal(text.data, "");
	sources_tell(&sources, &text);
	snprintf(expected, sizeof(expected),
		 "You may not read %s, so its lines have no text\n",
		 path_of("x.py"));
	assert_string_equal(text.data, expected);
	chmod(path_of("x.py"), 0600);
}

/* --- Blocks ------------------------------------------------------------- */

static void check_block(const char *text, size_t line, size_t first,
			size_t header_last, size_t last)
{
	struct python_block block;
	struct source source = { .text = STRBUF_INIT };

	assert_ok(source_read(NULL, write_file("x.py", text), &source));
	block = python_block_find(&source, line);
	source_deinit(&source);
	assert_int_equal(block.first, first);
	assert_int_equal(block.header_last, header_last);
	assert_int_equal(block.last, last);
}

static void test_a_function_ends_with_its_indentation(void **state)
{
	const char *const text = "def f(a,\n"
				 "      b):\n"
				 "    x = '''\n"
				 "not indented'''\n"
				 "\n"
				 "# a comment\n"
				 "    def g():\n"
				 "        return [\n"
				 "1]\n"
				 "    return g \\\n"
				 " or x  # (\n"
				 "\n"
				 "# not of f\n"
				 "y = \"}'\"\n"
				 "def h(): return 1\n"
				 "z = 2\n";

	(void)state;
	check_block(text, 1, 1, 2, 11);
	check_block(text, 7, 7, 7, 9);
	check_block(text, 15, 15, 15, 15);
}

static void test_decorators_belong_to_a_function(void **state)
{
	const char *const text = "class A:\n"
				 "\t@one(lambda: 1)\n"
				 "\t# why\n"
				 "\t@two\n"
				 "\tasync def f(self):\n"
				 "\t\tpass\n"
				 "\n"
				 "\tx = 1\n"
				 "print()";

	(void)state;
	check_block(text, 2, 2, 5, 6);
	check_block(text, 1, 1, 1, 8);
}

static void test_a_lambda_is_shown_with_its_statement(void **state)
{
	const char *const text = "def f():\n"
				 "    sorted(rows,\n"
				 "           key=lambda r:\n"
				 "               r.a)\n"
				 "    return 2";

	(void)state;
	check_block(text, 3, 2, 2, 4);
	check_block(text, 5, 5, 5, 5);
	/* The file is not the one that ran. */
	check_block(text, 77, 77, 77, 77);
	check_block("", 1, 1, 1, 1);
}

static void test_what_is_no_python_has_lines_too(void **state)
{
	(void)state;
	check_block("def f(:\n  '\n  \"\"\"", 1, 1, 3, 3);
	check_block("@\n@", 1, 1, 1, 1);
	check_block("def\n", 1, 1, 1, 1);
	check_block("((((\nx\n", 2, 1, 1, 2);
	check_block("x = 'a\\", 1, 1, 1, 1);
}

/* --- Listings ----------------------------------------------------------- */

#define F "py:py::f:/srv/x.py"
#define KEY "py:py::f.<locals>.<lambda>:/srv/x.py"
#define BODY "py:py::<module>:/srv/x.py"

/* A profile and what shows it, with a file x.py below the folder. */
struct shown {
	struct model m;
	struct weights *weights;
	struct sources sources;
	struct place_names *names;
	struct listing_options options;
	struct listing listing;
};

static void show_begin(struct shown *s, const char *source)
{
	*s = (struct shown){ .sources = { .symfs = folder },
			     .options = { .columns = 80 } };
	model_init(&s->m, NULL);
	snprintf(srv, sizeof(srv), "%s/srv", folder);
	assert_true(!mkdir(srv, 0700) || errno == EEXIST);
	unlink(path_of("srv/x.py"));
	if (source)
		write_file("srv/x.py", source);
}

/* The line of a def, which the model does not know. */
static void set_def(struct shown *s, const char *name, uint32_t line)
{
	vec_for_each(symbol, &s->m.profile->symbols)
		if (!strcmp(profile_string(s->m.profile, symbol->name, ""),
			    name))
			symbol->line = line;
}

/* Shows what the word calls, or the hottest (NULL). */
static const char *show(struct shown *s, const char *word)
{
	const uint32_t events[] = { 0, 1, 2 };
	struct annotate_parts parts = {};
	uint64_t count, rest;
	bool by_samples = listing_counts_samples(&s->options);
	bool called;

	assert_ok(weights_create(s->m.profile, events,
				 s->m.profile->events.count, &s->weights));
	assert_ok(place_names_create(s->m.profile, "/srv", &s->names));
	s->listing = (struct listing){ .profile = s->m.profile,
				       .weights = s->weights,
				       .options = &s->options,
				       .sources = &s->sources,
				       .names = s->names };
	listing_init(&s->listing);
	if (word)
		assert_ok(annotate_words_find(s->weights, word, false,
					      by_samples, &parts, &called));
	else
		assert_ok(annotate_words_hottest(s->weights, 9, by_samples,
						 &parts, &count, &rest));
	vec_for_each(part, &parts)
		assert_ok(part->kind == ANNOTATE_NATIVE ?
				  native_listing_put(&s->listing, part) :
				  python_listing_put(&s->listing, part));
	vec_deinit(&parts);
	return s->listing.text.data;
}

static void show_end(struct shown *s)
{
	listing_deinit(&s->listing);
	weights_destroy(s->weights);
	place_names_destroy(s->names);
	sources_deinit(&s->sources);
	model_deinit(&s->m);
	unlink(path_of("srv/x.py"));
	rmdir(srv);
}

static void test_a_function_has_its_lines(void **state)
{
	struct shown s;

	(void)state;
	show_begin(&s, "import y\n\ndef f(rows):\n    for r in rows:\n"
		       "\tg(r)\n\nf(y)\n");
	model_sample(&s.m, 30, BODY "@7 I:eval " F "@4");
	model_sample(&s.m, 50, BODY "@7 I:eval " F "@5 list_sort");
	model_sample(&s.m, 15, BODY "@7 I:eval " F "@5 I:eval " F "@4");
	model_sample(&s.m, 5, "I:eval");
	set_def(&s, "py::f:/srv/x.py", 3);
	assert_string_equal(
		show(&s, "f"),
		"f   x.py:3   own 95.0%, total 95.0%\n"
		"   own   total   line  source               spent in\n"
		"                    3  def f(rows):\n"
		" 45.0%   45.0%      4      for r in rows:   interpreter 45\n"
		" 50.0%   65.0%      5          g(r)         list_sort 50\n");
	show_end(&s);
}

/* Those of functions stand at the functions. */
static void test_the_body_of_a_module_has_its_own_lines(void **state)
{
	const char *source = "def f():\n    g()\n    g()\n    g()\n    g()\nf()\n";
	struct shown s;

	(void)state;
	show_begin(&s, source);
	model_sample(&s.m, 30, BODY "@6 I:eval " F "@3");
	model_sample(&s.m, 70, BODY "@6");
	s.options.has_context = true;
	assert_string_equal(show(&s, "<module>"),
			    "<module>   x.py   own 70.0%, total 100.0%\n"
			    "   own   total   line  source   spent in\n"
			    "                  ...  5 lines of other functions\n"
			    " 70.0%  100.0%      6  f()      interpreter 70\n");
	show_end(&s);
	show_begin(&s, source);
	model_sample(&s.m, 30, BODY "@6 I:eval " F "@3");
	model_sample(&s.m, 70, BODY "@6");
	assert_non_null(strstr(show(&s, "x.py"), " 30.0%   30.0%      3      g()"));
	show_end(&s);
}

static void test_lines_without_samples_are_folded(void **state)
{
	struct shown s;
	const char *text;

	(void)state;
	show_begin(&s, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n");
	model_sample(&s.m, 3, BODY "@2");
	model_sample(&s.m, 1, BODY "@13");
	s.options.value = LISTING_SAMPLES;
	s.options.has_context = true;
	s.options.context = 1;
	assert_string_equal(show(&s, "x.py"),
			    "x.py   own 100.0%, total 100.0%\n"
			    "   own   total   line  source\n"
			    "                    1  1\n"
			    "     1       1      2  2\n"
			    "                    3  3\n"
			    "                  ...  8 lines without samples\n"
			    "                   12  12\n"
			    "     1       1     13  13\n"
			    "                   14  14\n");
	show_end(&s);
	show_begin(&s, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n");
	model_sample(&s.m, 999, BODY "@2");
	model_sample(&s.m, 1, BODY "@13");
	s.options.only_hottest = true;
	/* What is folded is in the sum of the column. */
	text = show(&s, NULL);
	assert_non_null(strstr(text, "  0.1%            ...  10 lines\n"));
	show_end(&s);
}

static void test_a_line_says_whose_time_it_is(void **state)
{
	struct shown s;

	(void)state;
	show_begin(&s, "def f():\n  return sorted(x, key=lambda a: b)\n");
	model_sample(&s.m, 6, F "@2 list_sort");
	model_sample(&s.m, 3, F "@2 list_sort I:eval " KEY "@2");
	model_sample(&s.m, 1, F "@2 list_sort I:eval " KEY "@2 long_add");
	set_def(&s, "py::f:/srv/x.py", 1);
	set_def(&s, "py::f.<locals>.<lambda>:/srv/x.py", 2);
	s.options.columns = 130;
	assert_non_null(strstr(
		show(&s, "f"),
		"100.0%  100.0%      2    return sorted(x, key=lambda a: b)   "
		"in f: list_sort 60; in <lambda>: interpreter 30, long_add 10\n"));
	show_end(&s);
}

/* Where the word stands in its line. */
static size_t column_of(const char *text, const char *word)
{
	const char *at = strstr(text, word), *line = at;

	assert_non_null(at);
	while (line > text && line[-1] != '\n')
		line--;
	return (size_t)(at - line);
}

static void test_what_time_was_spent_in_has_one_column(void **state)
{
	static const char *const sources[] = {
		/* Short lines, a long one, and one with a tab. */
		"def f():\n  return sorted(x, key=lambda a: b) + sorted(of_many, key=g)\n  x()\n\ty()\n",
		/* Long ones alone. */
		"def f():\n  return sorted(x, key=lambda a: b) + sorted(of_many, key=g)\n"
		"  return sorted(x, key=lambda a: b) + sorted(of_many, key=g)\n"
		"  return sorted(x, key=lambda a: b) + sorted(of_many, key=g)\n",
		"def f():\n  a\n  b\n  c\n",
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		for (size_t columns = 60; columns <= 140; columns += 10) {
			const char *text;
			struct shown s;
			size_t at;

			show_begin(&s, sources[i]);
			model_sample(&s.m, 6, F "@2 list_sort");
			model_sample(&s.m, 3, F "@2 list_sort I:eval " KEY "@2 long_sub");
			model_sample(&s.m, 5, F "@3 long_add");
			model_sample(&s.m, 4, F "@4 dict_get");
			set_def(&s, "py::f:/srv/x.py", 1);
			set_def(&s, "py::f.<locals>.<lambda>:/srv/x.py", 2);
			s.options.columns = columns;
			text = show(&s, "f");
			at = column_of(text, "spent in");
			assert_int_equal(column_of(text, "in f: list_sort"), at);
			assert_int_equal(column_of(text, "long_add"), at);
			assert_int_equal(column_of(text, "dict_get"), at);
			/* Behind the other, or below it. */
			if (!strstr(text, "; in <lambda>: long_sub"))
				assert_int_equal(
					column_of(text, "in <lambda>: long_sub"),
					at);
			show_end(&s);
		}
	}
}

static void test_several_events_have_columns(void **state)
{
	struct profile_event event = { .has_callchain = true };
	struct shown s;
	uint32_t id;

	(void)state;
	show_begin(&s, "def f():\n  pass\n");
	event.name = model_string(&s.m, "page-faults:u\033[31m");
	assert_ok(profile_add_event(s.m.profile, &event, &id));
	model_sample(&s.m, 1, F "@2");
	model_sample(&s.m, 1, F "@1 I:eval " F "@2");
	s.m.profile->samples.event[1] = 1;
	set_def(&s, "py::f:/srv/x.py", 1);
	assert_string_equal(
		show(&s, "f"),
		"f   x.py:1\n"
		"  cycles: own 100.0%, total 100.0%\n"
		"  page-faults:u?[31m: own 100.0%, total 100.0%\n"
		"cycles          page-faults...\n"
		"   own   total     own   total   line  source   spent in, cycles\n"
		"                        100.0%      1  def f():\n"
		"100.0%  100.0%  100.0%  100.0%      2    pass   interpreter 100\n");
	listing_put_hidden_events(&s.listing);
	show_end(&s);
}

static void test_numbers_stand_without_source(void **state)
{
	struct shown s;
	const char *text;

	(void)state;
	show_begin(&s, NULL);
	model_sample(&s.m, 1, F "@4000000000");
	model_sample(&s.m, 3, F "@7");
	set_def(&s, "py::f:/srv/x.py", 5);
	s.options.shows_all = true;
	text = show(&s, "f");
	assert_non_null(strstr(text, "there is no source to show: "));
	assert_non_null(strstr(
		text, " 75.0%   75.0%           7                interpreter 75\n") ?:
			      strstr(text, " 75.0%   75.0%           7"));
	assert_non_null(strstr(text, " 25.0%   25.0%  4000000000"));
	show_end(&s);
}

/* What is imported at the start of a program is noise, unless one asks for it. */
static void test_what_rounds_to_nothing_is_left_out(void **state)
{
	struct shown s;
	const char *text;

	(void)state;
	for (int asked = 0; asked <= 1; asked++) {
		show_begin(&s, NULL);
		model_sample(&s.m, 9980, F "@2");
		model_sample(&s.m, 15, KEY "@2");
		model_sample(&s.m, 4, "py:py::_find_spec:<frozen importlib._bootstrap>@9");
		text = show(&s, asked ? "_find_spec" : NULL);
		assert_int_equal(strstr(text, "_find_spec") != NULL, asked);
		assert_int_equal(strstr(text, "<lambda>   x.py") != NULL, !asked);
		show_end(&s);
	}
	/* The first is shown, whatever else there is. */
	show_begin(&s, NULL);
	model_sample(&s.m, 9999, "I:eval");
	model_sample(&s.m, 1, F "@2");
	assert_non_null(strstr(show(&s, NULL), "f   x.py   own 0.0%"));
	show_end(&s);
}

/* A sample weighs more after a longer period. */
static void test_the_order_is_that_of_what_is_shown(void **state)
{
	(void)state;
	for (int samples = 0; samples <= 1; samples++) {
		const char *text, *f, *key;
		struct shown s;

		show_begin(&s, NULL);
		model_sample(&s.m, 50, F "@2");
		model_sample(&s.m, 15, KEY "@2");
		model_sample(&s.m, 15, KEY "@2");
		s.options.value = samples ? LISTING_SAMPLES : LISTING_PERCENT;
		text = show(&s, NULL);
		f = strstr(text, "f   x.py");
		key = strstr(text, "<lambda>   x.py");
		assert_true(f && key && (f < key) == !samples);
		show_end(&s);
	}
}

static void test_what_has_no_line_is_said(void **state)
{
	struct shown s;

	(void)state;
	show_begin(&s, "x = 1\ndef f():\n  pass\n");
	/* The model's line 1 is slot 0 of the code object. */
	model_sample(&s.m, 1, F "@1");
	vec_for_each(frame, &s.m.profile->frames)
		frame->line = 2;
	set_def(&s, "py::f:/srv/x.py", 2);
	assert_non_null(strstr(
		show(&s, "f"),
		"the recording does not contain lines of this function; all "));
	show_end(&s);
}

static void test_source_fits_and_moves_no_cursor(void **state)
{
	struct shown s;
	const char *text;

	(void)state;
	show_begin(&s, "def f():\n\tx = '\033[2J\r\177'\t# wide wide wide wide wide wide wide wide wide wide\n");
	model_sample(&s.m, 1, F "@2");
	set_def(&s, "py::f:/srv/x.py", 1);
	text = show(&s, "f");
	assert_non_null(strstr(text, "x = '?[2J?" "?'"));
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 80);
	assert_non_null(strstr(text, "...\n"));
	show_end(&s);
}

static struct annotate_passed pass(struct shown *s, const char *word)
{
	const uint32_t first = 0;
	struct annotate_passed passed;

	assert_ok(weights_create(s->m.profile, &first, 1, &s->weights));
	assert_ok(annotate_words_pass(s->weights, word, false, &passed));
	weights_destroy(s->weights);
	s->weights = NULL;
	return passed;
}

/* A sample counts once, however often a function is in it. */
static void test_what_passes_through_a_function(void **state)
{
	struct annotate_passed passed;
	struct shown s;

	(void)state;
	s = (struct shown){};
	model_init(&s.m, NULL);
	model_sample(&s.m, 3, "main I:call outer outer leaf");
	model_sample(&s.m, 4, "main I:call outer other");
	model_sample(&s.m, 5, "main other");
	passed = pass(&s, "outer");
	assert_int_equal(passed.weight.period, 7);
	assert_int_equal(passed.weight.samples, 2);
	assert_false(passed.is_interpreter);
	assert_false(passed.is_inlined);
	passed = pass(&s, "call");
	assert_int_equal(passed.weight.period, 7);
	assert_true(passed.is_interpreter);
	vec_for_each(frame, &s.m.profile->frames)
		if (!strcmp(profile_string(s.m.profile,
					   profile_symbol(s.m.profile, frame->symbol)->name,
					   ""),
			    "outer"))
			frame->flags |= PROFILE_FRAME_INLINED;
	assert_true(pass(&s, "outer").is_inlined);
	assert_int_equal(pass(&s, "nothing").weight.samples, 0);
	model_deinit(&s.m);
}

static void test_instructions_without_code(void **state)
{
	struct shown s;

	(void)state;
	show_begin(&s, NULL);
	model_sample(&s.m, 3, F "@2 lib:deflate");
	model_sample(&s.m, 1, F "@2");
	vec_for_each(symbol, &s.m.profile->symbols)
		symbol->end = symbol->start + 0x10;
	assert_non_null(strstr(show(&s, "deflate"), "there is no code to show"));
	assert_non_null(strstr(s.listing.text.data, "deflate   libother.so   own 75.0%, total 75.0%\n"));
	assert_non_null(strstr(s.listing.text.data, "\n 75.0%  "));
	show_end(&s);
}

static void test_a_native_function_has_a_total(void **state)
{
	struct shown s;

	(void)state;
	show_begin(&s, NULL);
	model_sample(&s.m, 3, F "@2 lib:deflate");
	model_sample(&s.m, 4, F "@2 lib:deflate lib:longest_match");
	/* Once, though it is there twice. */
	model_sample(&s.m, 1, F "@2 lib:deflate lib:longest_match lib:deflate");
	model_sample(&s.m, 2, F "@2");
	vec_for_each(symbol, &s.m.profile->symbols)
		symbol->end = symbol->start + 0x10;
	assert_non_null(strstr(show(&s, "deflate"), "deflate   libother.so   own 40.0%, total 80.0%\n"));
	show_end(&s);
}

/* A sample of an event, so far into deflate. */
static void hit_deflate(struct shown *s, uint32_t event, uint32_t below)
{
	struct profile *p = s->m.profile;
	uint32_t id = model_frame(&s->m, "lib:deflate");
	struct profile_frame frame = *profile_frame(p, id);
	uint32_t stack;

	frame.rel += below;
	assert_ok(profile_intern_frame(p, &frame, &id));
	assert_ok(profile_stack_push(p, PROFILE_NONE, id, &stack));
	model_sample(&s->m, 1, "lib:deflate");
	p->samples.event[p->samples.rows - 1] = event;
	p->samples.stack[p->samples.rows - 1] = stack;
}

static void test_addresses_of_several_events(void **state)
{
	struct profile_event event = { .has_callchain = true };
	struct shown s;
	const char *text;
	uint32_t id;

	(void)state;
	show_begin(&s, NULL);
	s.options.columns = 120;
	event.name = model_string(&s.m, "faults");
	assert_ok(profile_add_event(s.m.profile, &event, &id));
	event.name = model_string(&s.m, "misses");
	assert_ok(profile_add_event(s.m.profile, &event, &id));
	hit_deflate(&s, 0, 8);
	hit_deflate(&s, 1, 4);
	hit_deflate(&s, 2, 4);
	text = strstr(show(&s, "deflate"), "  address\n");
	assert_non_null(text);
	/* Each once, ascending. */
	assert_string_equal(text, "  address\n"
				  "        100.0%  100.0%  5004\n"
				  "100.0%                  5008\n");
	show_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_is_read_once),
		cmocka_unit_test(test_what_is_no_file_has_no_lines),
		cmocka_unit_test(test_a_changed_file_is_told),
		cmocka_unit_test(test_a_file_without_the_lines_is_told),
		cmocka_unit_test(test_a_hash_tells_the_file),
		cmocka_unit_test(test_an_unreadable_file_is_told),
		cmocka_unit_test(test_a_function_ends_with_its_indentation),
		cmocka_unit_test(test_decorators_belong_to_a_function),
		cmocka_unit_test(test_a_lambda_is_shown_with_its_statement),
		cmocka_unit_test(test_what_is_no_python_has_lines_too),
		cmocka_unit_test(test_a_function_has_its_lines),
		cmocka_unit_test(test_the_body_of_a_module_has_its_own_lines),
		cmocka_unit_test(test_lines_without_samples_are_folded),
		cmocka_unit_test(test_a_line_says_whose_time_it_is),
		cmocka_unit_test(test_what_time_was_spent_in_has_one_column),
		cmocka_unit_test(test_several_events_have_columns),
		cmocka_unit_test(test_numbers_stand_without_source),
		cmocka_unit_test(test_what_has_no_line_is_said),
		cmocka_unit_test(test_what_rounds_to_nothing_is_left_out),
		cmocka_unit_test(test_the_order_is_that_of_what_is_shown),
		cmocka_unit_test(test_source_fits_and_moves_no_cursor),
		cmocka_unit_test(test_what_passes_through_a_function),
		cmocka_unit_test(test_instructions_without_code),
		cmocka_unit_test(test_a_native_function_has_a_total),
		cmocka_unit_test(test_addresses_of_several_events),
	};

	return cmocka_run_group_tests_name("annotate", tests, make_folder,
					   remove_folder);
}
