// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test program: make_perfdata OUT IMAGE [no-build-id] [SAMPLES]
 *
 * Writes a perf.data of one process with Python frames in its chains, as the
 * recorder does, and the ELF image that names them. The chain of each sample,
 * leaf first, is native, py::leaf, py::middle, py::<module>, marker, native.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "obj/elf_image.h"
#include "perfdata/kaa_stream.h"
#include "perfdata/writer.h"

#define PID 4242
#define NATIVE 0x555555554000ull
#define START_TIME 1000000000ull

static const uint8_t build_id[ELF_IMAGE_BUILD_ID_SIZE] = {
	0x6b, 0x61, 0x61, 1, 2,	 3,  4,	 5,  6,	 7,
	8,    9,    10,	  11, 12, 13, 14, 15, 16, 17,
};

struct code {
	const char *qualname;
	const char *filename;
	uint32_t slots;
	/* Slot 0 has the line of the def. */
	uint32_t lines[4];
};

static const struct code codes[] = {
	{ "<module>", "/srv/app/main.py", 3, { 1, 40, 44 } },
	{ "Worker.middle", "/srv/app/work.py", 4, { 10, 11, 2000, 12 } },
	{ "leaf.<locals>.<lambda>", "<string>", 2, { 7, 7 } },
};

#define CODES (sizeof(codes) / sizeof(codes[0]))

static uint64_t starts[CODES];
static struct perfdata_writer *writer;

static void check(struct error *err)
{
	struct strbuf text = STRBUF_INIT;

	if (!err)
		return;
	error_format(err, &text);
	fprintf(stderr, "%s\n", text.data);
	exit(1);
}

static void write_image(const char *path)
{
	struct elf_image_span spans[KAA_MARKER_COUNT + CODES];
	struct strbuf out = STRBUF_INIT;
	char symbols[CODES][128];
	struct elf_image image = { .base = KAA_BASE,
				   .slot_size = KAA_SLOT_SIZE,
				   .spans = spans };
	FILE *file;

	for (size_t i = 0; i < KAA_MARKER_COUNT; i++)
		spans[image.count++] = (struct elf_image_span){
			.start = kaa_markers[i].address - 1,
			.slots = 1,
			.symbol = kaa_markers[i].name,
		};
	for (size_t i = 0; i < CODES; i++) {
		snprintf(symbols[i], sizeof(symbols[i]), "py::%s:%s",
			 codes[i].qualname, codes[i].filename);
		spans[image.count++] = (struct elf_image_span){
			.start = starts[i],
			.slots = codes[i].slots,
			.symbol = symbols[i],
			.filename = codes[i].filename,
			.lines = codes[i].lines,
		};
	}
	memcpy(image.build_id, build_id, sizeof(build_id));
	check(elf_image_write(&image, &out));
	file = fopen(path, "w");
	if (!file || fwrite(out.data, 1, out.len, file) != out.len ||
	    fclose(file) != 0)
		exit(1);
	strbuf_deinit(&out);
}

static void put_mmap(uint64_t start, uint64_t len, const char *path,
		     bool with_build_id)
{
	struct record r = { .type = PERF_RECORD_MMAP2,
			    .misc = PERF_RECORD_MISC_USER,
			    .pid = PID,
			    .tid = PID,
			    .time = START_TIME };
	struct stat st = {};

	r.mmap = (struct record_mmap){ .pid = PID,
				       .tid = PID,
				       .start = start,
				       .len = len,
				       .prot = PROT_READ | PROT_EXEC,
				       .flags = MAP_PRIVATE,
				       .filename = path,
				       .filename_len = strlen(path) };
	if (with_build_id) {
		r.mmap.build_id_size = sizeof(build_id);
		memcpy(r.mmap.build_id, build_id, sizeof(build_id));
	} else if (stat(path, &st) == 0) {
		r.mmap.ino = st.st_ino;
		r.mmap.maj = st.st_dev >> 8;
		r.mmap.min = st.st_dev & 0xff;
	}
	check(perfdata_writer_put(writer, &r));
}

/* Without it perf warns that kernel samples cannot be resolved. */
static void put_kernel_mmap(void)
{
	static const char name[] = "[kernel.kallsyms]_text";
	struct record r = { .type = PERF_RECORD_MMAP,
			    .misc = PERF_RECORD_MISC_KERNEL };

	r.mmap = (struct record_mmap){ .pid = UINT32_MAX,
				       .start = 0xffffffff81000000,
				       .len = 0x1000000,
				       .pgoff = 0xffffffff81000000,
				       .filename = name,
				       .filename_len = sizeof(name) - 1 };
	check(perfdata_writer_put(writer, &r));
}

/* This program stands for the interpreter. */
static const char *native_path(char path[4096])
{
	ssize_t n = readlink("/proc/self/exe", path, 4095);

	path[n < 0 ? 0 : n] = '\0';
	return path;
}

/* Of the kaa stream. */
static void put_payload(const struct event *event, uint64_t time,
			const struct strbuf *payload)
{
	struct record r = { .type = PERF_RECORD_SAMPLE,
			    .misc = PERF_RECORD_MISC_USER,
			    .event = event,
			    .pid = PID,
			    .tid = PID,
			    .time = time,
			    .id = event->ids.data[0] };

	r.sample = (struct record_sample){ .period = 1,
					   .raw = (uint8_t *)payload->data,
					   .raw_size = payload->len };
	check(perfdata_writer_put(writer, &r));
}

