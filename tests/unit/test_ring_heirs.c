// SPDX-License-Identifier: GPL-2.0-only
/* Who tells of a ring when the thread of the event that did has ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "assert_ok.h"
#include "base/clock.h"
#include "collect/ring_heirs.h"

enum { CPUS = 64, THREADS = 1000, EVENTS = 1 };

static void add_event(struct sampler *sampler, int fd, size_t event, int cpu, int tid)
{
	const struct sampler_fd entry = {
		.fd = fd, .event = (uint32_t)event, .cpu = cpu, .tid = tid
	};

	assert_true(vec_push(&sampler->fds, entry));
}

static const struct sampler_fd *next_of(struct ring_heirs *heirs, struct sampler *sampler, int fd,
					bool of_tasks)
{
	const struct sampler_fd *next;
	bool tasks;

	assert_ok(ring_heirs_next(heirs, sampler, fd, &next, &tasks));
	assert_int_equal(tasks, of_tasks);
	return next;
}

/* A pipe whose writer is gone has hung up; one of the rest, and none of another ring. */
static void test_the_next_that_has_not_ended(void **state)
{
	struct sampler sampler = { .options = { .event_count = EVENTS } };
	struct ring_heirs heirs = {};
	size_t tasks = sampler_tasks_index(&sampler), walker = sampler_walker_index(&sampler);
	int pipes[8][2];

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_int_equal(pipe(pipes[i]), 0);
	add_event(&sampler, pipes[0][0], 0, 3, 10);
	add_event(&sampler, pipes[1][0], tasks, 3, 10);
	add_event(&sampler, pipes[2][0], 0, 4, 10);
	add_event(&sampler, pipes[3][0], 0, 3, 11);
	add_event(&sampler, pipes[4][0], walker, 3, 11);
	add_event(&sampler, pipes[5][0], 0, 3, 12);
	add_event(&sampler, pipes[6][0], tasks, 3, 12);
	add_event(&sampler, pipes[7][0], tasks, 4, 12);
	close(pipes[3][1]);
	assert_int_equal(next_of(&heirs, &sampler, pipes[0][0], false)->tid, 12);
	assert_true(sampler.fds.data[3].ended);
	assert_null(next_of(&heirs, &sampler, pipes[5][0], false));
	assert_int_equal(next_of(&heirs, &sampler, pipes[6][0], true)->tid, 10);
	assert_null(next_of(&heirs, &sampler, pipes[1][0], true));
	assert_null(next_of(&heirs, &sampler, pipes[2][0], false));
	assert_false(sampler.fds.data[7].ended);
	/* None of the sampler's. */
	assert_null(next_of(&heirs, &sampler, pipes[0][1], false));
	for (int i = 0; i < 8; i++) {
		close(pipes[i][0]);
		if (i != 3)
			close(pipes[i][1]);
	}
	ring_heirs_deinit(&heirs);
	vec_deinit(&sampler.fds);
}

/* One after the other, on many CPUs: each is the next one's once. */
static void test_many_threads_end(void **state)
{
	/* No process has these open. */
	enum { NONE = 1 << 30 };
	struct sampler sampler = { .options = { .event_count = EVENTS } };
	struct ring_heirs heirs = {};
	size_t tasks = sampler_tasks_index(&sampler);
	int64_t begin;
	int fd = NONE;

	(void)state;
	for (int tid = 0; tid < THREADS; tid++) {
		for (int cpu = 0; cpu < CPUS; cpu++) {
			add_event(&sampler, fd++, 0, cpu, tid);
			add_event(&sampler, fd++, tasks, cpu, tid);
		}
	}
	begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (int ring = 0; ring < 2 * CPUS; ring++) {
		const struct sampler_fd *entry = &sampler.fds.data[ring];

		for (int tid = 1; tid < THREADS; tid++) {
			entry = next_of(&heirs, &sampler, entry->fd, ring % 2);
			assert_non_null(entry);
			assert_int_equal(entry->tid, tid);
			assert_int_equal(entry->cpu, ring / 2);
		}
		assert_null(next_of(&heirs, &sampler, entry->fd, ring % 2));
	}
	/* Some 0.05 s; 16,000 million steps if all were looked through for each. */
	assert_true(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin < INT64_C(5000000000));
	ring_heirs_deinit(&heirs);
	vec_deinit(&sampler.fds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_next_that_has_not_ended),
		cmocka_unit_test(test_many_threads_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
