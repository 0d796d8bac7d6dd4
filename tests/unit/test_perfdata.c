// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zstd.h>

#include "perfdata/event_meaning.h"
#include "perfdata/kaa_stream.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"
#include "perfdata_fixture.h"

#define ALL_SAMPLE_BITS                                                      \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |         \
	 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |              \
	 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |      \
	 PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |        \
	 PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |                  \
	 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | \
	 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR |                   \
	 PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |                        \
	 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)

static struct event *add_event(struct events *events, uint64_t sample_type,
			       const char *name, uint64_t id)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = sample_type,
		.sample_id_all = 1,
		.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
		.sample_regs_user = 0xff0fff,
		.sample_regs_intr = 0x3,
	};
	struct event *event;

	assert_ok(events_add(events, &attr, name, &event));
	if (id)
		assert_ok(events_add_id(events, event, id));
	return event;
}

static void set_header(void *raw, uint32_t type, size_t size)
{
	const struct perf_event_header header = { type, 0, (uint16_t)size };

	memcpy(raw, &header, sizeof(header));
}

/* Encodes; the bytes are 8-byte aligned, to be freed. */
static uint8_t *encode(const struct events *events, const struct record *record,
		       size_t *size)
{
	struct strbuf out = STRBUF_INIT;

	assert_ok(record_encode(events, record, &out));
	assert_int_equal(out.len % 8, 0);
	*size = out.len;
	return (uint8_t *)strbuf_take(&out);
}

/* The layout as uapi perf_event.h gives it, written out by hand. */
static void test_sample_layout(void **state)
{
	static const uint64_t body[] = {
		0x1111,			/* identifier */
		0x2222,			/* ip */
		0x0000000400000003,	/* pid 3, tid 4 */
		0x5555,			/* time */
		0x6666,			/* addr */
		0x7777,			/* id */
		0x8888,			/* stream id */
		0x0000000000000009,	/* cpu 9 */
		0xaaaa,			/* period */
		1, 2, 3,		/* read: value, id, lost */
		2, 0xb1, 0xb2,		/* chain */
		0x33323130 * (1ull << 32) | 4, /* raw: 4 bytes "0123" */
		1, 0xc1, 0xc2, 0xc3,	/* one branch */
		2,			/* abi, then 20 registers */
		0,  1,	2,  3,	4,  5,	6,  7,	8,  9,
		10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
		16, 0xd1, 0xd2, 9,	/* stack of 16, 9 used */
		0xe1, 0xe2, 0xe3,	/* weight, data source, transaction */
		1, 0xf1, 0xf2,		/* registers at the interrupt */
		0x101, 0x102, 0x103, 0x104, /* phys, cgroup, page sizes */
	};
	struct events events = {};
	struct event *event = add_event(&events, ALL_SAMPLE_BITS, "all", 0x1111);
	struct {
		struct perf_event_header header;
		uint64_t body[sizeof(body) / 8];
	} raw = { { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(raw) }, {} };
	struct record r;
	size_t size;
	uint8_t *again;

	(void)state;
	memcpy(raw.body, body, sizeof(body));
	assert_ok(record_decode(&events, &raw, sizeof(raw), &r));
	assert_ptr_equal(r.event, event);
	assert_int_equal(r.sample.ip, 0x2222);
	assert_int_equal(r.pid, 3);
	assert_int_equal(r.tid, 4);
	assert_int_equal(r.time, 0x5555);
	assert_int_equal(r.sample.addr, 0x6666);
	assert_int_equal(r.id, 0x7777);
	assert_int_equal(r.stream_id, 0x8888);
	assert_int_equal(r.cpu, 9);
	assert_int_equal(r.sample.period, 0xaaaa);
	assert_int_equal(r.sample.read_count, 3);
	assert_int_equal(r.sample.callchain_count, 2);
	assert_int_equal(r.sample.callchain[1], 0xb2);
	assert_int_equal(r.sample.raw_size, 4);
	assert_memory_equal(r.sample.raw, "0123", 4);
	assert_int_equal(r.sample.branches_count, 4);
	assert_int_equal(r.sample.regs_user.count, 20);
	assert_int_equal(r.sample.regs_user.values[19], 19);
	assert_int_equal(r.sample.stack_size, 16);
	assert_int_equal(r.sample.stack_user[8], 0xd2);
	assert_int_equal(r.sample.stack_dyn_size, 9);
	assert_int_equal(r.sample.weight, 0xe1);
	assert_int_equal(r.sample.data_src, 0xe2);
	assert_int_equal(r.sample.transaction, 0xe3);
	assert_int_equal(r.sample.regs_intr.values[1], 0xf2);
	assert_int_equal(r.sample.phys_addr, 0x101);
	assert_int_equal(r.sample.cgroup, 0x102);
	assert_int_equal(r.sample.data_page_size, 0x103);
	assert_int_equal(r.sample.code_page_size, 0x104);
	assert_int_equal(events_record_time(&events, &raw.header, sizeof(raw)), 0x5555);

	/* The identifier and the id are one field of struct record. */
	r.id = 0x1111;
	raw.body[5] = 0x1111;
	again = encode(&events, &r, &size);
	assert_int_equal(size, sizeof(raw));
	assert_memory_equal(again, &raw, size);
	free(again);
	events_deinit(&events);
}

/* A kernel thread has no registers and no stack. */
static void test_sample_without_registers(void **state)
{
	struct events events = {};
	uint64_t raw[] = { 0, 0x2222, 0, 0 };
	struct record r;

	(void)state;
	add_event(&events,
		  PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		  "dwarf", 0);
	set_header(raw, PERF_RECORD_SAMPLE, sizeof(raw));
	assert_ok(record_decode(&events, raw, sizeof(raw), &r));
	assert_int_equal(r.sample.ip, 0x2222);
	assert_int_equal(r.sample.regs_user.abi, 0);
	assert_int_equal(r.sample.regs_user.count, 0);
	assert_int_equal(r.sample.stack_size, 0);
	assert_null(r.sample.stack_user);
	events_deinit(&events);
}

static struct record base_record(uint32_t type)
{
	return (struct record){ .type = type,
				.pid = 11,
				.tid = 12,
				.time = 1313,
				.id = 1,
				.cpu = 15 };
}

/* Encodes, decodes and checks the trailer; bytes to be freed. */
static uint8_t *round_trip(const struct events *events,
			   const struct record *record, struct record *ret)
{
	size_t size;
	uint8_t *bytes = encode(events, record, &size);

	assert_ok(record_decode(events, bytes, size, ret));
	assert_int_equal(ret->type, record->type);
	assert_int_equal(ret->pid, 11);
	assert_int_equal(ret->tid, 12);
	assert_int_equal(ret->time, 1313);
	assert_int_equal(ret->cpu, 15);
	assert_int_equal(ret->id, 1);
	assert_int_equal(events_record_time(events, ret->raw, ret->size), 1313);
	return bytes;
}

#define TRAILER_BITS                                                   \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |   \
	 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID)

static void test_mmap2(void **state)
{
	struct events events = {};
	struct record in = base_record(PERF_RECORD_MMAP2);
	struct record out;
	uint8_t *bytes;

	(void)state;
	add_event(&events, TRAILER_BITS, "e", 1);
	in.mmap = (struct record_mmap){ .pid = 1, .tid = 2, .start = 0x1000,
					.len = 0x2000, .pgoff = 0x3000,
					.maj = 4, .min = 5, .ino = 6,
					.ino_generation = 7, .prot = PROT_EXEC,
					.flags = 8, .filename = "/lib/x.so",
					.filename_len = 9 };
	bytes = round_trip(&events, &in, &out);
	assert_int_equal(out.mmap.ino, 6);
	assert_int_equal(out.mmap.maj, 4);
	assert_int_equal(out.mmap.build_id_size, 0);
	assert_int_equal(out.mmap.pgoff, 0x3000);
	assert_true(out.mmap.is_exec);
	assert_string_equal(out.mmap.filename, "/lib/x.so");
	free(bytes);

	in.mmap.build_id_size = 20;
	memset(in.mmap.build_id, 0xab, 20);
	bytes = round_trip(&events, &in, &out);
	assert_int_equal(out.misc & PERF_RECORD_MISC_MMAP_BUILD_ID,
			 PERF_RECORD_MISC_MMAP_BUILD_ID);
	assert_int_equal(out.mmap.build_id_size, 20);
	assert_int_equal(out.mmap.build_id[19], 0xab);
	assert_int_equal(out.mmap.ino, 0);
	assert_int_equal(out.mmap.prot, PROT_EXEC);
	assert_string_equal(out.mmap.filename, "/lib/x.so");
	free(bytes);
	events_deinit(&events);
}