/* Of a whole recording. It may stand anywhere; behind it are samples of one size. */
static void put_summary(const struct event *event)
{
	const struct kaa_counter counter = { .name = { "lost", 4 } };
	struct strbuf payload = STRBUF_INIT;

	check(kaa_encode_summary(&counter, 1, &payload));
	put_payload(event, START_TIME, &payload);
	strbuf_deinit(&payload);
}

static void put_code(const struct event *event, size_t i)
{
	struct strbuf payload = STRBUF_INIT;
	struct kaa_code code = {
		.start = starts[i],
		.slots = codes[i].slots,
		.first_line = codes[i].lines[0],
		.filename = { codes[i].filename, strlen(codes[i].filename) },
		.qualname = { codes[i].qualname, strlen(codes[i].qualname) },
		.lines = codes[i].lines + 1,
	};
	uint32_t encoded;

	check(kaa_encode_code(&code, &payload, &encoded));
	put_payload(event, START_TIME, &payload);
	strbuf_deinit(&payload);
}

static void put_sample(const struct event *event, uint64_t i)
{
	const uint64_t chain[] = {
		(uint64_t)PERF_CONTEXT_USER,
		NATIVE + 0x1100,
		kaa_slot_address(starts[2], 1),
		kaa_slot_address(starts[1], 2),
		kaa_slot_address(starts[0], 1 + i % 2),
		KAA_MARKER_UNREADABLE,
		NATIVE + 0x1200,
	};
	struct record r = { .type = PERF_RECORD_SAMPLE,
			    .misc = PERF_RECORD_MISC_USER,
			    .event = event,
			    .pid = PID,
			    .tid = PID,
			    .time = START_TIME + 1000000 * (i + 1),
			    .id = event->ids.data[0] };

	r.sample = (struct record_sample){
		.ip = chain[1],
		.period = 1000000,
		.callchain = chain,
		.callchain_count = sizeof(chain) / sizeof(chain[0]),
	};
	check(perfdata_writer_put(writer, &r));
	if (i % 1024 == 1023) {
		check(perfdata_writer_finished_round(writer));
		check(perfdata_writer_checkpoint(writer));
	}
}

static void add_events(struct events *events)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.freq = 1,
		.sample_freq = 999,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			       PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN,
		.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
	};
	struct event *event;

	check(events_add(events, &attr, "task-clock", &event));
	check(events_add_id(events, event, 101));
	kaa_stream_attr(&attr);
	attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	check(events_add(events, &attr, KAA_EVENT_NAME, &event));
	check(events_add_id(events, event, 102));
}

static void put_start(void)
{
	const struct perfdata_id_index index[] = {
		{ .id = 101, .idx = 0, .cpu = 0, .tid = PID },
		{ .id = 102, .idx = 1, .cpu = 0, .tid = PID },
	};
	const uint32_t tids[] = { PID };
	const char *const comms[] = { "python3" };
	const uint16_t cpus[] = { 0, 1 };
	struct record comm = { .type = PERF_RECORD_COMM,
			       .pid = PID,
			       .tid = PID,
			       .time = START_TIME };

	comm.comm = (struct record_comm){
		.pid = PID, .tid = PID, .comm = "python3", .comm_len = 7,
		.is_exec = true,
	};
	check(perfdata_writer_id_index(writer, index, 2));
	check(perfdata_writer_event_names(writer));
	check(perfdata_writer_thread_map(writer, tids, comms, 1));
	check(perfdata_writer_cpu_map(writer, cpus, 2));
	check(perfdata_writer_put(writer, &comm));
}

int main(int argc, char **argv)
{
	bool with_build_id = argc < 4 || strcmp(argv[3], "no-build-id") != 0;
	uint64_t samples = argc > 4 ? strtoull(argv[4], NULL, 10) : 100;
	struct features features = {};
	struct events events = {};
	const struct perfdata_writer_options options = {
		.path = argc > 1 ? argv[1] : "-",
		.events = &events,
		.uid = -1,
		.gid = -1,
	};
	uint64_t next = KAA_FIRST_SPAN;
	char path[4096];

	if (argc < 3)
		return 2;
	for (size_t i = 0; i < CODES; i++) {
		starts[i] = next;
		next += KAA_SLOT_SIZE * (uint64_t)codes[i].slots;
	}
	write_image(argv[2]);
	add_events(&events);
	check(perfdata_writer_create(&options, &writer));
	put_kernel_mmap();
	put_start();
	put_mmap(NATIVE, 0x200000, native_path(path), false);
	put_mmap(KAA_BASE, KAA_RANGE_SIZE, argv[2], with_build_id);
	check(perfdata_writer_finished_init(writer));
	for (size_t i = 0; i < CODES; i++)
		put_code(events.list.data[1], i);
	put_summary(events.list.data[1]);
	for (uint64_t i = 0; i < samples; i++)
		put_sample(events.list.data[0], i);
	check(features_fill_host(&features, ""));
	check(features_set_string(&features, FEATURE_VERSION, "kaa 0.1.0"));
	for (int i = 0; i < argc; i++)
		check(features_add_cmdline(&features, argv[i]));
	features.first_sample_time = START_TIME;
	features.last_sample_time = START_TIME + 1000000 * samples;
	features_mark(&features, FEATURE_SAMPLE_TIME);
	check(perfdata_writer_finish(writer, &features));
	perfdata_writer_destroy(writer);
	features_deinit(&features);
	events_deinit(&events);
	return 0;
}
