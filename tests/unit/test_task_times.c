// SPDX-License-Identifier: GPL-2.0-only
/* What samples say of tasks, by planted looks: never more than each has lived. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include <stdio.h>
#include <string.h>

#include "collect/task_times.h"

enum {
	TASKS = 30,
	/* Of them a look reads so many. */
	READ = 6,
	LOOKS = 2000,
	MS = 1000000,
	/* Parts of those for which others stand have these markers. */
	OTHERS = 1 << 20,
};

/* A look at hand. */
struct plan {
	struct task_times times;
	struct poll_parts parts;
	struct strbuf none;
	uint64_t now;
};
#define PLAN_INIT { .parts = POLL_PARTS_INIT, .none = STRBUF_INIT }

static void deinit(struct plan *plan)
{
	task_times_deinit(&plan->times);
	poll_parts_deinit(&plan->parts);
}

/* What a part is of is its marker. */
static void read_task(struct plan *plan, uint64_t key, uint32_t number,
		      double share, bool runs)
{
	struct poll_part_task task = { .key = key, .share = share, .runs = runs };

	assert_true(poll_parts_find(&plan->parts, &plan->none, number,
				    &task.own));
	assert_true(poll_parts_find(&plan->parts, &plan->none, OTHERS + number,
				    &task.others));
	assert_true(vec_push(&plan->parts.tasks, task));
}

static void begin(struct plan *plan)
{
	poll_parts_clear(&plan->parts);
}

static void divide(struct plan *plan, uint64_t period)
{
	plan->parts.until = plan->now += period;
	task_times_divide(&plan->times, &plan->parts, period, period);
}

/* All of it: *own, and what is no task's own. */
static double sum(const struct plan *plan, double *own)
{
	double all = 0;

	*own = 0;
	vec_for_each(part, &plan->parts.list) {
		all += part->tasks_ns;
		if (part->marker < OTHERS)
			*own += part->tasks_ns;
	}
	return all;
}

/* Mostly some ms, and now and then much more, as on a busy machine. */
static uint64_t length_of(uint32_t look)
{
	uint64_t chance = hash_combine(look, 7);

	return chance % 10 ? (2 + chance / 10 % 9) * MS :
			     (50 + chance / 10 % 300) * MS;
}

struct planted_task {
	uint64_t key;
	/* Exclusive. */
	uint32_t first_look;
	uint32_t last_look;
	double life;
	double own;
	/* Without accounts. */
	double by_share;
};

/* Those of the second half have ended by half time, and others come to their places. */
static void plant(struct planted_task *tasks)
{
	char name[32];

	memset(tasks, 0, 2 * TASKS * sizeof(*tasks));
	for (uint32_t i = 0; i < 2 * TASKS; i++) {
		uint32_t half = i < TASKS / 2 ? 0 : i < TASKS ? 1 : 2;

		snprintf(name, sizeof(name), "part %u", i);
		tasks[i].key = task_times_key(name, 5, 0x1000 + i % TASKS);
		tasks[i].first_look = half == 2 ? LOOKS / 2 : 0;
		tasks[i].last_look = half == 1 ? LOOKS / 2 : LOOKS;
		if (i >= TASKS && i < TASKS + TASKS / 2)
			tasks[i].first_look = tasks[i].last_look = 0;
	}
}

/* One runs, and those that wait are read in turn. */
static void look_at(struct plan *plan, struct planted_task *tasks,
		    uint32_t look)
{
	uint32_t there[2 * TASKS], count = 0, runs;
	uint64_t period = length_of(look);

	for (uint32_t i = 0; i < 2 * TASKS; i++) {
		if (look < tasks[i].first_look || look >= tasks[i].last_look)
			continue;
		there[count++] = i;
		tasks[i].life += (double)period;
	}
	runs = there[look * 7 % count];
	begin(plan);
	read_task(plan, tasks[runs].key, runs, 1, true);
	tasks[runs].by_share += (double)period;
	for (uint32_t n = 0; n < READ; n++) {
		uint32_t i = there[(look * READ + n) % count];
		double share = (double)count / READ;

		if (i == runs)
			continue;
		read_task(plan, tasks[i].key, i, share, false);
		tasks[i].by_share += share * (double)period;
	}
	divide(plan, period);
}

static void test_no_more_than_it_lived(void **state)
{
	static struct planted_task tasks[2 * TASKS];
	struct plan plan = PLAN_INIT;
	double most = 0, due = 0, all = 0, own;

	(void)state;
	plant(tasks);
	for (uint32_t look = 0; look < LOOKS; look++) {
		look_at(&plan, tasks, look);
		all += sum(&plan, &own);
		vec_for_each(task, &plan.parts.tasks)
			due += task->share * (double)length_of(look);
		vec_for_each(part, &plan.parts.list)
			if (part->marker < OTHERS)
				tasks[part->marker].own += part->tasks_ns;
	}
	for (uint32_t i = 0; i < 2 * TASKS; i++) {
		if (!tasks[i].life)
			continue;
		assert_true(tasks[i].own <= tasks[i].life);
		assert_true(tasks[i].own > 0.75 * tasks[i].life);
		if (tasks[i].by_share / tasks[i].life > most)
			most = tasks[i].by_share / tasks[i].life;
	}
	/* By its looks alone one would have much more, and in all it is the same. */
	assert_true(most > 1.2);
	assert_true(all > 0.999999 * due && all < 1.000001 * due);
	deinit(&plan);
}