/* What the kernel writes for another recorder that wants build-ids. */
static void test_mmap2_with_a_foreign_flag(void **state)
{
	static const uint32_t majors[] = { 0, 7, 8, 9, 254, 259 };
	struct events events = {};
	struct record in = base_record(PERF_RECORD_MMAP2);
	struct record out;

	(void)state;
	add_event(&events, TRAILER_BITS, "e", 1);
	for (size_t i = 0; i < sizeof(majors) / sizeof(*majors); i++) {
		struct perf_event_header header;
		size_t size;
		uint8_t *bytes;

		in.mmap = (struct record_mmap){ .maj = majors[i], .min = 1,
						.ino = 6, .ino_generation = 7,
						.prot = PROT_EXEC,
						.filename = "/lib/x.so",
						.filename_len = 9 };
		bytes = encode(&events, &in, &size);
		memcpy(&header, bytes, sizeof(header));
		header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		memcpy(bytes, &header, sizeof(header));
		assert_ok(record_decode(&events, bytes, size, &out));
		assert_int_equal(out.mmap.build_id_size, 0);
		assert_int_equal(out.mmap.maj, majors[i]);
		assert_int_equal(out.mmap.ino, 6);
		assert_int_equal(out.mmap.ino_generation, 7);
		assert_int_equal(out.misc & PERF_RECORD_MISC_MMAP_BUILD_ID, 0);
		assert_string_equal(out.mmap.filename, "/lib/x.so");
		free(bytes);
	}
	events_deinit(&events);
}

static void test_task_records(void **state)
{
	struct events events = {};
	struct record in = base_record(PERF_RECORD_COMM);
	struct record out;
	uint8_t *bytes;

	(void)state;
	add_event(&events, TRAILER_BITS, "e", 1);
	in.comm = (struct record_comm){ .pid = 1, .tid = 2, .comm = "python3.",
					.comm_len = 8, .is_exec = true };
	bytes = round_trip(&events, &in, &out);
	assert_string_equal(out.comm.comm, "python3.");
	assert_int_equal(out.comm.comm_len, 8);
	assert_true(out.comm.is_exec);
	free(bytes);

	in = base_record(PERF_RECORD_FORK);
	in.task = (struct record_task){ 1, 2, 3, 4, 5 };
	bytes = round_trip(&events, &in, &out);
	assert_memory_equal(&out.task, &in.task, sizeof(in.task));
	free(bytes);

	in = base_record(PERF_RECORD_LOST);
	in.lost = (struct record_lost){ .id = 1, .lost = 77 };
	bytes = round_trip(&events, &in, &out);
	assert_int_equal(out.lost.lost, 77);
	free(bytes);

	in = base_record(PERF_RECORD_KSYMBOL);
	in.ksymbol = (struct record_ksymbol){ .addr = 0xffff, .len = 8,
					      .ksym_type = 1, .name = "bpf_x",
					      .name_len = 5 };
	bytes = round_trip(&events, &in, &out);
	assert_string_equal(out.ksymbol.name, "bpf_x");
	assert_int_equal(out.ksymbol.len, 8);
	free(bytes);
	events_deinit(&events);
}

/* The record as Linux writes it to the third event that is told of a program. */
static void check_grown(const struct events *events, const struct record *in)
{
	const struct event *event = events->list.data[1];
	struct strbuf text = STRBUF_INIT;
	struct perf_event_header *header;
	struct record out;

	assert_null(record_encode(events, in, &text));
	for (int i = 0; i < 2 * event->trailer_size; i++)
		strbuf_putc(&text, (char)0xee);
	header = (struct perf_event_header *)text.data;
	header->size = (uint16_t)text.len;
	assert_null(record_decode(events, header, header->size, &out));
	assert_ptr_equal(out.event, event);
	assert_int_equal(out.time, in->time);
	assert_int_equal(events_record_time(events, header, header->size), in->time);
	if (in->type == PERF_RECORD_KSYMBOL)
		assert_string_equal(out.ksymbol.name, in->ksymbol.name);
	else
		assert_memory_equal(&out.bpf_event, &in->bpf_event, sizeof(in->bpf_event));
	strbuf_deinit(&text);
}

static void test_what_linux_leaves_behind_a_record(void **state)
{
	static const char *const names[] = { "", "bpf_x", "bpf_pro", "bpf_prog", "bpf_prog_0123456789abcdef_walk" };
	struct events events = {};
	struct record in = base_record(PERF_RECORD_KSYMBOL);

	(void)state;
	add_event(&events, TRAILER_BITS, "first", 1);
	add_event(&events, TRAILER_BITS, "second", 2);
	in.event = events.list.data[1];
	in.id = 2;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		in.ksymbol = (struct record_ksymbol){ .name = names[i],
						      .name_len = (uint32_t)strlen(names[i]) };
		check_grown(&events, &in);
	}
	in.type = PERF_RECORD_BPF_EVENT;
	in.bpf_event = (struct record_bpf_event){ 1, 0, 77, { 1, 2, 3, 4, 5, 6, 7, 8 } };
	check_grown(&events, &in);
	events_deinit(&events);
}

/* MMAP, as the kernel writes it for data: misc tells, not a protection. */
static void test_mmap_data(void **state)
{
	struct events events = {};
	struct record in = base_record(PERF_RECORD_MMAP);
	struct record out;
	uint8_t *bytes;

	(void)state;
	add_event(&events, TRAILER_BITS, "e", 1);
	in.misc = PERF_RECORD_MISC_MMAP_DATA | PERF_RECORD_MISC_USER;
	in.mmap = (struct record_mmap){ .filename = "//anon",
					.filename_len = 6 };
	bytes = round_trip(&events, &in, &out);
	assert_false(out.mmap.is_exec);
	assert_int_equal(record_cpumode(&out), PERF_RECORD_MISC_USER);
	free(bytes);
	events_deinit(&events);
}

/* Two events with different fields; the record's id tells which. */
static void test_events_by_id(void **state)
{
	struct events events = {};
	struct event *a = add_event(&events, TRAILER_BITS, "a", 5);
	struct event *b = add_event(&events, TRAILER_BITS | PERF_SAMPLE_RAW, "b",
				    6);
	struct record in = base_record(PERF_RECORD_SAMPLE);
	struct record out;
	uint8_t *bytes;
	size_t size;

	(void)state;
	in.event = b;
	in.id = 6;
	in.sample.raw = (const uint8_t *)"xyz";
	in.sample.raw_size = 3;
	bytes = encode(&events, &in, &size);
	assert_ok(record_decode(&events, bytes, size, &out));
	assert_ptr_equal(out.event, b);
	assert_memory_equal(out.sample.raw, "xyz", 4);
	/* An id that nobody has, and 0 of synthesised records. */
	memset(bytes + 8, 9, 8);
	assert_fails(record_decode(&events, bytes, size, &out), ERROR_NOT_FOUND);
	memset(bytes + 8, 0, 8);
	assert_ok(record_decode(&events, bytes, size, &out));
	assert_ptr_equal(out.event, a);
	free(bytes);

	assert_fails(events_add_id(&events, a, 6), ERROR_FORMAT);
	events_deinit(&events);
}

