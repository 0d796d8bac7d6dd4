// SPDX-License-Identifier: GPL-2.0-only
/* EXIT records stand behind the samples of their thread, and before its number's next owner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "assert_ok.h"
#include "collect/exits.h"

/* No thread has these numbers. */
enum { TID = 4194311, OTHER = 4194312, LONG_US = 120000 };

struct recording {
	struct output output;
	struct exits exits;
};

static void build(struct recording *m)
{
	static const struct perf_event_attr attr = {
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	};

	*m = (struct recording){ .output.bytes = STRBUF_INIT };
	assert_ok(events_add(&m->output.events, &attr, "cpu-clock", NULL));
	assert_ok(events_add_id(&m->output.events,
				m->output.events.list.data[0], 1));
	m->exits = (struct exits){ .output = &m->output, .by_cpu = true };
}

static void demolish(struct recording *m)
{
	exits_deinit(&m->exits);
	vec_deinit(&m->output.records);
	strbuf_deinit(&m->output.bytes);
	events_deinit(&m->output.events);
}

static void hold(struct recording *m, uint32_t tid, uint64_t time)
{
	const struct record record = {
		.type = PERF_RECORD_EXIT,
		.id = 1,
		.time = time,
		.pid = 6,
		.tid = tid,
		.task = { .pid = 6, .ppid = 5, .tid = tid, .ptid = 5, .time = time },
	};

	assert_ok(exits_hold(&m->exits, &record));
}

/* The i-th record that was written is that thread's, of that time. */
static void check(struct recording *m, size_t i, uint32_t tid, uint64_t time)
{
	const struct output_record *place = &m->output.records.data[i];
	struct record record;

	assert_true(i < m->output.records.count);
	assert_ok(record_decode(&m->output.events,
				m->output.bytes.data + place->offset,
				place->size, &record));
	assert_int_equal(record.type, PERF_RECORD_EXIT);
	assert_int_equal(record.task.pid, 6);
	assert_int_equal(record.task.ppid, 5);
	assert_int_equal(record.task.tid, tid);
	assert_int_equal(record.tid, tid);
	assert_int_equal(place->time, time);
	assert_int_equal(record.time, time);
	assert_int_equal(record.task.time, time);
}

static void test_behind_the_last_sample(void **state)
{
	struct recording m;

	(void)state;
	build(&m);
	hold(&m, TID, 1000);
	hold(&m, OTHER, 1001);
	exits_sampled(&m.exits, TID, 900);
	exits_sampled(&m.exits, TID, 2000);
	exits_sampled(&m.exits, TID, 1500);
	exits_sampled(&m.exits, OTHER, 400);
	exits_sampled(&m.exits, 12345, 9999);
	assert_int_equal(m.output.records.count, 0);
	assert_ok(exits_end(&m.exits));
	assert_int_equal(m.output.records.count, 2);
	check(&m, 0, TID, 2001);
	check(&m, 1, OTHER, 1001);
	demolish(&m);
}

/* As long as samples come, and at least as long as a round that is not hurried. */
static void test_wait(void **state)
{
	struct recording m;

	(void)state;
	build(&m);
	hold(&m, TID, 1000);
	hold(&m, OTHER, 1001);
	usleep(LONG_US);
	exits_sampled(&m.exits, TID, 1100);
	hold(&m, OTHER + 1, 1002);
	assert_ok(exits_end_round(&m.exits));
	/* If this process stood still for long, all have waited. */
	assert_in_range(m.output.records.count, 1, 3);
	check(&m, m.output.records.count > 1, OTHER, 1001);
	usleep(LONG_US);
	assert_ok(exits_end_round(&m.exits));
	assert_int_equal(m.output.records.count, 3);
	assert_ok(exits_end(&m.exits));
	assert_int_equal(m.output.records.count, 3);
	demolish(&m);
}

/* This thread, which is there: as if it waited for a CPU to release its memory. */
static void test_one_that_still_ends(void **state)
{
	struct recording m;

	(void)state;
	build(&m);
	hold(&m, (uint32_t)getpid(), 1000);
	usleep(LONG_US);
	assert_ok(exits_end_round(&m.exits));
	assert_int_equal(m.output.records.count, 0);
	exits_sampled(&m.exits, (uint32_t)getpid(), 2000);
	assert_ok(exits_end(&m.exits));
	assert_int_equal(m.output.records.count, 1);
	check(&m, 0, (uint32_t)getpid(), 2001);
	demolish(&m);
}

/* What is written at the end stands under this process, which so has not ended before. */
static void test_the_first_process_waits_for_the_end(void **state)
{
	struct recording m;

	(void)state;
	build(&m);
	m.output.first_pid = TID;
	hold(&m, TID, 1000);
	hold(&m, OTHER, 1001);
	usleep(LONG_US);
	assert_ok(exits_end_round(&m.exits));
	assert_int_equal(m.output.records.count, 1);
	check(&m, 0, OTHER, 1001);
	m.output.settled = 5000;
	assert_ok(exits_end(&m.exits));
	assert_int_equal(m.output.records.count, 2);
	check(&m, 1, TID, 5000);
	demolish(&m);
}

/* A round later readers have handled what was before. */
static void test_not_before_what_is_settled(void **state)
{
	struct recording m;

	(void)state;
	build(&m);
	hold(&m, TID, 1000);
	m.output.settled = 5000;
	assert_ok(exits_end(&m.exits));
	check(&m, 0, TID, 5000);
	demolish(&m);
}

static void test_number_is_used_again(void **state)
{
	struct recording m;

	(void)state;
	build(&m);
	hold(&m, TID, 1000);
	assert_ok(exits_number_taken(&m.exits, OTHER, 3000));
	assert_int_equal(m.output.records.count, 0);
	assert_ok(exits_number_taken(&m.exits, TID, 3000));
	check(&m, 0, TID, 2999);
	/* These are the new one's. */
	exits_sampled(&m.exits, TID, 3500);
	hold(&m, TID, 4000);
	exits_sampled(&m.exits, TID, 4100);
	/* Its FORK was lost. */
	hold(&m, TID, 7000);
	check(&m, 1, TID, 4101);
	assert_ok(exits_end(&m.exits));
	assert_int_equal(m.output.records.count, 3);
	check(&m, 2, TID, 7000);
	/* Nothing is left of it. */
	assert_ok(exits_number_taken(&m.exits, TID, 9000));
	assert_int_equal(m.output.records.count, 3);
	demolish(&m);
}

static void test_many(void **state)
{
	struct recording m;

	(void)state;
	build(&m);
	for (uint32_t i = 1; i <= 3000; i++) {
		hold(&m, i, 1000 * i);
		if (i % 3 == 0)
			assert_ok(exits_number_taken(&m.exits, i, 1000 * i + 500));
		if (i % 1000 == 0)
			assert_ok(exits_end_round(&m.exits));
	}
	assert_ok(exits_end(&m.exits));
	assert_int_equal(m.output.records.count, 3000);
	demolish(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_behind_the_last_sample),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_one_that_still_ends),
		cmocka_unit_test(test_the_first_process_waits_for_the_end),
		cmocka_unit_test(test_not_before_what_is_settled),
		cmocka_unit_test(test_number_is_used_again),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
