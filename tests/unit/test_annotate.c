// SPDX-License-Identifier: GPL-2.0-only
/* Source text with weights: files, where functions end, and the listing. */
#include "assert_ok.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explore/python_block.h"
#include "explore/sources.h"

static char folder[] = "/tmp/kaa-annotate-XXXXXX";

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
	(void)state;
	unlink(path_of("x.py"));
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
	sources_tell_changed(&sources, &text);
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
	sources_tell_changed(&sources, &text);
	assert_string_equal(
		text.data,
		"/x.py has changed since the recording: its lines may be others now\n");
	sources.recorded = INT64_MAX;
	assert_false(sources_has_changed(&sources, sources.files.data[0]));
	/* Without the time of the recording nothing can be said. */
	sources.recorded = 0;
	assert_false(sources_has_changed(&sources, sources.files.data[0]));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_is_read_once),
		cmocka_unit_test(test_what_is_no_file_has_no_lines),
		cmocka_unit_test(test_a_changed_file_is_told),
		cmocka_unit_test(test_a_function_ends_with_its_indentation),
		cmocka_unit_test(test_decorators_belong_to_a_function),
		cmocka_unit_test(test_a_lambda_is_shown_with_its_statement),
		cmocka_unit_test(test_what_is_no_python_has_lines_too),
	};

	return cmocka_run_group_tests_name("annotate", tests, make_folder,
					   remove_folder);
}