/* It ran, and then it waits: that is not counted once more. */
static void test_runs_and_waits(void **state)
{
	struct plan plan = PLAN_INIT;
	double own, all;

	(void)state;
	begin(&plan);
	read_task(&plan, 1, 1, 1, true);
	divide(&plan, 10 * MS);
	/* Since when it lives is not known. */
	all = sum(&plan, &own);
	assert_true(all == 10 * MS && own == 0);
	divide(&plan, 10 * MS);
	all = sum(&plan, &own);
	assert_true(all == 10 * MS && own == 10 * MS);
	/* Nobody has read it for 30 ms, and it runs for the last 10 of them. */
	plan.now += 20 * MS;
	divide(&plan, 10 * MS);
	begin(&plan);
	read_task(&plan, 1, 1, 4, false);
	divide(&plan, 15 * MS);
	all = sum(&plan, &own);
	assert_true(all == 60 * MS && own == 35 * MS);
	deinit(&plan);
}

/* Two that live for long, of which every other look reads one, beside short ones. */
static void test_long_lives_beside_short_ones(void **state)
{
	enum { LONG = 0, OTHER = 1, SHORT = 2, TICKS = 1000 };
	struct plan plan = PLAN_INIT;
	double sums[3] = {};

	(void)state;
	for (uint32_t i = 0; i < TICKS; i++) {
		/* Of four tasks two are read, or all. */
		bool is_whole = i % 2;
		double share = is_whole ? 1 : 2;

		begin(&plan);
		if (is_whole || i % 4)
			read_task(&plan, 1, LONG, share, false);
		if (is_whole || i % 4 == 0)
			read_task(&plan, 2, OTHER, share, false);
		read_task(&plan, 1000 + 2 * i, SHORT, share, false);
		if (is_whole)
			read_task(&plan, 1001 + 2 * i, SHORT, share, false);
		divide(&plan, MS);
		vec_for_each(part, &plan.parts.list)
			sums[part->marker % OTHERS] += part->tasks_ns;
	}
	assert_true(fabs(sums[LONG] - TICKS * MS) < 0.01 * TICKS * MS);
	assert_true(fabs(sums[OTHER] - TICKS * MS) < 0.01 * TICKS * MS);
	assert_true(fabs(sums[SHORT] - 2.0 * TICKS * MS) < 0.01 * TICKS * MS);
	deinit(&plan);
}

/* A thread that sleeps keeps what its look has read, for longer and longer. */
static void test_parts_of_a_sleep(void **state)
{
	struct plan plan = PLAN_INIT;
	double own, all;

	(void)state;
	begin(&plan);
	read_task(&plan, 1, 1, 1.5, false);
	read_task(&plan, 2, 2, 1.5, false);
	divide(&plan, MS);
	divide(&plan, 100 * MS);
	all = sum(&plan, &own);
	assert_true(all == 300 * MS && own == 200 * MS);
	/* As long it slept, perhaps, but when it woke they may have ended. */
	task_times_divide(&plan.times, &plan.parts, 10 * MS, 10 * MS);
	all = sum(&plan, &own);
	assert_true(all == 30 * MS && own == 0);
	deinit(&plan);
}

/* All of them in turn, twice, and then as many others. */
static void test_many_tasks(void **state)
{
	enum { MANY = 50000, AT_A_TIME = 50 };
	struct plan plan = PLAN_INIT;
	double own;

	(void)state;
	for (uint32_t i = 0; i < 6 * MANY; i += AT_A_TIME) {
		begin(&plan);
		for (uint32_t n = i; n < i + AT_A_TIME; n++)
			read_task(&plan, n < 2 * MANY ? n % MANY : n, n % MANY,
				  MANY / AT_A_TIME, false);
		divide(&plan, MS);
		sum(&plan, &own);
		if (i >= MANY && i < 2 * MANY)
			assert_true(own == (double)MANY * MS);
		else
			assert_true(own == 0);
		assert_true(plan.times.now.count <= TASK_TIMES_MAX);
		assert_true(plan.times.before.count <= TASK_TIMES_MAX);
	}
	deinit(&plan);
}

/* Of a name that two tasks have, or had, the others of that name are spoken for. */
static void test_shared_names(void **state)
{
	struct plan plan = PLAN_INIT;
	struct task_times *times = &plan.times;

	(void)state;
	begin(&plan);
	assert_false(task_times_note_name(times, 1, 10));
	assert_false(task_times_note_name(times, 2, 20));
	/* The same again, and then another one. */
	assert_false(task_times_note_name(times, 1, 10));
	for (uint64_t key = 0; key < 3; key++) {
		read_task(&plan, key, (uint32_t)key, 1, false);
		plan.parts.tasks.data[key].name = key ? 1 : 2;
	}
	assert_true(task_times_note_name(times, 1, 11));
	task_times_settle_names(times, &plan.parts);
	for (uint64_t key = 0; key < 3; key++)
		assert_int_equal(plan.parts.tasks.data[key].own ==
					 plan.parts.tasks.data[key].others,
				 key != 0);
	/* It stays so, whoever is left. */
	assert_true(task_times_note_name(times, 1, 10));
	assert_false(task_times_note_name(times, 2, 20));
	for (uint64_t name = 3; name < 3 * TASK_TIMES_MAX; name++)
		assert_false(task_times_note_name(times, name, name));
	assert_true(times->names.count <= TASK_TIMES_MAX);
	deinit(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_more_than_it_lived),
		cmocka_unit_test(test_runs_and_waits),
		cmocka_unit_test(test_long_lives_beside_short_ones),
		cmocka_unit_test(test_parts_of_a_sleep),
		cmocka_unit_test(test_many_tasks),
		cmocka_unit_test(test_shared_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
