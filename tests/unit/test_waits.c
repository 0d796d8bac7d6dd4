// SPDX-License-Identifier: GPL-2.0-only
/* Samples of off-cpu: what they stand for, and where their chains begin. */
#include "assert_ok.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/walker_shared.h"
#include "collect/long_waits.h"
#include "collect/waits.h"
#include "fake_tree.h"
#include "perfdata/kaa_stream.h"

/* A call of a thread that sleeps, as x86-64 numbers it. */
enum { FUTEX = 202 };

#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define USER ((uint64_t)PERF_CONTEXT_USER)
#define SCHEDULE UINT64_C(0xffffffff81000100)
#define SLEEP UINT64_C(0xffffffff81000900)
#define SYS_FUTEX UINT64_C(0xffffffff81002000)
#define PROGRAM UINT64_C(0xffffffffc0000040)

static const char kallsyms[] = "ffffffff81000000 T _text\n"
			       "ffffffff81000100 t __schedule\n"
			       "ffffffff81000100 t __schedule_alias\n"
			       "ffffffff81000800 T schedule\n"
			       "ffffffff81002000 T __x64_sys_futex\n"
			       "ffffffff81003000 T __x64_sys_read\n"
			       "broken\n"
			       "ffffffffc0000000 t bpf_prog_12_kaa\t[bpf]\n";

static char *root_with(const char *text)
{
	char root[] = "/tmp/kaa-test-XXXXXX";

	assert_non_null(mkdtemp(root));
	fake_file_write(root, "/proc/kallsyms", text);
	return strdup(root);
}

/* The chain that the sample gets, in `ret`; how many, or -1: it is no sample. */
static int taken(struct waits *waits, const struct walker_wait *wait,
		 size_t size, const uint64_t *chain, size_t count,
		 struct record *ret)
{
	*ret = (struct record){
		.sample = { .raw = (const uint8_t *)wait,
			    .raw_size = (uint32_t)size,
			    .callchain = chain,
			    .callchain_count = count },
	};
	return waits_take(waits, ret) ? (int)ret->sample.callchain_count : -1;
}

static void assert_chain(const struct record *record, const uint64_t *expected,
			 size_t count)
{
	assert_int_equal(record->sample.callchain_count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(record->sample.callchain[i], expected[i]);
}

static void test_chains(void **state)
{
	const uint64_t in_schedule[] = { KERNEL, PROGRAM, SCHEDULE + 0x20,
					 SLEEP };
	const uint64_t elsewhere[] = { KERNEL, PROGRAM, SLEEP };
	const uint64_t wait_chain[] = { KERNEL, SCHEDULE + 0x20, SLEEP };
	const uint64_t call_chain[] = { KERNEL, SYS_FUTEX };
	const uint64_t cpu_chain[] = { USER, KAA_MARKER_CPU_WAIT };
	struct walker_wait wait = { .period = 5000000,
				    .system_call = FUTEX,
				    .since = 77 };
	char *root = root_with(kallsyms);
	struct waits waits = {};
	struct record record;

	(void)state;
	assert_ok(waits_init(&waits, root));
	assert_int_equal(waits.schedule_start, SCHEDULE);
	assert_int_equal(waits.schedule_end, SCHEDULE + 0x700);
	/* Without what walks. */
	taken(&waits, &wait, sizeof(wait), in_schedule, 4, &record);
	assert_chain(&record, wait_chain, 3);
	assert_int_equal(record.sample.period, 5000000);
	assert_int_equal(waits.since, 77);
	/* Where the kernel's frames are gone, the call is known; or nothing. */
	taken(&waits, &wait, sizeof(wait), elsewhere, 3, &record);
	assert_chain(&record, call_chain, 2);
	wait.system_call = -1;
	assert_int_equal(taken(&waits, &wait, sizeof(wait), elsewhere, 3, &record), 0);
	wait.system_call = 100000;
	assert_int_equal(taken(&waits, &wait, sizeof(wait), elsewhere, 3, &record), 0);
	/* The kernel has no part in that. */
	wait.kind = WALKER_WAIT_CPU;
	taken(&waits, &wait, sizeof(wait), in_schedule, 4, &record);
	assert_chain(&record, cpu_chain, 2);
	assert_int_equal(taken(&waits, &wait, sizeof(wait) - 1, in_schedule, 4,
			       &record),
			 -1);
	waits_deinit(&waits);
	fake_tree_remove(root);
	free(root);
}

/* kptr_restrict: all addresses are 0. */
static void test_hidden_addresses(void **state)
{
	const uint64_t chain[] = { KERNEL, PROGRAM, SCHEDULE + 0x20, SLEEP };
	const struct walker_wait wait = { .period = 1, .system_call = FUTEX };
	char *root = root_with("0000000000000000 t __schedule\n"
			       "0000000000000000 T __x64_sys_futex\n");
	struct waits waits = {};
	struct record record;

	(void)state;
	assert_ok(waits_init(&waits, root));
	assert_int_equal(waits.calls.count, 0);
	taken(&waits, &wait, sizeof(wait), chain, 4, &record);
	assert_chain(&record, chain, 4);
	waits_deinit(&waits);
	fake_tree_remove(root);
	free(root);
}

/* Who reads the time first, and then since when a thread waits, may have the later one. */
static void test_a_wait_that_begins_meanwhile(void **state)
{
	(void)state;
	assert_int_equal(waits_length(1001, 500, 1000), 0);
	assert_int_equal(waits_length(1000, 500, 1000), 0);
	assert_int_equal(waits_length(900, 500, 1000), 100);
	assert_int_equal(waits_length(400, 500, 1000), 500);
	assert_int_equal(waits_length(1, 1500, 1000), 0);
	assert_int_equal(waits_length(0, 500, 1000), 0);
	assert_int_equal(waits_length(900, 0, 1000), 0);
}

/* What was read of a wait is of no other wait, of no other thread, and of no other process. */
static void test_frames_of_a_wait(void **state)
{
	const struct walker_frame frame = { .key = 7 };
	struct long_wait wait = { .tid = 5, .since = 1000 };
	struct long_waits waits = {};

	(void)state;
	wait.python.pid = 4;
	assert_true(vec_push(&wait.python.frames, frame));
	assert_true(vec_push(&waits.list, wait));
	assert_non_null(map_insert(&waits.by_tid, 5, 0, NULL));
	assert_ptr_equal(long_waits_find(&waits, 4, 5, 1000),
			 &waits.list.data[0].python);
	assert_null(long_waits_find(&waits, 4, 5, 1001));
	assert_null(long_waits_find(&waits, 4, 5, 0));
	assert_null(long_waits_find(&waits, 4, 6, 1000));
	assert_null(long_waits_find(&waits, 5, 5, 1000));
	/* A thread that has none. */
	vec_clear(&waits.list.data[0].python.frames);
	assert_null(long_waits_find(&waits, 4, 5, 1000));
	/* Where no waits are recorded nobody looks. */
	assert_ok(long_waits_look(&waits));
	long_waits_deinit(&waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_wait_that_begins_meanwhile),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_frames_of_a_wait),
		cmocka_unit_test(test_hidden_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
