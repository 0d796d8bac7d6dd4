// SPDX-License-Identifier: GPL-2.0-only
/* What a process ran in the window that `kaa top` shows, from points that lie apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "assert_ok.h"
#include "cmd/top_time.h"

#define MS INT64_C(1000000)

static void test_windows(void **state)
{
	struct top_time time = {};

	(void)state;
	assert_int_equal(top_time_ran(&time, 7, 1000 * MS), 0);
	/* Each second one second, a little early or late; another process does nothing. */
	for (int64_t i = 0; i < 20; i++) {
		int64_t at = 1000 * MS * i + (i % 2 ? MS : -MS);

		assert_ok(top_time_note(&time, 7, at, (uint64_t)(at + 5000 * MS)));
		assert_ok(top_time_note(&time, 8, at, 3));
	}
	assert_int_equal(top_time_ran(&time, 7, 1000 * MS), 1000 * MS);
	assert_int_equal(top_time_ran(&time, 7, 10000 * MS), 10000 * MS);
	assert_int_equal(top_time_ran(&time, 8, 10000 * MS), 0);
	/* Longer than what is known; and who is not known at all. */
	assert_int_equal(top_time_ran(&time, 7, 60000 * MS), 0);
	assert_int_equal(top_time_ran(&time, 9, 1000 * MS), 0);
	/* Another process has the number now. */
	assert_ok(top_time_note(&time, 7, 20000 * MS, 5));
	assert_int_equal(top_time_ran(&time, 7, 1000 * MS), 0);
	top_time_deinit(&time);
}

static void test_old_points_go(void **state)
{
	struct top_time time = {};

	(void)state;
	for (int64_t i = 0; i < 20000; i++)
		assert_ok(top_time_note(&time, 7, i * MS, (uint64_t)(i * MS)));
	assert_true(time.points.count <= 4096);
	assert_int_equal(top_time_ran(&time, 7, 1000 * MS), 1000 * MS);
	assert_int_equal(top_time_ran(&time, 7, 10000 * MS), 0);
	top_time_deinit(&time);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_old_points_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