static void test_encode_limits(void **state)
{
	static uint64_t chain[9000];
	struct events events = {};
	struct event *event =
		add_event(&events, TRAILER_BITS | PERF_SAMPLE_CALLCHAIN, "e", 1);
	struct record in = base_record(PERF_RECORD_SAMPLE);
	struct strbuf out = STRBUF_INIT;
	size_t room = record_callchain_room(event, 0);

	(void)state;
	assert_in_range(room, 8100, 8191);
	in.sample.callchain = chain;
	in.sample.callchain_count = room;
	assert_ok(record_encode(&events, &in, &out));
	in.sample.callchain_count = 9000;
	size_t before = out.len;
	assert_fails(record_encode(&events, &in, &out), ERROR_LIMIT);
	in.sample.callchain_count = UINT64_MAX;
	assert_fails(record_encode(&events, &in, &out), ERROR_LIMIT);
	assert_int_equal(out.len, before);
	assert_int_equal(record_callchain_room(event, 70000), 0);
	strbuf_deinit(&out);
	events_deinit(&events);
}

/* Counts in records that reach beyond them must fail, not read. */
static void test_hostile_counts(void **state)
{
	static const uint64_t types[] = {
		PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_BRANCH_STACK,
		PERF_SAMPLE_STACK_USER, PERF_SAMPLE_RAW,
	};
	static const uint64_t counts[] = { 3, 0x1fffffffffffffff, UINT64_MAX,
					   0x2000000000000001 };

	(void)state;
	for (size_t t = 0; t < 4; t++) {
		for (size_t c = 0; c < 4; c++) {
			struct events events = {};
			uint64_t *raw = calloc(3, 8);
			struct record r;

			add_event(&events, types[t], "e", 0);
			set_header(raw, PERF_RECORD_SAMPLE, 24);
			raw[1] = types[t] == PERF_SAMPLE_STACK_USER && c == 0 ?
					 9 :
				 types[t] == PERF_SAMPLE_RAW && c == 0 ?
					 13 :
					 counts[c];
			if (types[t] == PERF_SAMPLE_RAW)
				raw[1] = (uint32_t)raw[1] < 13 ? 13 : raw[1];
			assert_fails(record_decode(&events, raw, 24, &r),
				     ERROR_TRUNCATED);
			free(raw);
			events_deinit(&events);
		}
	}
}

/* Every shorter form of a record with all fields is refused or decoded. */
static void test_truncated_records(void **state)
{
	struct events events = {};
	struct record in = base_record(PERF_RECORD_SAMPLE);
	static const uint64_t chain[] = { 1, 2, 3 };
	uint64_t regs[20] = {};
	uint8_t *bytes;
	size_t size;

	(void)state;
	add_event(&events, ALL_SAMPLE_BITS & ~(PERF_SAMPLE_READ |
					       PERF_SAMPLE_BRANCH_STACK),
		  "e", 1);
	in.sample.callchain = chain;
	in.sample.callchain_count = 3;
	in.sample.stack_user = (const uint8_t *)chain;
	in.sample.stack_size = 24;
	in.sample.regs_user = (struct record_regs){ 2, 0xff0fff, regs, 20 };
	bytes = encode(&events, &in, &size);
	for (size_t n = 0; n < size; n++) {
		uint8_t *copy = malloc(n ? n : 1);
		struct record r;

		memcpy(copy, bytes, n);
		if (n >= 8)
			set_header(copy, PERF_RECORD_SAMPLE, n);
		assert_fails(record_decode(&events, copy, n, &r),
			     ERROR_TRUNCATED);
		free(copy);
	}
	free(bytes);
	events_deinit(&events);
}

/* Files */

static void put_sample(struct perfdata_writer *w, const struct event *event,
		       uint64_t time)
{
	static const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_USER, 0x1234 };
	struct record r = base_record(PERF_RECORD_SAMPLE);

	r.event = event;
	r.id = event->ids.data[0];
	r.time = time;
	r.sample.callchain = chain;
	r.sample.callchain_count = 2;
	assert_ok(perfdata_writer_put(w, &r));
}

static struct perfdata_writer *create(const struct events *events)
{
	const struct perfdata_writer_options options = { file_path, events, -1,
							 -1 };
	struct perfdata_writer *w;

	assert_ok(perfdata_writer_create(&options, &w));
	return w;
}

static void two_events(struct events *events)
{
	add_event(events, TRAILER_BITS | PERF_SAMPLE_CALLCHAIN, "task-clock:u",
		  21);
	add_event(events, TRAILER_BITS | PERF_SAMPLE_RAW, "kaa", 22);
	assert_ok(events_add_id(events, events->list.data[0], 23));
}

static const struct feature_group test_groups[] = { { "{anon_group}", 0, 2 },
						    { "name", 3, 4 } };

static void make_features(struct features *f)
{
	const struct feature_build_id id = { .pid = -1,
					     .misc = PERF_RECORD_MISC_USER,
					     .size = 20,
					     .build_id = { 1, 2, 3 },
					     .filename = (char *)"/lib/y.so" };

	assert_ok(features_fill_host(f, ""));
	assert_ok(features_set_string(f, FEATURE_VERSION, "kaa test"));
	assert_ok(features_add_cmdline(f, "kaa"));
	assert_ok(features_add_cmdline(f, "record"));
	assert_ok(features_add_build_id(f, &id));
	f->first_sample_time = 5;
	f->last_sample_time = 6;
	features_mark(f, FEATURE_SAMPLE_TIME);
	f->clockid_resolution = 1;
	features_mark(f, FEATURE_CLOCKID);
	f->clockid = 1;
	f->clock_wall_ns = 100;
	f->clock_ns = 50;
	features_mark(f, FEATURE_CLOCK_DATA);
	assert_ok(features_set_tracing_data(f, "tracing", 7));
	assert_ok(features_set_groups(f, test_groups, 2));
}

static void write_file(const uint64_t *times, size_t count, size_t round_every)
{
	struct features features = {};
	struct events events = {};
	struct perfdata_writer *w;

	two_events(&events);
	make_features(&features);
	w = create(&events);
	for (size_t i = 0; i < count; i++) {
		put_sample(w, events.list.data[i % 2], times[i]);
		if (round_every && i % round_every == round_every - 1)
			assert_ok(perfdata_writer_finished_round(w));
	}
	assert_ok(perfdata_writer_finish(w, &features));
	perfdata_writer_destroy(w);
	features_deinit(&features);
	events_deinit(&events);
}

/* Reads all; stores the times of samples, returns their number. */
static size_t read_times(struct perfdata_reader *reader, uint64_t *times,
			 size_t most)
{
	const struct record *record;
	size_t count = 0;

	for (;;) {
		assert_ok(perfdata_reader_next(reader, &record));
		if (!record)
			return count;
		if (record->type != PERF_RECORD_SAMPLE)
			continue;
		assert_true(count < most);
		times[count++] = record->time;
	}
}

static struct perfdata_reader *open_file(void)
{
	struct perfdata_reader *reader;

	assert_ok(perfdata_reader_open(file_path, &reader));
	return reader;
}

static void check_groups(const struct features *f)
{
	struct feature_groups groups;
	struct feature_group group;

	features_groups(f, &groups);
	for (size_t i = 0; i < 2; i++) {
		assert_true(features_next_group(&groups, &group));
		assert_string_equal(group.name, test_groups[i].name);
		assert_int_equal(group.leader, test_groups[i].leader);
		assert_int_equal(group.members, test_groups[i].members);
	}
	assert_false(features_next_group(&groups, &group));
}

