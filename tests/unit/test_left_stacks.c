// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reader that leaves stacks in the file gives what one gives that reads all:
 * every field of every record, in the same order, and every byte of the stacks
 * once they are asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "perfdata/reader.h"
#include "perfdata/writer.h"
#include "perfdata_fixture.h"

#define COMMON_BITS                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |    \
	 PERF_SAMPLE_TIME)
#define STACK_BITS                                                        \
	(COMMON_BITS | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |    \
	 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_PHYS_ADDR)

enum {
	SAMPLES = 400,
	STACK_MAX = 60000,
	CHAIN_MAX = 150,
};

/* --- The file ------------------------------------------------------------ */

static struct event *add_event(struct events *events, uint64_t sample_type,
			       const char *name, uint64_t id)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = sample_type,
		.sample_id_all = 1,
		.sample_regs_user = 0x3,
	};
	struct event *event;

	assert_ok(events_add(events, &attr, name, &event));
	assert_ok(events_add_id(events, event, id));
	return event;
}

/* Large ones, some small, some empty. */
static size_t stack_size(size_t i)
{
	if (i % 11 == 0)
		return 0;
	return i % 7 == 0 ? 8192 : i % 5 == 0 ? 16 : STACK_MAX - 8 * (i % 9);
}

static uint8_t stack_byte(size_t i, size_t at)
{
	return (uint8_t)((i * 2654435761u + at * 40503u) >> 7);
}

static void put_sample(struct perfdata_writer *w, const struct event *event,
		       size_t i)
{
	static uint8_t stack[STACK_MAX];
	static uint64_t chain[CHAIN_MAX];
	static const uint64_t regs[] = { 0x1111, 0x2222 };
	struct record r = { .type = PERF_RECORD_SAMPLE,
			    .misc = PERF_RECORD_MISC_USER,
			    .event = event,
			    .id = event->ids.data[0],
			    .pid = 11,
			    .tid = 12,
			    /* Every other one is late. */
			    .time = 1000 + 10 * (i ^ 1) };

	r.sample.ip = i;
	r.sample.callchain = chain;
	r.sample.callchain_count = i % CHAIN_MAX;
	r.sample.regs_user = (struct record_regs){
		.abi = PERF_SAMPLE_REGS_ABI_64,
		.mask = 0x3,
		.values = regs,
		.count = 2,
	};
	r.sample.stack_size = stack_size(i);
	r.sample.stack_dyn_size = r.sample.stack_size - r.sample.stack_size / 3;
	r.sample.stack_user = stack;
	r.sample.phys_addr = ~i;
	for (size_t at = 0; at < r.sample.stack_size; at++)
		stack[at] = stack_byte(i, at);
	for (size_t at = 0; at < CHAIN_MAX; at++)
		chain[at] = at ? i * at : (uint64_t)PERF_CONTEXT_USER;
	assert_ok(perfdata_writer_put(w, &r));
}

static void write_file(void)
{
	struct features features = {};
	struct events events = {};
	struct event *with, *without;
	struct perfdata_writer_options options = { file_path, &events, -1, -1 };
	struct perfdata_writer *w;

	with = add_event(&events, STACK_BITS, "with", 21);
	without = add_event(&events, COMMON_BITS, "without", 22);
	assert_ok(perfdata_writer_create(&options, &w));
	for (size_t i = 0; i < SAMPLES; i++) {
		put_sample(w, i % 3 == 2 ? without : with, i);
		if (i % 10 == 9)
			assert_ok(perfdata_writer_finished_round(w));
	}
	assert_ok(perfdata_writer_finish(w, &features));
	perfdata_writer_destroy(w);
	events_deinit(&events);
}

static struct perfdata_reader *open_file(void)
{
	struct perfdata_reader *reader;

	assert_ok(perfdata_reader_open(file_path, &reader));
	return reader;
}

/* --- Equal to a reader that reads all ------------------------------------ */

static void check_bytes(const struct record *record, size_t size)
{
	for (size_t at = 0; at < size; at++)
		if (record->sample.stack_user[at] !=
		    stack_byte(record->sample.ip, at))
			fail_msg("sample %zu: byte %zu is wrong",
				 (size_t)record->sample.ip, at);
}

static void check_fields(const struct record *a, const struct record *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->time, b->time);
	assert_int_equal(a->sample.ip, b->sample.ip);
	assert_int_equal(a->sample.callchain_count, b->sample.callchain_count);
	assert_int_equal(a->sample.stack_size, b->sample.stack_size);
	assert_int_equal(a->sample.stack_dyn_size, b->sample.stack_dyn_size);
	assert_int_equal(a->sample.phys_addr, b->sample.phys_addr);
	if (a->sample.callchain_count)
		assert_memory_equal(a->sample.callchain, b->sample.callchain,
				    8 * a->sample.callchain_count);
}

/* Asks for a part, and for all of every other stack. */
static void check_stack(struct perfdata_reader *reader,
			const struct record *record, size_t part)
{
	const struct record_sample *sample = &record->sample;
	size_t size = sample->stack_size;

	check_bytes(record, sample->stack_present);
	if (part > size)
		part = size;
	assert_ok(perfdata_reader_read_stack(reader, part));
	assert_true(sample->stack_present >= part);
	assert_true(sample->stack_present <= size);
	check_bytes(record, sample->stack_present);
	if (sample->ip % 2)
		return;
	assert_ok(perfdata_reader_read_stack(reader, size));
	assert_int_equal(sample->stack_present, size);
	check_bytes(record, size);
}

