// SPDX-License-Identifier: GPL-2.0-only
/*
 * -e arguments against a sysfs and tracefs made here. Numbers are those of
 * uapi perf_event.h; the bit layouts of the fake PMU are those of Intel's `cpu`
 * PMU, and one that is split over two ranges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "sys/event_parse.h"
#include "assert_ok.h"
#include "fake_tree.h"

static char root[] = "/tmp/kaa-test-events-XXXXXX";

static const struct fake_file tree[] = {
#define PMU "/sys/bus/event_source/devices/"
	{ PMU "cpu/type", "4\n" },
	{ PMU "cpu/format/event", "config:0-7\n" },
	{ PMU "cpu/format/umask", "config:8-15\n" },
	{ PMU "cpu/format/edge", "config:18\n" },
	{ PMU "cpu/format/ldlat", "config1:0-15\n" },
	{ PMU "cpu/format/split", "config2:0-3,32-35\n" },
	{ PMU "cpu/format/broken", "config:7-0\n" },
	{ PMU "cpu/format/beyond", "config:60-99\n" },
	{ PMU "cpu/format/strange", "config9:0-7\n" },
	{ PMU "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
	{ PMU "cpu/events/loop", "loop\n" },
	{ PMU "uncore/type", "17\n" },
	{ PMU "broken/type", "none\n" },
#undef PMU
#define TRACE "/sys/kernel/tracing/events/"
	{ TRACE "enable", "0\n" },
	{ TRACE "sched/enable", "0\n" },
	{ TRACE "sched/sched_switch/id", "314\n" },
	{ TRACE "sched/sched_wakeup/id", "315\n" },
	{ TRACE "sched/sched_wakeup_new/id", "316\n" },
	{ TRACE "syscalls/sys_enter_openat/id", "610\n" },
#undef TRACE
};

static int make_tree(void **state)
{
	(void)state;
	fake_tree_make(root, tree, sizeof(tree) / sizeof(*tree));
	return 0;
}

static int remove_tree(void **state)
{
	(void)state;
	return fake_tree_remove(root);
}

struct known {
	const char *text;
	uint32_t type;
	uint64_t config;
	const char *name;
};

static void test_one_event(void **state)
{
	static const struct known known[] = {
		{ "cycles", 0, 0, "cycles" },
		{ "cpu-cycles:u", 0, 0, "cpu-cycles:u" },
		{ "instructions", 0, 1, "instructions" },
		{ "cache-misses", 0, 3, "cache-misses" },
		{ "branches", 0, 4, "branches" },
		{ "ref-cycles", 0, 9, "ref-cycles" },
		{ "cpu-clock", 1, 0, "cpu-clock" },
		{ "task-clock", 1, 1, "task-clock" },
		{ "faults", 1, 2, "faults" },
		{ "cs", 1, 3, "cs" },
		{ "bpf-output", 1, 10, "bpf-output" },
		{ "off-cpu", 1, 10, "off-cpu" },
		{ "cgroup-switches", 1, 11, "cgroup-switches" },
		{ "L1-dcache-loads", 3, 0x0, "L1-dcache-loads" },
		{ "L1-dcache-load-misses", 3, 0x10000, "L1-dcache-load-misses" },
		{ "LLC-store-misses", 3, 0x10102, "LLC-store-misses" },
		{ "dTLB-prefetches", 3, 0x203, "dTLB-prefetches" },
		{ "r1a8", 4, 0x1a8, "r1a8" },
		{ "rffffffffffffffff", 4, UINT64_MAX, "rffffffffffffffff" },
		{ "cpu/config=0x1a8/u", 4, 0x1a8, "cpu/config=0x1a8/u" },
		{ "cpu/event=0x3c,umask=0x12/", 4, 0x123c,
		  "cpu/event=0x3c,umask=0x12/" },
		{ "cpu/event=60,edge/", 4, 0x4003c, "cpu/event=60,edge/" },
		{ "cpu/event=1,name=mine/", 4, 1, "mine" },
		{ "cpu/mem-loads/p", 4, 0x1cd, "cpu/mem-loads/p" },
		{ "mem-loads", 4, 0x1cd, "mem-loads" },
		{ "uncore/config=7/", 17, 7, "uncore/config=7/" },
		{ "sched:sched_switch", 2, 314, "sched:sched_switch" },
		{ "sched:sched_switch:k", 2, 314, "sched:sched_switch" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct event_list list = {};

		assert_ok(events_parse(root, known[i].text, &list));
		assert_int_equal(list.count, 1);
		assert_int_equal(list.data[0].type, known[i].type);
		assert_true(list.data[0].config == known[i].config);
		assert_string_equal(list.data[0].name, known[i].name);
		assert_int_equal(list.data[0].group_leader, -1);
		event_list_deinit(&list);
	}
}

static void test_modifiers(void **state)
{
	static const struct {
		const char *text;
		bool no_user, no_kernel, no_hv, no_guest, no_host, no_idle;
		int precise;
	} cases[] = {
		{ "cycles", 0, 0, 0, 1, 0, 0, 0 },
		{ "cycles:u", 0, 1, 1, 1, 0, 0, 0 },
		{ "cycles:k", 1, 0, 1, 1, 0, 0, 0 },
		{ "cycles:uk", 0, 0, 1, 1, 0, 0, 0 },
		{ "cycles:ku", 0, 0, 1, 1, 0, 0, 0 },
		{ "cycles:h", 1, 1, 0, 1, 0, 0, 0 },
		{ "cycles:pp", 0, 0, 0, 1, 0, 0, 2 },
		{ "cycles:upp", 0, 1, 1, 1, 0, 0, 2 },
		{ "cycles:P", 0, 0, 0, 1, 0, 0, PRECISE_MAX },
		{ "cycles:G", 0, 0, 0, 0, 1, 0, 0 },
		{ "cycles:GH", 0, 0, 0, 0, 0, 0, 0 },
		{ "cycles:I", 0, 0, 0, 1, 0, 1, 0 },
		{ "cpu/config=1/:u", 0, 1, 1, 1, 0, 0, 0 },
		{ "cpu-clock:u", 0, 1, 1, 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct perf_event_attr attr = {};
		struct event_list list = {};

		assert_ok(events_parse(root, cases[i].text, &list));
		event_apply(&list.data[0], &attr);
		assert_int_equal(attr.exclude_user, cases[i].no_user);
		assert_int_equal(attr.exclude_kernel, cases[i].no_kernel);
		assert_int_equal(attr.exclude_hv, cases[i].no_hv);
		assert_int_equal(attr.exclude_guest, cases[i].no_guest);
		assert_int_equal(attr.exclude_host, cases[i].no_host);
		assert_int_equal(attr.exclude_idle, cases[i].no_idle);
		assert_int_equal(list.data[0].precise, cases[i].precise);
		event_list_deinit(&list);
	}
}

static void test_lists_and_groups(void **state)
{
	struct event_list list = {};

	(void)state;
	assert_ok(events_parse(root, "cycles,cpu/event=1,umask=2/k,faults",
			       &list));
	assert_int_equal(list.count, 3);
	assert_string_equal(list.data[1].name, "cpu/event=1,umask=2/k");
	assert_ok(events_parse(root, "{cycles,instructions:u}:p,cs", &list));
	assert_int_equal(list.count, 6);
	assert_int_equal(list.data[3].group_leader, 3);
	assert_int_equal(list.data[4].group_leader, 3);
	assert_int_equal(list.data[5].group_leader, -1);
	assert_int_equal(list.data[4].precise, 1);
	assert_true(list.data[4].exclude_kernel);
	event_list_deinit(&list);
	/* perf 6.1 and 7.2: the group's level adds to the event's. */
	assert_ok(events_parse(root, "{cs:k,faults}:u", &list));
	assert_string_equal(list.data[0].name, "cs:k");
	assert_string_equal(list.data[1].name, "faults");
	assert_false(list.data[0].exclude_user);
	assert_false(list.data[0].exclude_kernel);
	assert_true(list.data[0].exclude_hv);
	assert_true(list.data[1].exclude_kernel);
	event_list_deinit(&list);
}