static void test_overlapping_groups(void **state)
{
	const struct feature_group groups[] = { { "a", 1, 3 }, { "b", 3, 2 } };
	struct features features = {};
	struct feature_groups found;
	struct feature_group group;

	(void)state;
	assert_ok(features_set_groups(&features, groups, 2));
	features_groups(&features, &found);
	assert_true(features_next_group(&found, &group));
	assert_false(features_next_group(&found, &group));
	features_deinit(&features);
}

/* A pipe may have records of one feature again and again. */
static void test_the_last_command_line(void **state)
{
	struct features features = {};
	struct events events = {};
	struct strbuf section = STRBUF_INIT;

	(void)state;
	assert_ok(features_add_cmdline(&features, "kaa"));
	assert_ok(features_add_cmdline(&features, "record"));
	assert_ok(features_encode(&features, FEATURE_CMDLINE, &events, &section));
	for (int i = 0; i < 3; i++) {
		struct reader reader = reader_init(section.data, section.len);

		assert_ok(features_decode(&features, FEATURE_CMDLINE, &reader,
					  &events));
		assert_int_equal(features.cmdline.count, 2);
		assert_string_equal(features.cmdline.data[1], "record");
		assert_int_equal(features.text_bytes, sizeof("kaa") + sizeof("record"));
	}
	strbuf_deinit(&section);
	features_deinit(&features);
}

static void add_build_id(struct features *features, const char *path,
			 uint16_t misc, uint32_t number)
{
	struct feature_build_id entry = { .misc = misc,
					  .size = sizeof(number),
					  .filename = (char *)path };

	memcpy(entry.build_id, &number, sizeof(number));
	assert_ok(features_add_build_id(features, &entry));
}

/* The number that was given to the file, 0: it has no build-id. */
static uint32_t build_id_of(const struct features *features, const char *path,
			    bool is_kernel)
{
	const struct feature_build_id *found =
		features_find_build_id(features, path, is_kernel);
	uint32_t number = 0;

	if (found)
		memcpy(&number, found->build_id, sizeof(number));
	return number;
}

/* Half of them, searched one by one for each of them, would take minutes. */
static void test_build_ids_of_many_files(void **state)
{
	enum { FILES = 200000 };
	struct features features = {};
	char path[64];

	(void)state;
	assert_null(features_find_build_id(&features, "/lib/x.so", false));
	for (uint32_t i = 1; i <= FILES; i++) {
		snprintf(path, sizeof(path), "/usr/lib/modules/file-%u", i);
		add_build_id(&features, path,
			     i % 2 ? PERF_RECORD_MISC_USER :
				     PERF_RECORD_MISC_KERNEL, i);
	}
	for (uint32_t i = 1; i <= FILES; i++) {
		snprintf(path, sizeof(path), "/usr/lib/modules/file-%u", i);
		assert_int_equal(build_id_of(&features, path, i % 2 == 0), i);
		assert_int_equal(build_id_of(&features, path, i % 2), 0);
	}
	/* A file of the same name in both, and a second one. */
	add_build_id(&features, "/usr/lib/modules/file-1",
		     PERF_RECORD_MISC_KERNEL, 7);
	add_build_id(&features, "/usr/lib/modules/file-1",
		     PERF_RECORD_MISC_USER, 8);
	assert_int_equal(build_id_of(&features, "/usr/lib/modules/file-1", true), 7);
	assert_int_equal(build_id_of(&features, "/usr/lib/modules/file-1", false), 1);
	features_deinit(&features);
}

static void test_texts_of_features_are_bounded(void **state)
{
	struct feature_build_id build_id = { .filename = (char *)"/lib/y.so" };
	struct features features = {};

	(void)state;
	features.text_bytes = FEATURES_TEXT_MAX - sizeof("kaa");
	assert_ok(features_add_cmdline(&features, "kaa"));
	assert_fails(features_add_cmdline(&features, ""), ERROR_LIMIT);
	features.text_bytes = FEATURES_TEXT_MAX - sizeof("/lib/y.so");
	assert_ok(features_add_build_id(&features, &build_id));
	assert_fails(features_add_build_id(&features, &build_id), ERROR_LIMIT);
	assert_int_equal(features.cmdline.count, 1);
	assert_int_equal(features.build_ids.count, 1);
	features_deinit(&features);
}

