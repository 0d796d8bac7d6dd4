// SPDX-License-Identifier: GPL-2.0-only
/* Source text with weights: files, where functions end, and the listing. */
#include "assert_ok.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_is_read_once),
		cmocka_unit_test(test_what_is_no_file_has_no_lines),
		cmocka_unit_test(test_a_changed_file_is_told),
	};

	return cmocka_run_group_tests_name("annotate", tests, make_folder,
					   remove_folder);
}
