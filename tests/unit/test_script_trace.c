// SPDX-License-Identifier: GPL-2.0-only
/* The child that puts tracepoint samples into words has bounds. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "assert_ok.h"
#include "perfdata/tracing_data.h"
#include "view/script/trace.h"

/* The last fork of this process. */
static pid_t child;

pid_t fork(void)
{
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	return child;
}

#define TEXT(s) { (const uint8_t *)(s), sizeof(s) - 1 }

static struct script_trace *start(void)
{
	const struct tracing_data data = {
		.page_size = 4096,
		.header_page = TEXT("PAGE\n"),
		.header_event = TEXT("EVENT\n"),
	};
	const struct trace_events_options options = {};
	struct strbuf section = STRBUF_INIT;
	struct script_trace *trace;

	assert_ok(tracing_data_encode(&data, &section));
	assert_ok(script_trace_start(section.data, section.len, &options,
				     &trace));
	strbuf_deinit(&section);
	return trace;
}

/* Of a sample that no format is for. When it is answered, the child has its limits. */
static void print(struct script_trace *trace)
{
	struct strbuf out = STRBUF_INIT;

	assert_ok(script_trace_print(trace, 1, 0, "raw", 3, &out));
	assert_int_equal(out.len, 0);
	strbuf_deinit(&out);
}

static rlim_t limit_of_child(int resource)
{
	struct rlimit limit;

	assert_int_equal(prlimit(child, resource, NULL, &limit), 0);
	return limit.rlim_cur;
}

static void test_memory_and_time_are_bounded(void **state)
{
	struct script_trace *trace = start();

	(void)state;
	print(trace);
	assert_true(limit_of_child(RLIMIT_CPU) <= 60);
#ifndef __SANITIZE_ADDRESS__
	assert_true(limit_of_child(RLIMIT_AS) < (rlim_t)4 << 30);
#endif
	script_trace_end(trace);
}

/* However many samples there are, none has to do without. */
static void test_time_grows_with_samples(void **state)
{
	struct script_trace *trace = start();

	(void)state;
	for (int i = 0; i < 3 * 64 + 1; i++)
		print(trace);
	assert_int_equal(limit_of_child(RLIMIT_CPU), 63);
	script_trace_end(trace);
}

/* Nobody gets more than the user has. */
static void test_lower_limits_stay(void **state)
{
	struct rlimit before, lower;
	struct script_trace *trace;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_CPU, &before), 0);
	lower = (struct rlimit){ 50, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_CPU, &lower), 0);
	trace = start();
	for (int i = 0; i < 64 + 1; i++)
		print(trace);
	assert_int_equal(limit_of_child(RLIMIT_CPU), 50);
	script_trace_end(trace);
	assert_int_equal(setrlimit(RLIMIT_CPU, &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_and_time_are_bounded),
		cmocka_unit_test(test_time_grows_with_samples),
		cmocka_unit_test(test_lower_limits_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