/* Returns how many stacks were left in the file at first. */
static size_t compare(size_t part)
{
	struct perfdata_reader *all = open_file(), *some = open_file();
	const struct record *a, *b;
	size_t left = 0, count = 0;

	perfdata_reader_leave_stacks(some);
	for (;;) {
		assert_ok(perfdata_reader_next(all, &a));
		assert_ok(perfdata_reader_next(some, &b));
		assert_true(!a == !b);
		if (!a)
			break;
		check_fields(a, b);
		count += a->type == PERF_RECORD_SAMPLE;
		left += b->sample.stack_present < b->sample.stack_size;
		assert_int_equal(a->sample.stack_present,
				 a->sample.stack_size);
		check_bytes(a, a->sample.stack_size);
		if (b->type == PERF_RECORD_SAMPLE)
			check_stack(some, b, part);
	}
	assert_int_equal(count, SAMPLES);
	assert_memory_equal(perfdata_reader_stats(all),
			    perfdata_reader_stats(some),
			    sizeof(struct perfdata_stats));
	perfdata_reader_destroy(all);
	perfdata_reader_destroy(some);
	return left;
}

static void test_equal(void **state)
{
	static const size_t parts[] = { 0, 1, 5000, 20000, STACK_MAX };

	(void)state;
	write_file();
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		compare(parts[i]);
}

/* Who asks for nothing leaves most of the large stacks where they are. */
static void test_left(void **state)
{
	struct perfdata_reader *reader;
	const struct record *record;
	size_t large = 0, left = 0;

	(void)state;
	write_file();
	reader = open_file();
	perfdata_reader_leave_stacks(reader);
	for (;;) {
		assert_ok(perfdata_reader_next(reader, &record));
		if (!record)
			break;
		large += record->sample.stack_size > 50000;
		left += record->sample.stack_present + 50000 <
			record->sample.stack_size;
	}
	assert_true(large > SAMPLES / 3);
	/* The first MiB is read at once. */
	assert_true(left > large - 40);
	perfdata_reader_destroy(reader);
}

/* --- Hostile files ------------------------------------------------------- */

/* Keeps what is read from being optimised away. */
static volatile uint64_t seen;

/* Reads on to the end; anything goes but a fault. */
static void read_on(struct perfdata_reader *reader)
{
	const struct record *record;
	size_t budget = 1000000;
	struct error *err;

	while (!(err = perfdata_reader_next(reader, &record)) && record) {
		const struct record_sample *sample = &record->sample;

		assert_true(budget-- > 0);
		error_destroy(perfdata_reader_read_stack(reader,
							 record->size));
		for (size_t at = 0; at < sample->stack_present; at += 512)
			seen += sample->stack_user[at];
		for (size_t at = 0; at < sample->callchain_count; at++)
			seen += sample->callchain[at];
	}
	error_destroy(err);
}

static void read_damaged(void)
{
	struct perfdata_reader *reader;
	struct error *err = perfdata_reader_open(file_path, &reader);

	if (err) {
		error_destroy(err);
		return;
	}
	perfdata_reader_leave_stacks(reader);
	read_on(reader);
	perfdata_reader_destroy(reader);
}

/* Where a record begins, not in the first MiB. */
static size_t find_record(const uint8_t *data, size_t from)
{
	const struct perf_event_header *header;
	size_t at = 0;

	memcpy(&at, data + 40, sizeof(at));
	while (at < from) {
		header = (const struct perf_event_header *)(data + at);
		at += header->size;
	}
	return at;
}

static void test_damaged(void **state)
{
	static const uint8_t values[] = { 0, 0x7f, 0xff };
	struct stat st;
	FILE *file;
	uint8_t *data;
	size_t at;

	(void)state;
	write_file();
	file = fopen(file_path, "r+");
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	data = malloc((size_t)st.st_size);
	assert_int_equal(fread(data, 1, (size_t)st.st_size, file), st.st_size);
	at = find_record(data, 3 << 20);
	for (size_t i = 0; i < 1400; i += i < 120 ? 1 : 37) {
		uint8_t value = values[i % sizeof(values)];

		assert_int_equal(pwrite(fileno(file), &value, 1,
					(off_t)(at + i)), 1);
		read_damaged();
		assert_int_equal(pwrite(fileno(file), data + at + i, 1,
					(off_t)(at + i)), 1);
	}
	free(data);
	fclose(file);
}

static void test_cut(void **state)
{
	struct stat st;

	(void)state;
	write_file();
	assert_int_equal(stat(file_path, &st), 0);
	for (off_t size = st.st_size - 1; size > 0; size -= 777777) {
		assert_int_equal(truncate(file_path, size), 0);
		read_damaged();
	}
}

/* The file becomes shorter while it is read: an error, or an early end. */
static void test_shrinking(void **state)
{
	struct perfdata_reader *reader;
	const struct record *record;
	bool failed = false;
	struct error *err;

	(void)state;
	write_file();
	reader = open_file();
	perfdata_reader_leave_stacks(reader);
	for (int i = 0; i < 100; i++)
		assert_ok(perfdata_reader_next(reader, &record));
	assert_int_equal(truncate(file_path, 1 << 20), 0);
	while (!failed && !perfdata_reader_next(reader, &record) && record) {
		err = perfdata_reader_read_stack(reader,
						 record->sample.stack_size);
		failed = err;
		if (failed)
			assert_int_equal(err->code, ERROR_TRUNCATED);
		error_destroy(err);
	}
	assert_true(failed);
	read_on(reader);
	perfdata_reader_destroy(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_shrinking),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