static void test_wildcards(void **state)
{
	struct event_list list = {};

	(void)state;
	assert_ok(events_parse(root, "sched:*", &list));
	assert_int_equal(list.count, 3);
	event_list_deinit(&list);
	assert_ok(events_parse(root, "s*:sched_wakeup*:u", &list));
	assert_int_equal(list.count, 2);
	assert_string_equal(list.data[0].name, "sched:sched_wakeup");
	assert_true(list.data[0].exclude_kernel);
	assert_int_equal(list.data[0].default_period, 1);
	event_list_deinit(&list);
}

static void test_terms(void **state)
{
	struct perf_event_attr attr = {};
	struct event_list list = {};

	(void)state;
	assert_ok(events_parse(root, "cpu/split=0x5a,config1=9,period=1000/",
			       &list));
	assert_true(list.data[0].config2 == 0x50000000aull);
	assert_int_equal(list.data[0].config1, 9);
	attr.freq = 1;
	event_apply(&list.data[0], &attr);
	assert_int_equal(attr.freq, 0);
	assert_int_equal(attr.sample_period, 1000);
	event_list_deinit(&list);
	assert_ok(events_parse(root, "cpu-clock/freq=99,name=x/u", &list));
	assert_string_equal(list.data[0].name, "x");
	event_apply(&list.data[0], &attr);
	assert_int_equal(attr.freq, 1);
	assert_int_equal(attr.sample_freq, 99);
	assert_int_equal(attr.exclude_kernel, 1);
	assert_int_equal(attr.exclude_guest, 0);
	event_list_deinit(&list);
	/* ldlat is a format and comes with the event's definition too. */
	assert_ok(events_parse(root, "cpu/mem-loads,ldlat=30/", &list));
	assert_int_equal(list.data[0].config1, 30);
	event_list_deinit(&list);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{ "cylces", "did you mean 'cycles'" },
		{ "cylces:u", "did you mean 'cycles'" },
		{ "L1-dcache-load-miss", "'L1-dcache-load-misses'" },
		{ "page-fault", "'page-faults'" },
		{ "wxyz", "cycles, instructions" },
		{ "", "empty" },
		{ "cycles,", "empty" },
		{ ",cycles", "empty" },
		{ "cycles:x", "modifier 'x'" },
		{ "cycles:pppp", "ppp" },
		{ "{cycles", "lacks its '}'" },
		{ "{cycles}x", "unexpected 'x'" },
		{ "cycles}", "unexpected '}'" },
		{ "cpu/event=1", "second '/'" },
		{ "cpu/evnt=1/", "did you mean 'event'" },
		{ "cpu/event=0x100/", "too large" },
		{ "cpu/event=zz/", "not a number" },
		{ "cpu/event=/", "not a number" },
		{ "cpu/broken=1/", "bad format" },
		{ "cpu/beyond=1/", "bad format" },
		{ "cpu/strange=1/", "not known" },
		{ "cpu/loop/", "unknown term 'loop'" },
		{ "cpu/name=/", "needs a text" },
		{ "cpu/period=5,freq=5/", "not both" },
		{ "cpu/../type/", "unknown" },
		{ "cup/event=1/", "did you mean 'cpu'" },
		{ "nosuchpmu/config=1/", "there are broken cpu uncore" },
		{ "../config=1/", "no PMU" },
		{ "broken/config=1/", "not a number" },
		{ "cycles/config=1/", "unknown term 'config'" },
		{ "r12345678901234567", "unknown event" },
		{ "rxyz", "unknown event" },
		{ "sched:sched_swtich", "did you mean 'sched_switch'" },
		{ "shced:sched_switch", "did you mean 'sched'" },
		{ "sched:enable", "no tracepoint" },
		{ "../../x:y", "" },
		{ "sched:../../x", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct event_list list = {};
		struct error *error;

		assert_ok(events_parse(root, "cs", &list));
		error = events_parse(root, cases[i].text, &list);
		if (!error)
			fail_msg("'%s' was taken", cases[i].text);
		if (!strstr(error->message, cases[i].says))
			fail_msg("'%s' says '%s'", cases[i].text,
				 error->message);
		/* What was there stays, nothing is added. */
		assert_int_equal(list.count, 1);
		error_destroy(error);
		event_list_deinit(&list);
	}
}

static void test_without_sysfs(void **state)
{
	struct event_list list = {};
	struct error *error;
	bool fell_back = false;

	(void)state;
	error = events_parse("/nonexistent", "sched:sched_switch", &list);
	assert_non_null(error);
	/* Who is not root needs that first. */
	assert_non_null(strstr(error->message,
			       geteuid() ? "only root may record" : "tracefs"));
	error_destroy(error);
	assert_ok(events_default("/nonexistent", &list, &fell_back));
	assert_true(fell_back);
	assert_string_equal(list.data[0].name, "cpu-clock");
	assert_ok(events_default(root, &list, &fell_back));
	assert_false(fell_back);
	assert_string_equal(list.data[1].name, "cycles");
	event_list_deinit(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_event),
		cmocka_unit_test(test_modifiers),
		cmocka_unit_test(test_lists_and_groups),
		cmocka_unit_test(test_wildcards),
		cmocka_unit_test(test_terms),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_without_sysfs),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
