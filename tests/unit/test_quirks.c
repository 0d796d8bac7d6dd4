// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of quirks, held to the pages for users: each quirk has a row there,
 * and each row of what differs on purpose a quirk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/quirks.h"
#include "cmd/reading/input.h"

static const char *const pages[] = {
	SOURCE_ROOT "/docs/report.md",
	SOURCE_ROOT "/docs/script.md",
};

typedef void row_fn(const char *title, void *arg);

/* "- **Title.** Text" or "- **Title**, text"; NULL: no row. */
static char *row_title(char *line)
{
	char *title = line + strlen("- **"), *end;

	if (strncmp(line, "- **", strlen("- **")))
		return NULL;
	end = strstr(title, "**");
	assert_non_null(end);
	end -= end[-1] == '.';
	*end = '\0';
	return title;
}

/* The rows below "## Different on purpose"; returns how many. */
static int for_each_row(const char *page, row_fn *fn, void *arg)
{
	static const char head[] = "## Different on purpose";
	FILE *file = fopen(page, "r");
	char *line = NULL, *title;
	bool inside = false;
	size_t size = 0;
	int rows = 0;

	assert_non_null(file);
	while (getline(&line, &size, file) >= 0) {
		if (!strncmp(line, "## ", 3))
			inside = !strncmp(line, head, strlen(head));
		title = inside ? row_title(line) : NULL;
		if (!title)
			continue;
		fn(title, arg);
		rows++;
	}
	free(line);
	fclose(file);
	return rows;
}

struct wanted {
	const char *title;
	int rows;
};

static void count_row(const char *title, void *arg)
{
	struct wanted *wanted = arg;

	wanted->rows += !strcmp(title, wanted->title);
}

static void test_each_quirk_has_a_row(void **state)
{
	const struct quirk *quirk;

	(void)state;
	for (size_t i = 0; (quirk = quirk_at(i)); i++) {
		bool found = false;

		for (size_t page = 0; page < 2; page++) {
			struct wanted wanted = { .title = quirk->title };

			for_each_row(pages[page], count_row, &wanted);
			assert_in_range(wanted.rows, 0, 1);
			found |= wanted.rows;
		}
		if (!found)
			fail_msg("%s: no row '%s'", quirk->name, quirk->title);
	}
}

static void find_quirk(const char *title, void *arg)
{
	const struct quirk *quirk;

	(void)arg;
	for (size_t i = 0; (quirk = quirk_at(i)); i++)
		if (!strcmp(quirk->title, title))
			return;
	fail_msg("no quirk for the row '%s'", title);
}

static void test_each_row_has_a_quirk(void **state)
{
	(void)state;
	for (size_t page = 0; page < 2; page++)
		assert_true(for_each_row(pages[page], find_quirk, NULL) > 5);
}

static void test_titles_are_of_one_quirk(void **state)
{
	const struct quirk *a, *b;

	(void)state;
	for (size_t i = 0; (a = quirk_at(i)); i++)
		for (size_t j = i + 1; (b = quirk_at(j)); j++)
			assert_string_not_equal(a->title, b->title);
}

static bool has(const struct quirks *quirks, const struct quirk *quirk)
{
	return *(const bool *)((const char *)quirks + quirk->offset);
}

static void test_versions(void **state)
{
	const struct quirks none = quirks_of_perf(PERF_NONE);
	const struct quirks all = quirks_of_perf(PERF_7_2);
	const struct quirk *quirk;
	size_t count = 0;

	(void)state;
	for (; (quirk = quirk_at(count)); count++) {
		assert_int_equal(quirk->offset, count * sizeof(bool));
		assert_false(has(&none, quirk));
		assert_int_equal(has(&all, quirk),
				 !quirk->until || quirk->until > PERF_7_2);
	}
	assert_int_equal(count * sizeof(bool), sizeof(struct quirks));
	assert_true(all.return_addresses);
}

static void test_quirks_begin_and_end(void **state)
{
	const struct quirk mended = { .since = 702, .until = 703 };
	const struct quirk new = { .since = 703 };

	(void)state;
	assert_false(quirk_is_in(&mended, PERF_NONE));
	assert_true(quirk_is_in(&mended, 702));
	assert_false(quirk_is_in(&mended, 703));
	assert_false(quirk_is_in(&new, 702));
	assert_true(quirk_is_in(&new, 703));
	assert_true(quirk_is_in(&new, 800));
}

/* --like-perf is all that brings quirks, and those of one version. */
static void test_commands_have_none_by_themselves(void **state)
{
	const struct quirks none = {}, all = quirks_of_perf(PERF_7_2);
	struct input input = {};
	struct quirks quirks;

	(void)state;
	input_set_defaults(&input);
	quirks = input_quirks(&input);
	assert_memory_equal(&quirks, &none, sizeof(quirks));
	input.like_perf = true;
	quirks = input_quirks(&input);
	assert_memory_equal(&quirks, &all, sizeof(quirks));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_quirk_has_a_row),
		cmocka_unit_test(test_each_row_has_a_quirk),
		cmocka_unit_test(test_titles_are_of_one_quirk),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_quirks_begin_and_end),
		cmocka_unit_test(test_commands_have_none_by_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