static void check_features(const struct features *f)
{
	char host[65] = "";

	check_groups(f);
	gethostname(host, 64);
	assert_string_equal(f->hostname, host);
	assert_string_equal(f->version, "kaa test");
	assert_int_equal(f->cmdline.count, 2);
	assert_string_equal(f->cmdline.data[1], "record");
	assert_int_equal(f->build_ids.count, 1);
	assert_int_equal(f->build_ids.data[0].pid, -1);
	assert_int_equal(f->build_ids.data[0].build_id[2], 3);
	assert_string_equal(f->build_ids.data[0].filename, "/lib/y.so");
	assert_int_equal(f->cpus_online, sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(f->first_sample_time, 5);
	assert_int_equal(f->last_sample_time, 6);
	assert_int_equal(f->clockid, 1);
	assert_int_equal(f->clock_wall_ns, 100);
	assert_int_equal(f->clock_ns, 50);
}

/* In pipes it stands between the records, with zeros up to the next one. */
static void check_tracing_data(const struct features *f, size_t size)
{
	assert_true(features_have(f, FEATURE_TRACING_DATA));
	assert_int_equal(f->tracing_data.count, size);
	assert_memory_equal(f->tracing_data.data, "tracing", 7);
}

static void test_file_round_trip(void **state)
{
	static const uint64_t times[] = { 10, 20, 30 };
	struct perfdata_reader *reader;
	const struct events *events;
	const struct record *record;

	(void)state;
	write_file(times, 3, 0);
	reader = open_file();
	check_features(perfdata_reader_features(reader));
	check_tracing_data(perfdata_reader_features(reader), 7);
	events = perfdata_reader_events(reader);
	assert_int_equal(events->list.count, 2);
	assert_string_equal(events->list.data[0]->name, "task-clock:u");
	assert_string_equal(events->list.data[1]->name, "kaa");
	assert_ptr_equal(events_find(events, 23), events->list.data[0]);
	assert_ok(perfdata_reader_next(reader, &record));
	assert_int_equal(record->sample.callchain_count, 2);
	assert_int_equal(record->sample.callchain[1], 0x1234);
	assert_ok(perfdata_reader_next(reader, &record));
	assert_ptr_equal(record->event, events->list.data[1]);
	perfdata_reader_destroy(reader);
}

/*
 * Two rings, one after the other in each round: the second one's records are
 * partly earlier. What rounds promise must come out sorted.
 */
static void test_order(void **state)
{
	static const uint64_t times[] = { 10, 14, 11, 12, 13, 18, 15, 16,
					  17, 30, 19, 20 };
	uint64_t got[12];
	struct perfdata_reader *reader;

	(void)state;
	write_file(times, 12, 4);
	reader = open_file();
	assert_int_equal(read_times(reader, got, 12), 12);
	for (size_t i = 1; i < 12; i++)
		assert_true(got[i - 1] <= got[i]);
	assert_int_equal(perfdata_reader_stats(reader)->out_of_order, 0);
	perfdata_reader_destroy(reader);
}

/* A round that breaks its promise: late records come late, and are counted. */
static void test_late_records(void **state)
{
	static const uint64_t times[] = { 100, 101, 200, 201, 300, 301, 50, 51 };
	uint64_t got[8];
	struct perfdata_reader *reader;

	(void)state;
	write_file(times, 8, 2);
	reader = open_file();
	assert_int_equal(read_times(reader, got, 8), 8);
	assert_int_equal(perfdata_reader_stats(reader)->out_of_order, 2);
	perfdata_reader_destroy(reader);
}

/* Many records in several rings against a sorted copy. */
static void test_order_of_many(void **state)
{
	enum { COUNT = 20000, RINGS = 7 };
	static uint64_t times[COUNT], got[COUNT];
	struct perfdata_reader *reader;
	size_t n = 0;

	(void)state;
	for (size_t ring = 0; ring < RINGS; ring++)
		for (size_t i = ring; i < COUNT; i += RINGS)
			times[n++] = 1000 + i;
	write_file(times, COUNT, 0);
	reader = open_file();
	assert_int_equal(read_times(reader, got, COUNT), COUNT);
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(got[i], 1000 + i);
	perfdata_reader_destroy(reader);
}

static void test_renames_old_file(void **state)
{
	static const uint64_t times[] = { 1 };
	char old[80];
	struct stat st;

	(void)state;
	write_file(times, 1, 0);
	assert_int_equal(stat(file_path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	write_file(times, 1, 0);
	snprintf(old, sizeof(old), "%s.old", file_path);
	assert_int_equal(stat(old, &st), 0);
	assert_int_equal(unlink(old), 0);
}

static void test_refuses_links(void **state)
{
	struct events events = {};
	struct perfdata_writer_options options = { file_path, &events, -1, -1 };
	struct perfdata_writer *w;

	(void)state;
	two_events(&events);
	unlink(file_path);
	assert_int_equal(symlink("/etc/passwd", file_path), 0);
	assert_fails(perfdata_writer_create(&options, &w),
		     ERROR_INVALID_ARGUMENT);
	unlink(file_path);
	options.path = directory;
	assert_fails(perfdata_writer_create(&options, &w),
		     ERROR_INVALID_ARGUMENT);
	options.path = "/dev/null";
	assert_ok(perfdata_writer_create(&options, &w));
	put_sample(w, events.list.data[0], 1);
	assert_ok(perfdata_writer_checkpoint(w));
	perfdata_writer_destroy(w);
	events_deinit(&events);
}

/* Killed: what the last checkpoint wrote is there, and nothing else. */
static void test_killed_writer(void **state)
{
	struct events events = {};
	uint64_t got[8];
	struct perfdata_reader *reader;
	struct perfdata_writer *w;

	(void)state;
	two_events(&events);
	w = create(&events);
	assert_ok(perfdata_writer_event_names(w));
	put_sample(w, events.list.data[0], 1);
	put_sample(w, events.list.data[0], 2);
	assert_ok(perfdata_writer_checkpoint(w));
	put_sample(w, events.list.data[0], 3);
	perfdata_writer_destroy(w);

	reader = open_file();
	assert_int_equal(read_times(reader, got, 8), 2);
	assert_string_equal(perfdata_reader_events(reader)->list.data[1]->name,
			    "kaa");
	assert_false(perfdata_reader_stats(reader)->unfinished);
	perfdata_reader_destroy(reader);
	events_deinit(&events);
}

/* Chains that differ from each other only in their innermost part. */
static void put_deep_sample(struct perfdata_writer *w, const struct event *event,
			    uint64_t time)
{
	uint64_t chain[2000] = { (uint64_t)PERF_CONTEXT_USER, time };
	struct record r = base_record(PERF_RECORD_SAMPLE);

	for (size_t i = 2; i < 2000; i++)
		chain[i] = 0x1000 * i;
	r.event = event;
	r.id = event->ids.data[0];
	r.time = time;
	r.sample.callchain = chain;
	r.sample.callchain_count = 2000;
	assert_ok(perfdata_writer_put(w, &r));
}

static struct perfdata_writer *create_packed(const struct events *events,
					     int level)
{
	const struct perfdata_writer_options options = {
		.path = file_path,
		.events = events,
		.uid = -1,
		.gid = -1,
		.compression = level,
	};
	struct perfdata_writer *w;

	assert_ok(perfdata_writer_create(&options, &w));
	return w;
}

static void check_packed(struct perfdata_reader *reader, uint32_t level,
			 size_t samples)
{
	const struct features *f = perfdata_reader_features(reader);
	const struct perfdata_stats *stats = perfdata_reader_stats(reader);
	static uint64_t got[1000];

	assert_true(features_have(f, FEATURE_COMPRESSED));
	assert_int_equal(f->compress_type, 1);
	assert_int_equal(f->compress_level, level);
	assert_in_range(f->compress_mmap_len, 4096, 1 << 20);
	assert_int_equal(read_times(reader, got, 1000), samples);
	for (size_t i = 0; i < samples; i++)
		assert_int_equal(got[i], i + 1);
	assert_true(stats->records[PERFDATA_COMPRESSED] > 0);
	assert_int_equal(stats->broken_records, 0);
	assert_int_equal(stats->broken_features, 0);
	assert_int_equal(stats->truncated_bytes, 0);
	assert_false(stats->unfinished);
}

/* More than a COMPRESSED record holds; equal tails of chains take no room. */
static void test_packed_file(void **state)
{
	static const int levels[] = { 1, 3, 22 };
	enum { SAMPLES = 300 };

	(void)state;
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		struct features features = {};
		struct events events = {};
		struct perfdata_reader *reader;
		struct perfdata_writer *w;
		struct stat st;

		two_events(&events);
		make_features(&features);
		w = create_packed(&events, levels[i]);
		for (uint64_t time = 1; time <= SAMPLES; time++) {
			put_deep_sample(w, events.list.data[0], time);
			if (time % 50 == 0)
				assert_ok(perfdata_writer_checkpoint(w));
		}
		assert_ok(perfdata_writer_finish(w, &features));
		perfdata_writer_destroy(w);
		assert_int_equal(stat(file_path, &st), 0);
		assert_true(st.st_size < SAMPLES * 16000 / 50);
		reader = open_file();
		assert_true(features_have(perfdata_reader_features(reader),
					  FEATURE_CMDLINE));
		check_packed(reader, (uint32_t)levels[i], SAMPLES);
		perfdata_reader_destroy(reader);
		features_deinit(&features);
		events_deinit(&events);
	}
}

/* At each checkpoint the file is one that perf would unpack, too. */
static void test_killed_packed_writer(void **state)
{
	struct events events = {};
	struct perfdata_writer *w;

	(void)state;
	two_events(&events);
	w = create_packed(&events, 1);
	for (uint64_t time = 1; time <= 20; time++) {
		struct perfdata_reader *reader;

		put_deep_sample(w, events.list.data[0], time);
		assert_ok(perfdata_writer_checkpoint(w));
		reader = open_file();
		check_packed(reader, 1, time);
		perfdata_reader_destroy(reader);
	}
	put_deep_sample(w, events.list.data[0], 21);
	perfdata_writer_destroy(w);
	events_deinit(&events);
}

/* Samples that cannot be packed, until there is no room. */
static void test_full_disk_packed(void **state)
{
	static uint64_t got[1000];
	struct rlimit before, limit;
	struct features features = {};
	struct events events = {};
	struct perfdata_reader *reader;
	struct perfdata_writer *w;
	struct error *err = NULL;
	uint64_t chain[2000], word = 1;
	size_t count = 0;

	(void)state;
	two_events(&events);
	make_features(&features);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 700001;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	w = create_packed(&events, 1);
	while (!err && count < 1000) {
		struct record r = base_record(PERF_RECORD_SAMPLE);

		for (size_t i = 0; i < 2000; i++)
			chain[i] = word = word * 6364136223846793005u + 1;
		r.event = events.list.data[0];
		r.id = 21;
		r.time = ++count;
		r.sample.callchain = chain;
		r.sample.callchain_count = 2000;
		err = perfdata_writer_put(w, &r);
		if (!err)
			err = perfdata_writer_checkpoint(w);
	}
	assert_non_null(err);
	assert_true(error_is_os(err, EFBIG));
	error_destroy(err);
	error_destroy(perfdata_writer_finish(w, &features));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	perfdata_writer_destroy(w);
	reader = open_file();
	count = read_times(reader, got, 1000);
	assert_in_range(count, 30, 700001 / 16000);
	assert_int_equal(got[count - 1], count);
	assert_int_equal(perfdata_reader_stats(reader)->missing_bytes, 0);
	assert_true(features_have(perfdata_reader_features(reader),
				  FEATURE_COMPRESSED));
	check_features(perfdata_reader_features(reader));
	perfdata_reader_destroy(reader);
	features_deinit(&features);
	events_deinit(&events);
}

/* A full disk, as RLIMIT_FSIZE plays it: whole records up to the limit. */
static void test_full_disk(void **state)
{
	static uint64_t got[100000];
	struct rlimit before, limit;
	struct features features = {};
	struct events events = {};
	struct perfdata_reader *reader;
	struct perfdata_writer *w;
	struct error *err = NULL;
	struct stat st;
	size_t count = 0;

	(void)state;
	two_events(&events);
	make_features(&features);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 1500001;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	w = create(&events);
	while (!err && count < 100000) {
		struct record r = base_record(PERF_RECORD_SAMPLE);

		r.id = 21;
		r.time = ++count;
		err = perfdata_writer_put(w, &r);
	}
	assert_non_null(err);
	assert_true(error_is_os(err, EFBIG));
	error_destroy(err);
	err = perfdata_writer_finish(w, &features);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_true(error_is_os(err, EFBIG));
	error_destroy(err);
	perfdata_writer_destroy(w);

	assert_int_equal(stat(file_path, &st), 0);
	reader = open_file();
	count = read_times(reader, got, 100000);
	/* 64 bytes a record, and some 64 KiB were left for the features. */
	assert_in_range(count, (1500001 - 70000) / 64, 1500001 / 64);
	assert_int_equal(got[count - 1], count);
	assert_int_equal(perfdata_reader_stats(reader)->truncated_bytes, 0);
	assert_int_equal(perfdata_reader_stats(reader)->missing_bytes, 0);
	check_features(perfdata_reader_features(reader));
	check_tracing_data(perfdata_reader_features(reader), 7);
	perfdata_reader_destroy(reader);
	features_deinit(&features);
	events_deinit(&events);
}

/* All data fits, and the features do not: they are worth the last records. */
static void test_no_room_for_features(void **state)
{
	enum { COUNT = 20000 };
	static uint64_t got[COUNT];
	struct rlimit before, limit;
	struct features features = {};
	struct events events = {};
	struct perfdata_reader *reader;
	struct perfdata_writer *w;
	struct error *err;
	struct stat st;
	size_t count;

	(void)state;
	two_events(&events);
	make_features(&features);
	w = create(&events);
	for (uint64_t i = 1; i <= COUNT; i++) {
		put_sample(w, events.list.data[1], i);
		if (i % 100 == 0)
			assert_ok(perfdata_writer_checkpoint(w));
	}
	assert_int_equal(stat(file_path, &st), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)st.st_size + 100;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	err = perfdata_writer_finish(w, &features);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_true(error_is_os(err, EFBIG));
	error_destroy(err);
	perfdata_writer_destroy(w);

	reader = open_file();
	count = read_times(reader, got, COUNT);
	assert_in_range(count, COUNT / 2, COUNT - 1);
	assert_int_equal(got[count - 1], count);
	assert_int_equal(perfdata_reader_stats(reader)->missing_bytes, 0);
	check_features(perfdata_reader_features(reader));
	perfdata_reader_destroy(reader);
	features_deinit(&features);
	events_deinit(&events);
}

static void test_rejects_half_records(void **state)
{
	struct events events = {};
	struct perf_event_header header = { 68, 0, 8 };
	struct perfdata_writer *w;

	(void)state;
	two_events(&events);
	w = create(&events);
	assert_ok(perfdata_writer_append(w, &header, 8));
	assert_fails(perfdata_writer_append(w, &header, 7),
		     ERROR_INVALID_ARGUMENT);
	header.size = 16;
	assert_fails(perfdata_writer_append(w, &header, 8),
		     ERROR_INVALID_ARGUMENT);
	header.size = 0;
	assert_fails(perfdata_writer_append(w, &header, 8),
		     ERROR_INVALID_ARGUMENT);
	assert_int_equal(perfdata_writer_data_size(w), 8);
	perfdata_writer_destroy(w);
	events_deinit(&events);
}

/* Hostile files */

static uint8_t *slurp(size_t *size)
{
	FILE *file = fopen(file_path, "r");
	uint8_t *data = malloc(1 << 20);

	assert_non_null(file);
	*size = fread(data, 1, 1 << 20, file);
	fclose(file);
	return data;
}

/* Opens and reads bytes as a file, or as a pipe; anything goes but a fault. */
static void read_bytes(const uint8_t *data, size_t size, bool as_pipe)
{
	struct perfdata_reader *reader;
	const struct record *record;
	struct error *err;
	size_t budget = 100000;
	int fds[2];
	int fd;

	if (as_pipe) {
		assert_int_equal(pipe(fds), 0);
		assert_int_equal(write(fds[1], data, size), size);
		close(fds[1]);
		fd = fds[0];
	} else {
		fd = memfd_create("perf.data", MFD_CLOEXEC);
		assert_int_equal(write(fd, data, size), size);
	}
	err = perfdata_reader_open_fd(fd, "x", &reader);
	if (err) {
		error_destroy(err);
		return;
	}
	while (!(err = perfdata_reader_next(reader, &record)) && record)
		assert_true(budget-- > 0);
	error_destroy(err);
	perfdata_reader_destroy(reader);
}

static void test_truncated_files(void **state)
{
	static const uint64_t times[] = { 10, 30, 20, 40 };
	size_t size;
	uint8_t *data;

	(void)state;
	write_file(times, 4, 2);
	data = slurp(&size);
	assert_true(size < 65536);
	for (size_t n = 0; n <= size; n++) {
		uint8_t *copy = malloc(n ? n : 1);

		memcpy(copy, data, n);
		read_bytes(copy, n, false);
		free(copy);
	}
	free(data);
}

static void test_corrupt_files(void **state)
{
	static const uint64_t times[] = { 10, 30, 20, 40 };
	static const uint8_t values[] = { 0, 0x7f, 0xff };
	size_t size;
	uint8_t *data;

	(void)state;
	write_file(times, 4, 2);
	data = slurp(&size);
	for (size_t i = 0; i < size; i++) {
		uint8_t before = data[i];

		for (size_t v = 0; v < sizeof(values); v++) {
			data[i] = values[v];
			read_bytes(data, size, false);
		}
		data[i] = before;
	}
	free(data);
}

static uint8_t *pipe_bytes(size_t *size)
{
	struct features features = {};
	struct events events = {};
	struct perfdata_writer *w;
	struct perfdata_writer_options options = { "-", &events, -1, -1 };
	int fds[2], out;
	uint8_t *data = malloc(65536);
	ssize_t n;

	two_events(&events);
	make_features(&features);
	assert_int_equal(pipe(fds), 0);
	fflush(stdout);
	out = dup(STDOUT_FILENO);
	dup2(fds[1], STDOUT_FILENO);
	assert_ok(perfdata_writer_create(&options, &w));
	dup2(out, STDOUT_FILENO);
	close(out);
	close(fds[1]);
	assert_ok(perfdata_writer_tracing_data(w, &features));
	put_sample(w, events.list.data[0], 1);
	put_sample(w, events.list.data[1], 2);
	assert_ok(perfdata_writer_finish(w, &features));
	perfdata_writer_destroy(w);
	for (*size = 0; (n = read(fds[0], data + *size, 65536 - *size)) > 0;)
		*size += (size_t)n;
	close(fds[0]);
	features_deinit(&features);
	events_deinit(&events);
	return data;
}

static void test_pipe(void **state)
{
	struct perfdata_reader *reader;
	const struct events *events;
	size_t size;
	uint8_t *data = pipe_bytes(&size);
	uint64_t got[2];
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], data, size), size);
	close(fds[1]);
	assert_ok(perfdata_reader_open_fd(fds[0], "pipe", &reader));
	assert_true(perfdata_reader_is_pipe(reader));
	assert_int_equal(read_times(reader, got, 2), 2);
	events = perfdata_reader_events(reader);
	assert_int_equal(events->list.count, 2);
	assert_string_equal(events->list.data[0]->name, "task-clock:u");
	check_features(perfdata_reader_features(reader));
	check_tracing_data(perfdata_reader_features(reader), 8);
	perfdata_reader_destroy(reader);

	for (size_t n = 0; n < size; n++)
		read_bytes(data, n, n % 2);
	for (size_t i = 0; i < size; i++) {
		uint8_t before = data[i];

		data[i] = 0xff;
		read_bytes(data, size, true);
		data[i] = before;
	}
	free(data);
}

