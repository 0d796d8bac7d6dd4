// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files are read through windows: what one gives that cannot be mapped, windows
 * give, too, wherever records stand in them; a file that becomes shorter ends
 * with an error, and one that is changed is judged once.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

/* Files cannot be mapped, as in some file systems. */
static bool without_mmap;
static size_t mapped;

void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (without_mmap && fd >= 0) {
		errno = ENODEV;
		return MAP_FAILED;
	}
	mapped += fd >= 0;
	return (void *)syscall(SYS_mmap, at, size, prot, flags, fd, offset);
}

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

/* --- Equal to a reader without windows ----------------------------------- */

static void check_stack(const struct record *record)
{
	const struct record_sample *sample = &record->sample;

	for (size_t at = 0; at < sample->stack_size; at++)
		if (sample->stack_user[at] != stack_byte(sample->ip, at))
			fail_msg("sample %zu: byte %zu is wrong",
				 (size_t)sample->ip, at);
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

/* With a second reader, whose first attempt to map the file fails. */
static void compare(struct perfdata_reader *windows)
{
	struct perfdata_reader *copies;
	const struct record *a, *b;
	size_t count = 0;

	without_mmap = true;
	copies = open_file();
	do {
		assert_ok(perfdata_reader_next(copies, &a));
		without_mmap = false;
		assert_ok(perfdata_reader_next(windows, &b));
		assert_true(!a == !b);
		if (!a)
			break;
		check_fields(a, b);
		check_stack(a);
		check_stack(b);
		count += a->type == PERF_RECORD_SAMPLE;
	} while (a);
	assert_int_equal(count, SAMPLES);
	assert_memory_equal(perfdata_reader_stats(windows),
			    perfdata_reader_stats(copies),
			    sizeof(struct perfdata_stats));
	perfdata_reader_destroy(copies);
}

static void test_equal(void **state)
{
	struct perfdata_reader *reader;

	(void)state;
	write_file();
	mapped = 0;
	reader = open_file();
	compare(reader);
	perfdata_reader_destroy(reader);
	/* 12 MiB through windows of 4. */
	assert_in_range(mapped, 3, 8);
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
		for (size_t at = 0; at < sample->stack_size; at += 512)
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

/* What the file has lost is an error, also if it is only the dump of a stack. */
static void shrink_after(int records)
{
	struct perfdata_reader *reader;
	const struct record *record;
	struct error *err;

	write_file();
	reader = open_file();
	for (int i = 0; i < records; i++)
		assert_ok(perfdata_reader_next(reader, &record));
	assert_int_equal(truncate(file_path, 1 << 20), 0);
	while (!(err = perfdata_reader_next(reader, &record)) && record)
		for (size_t at = 0; at < record->sample.stack_size; at += 512)
			seen += record->sample.stack_user[at];
	assert_non_null(err);
	assert_int_equal(err->code, ERROR_TRUNCATED);
	assert_non_null(strstr(err->message, file_path));
	error_destroy(err);
	perfdata_reader_destroy(reader);
}

static void test_shrinking(void **state)
{
	static const int after[] = { 0, 1, 10, 100, 390 };

	(void)state;
	for (size_t i = 0; i < sizeof(after) / sizeof(*after); i++)
		shrink_after(after[i]);
}

/* --- A file that another changes ----------------------------------------- */

/* The records of so many samples have been cut when the first is handed out. */
enum { CUT_AHEAD = 20 };

static void write_at(int fd, const void *data, size_t size, size_t at)
{
	assert_int_equal(pwrite(fd, data, size, (off_t)at), size);
}

/*
 * Has all headers of samples that are cut claim more than is there, and all else of small
 * ones be something else. How long the samples were goes to sizes.
 */
static size_t change_samples(int fd, uint16_t sizes[CUT_AHEAD])
{
	static const uint16_t more = UINT16_MAX;
	struct perf_event_header header;
	size_t large = 0, at = 0;
	uint8_t other[4096];

	memset(other, 0xff, sizeof(other));
	assert_int_equal(pread(fd, &at, sizeof(at), 40), sizeof(at));
	for (size_t i = 0; i < CUT_AHEAD; at += header.size) {
		assert_int_equal(pread(fd, &header, sizeof(header), (off_t)at),
				 sizeof(header));
		if (header.type != PERF_RECORD_SAMPLE)
			continue;
		sizes[i++] = header.size;
		if (header.size < sizeof(other))
			write_at(fd, other, header.size, at);
		else
			write_at(fd, &more, sizeof(more),
				 at + offsetof(struct perf_event_header, size));
		large += header.size >= sizeof(other);
	}
	return large;
}

/* What a record is was settled when it was cut. */
static void test_changed_meanwhile(void **state)
{
	struct perfdata_reader *reader;
	const struct record *record;
	uint16_t sizes[CUT_AHEAD];
	size_t delivered, small = 0, large;
	FILE *file;

	(void)state;
	write_file();
	file = fopen(file_path, "r+");
	assert_non_null(file);
	reader = open_file();
	assert_ok(perfdata_reader_next(reader, &record));
	assert_int_equal(record->sample.ip, 1);
	large = change_samples(fileno(file), sizes);
	assert_in_range(large, 1, CUT_AHEAD - 1);
	for (delivered = 1;; delivered++) {
		assert_ok(perfdata_reader_next(reader, &record));
		if (!record)
			break;
		assert_int_equal(record->type, PERF_RECORD_SAMPLE);
		check_stack(record);
		if (record->sample.ip >= CUT_AHEAD)
			continue;
		assert_int_equal(record->size, sizes[record->sample.ip]);
		assert_int_equal(record->time, 1000 + 10 * (record->sample.ip ^ 1));
		small++;
	}
	/* The one that came first is large. */
	assert_int_equal(small, CUT_AHEAD - large);
	assert_int_equal(delivered, SAMPLES - large + 1);
	assert_int_equal(perfdata_reader_stats(reader)->broken_records, large - 1);
	perfdata_reader_destroy(reader);
	fclose(file);
}

/* A SIGBUS that no window explains still ends the process. */
static void test_other_bus_errors(void **state)
{
	struct perfdata_reader *reader;
	const struct record *record;
	volatile char *page;
	int status;
	pid_t pid;
	FILE *file;

	(void)state;
	signal(SIGBUS, SIG_DFL);
	write_file();
	reader = open_file();
	assert_ok(perfdata_reader_next(reader, &record));
	pid = fork();
	if (!pid) {
		file = tmpfile();
		page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fileno(file), 0);
		seen += (uint64_t)*page;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	perfdata_reader_destroy(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_shrinking),
		cmocka_unit_test(test_changed_meanwhile),
		cmocka_unit_test(test_other_bus_errors),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