/* Appends bytes to the file's data, as records that the writer refuses. */
static void append_data(const void *data, size_t size)
{
	int fd = open(file_path, O_RDWR);
	uint64_t section[2];

	assert_int_equal(pread(fd, section, 16, 40), 16);
	assert_int_equal(pwrite(fd, data, size, section[0] + section[1]), size);
	section[1] += size;
	assert_int_equal(pwrite(fd, section, 16, 40), 16);
	close(fd);
}

static void append_compressed(uint32_t type, const uint8_t *data, size_t size)
{
	uint8_t record[2048] = {};
	uint64_t length = size;

	if (type == PERFDATA_COMPRESSED) {
		set_header(record, type, 8 + size);
		memcpy(record + 8, data, size);
		append_data(record, 8 + size);
		return;
	}
	memcpy(record + 8, &length, 8);
	memcpy(record + 16, data, size);
	size = (16 + size + 7) / 8 * 8;
	set_header(record, type, size);
	append_data(record, size);
}

/* One stream over many records, cut anywhere, as perf cuts it. */
static void check_compressed(uint32_t type)
{
	enum { COUNT = 3000 };
	static uint64_t got[COUNT];
	struct strbuf plain = STRBUF_INIT;
	struct perfdata_reader *reader;
	struct events events = {};
	struct perfdata_writer *w;
	size_t bound, size;
	uint8_t *packed;

	two_events(&events);
	w = create(&events);
	assert_ok(perfdata_writer_finished_init(w));
	assert_ok(perfdata_writer_checkpoint(w));
	perfdata_writer_destroy(w);
	for (uint64_t i = 0; i < COUNT; i++) {
		struct record r = base_record(PERF_RECORD_SAMPLE);

		r.id = 21;
		r.time = 1000 + i;
		r.sample.ip = i * 0x9e3779b97f4a7c15;
		assert_ok(record_encode(&events, &r, &plain));
	}
	bound = ZSTD_compressBound(plain.len);
	packed = malloc(bound);
	size = ZSTD_compress(packed, bound, plain.data, plain.len, 1);
	assert_false(ZSTD_isError(size));
	for (size_t at = 0, step = 1; at < size; at += step) {
		step = 1 + (at * 7919) % 1001;
		if (step > size - at)
			step = size - at;
		append_compressed(type, packed + at, step);
	}
	reader = open_file();
	assert_int_equal(read_times(reader, got, COUNT), COUNT);
	for (uint64_t i = 0; i < COUNT; i++)
		assert_int_equal(got[i], 1000 + i);
	assert_int_equal(perfdata_reader_stats(reader)->truncated_bytes, 0);
	assert_true(perfdata_reader_stats(reader)->records[type] > 10);
	perfdata_reader_destroy(reader);
	free(packed);
	strbuf_deinit(&plain);
	events_deinit(&events);
}

static void test_compressed(void **state)
{
	(void)state;
	check_compressed(PERFDATA_COMPRESSED);
	check_compressed(PERFDATA_COMPRESSED2);
}

/* The trace that follows an AUXTRACE record is no record. */
static void test_auxtrace(void **state)
{
	static const uint64_t times[] = { 10 };
	struct {
		struct perf_event_header header;
		uint64_t size, offset, reference, idx_tid, cpu;
		uint8_t payload[40];
	} trace = { { PERFDATA_AUXTRACE, 0, 48 }, .size = 40 };
	struct {
		struct perf_event_header header;
		uint64_t body[7];
	} sample = { { PERF_RECORD_SAMPLE, 0, 64 },
		     { 21, 0, 0, 20, 0, 0, 0 } };
	struct perfdata_reader *reader;
	uint64_t got[4];

	(void)state;
	write_file(times, 1, 0);
	memset(trace.payload, 0x01, sizeof(trace.payload));
	append_data(&trace, sizeof(trace));
	append_data(&sample, sizeof(sample));
	reader = open_file();
	assert_int_equal(read_times(reader, got, 4), 2);
	assert_int_equal(got[1], 20);
	assert_int_equal(perfdata_reader_stats(reader)->truncated_bytes, 0);
	perfdata_reader_destroy(reader);
}

/* LOST and LOST_SAMPLES are counted, the latter for their event. */
static void test_lost(void **state)
{
	struct perfdata_reader *reader;
	const struct event *event;
	const struct record *record;
	struct record lost = base_record(PERF_RECORD_LOST);
	struct features features = {};
	struct events events = {};
	struct perfdata_writer *w;

	(void)state;
	two_events(&events);
	w = create(&events);
	lost.id = 21;
	lost.lost = (struct record_lost){ .id = 21, .lost = 5 };
	assert_ok(perfdata_writer_put(w, &lost));
	lost.type = PERF_RECORD_LOST_SAMPLES;
	lost.id = 22;
	lost.lost.lost = 7;
	assert_ok(perfdata_writer_put(w, &lost));
	assert_ok(perfdata_writer_finish(w, &features));
	perfdata_writer_destroy(w);
	events_deinit(&events);

	reader = open_file();
	do
		assert_ok(perfdata_reader_next(reader, &record));
	while (record);
	assert_int_equal(perfdata_reader_stats(reader)->lost, 5);
	assert_int_equal(perfdata_reader_stats(reader)->lost_samples, 7);
	event = events_find(perfdata_reader_events(reader), 22);
	assert_int_equal(perfdata_reader_lost_of(reader, event), 7);
	event = events_find(perfdata_reader_events(reader), 21);
	assert_int_equal(perfdata_reader_lost_of(reader, event), 0);
	perfdata_reader_destroy(reader);
}

static void test_foreign_files(void **state)
{
	static const char *const texts[] = { "", "PERF", "#!/bin/sh\necho\n",
					     "2ELIFREPxxxxxxxx" };
	static const enum error_code codes[] = { ERROR_FORMAT, ERROR_FORMAT,
						 ERROR_FORMAT,
						 ERROR_UNSUPPORTED };
	struct perfdata_reader *reader;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		int fd = memfd_create("x", MFD_CLOEXEC);

		assert_int_equal(write(fd, texts[i], strlen(texts[i])),
				 strlen(texts[i]));
		assert_fails(perfdata_reader_open_fd(fd, "x", &reader),
			     codes[i]);
	}
	assert_fails(perfdata_reader_open("/no/such/file", &reader), ERROR_OS);
	assert_fails(perfdata_reader_open("/", &reader), ERROR_UNSUPPORTED);
}

/* --- What events mean ---------------------------------------------------- */

static const struct {
	uint32_t type;
	uint64_t config;
	const char *name;
	struct event_meaning meaning;
} meanings[] = {
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "x",
	  { EVENT_ON_CPU, EVENT_NANOSECONDS, EVENT_DATA_NONE } },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "x",
	  { EVENT_ON_CPU, EVENT_NANOSECONDS, EVENT_DATA_NONE } },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "x",
	  { EVENT_OCCURRENCE, EVENT_COUNT, EVENT_DATA_ADDRESS } },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "x",
	  { EVENT_OCCURRENCE, EVENT_COUNT, EVENT_DATA_ADDRESS } },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "x",
	  { EVENT_OCCURRENCE, EVENT_COUNT, EVENT_DATA_NONE } },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, "x",
	  { EVENT_DUMMY, EVENT_COUNT, EVENT_DATA_NONE } },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT, "x",
	  { EVENT_OCCURRENCE, EVENT_COUNT, EVENT_DATA_BYTES } },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT, KAA_EVENT_NAME,
	  { EVENT_STREAM, EVENT_COUNT, EVENT_DATA_BYTES } },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT, KAA_OFF_CPU,
	  { EVENT_WAIT, EVENT_NANOSECONDS, EVENT_DATA_WAIT } },
	/* A name says little: somebody has chosen it. */
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, KAA_EVENT_NAME,
	  { EVENT_ON_CPU, EVENT_NANOSECONDS, EVENT_DATA_NONE } },
	{ PERF_TYPE_SOFTWARE, UINT64_MAX, "cpu-clock",
	  { EVENT_OCCURRENCE, EVENT_COUNT, EVENT_DATA_NONE } },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "x",
	  { EVENT_ON_CPU, EVENT_COUNT, EVENT_DATA_NONE } },
	/* Of one of several kinds of core. */
	{ PERF_TYPE_HARDWARE, 4ull << 32 | PERF_COUNT_HW_CPU_CYCLES, "x",
	  { EVENT_ON_CPU, EVENT_COUNT, EVENT_DATA_NONE } },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "x",
	  { EVENT_OCCURRENCE, EVENT_COUNT, EVENT_DATA_NONE } },
	{ PERF_TYPE_HARDWARE, 0xffffffff, "x",
	  { EVENT_OCCURRENCE, EVENT_COUNT, EVENT_DATA_NONE } },
	{ PERF_TYPE_HW_CACHE, 0, "x",
	  { EVENT_OCCURRENCE, EVENT_COUNT, EVENT_DATA_NONE } },
	{ PERF_TYPE_TRACEPOINT, 317, "sched:sched_switch",
	  { EVENT_OCCURRENCE, EVENT_COUNT, EVENT_DATA_FIELDS } },
	{ PERF_TYPE_TRACEPOINT, 317, "sched:sched_stat_runtime",
	  { EVENT_ON_CPU, EVENT_NANOSECONDS, EVENT_DATA_FIELDS } },
	{ PERF_TYPE_TRACEPOINT, 317, "sched:sched_stat_sleep:u",
	  { EVENT_WAIT, EVENT_NANOSECONDS, EVENT_DATA_FIELDS } },
	{ PERF_TYPE_TRACEPOINT, 317, "sched:sched_stat_sleeper",
	  { EVENT_OCCURRENCE, EVENT_COUNT, EVENT_DATA_FIELDS } },
	{ PERF_TYPE_TRACEPOINT, 317, "sched",
	  { EVENT_OCCURRENCE, EVENT_COUNT, EVENT_DATA_FIELDS } },
	{ 31, 0, "cpu/cycles/",
	  { EVENT_OCCURRENCE, EVENT_COUNT, EVENT_DATA_NONE } },
};

static const struct {
	const char *name;
	enum event_kind kind;
} polled[] = {
	{ "cpu-clock", EVENT_ON_CPU },
	{ KAA_WALL_CLOCK, EVENT_WALL },
	{ KAA_GIL_CLOCK, EVENT_GIL },
};

/* The name decides of those that kaa has polled, and of no others. */
static void test_polled_clocks_have_a_meaning(void **state)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK };
	struct event_meaning meaning;

	(void)state;
	for (size_t i = 0; i < sizeof(polled) / sizeof(*polled); i++) {
		attr.config1 = KAA_POLLED;
		meaning = event_meaning(&attr, polled[i].name);
		assert_int_equal(meaning.kind, polled[i].kind);
		assert_int_equal(meaning.unit, EVENT_NANOSECONDS);
		assert_true(meaning.python_only && meaning.is_polled);
		assert_true(event_kind_is_shown(meaning.kind));
		attr.config1 = 0;
		meaning = event_meaning(&attr, polled[i].name);
		assert_int_equal(meaning.kind, EVENT_ON_CPU);
		assert_false(meaning.python_only || meaning.is_polled);
	}
}

/* Of what was imported, flags say what its file does. */
static void test_imported_events_have_a_meaning(void **state)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.config1 = KAA_IMPORTED };
	struct event_meaning meaning = event_meaning(&attr, "cpu-clock");

	(void)state;
	assert_int_equal(meaning.kind, EVENT_ON_CPU);
	assert_true(meaning.is_imported);
	assert_false(meaning.python_only || meaning.is_polled);
	meaning = event_meaning(&attr, KAA_WALL_CLOCK);
	assert_int_equal(meaning.kind, EVENT_WALL);
	assert_true(meaning.is_imported && meaning.is_polled);
	attr.config1 |= KAA_IMPORTED_PYTHON_ONLY | KAA_IMPORTED_TIME;
	meaning = event_meaning(&attr, "time");
	assert_int_equal(meaning.kind, EVENT_OCCURRENCE);
	assert_int_equal(meaning.unit, EVENT_NANOSECONDS);
	assert_true(meaning.is_imported && meaning.python_only);
}

static void assert_same_meaning(struct event_meaning a, struct event_meaning b)
{
	assert_int_equal(a.kind, b.kind);
	assert_int_equal(a.unit, b.unit);
	assert_int_equal(a.data, b.data);
}

static void test_events_have_a_meaning(void **state)
{
	const size_t count = sizeof(meanings) / sizeof(*meanings);
	struct events events = {};

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const struct perf_event_attr attr = {
			.type = meanings[i].type, .config = meanings[i].config
		};
		struct event *event;

		assert_same_meaning(event_meaning(&attr, meanings[i].name),
				    meanings[i].meaning);
		/* Names often come later than attributes. */
		assert_ok(events_add(&events, &attr, NULL, &event));
		assert_ok(event_set_name(event, meanings[i].name));
		assert_same_meaning(event->meaning, meanings[i].meaning);
	}
	assert_true(event_kind_is_shown(EVENT_WAIT));
	assert_false(event_kind_is_shown(EVENT_STREAM));
	assert_false(event_kind_is_shown(EVENT_DUMMY));
	events_deinit(&events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample_layout),
		cmocka_unit_test(test_sample_without_registers),
		cmocka_unit_test(test_mmap2),
		cmocka_unit_test(test_mmap2_with_a_foreign_flag),
		cmocka_unit_test(test_what_linux_leaves_behind_a_record),
		cmocka_unit_test(test_mmap_data),
		cmocka_unit_test(test_task_records),
		cmocka_unit_test(test_events_by_id),
		cmocka_unit_test(test_encode_limits),
		cmocka_unit_test(test_hostile_counts),
		cmocka_unit_test(test_truncated_records),
		cmocka_unit_test(test_file_round_trip),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_late_records),
		cmocka_unit_test(test_order_of_many),
		cmocka_unit_test(test_renames_old_file),
		cmocka_unit_test(test_refuses_links),
		cmocka_unit_test(test_killed_writer),
		cmocka_unit_test(test_packed_file),
		cmocka_unit_test(test_killed_packed_writer),
		cmocka_unit_test(test_full_disk_packed),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_no_room_for_features),
		cmocka_unit_test(test_rejects_half_records),
		cmocka_unit_test(test_truncated_files),
		cmocka_unit_test(test_corrupt_files),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_auxtrace),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_foreign_files),
		cmocka_unit_test(test_overlapping_groups),
		cmocka_unit_test(test_the_last_command_line),
		cmocka_unit_test(test_build_ids_of_many_files),
		cmocka_unit_test(test_texts_of_features_are_bounded),
		cmocka_unit_test(test_events_have_a_meaning),
		cmocka_unit_test(test_polled_clocks_have_a_meaning),
		cmocka_unit_test(test_imported_events_have_a_meaning),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
