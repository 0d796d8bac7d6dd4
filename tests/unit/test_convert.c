// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf.data to samples and to the model. The files are written here; this
 * program stands for the interpreter, so that its functions have real names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "convert/convert.h"
#include "convert/thread_table.h"
#include "convert/fold.h"
#include "convert/frame_names.h"
#include "convert/interpreter_frames.h"
#include "convert/live.h"
#include "convert/named_tasks.h"
#include "convert/python_code.h"
#include "convert/sample_filter.h"
#include "perfdata/kaa_stream.h"
#include "perfdata/writer.h"
#include "profile/own_time.h"
#include "profile/profile_window.h"
#include "profile/sample_faults.h"
#include "profile/spent.h"

enum { PID = 4242, SAMPLE_ID = 101, STREAM_ID = 102 };

#define START 1000000000u
#define SPAN (KAA_FIRST_SPAN)
#define JIT 0x7f0000001000u

/* --- Functions of the "interpreter" ------------------------------------- */

#define FUNCTION(name)                                       \
	void name(void);                                     \
	__attribute__((noinline, used)) void name(void)      \
	{                                                    \
		__asm__ volatile("nop;nop;nop;nop;nop;nop"); \
	}
FUNCTION(_PyEval_EvalFrameDefault)
FUNCTION(_PyFunction_Vectorcall)
FUNCTION(list_sort)
FUNCTION(long_add)
FUNCTION(pymain_run_python)
FUNCTION(pythread_wrapper)
FUNCTION(start_thread)

static uint64_t at(void (*function)(void))
{
	return (uint64_t)(uintptr_t)function + 4;
}

/* --- Writing ------------------------------------------------------------ */

static char path[] = "/tmp/test-convert-XXXXXX";
static char self[4096];
static struct events events;
static struct perfdata_writer *writer;
static uint64_t now;

static void ok(struct error *error)
{
	struct strbuf text = STRBUF_INIT;

	if (!error)
		return;
	error_format(error, &text);
	fail_msg("%s", text.data);
}

static struct event *event_of(int id)
{
	return events_find(&events, (uint64_t)id);
}

static void add_events(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1000,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			       PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN,
		.sample_id_all = 1,
	};
	struct event *event;

	ok(events_add(&events, &attr, "task-clock", &event));
	ok(events_add_id(&events, event, SAMPLE_ID));
	kaa_stream_attr(&attr);
	ok(events_add(&events, &attr, KAA_EVENT_NAME, &event));
	ok(events_add_id(&events, event, STREAM_ID));
}

static struct record new_record(uint32_t type)
{
	return (struct record){ .type = type,
				.misc = PERF_RECORD_MISC_USER,
				.event = event_of(SAMPLE_ID),
				.pid = PID,
				.tid = PID,
				.time = now++,
				.id = SAMPLE_ID };
}

static void put_comm(uint32_t pid, const char *comm, bool exec)
{
	struct record r = new_record(PERF_RECORD_COMM);

	r.comm = (struct record_comm){ .pid = pid,
				       .tid = pid,
				       .comm = comm,
				       .comm_len = (uint32_t)strlen(comm),
				       .is_exec = exec };
	ok(perfdata_writer_put(writer, &r));
}

static void put_map(uint64_t start, uint64_t len, uint64_t pgoff,
		    const char *name)
{
	struct record r = new_record(PERF_RECORD_MMAP2);

	r.mmap = (struct record_mmap){ .pid = PID,
				       .tid = PID,
				       .start = start,
				       .len = len,
				       .pgoff = pgoff,
				       .prot = PROT_READ | PROT_EXEC,
				       .flags = MAP_PRIVATE,
				       .filename = name,
				       .filename_len = (uint32_t)strlen(name) };
	ok(perfdata_writer_put(writer, &r));
}

/* This program's own code, where it is. */
static void put_self(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset;
	char line[4096], perms[5];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s %lx", &start, &end, perms,
			   &offset) == 4 &&
		    perms[2] == 'x' && strstr(line, self))
			put_map(start, end - start, offset, self);
	}
	fclose(maps);
}

static void put_stream(struct strbuf *payload)
{
	struct record r = new_record(PERF_RECORD_SAMPLE);

	r.event = event_of(STREAM_ID);
	r.id = STREAM_ID;
	r.sample = (struct record_sample){ .period = 1,
					   .raw = (uint8_t *)payload->data,
					   .raw_size = (uint32_t)payload->len };
	ok(perfdata_writer_put(writer, &r));
	strbuf_deinit(payload);
}

static struct kaa_string text(const char *s)
{
	return (struct kaa_string){ s, strlen(s) };
}

static void put_code(uint64_t start, const char *name, uint32_t first,
		     const uint32_t *lines, uint32_t slots)
{
	struct strbuf payload = STRBUF_INIT;
	struct kaa_code code = { .start = start,
				 .slots = slots,
				 .first_line = first,
				 .filename = text("/x.py"),
				 .qualname = text(name),
				 .lines = lines };
	uint32_t encoded;

	ok(kaa_encode_code(&code, &payload, &encoded));
	assert_int_equal(encoded, slots);
	put_stream(&payload);
}

static void put_symbol(uint64_t start, uint64_t from, uint64_t to,
		       const char *name)
{
	struct strbuf payload = STRBUF_INIT;
	struct kaa_symbol symbol = { .pid = PID,
				     .kind = KAA_SYMBOL_PERF_MAP,
				     .start = start,
				     .size = 0x100,
				     .valid_from = from,
				     .valid_to = to,
				     .dso = text("/tmp/perf-4242.map"),
				     .name = text(name) };

	ok(kaa_encode_symbol(&symbol, &payload));
	put_stream(&payload);
}

static void put_python(void)
{
	struct strbuf payload = STRBUF_INIT;
	struct kaa_python python = { .pid = PID,
				     .version = 0x030c01f0,
				     .path = text(self),
				     .script = text("app.py") };

	ok(kaa_encode_python(&python, &payload));
	put_stream(&payload);
}

static void put_chain(uint32_t pid, const uint64_t *chain, size_t count)
{
	struct record r = new_record(PERF_RECORD_SAMPLE);

	r.pid = r.tid = pid;
	r.cpu = 1;
	r.sample = (struct record_sample){ .ip = count > 1 ? chain[1] : 0,
					   .period = 1000,
					   .callchain = chain,
					   .callchain_count = count };
	ok(perfdata_writer_put(writer, &r));
}

#define USER ((uint64_t)PERF_CONTEXT_USER)
#define PUT_CHAIN(...)                                                      \
	put_chain(PID, (const uint64_t[]){ __VA_ARGS__ },                   \
		  sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static const uint32_t lines[] = { 12, 15 };

static int begin(void **state)
{
	struct perfdata_writer_options options = { .path = path,
						   .uid = -1,
						   .gid = -1,
						   .events = &events };

	(void)state;
	strcpy(path, "/tmp/test-convert-XXXXXX");
	close(mkstemp(path));
	now = START;
	add_events();
	ok(perfdata_writer_create(&options, &writer));
	put_comm(PID, "python3", true);
	put_self();
	put_python();
	put_code(SPAN, "outer", 10, lines, 3);
	put_code(SPAN + 6, "inner", 20, lines, 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	perfdata_writer_destroy(writer);
	writer = NULL;
	events_deinit(&events);
	events = (struct events){};
	unlink(path);
	return 0;
}

/* --- Reading ------------------------------------------------------------ */

struct seen {
	/* Stacks as text, a line each: "name[!][@line] < ...", ! folded. */
	struct strbuf text;
	uint64_t samples;
	uint16_t flags;
	const char *comm;
};

static const char *kind_letter(const struct convert_step *step)
{
	static const char *const letters[] = { "", "k:", "", "m:" };

	return letters[step->kind];
}

static struct error *on_sample(const struct convert_sample *sample, void *arg)
{
	struct seen *seen = arg;

	for (uint32_t i = 0; i < sample->stack->count; i++) {
		const struct convert_step *step = &sample->stack->steps[i];
		const struct convert_frame *f = step->frame;

		strbuf_printf(&seen->text, "%s%s%s%s", i ? " < " : "",
			      kind_letter(step), f->name ? f->name : "?",
			      step->flags & PROFILE_FRAME_INTERPRETER ? "!" : "");
		if (f->line)
			strbuf_printf(&seen->text, "@%u", f->line);
	}
	strbuf_putc(&seen->text, '\n');
	seen->samples++;
	seen->flags |= sample->flags;
	seen->comm = sample->comm;
	return NULL;
}

static struct convert_stats convert(const struct convert_options *options,
				    struct seen *seen)
{
	static const struct features features;
	static const struct convert_options defaults;
	struct converter *converter;
	struct convert_stats stats;

	if (writer) {
		ok(perfdata_writer_finish(writer, &features));
		perfdata_writer_destroy(writer);
		writer = NULL;
	}
	ok(converter_open(path, options ? options : &defaults, &converter));
	ok(converter_run(converter, on_sample, seen));
	stats = converter_stats(converter);
	assert_int_equal(stats.samples, seen->samples);
	converter_destroy(converter);
	return stats;
}

static struct convert_stats expect(const char *wanted)
{
	struct seen seen = { .text = STRBUF_INIT };
	struct convert_stats stats = convert(NULL, &seen);

	assert_string_equal(seen.text.data, wanted);
	strbuf_deinit(&seen.text);
	return stats;
}

/* --- Tests -------------------------------------------------------------- */

static void test_python_frames_have_names_and_lines(void **state)
{
	(void)state;
	PUT_CHAIN(USER, kaa_slot_address(SPAN + 6, 0),
		  kaa_slot_address(SPAN, 1), kaa_slot_address(SPAN, 2),
		  kaa_slot_address(SPAN, 0));
	expect("py::inner:/x.py@20 < py::outer:/x.py@12 < "
	       "py::outer:/x.py@15 < py::outer:/x.py@10\n");
}

static void test_interpreter_frames_are_folded(void **state)
{
	(void)state;
	PUT_CHAIN(USER, at(long_add), at(_PyEval_EvalFrameDefault),
		  kaa_slot_address(SPAN + 6, 0), at(_PyFunction_Vectorcall),
		  at(list_sort), at(_PyFunction_Vectorcall),
		  at(_PyEval_EvalFrameDefault), kaa_slot_address(SPAN, 1),
		  at(pymain_run_python), at(list_sort));
	expect("long_add < _PyEval_EvalFrameDefault! < py::inner:/x.py@20 < "
	       "_PyFunction_Vectorcall! < list_sort < "
	       "_PyFunction_Vectorcall! < _PyEval_EvalFrameDefault! < "
	       "py::outer:/x.py@12 < pymain_run_python! < list_sort\n");
}

/* If nothing but the interpreter is between it and the first Python function. */
static void test_the_start_is_folded(void **state)
{
	(void)state;
	PUT_CHAIN(USER, at(long_add), at(_PyEval_EvalFrameDefault),
		  kaa_slot_address(SPAN, 1), at(pymain_run_python),
		  at(pythread_wrapper), at(start_thread));
	PUT_CHAIN(USER, at(long_add), at(_PyEval_EvalFrameDefault),
		  kaa_slot_address(SPAN, 1), at(list_sort),
		  at(start_thread));
	PUT_CHAIN(USER, at(long_add), at(pythread_wrapper), at(start_thread));
	expect("long_add < _PyEval_EvalFrameDefault! < py::outer:/x.py@12 < "
	       "pymain_run_python! < pythread_wrapper! < start_thread!\n"
	       "long_add < _PyEval_EvalFrameDefault! < py::outer:/x.py@12 < "
	       "list_sort < start_thread\n"
	       "long_add < pythread_wrapper < start_thread\n");
	assert_true(interpreter_frame_starts("main", "/usr/bin/python3", true));
	assert_false(interpreter_frame_starts("main", "/usr/bin/app", false));
	assert_true(interpreter_frame_starts("_start", "/usr/bin/app", false));
	assert_true(interpreter_frame_starts("__GI___clone3", "/lib/libc.so.6", false));
	assert_true(interpreter_frame_starts(NULL, "/lib/libc.so.6", false));
	assert_false(interpreter_frame_starts(NULL, "/lib/libcrypt.so", false));
}

static void test_a_native_stack_keeps_the_interpreter(void **state)
{
	(void)state;
	PUT_CHAIN(USER, at(long_add), at(_PyEval_EvalFrameDefault),
		  at(pymain_run_python));
	expect("long_add < _PyEval_EvalFrameDefault < pymain_run_python\n");
}

static void test_markers_are_frames_and_flags(void **state)
{
	struct seen seen = { .text = STRBUF_INIT };
	struct convert_stats stats;

	(void)state;
	PUT_CHAIN(USER, at(long_add), KAA_MARKER_TRUNCATED);
	PUT_CHAIN(USER, at(long_add), kaa_slot_address(SPAN, 0),
		  KAA_MARKER_UNREADABLE);
	PUT_CHAIN(USER, at(long_add), KAA_MARKER_NOT_ALIGNED,
		  kaa_slot_address(SPAN, 0));
	stats = convert(NULL, &seen);
	assert_non_null(strstr(seen.text.data, "m:[truncated stack]\n"));
	assert_non_null(strstr(seen.text.data,
			       "m:[unreadable Python frames]\n"));
	assert_non_null(strstr(seen.text.data,
			       "m:[Python stack not aligned] < py::outer"));
	assert_int_equal(stats.truncated, 1);
	assert_int_equal(stats.unreadable, 1);
	assert_int_equal(stats.not_aligned, 1);
	assert_int_equal(seen.flags & 7, 7);
	strbuf_deinit(&seen.text);
}

/* The names are written after the samples; the address is used twice. */
static void test_symbols_hold_for_their_time(void **state)
{
	uint64_t change;

	(void)state;
	put_map(JIT, 0x1000, 0, "//anon");
	PUT_CHAIN(USER, JIT + 0x10);
	PUT_CHAIN(USER, JIT + 0x10);
	change = now;
	PUT_CHAIN(USER, JIT + 0x10);
	put_symbol(JIT, 0, change, "first");
	put_symbol(JIT, change, UINT64_MAX, "second");
	expect("first\nfirst\nsecond\n");
}

/* Nothing ends the first name but the second one. */
static void test_symbols_begin(void **state)
{
	uint64_t first, second;

	(void)state;
	put_map(JIT, 0x1000, 0, "//anon");
	PUT_CHAIN(USER, JIT + 0x10);
	first = now;
	PUT_CHAIN(USER, JIT + 0x10);
	PUT_CHAIN(USER, JIT + 0x10);
	second = now;
	PUT_CHAIN(USER, JIT + 0x10);
	PUT_CHAIN(USER, JIT + 0x210);
	put_symbol(JIT, first, UINT64_MAX, "first");
	put_symbol(JIT, second, UINT64_MAX, "second");
	expect("?\nfirst\nfirst\nsecond\n?\n");
}

/* As above, but who reads a pipe knows only what stands before the sample. */
static void test_symbols_begin_in_a_pipe(void **state)
{
	struct perfdata_writer_options options = { .path = "-",
						   .events = &events };
	int output = dup(STDOUT_FILENO), file = open(path, O_WRONLY | O_TRUNC);

	(void)state;
	perfdata_writer_destroy(writer);
	fflush(stdout);
	assert_int_equal(dup2(file, STDOUT_FILENO), STDOUT_FILENO);
	ok(perfdata_writer_create(&options, &writer));
	put_map(JIT, 0x1000, 0, "//anon");
	PUT_CHAIN(USER, JIT + 0x10);
	put_symbol(JIT, now, UINT64_MAX, "first");
	PUT_CHAIN(USER, JIT + 0x10);
	PUT_CHAIN(USER, JIT + 0x10);
	put_symbol(JIT, now, UINT64_MAX, "second");
	PUT_CHAIN(USER, JIT + 0x10);
	ok(perfdata_writer_finish(writer, &(struct features){}));
	perfdata_writer_destroy(writer);
	writer = NULL;
	assert_int_equal(dup2(output, STDOUT_FILENO), STDOUT_FILENO);
	close(output);
	close(file);
	expect("?\nfirst\nfirst\nsecond\n");
}

static void test_trampolines_are_python_frames(void **state)
{
	(void)state;
	put_map(JIT, 0x1000, 0, "//anon");
	PUT_CHAIN(USER, at(long_add), at(_PyEval_EvalFrameDefault),
		  JIT + 0x10);
	put_symbol(JIT, 0, UINT64_MAX, "py::foo:/y.py");
	expect("long_add < _PyEval_EvalFrameDefault! < py::foo:/y.py\n");
}

static void test_walked_frames_fold_trampolines(void **state)
{
	(void)state;
	put_map(JIT, 0x1000, 0, "//anon");
	PUT_CHAIN(USER, at(long_add), at(_PyEval_EvalFrameDefault),
		  kaa_slot_address(SPAN, 1), JIT + 0x10,
		  at(_PyFunction_Vectorcall), at(list_sort));
	put_symbol(JIT, 0, UINT64_MAX, "py::outer:/x.py");
	expect("long_add < _PyEval_EvalFrameDefault! < py::outer:/x.py@12 < "
	       "py::outer:/x.py! < _PyFunction_Vectorcall! < list_sort\n");
}

static void test_junk_ends_the_stack(void **state)
{
	struct convert_options followed = {
		.quirks.chains_beyond_start = true
	};
	struct seen seen = { .text = STRBUF_INIT };

	(void)state;
	PUT_CHAIN(USER, at(long_add), at(list_sort), 0x4e45504f00772f76, 8);
	PUT_CHAIN(USER, 0x1234, 8);
	expect("long_add < list_sort\n? < ?\n");
	convert(&followed, &seen);
	assert_string_equal(seen.text.data,
			    "long_add < list_sort < ? < ?\n? < ?\n");
	strbuf_deinit(&seen.text);
}

static void test_unknown_contexts_end_the_chain(void **state)
{
	struct convert_stats stats;

	(void)state;
	PUT_CHAIN(USER, at(long_add), (uint64_t)-4000, at(list_sort));
	stats = expect("long_add\n");
	assert_int_equal(stats.broken_chains, 1);
}

static void test_like_perf_a_damaged_chain_is_its_leaf(void **state)
{
	struct convert_options dropped = {
		.quirks.damaged_chains_dropped = true
	};
	struct seen seen = { .text = STRBUF_INIT };

	(void)state;
	PUT_CHAIN(USER, at(long_add), at(list_sort), (uint64_t)-4000);
	convert(&dropped, &seen);
	assert_string_equal(seen.text.data, "long_add\n");
	strbuf_deinit(&seen.text);
}

static void test_damaged_stream_is_counted(void **state)
{
	static const uint32_t more[] = { 1, 2, 3, 4 };
	struct strbuf payload = STRBUF_INIT;
	struct convert_stats stats;

	(void)state;
	put_code(SPAN + 2, "overlaps", 1, more, 5);
	strbuf_puts(&payload, "no payload");
	put_stream(&payload);
	PUT_CHAIN(USER, kaa_slot_address(SPAN, 1));
	stats = expect("py::outer:/x.py@12\n");
	assert_int_equal(stats.broken_stream, 2);
}

static void test_filters(void **state)
{
	static const int64_t pids[] = { PID + 1 }, cpus[] = { 1 }, none[] = { 7 };
	static const char *const comms[] = { "other" };
	const uint64_t chain[] = { USER, at(long_add) };
	const struct convert_time late = { .from = now + 2 };
	const struct convert_time early = { .to = now + 1 };
	const struct convert_time both[] = { early, late };
	const struct {
		struct convert_options options;
		uint64_t samples;
	} cases[] = {
		{ {}, 2 },
		{ { .times = { both, 2 } }, 2 },
		{ { .pids = { pids, 1 } }, 1 },
		{ { .tids = { none, 1 } }, 0 },
		{ { .cpus = { cpus, 1 } }, 2 },
		{ { .cpus = { none, 1 } }, 0 },
		{ { .comms = { comms, 1 } }, 1 },
		{ { .times = { &late, 1 } }, 1 },
		{ { .times = { &early, 1 } }, 1 },
	};

	(void)state;
	put_comm(PID + 1, "other", false);
	put_chain(PID, chain, 2);
	put_chain(PID + 1, chain, 2);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct seen seen = { .text = STRBUF_INIT };
		struct convert_stats stats =
			convert(&cases[i].options, &seen);

		assert_int_equal(seen.samples, cases[i].samples);
		assert_int_equal(stats.filtered, 2 - cases[i].samples);
		strbuf_deinit(&seen.text);
	}
}

static void test_max_stack(void **state)
{
	struct convert_options options = { .max_stack = 2 };
	struct seen seen = { .text = STRBUF_INIT };

	(void)state;
	PUT_CHAIN(USER, at(long_add), at(list_sort), at(pymain_run_python));
	convert(&options, &seen);
	assert_string_equal(seen.text.data, "long_add < list_sort\n");
	strbuf_deinit(&seen.text);
}

/* A return address at the very end of a function belongs to that function. */
static void test_callers_are_named_by_their_call(void **state)
{
	uint64_t next = (uint64_t)(uintptr_t)list_sort;
	struct seen seen = { .text = STRBUF_INIT };
	struct convert_options as_they_are = {
		.quirks.return_addresses = true
	};

	(void)state;
	PUT_CHAIN(USER, at(long_add), next);
	convert(&as_they_are, &seen);
	assert_string_equal(seen.text.data, "long_add < list_sort\n");
	strbuf_clear(&seen.text);
	seen.samples = 0;
	convert(NULL, &seen);
	assert_null(strstr(seen.text.data, "list_sort"));
	strbuf_deinit(&seen.text);
}

static void put_ksymbol(uint64_t address, uint32_t size, const char *name)
{
	struct record r = new_record(PERF_RECORD_KSYMBOL);

	r.ksymbol = (struct record_ksymbol){ .addr = address,
					     .len = size,
					     .name = name,
					     .name_len =
						     (uint32_t)strlen(name) };
	ok(perfdata_writer_put(writer, &r));
}

/* The thunk of an indirect call returns to where it calls. */
static void test_kernel_functions_that_are_about_to_be_called(void **state)
{
	const uint64_t code = 0xfffffffff1000000;
	struct seen seen = { .text = STRBUF_INIT };

	(void)state;
	put_ksymbol(code, 0x40, "__x86_indirect_thunk_rax");
	put_ksymbol(code + 0x40, 0x10, "__pfx_rotate");
	put_ksymbol(code + 0x50, 0x40, "rotate");
	put_ksymbol(code + 0x90, 0x10, "__pfx_insert");
	put_ksymbol(code + 0xa0, 0x40, "insert");
	/* That one has gone since. */
	put_ksymbol(code + 0xf0, 0x40, "bpf_prog_0000000000abcdef_linger");
	put_ksymbol(code + 0x100, 0x40, "bpf_prog_1234567890abcdef_hurry");
	/* insert() ends with a call. */
	PUT_CHAIN((uint64_t)PERF_CONTEXT_KERNEL, code + 8, code + 0x50,
		  code + 0xe0);
	PUT_CHAIN((uint64_t)PERF_CONTEXT_KERNEL, code + 8, code + 0x100,
		  code + 0xa8);
	convert(NULL, &seen);
	assert_string_equal(seen.text.data,
			    "k:__x86_indirect_thunk_rax < k:rotate < "
			    "k:insert\n"
			    "k:__x86_indirect_thunk_rax < "
			    "k:bpf_prog_1234567890abcdef_hurry < k:insert\n");
	strbuf_deinit(&seen.text);
}

/* What the reader, the converter and the recorder say, and the samples. */
/* The faults of what was written, as far as it lies in the file. */
static void check_end(enum fault_kind kind)
{
	static const enum fault_kind kinds[] = { FAULT_UNFINISHED, FAULT_ENDED_EARLY };
	_cleanup_faults_ struct faults faults = {};
	struct seen seen = { .text = STRBUF_INIT };
	struct converter *converter;

	ok(converter_open(path, &(struct convert_options){}, &converter));
	ok(converter_run(converter, on_sample, &seen));
	ok(converter_faults(converter, &faults));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		assert_int_equal(faults_count(&faults, kinds[i]), kinds[i] == kind);
	assert_int_equal(faults_lack_end(&faults), kind != FAULT_KINDS);
	converter_destroy(converter);
	strbuf_deinit(&seen.text);
}

/* A full disk had room for the features, which kaa wrote last, and for no summary. */
static void test_a_recording_that_ended_early(void **state)
{
	static const struct features features;
	struct strbuf summary = STRBUF_INIT;

	(void)state;
	ok(perfdata_writer_event_names(writer));
	ok(perfdata_writer_finished_init(writer));
	PUT_CHAIN(USER, at(long_add));
	ok(perfdata_writer_checkpoint(writer));
	check_end(FAULT_UNFINISHED);
	ok(perfdata_writer_finish(writer, &features));
	check_end(FAULT_ENDED_EARLY);
	end(state);
	begin(state);
	ok(perfdata_writer_finished_init(writer));
	/* A recorder that has nothing to count says that. */
	ok(kaa_encode_summary(&(struct kaa_counter){ text("lost"), 0 }, 1, &summary));
	put_stream(&summary);
	ok(perfdata_writer_finish(writer, &features));
	check_end(FAULT_KINDS);
	end(state);
	begin(state);
	/* No recorder wrote this one. */
	ok(perfdata_writer_finish(writer, &features));
	check_end(FAULT_KINDS);
}

/* That its data is packed is said in the file from the beginning. */
static void test_a_packed_recording_that_goes_on(void **state)
{
	const struct perfdata_writer_options options = { .path = path, .uid = -1, .gid = -1,
							 .events = &events, .compression = 1 };

	(void)state;
	perfdata_writer_destroy(writer);
	unlink(path);
	ok(perfdata_writer_create(&options, &writer));
	ok(perfdata_writer_event_names(writer));
	ok(perfdata_writer_finished_init(writer));
	ok(perfdata_writer_checkpoint(writer));
	check_end(FAULT_UNFINISHED);
}

static void test_the_model_has_all_faults(void **state)
{
	const struct kaa_counter counters[] = { { text("rings full"), 3 },
						{ text(FAULT_COUNTER_TASKS), 7 },
						{ text(FAULT_COUNTER_UNFOLLOWED), 6 },
						{ text(FAULT_COUNTER_CODES), 8 },
						{ text(FAULT_COUNTER_NO_LINES), 9 },
						{ text(FAULT_COUNTER_MADE), 10 },
						{ text("nothing"), 0 } };
	const struct convert_options options = {};
	static const struct features features;
	_cleanup_faults_ struct faults faults = {};
	struct strbuf summary = STRBUF_INIT, junk = STRBUF_INIT;
	struct profile *profile;
	uint64_t samples;

	(void)state;
	PUT_CHAIN(USER, at(long_add), KAA_MARKER_TRUNCATED);
	PUT_CHAIN(USER, at(long_add), (uint64_t)-4000);
	PUT_CHAIN(USER, 0x1234);
	strbuf_puts(&junk, "no payload");
	put_stream(&junk);
	ok(kaa_encode_summary(counters, 7, &summary));
	put_stream(&summary);
	ok(perfdata_writer_finish(writer, &features));
	ok(convert_profile(path, &options, NULL, &profile));
	ok(sample_faults(profile, PROFILE_NONE, &samples, &faults));
	assert_int_equal(samples, 3);
	assert_int_equal(faults_count(&faults, FAULT_BROKEN_STREAM), 1);
	assert_int_equal(faults_count(&faults, FAULT_BROKEN_CHAINS), 1);
	assert_int_equal(faults_count(&faults, FAULT_OF_RECORDER), 3);
	assert_int_equal(faults_count(&faults, FAULT_LOST_TASKS), 7);
	assert_int_equal(faults_count(&faults, FAULT_UNFOLLOWED), 6);
	assert_int_equal(faults_count(&faults, FAULT_LEFT_OUT_CODES), 8);
	assert_int_equal(faults_count(&faults, FAULT_CODES_WITHOUT_LINES), 9);
	assert_int_equal(faults_count(&faults, FAULT_LEFT_OUT_MADE), 10);
	assert_int_equal(faults_count(&faults, FAULT_TRUNCATED_STACKS), 1);
	assert_int_equal(faults_count(&faults, FAULT_NO_SYMBOL), 1);
	vec_for_each(fault, &faults.list)
		if (fault->kind == FAULT_OF_RECORDER)
			assert_string_equal(fault->subject, "rings full");
	profile_destroy(profile);
}

/* One record of the stream with that path. */
static void add_path(struct names *names, uint16_t type, const char *name)
{
	struct kaa_payload payload = { .type = type };

	if (type == KAA_PYTHON)
		payload.python.path = payload.python.script = text(name);
	else
		payload.source.path = text(name);
	ok(names_add_payload(names, &payload));
}

/* Only as many as a recording has; what is there already takes no memory. */
static void test_pythons_and_sources_are_bounded(void **state)
{
	const struct convert_options options = {};
	struct names names = {};
	char name[32];
	size_t used;

	(void)state;
	ok(names_init(&names, &options, NULL, NULL));
	add_path(&names, KAA_PYTHON, "/python");
	used = names.arena.used;
	add_path(&names, KAA_PYTHON, "/python");
	assert_int_equal(names.arena.used, used);
	assert_int_equal(names.pythons.count, 1);
	for (int i = 0; i < NAMES_PYTHONS_MAX + 10; i++) {
		snprintf(name, sizeof(name), "/python%d", i);
		add_path(&names, KAA_PYTHON, name);
		add_path(&names, KAA_SOURCE, name);
	}
	assert_int_equal(names.pythons.count, NAMES_PYTHONS_MAX);
	assert_string_equal(names.pythons.data[1].path, "/python0");
	assert_int_equal(names.scripts.count, NAMES_PYTHONS_MAX);
	assert_string_equal(names.scripts.data[1].script, "/python0");
	assert_int_equal(names.sources.count, NAMES_SOURCES_MAX);
	used = names.arena.used;
	add_path(&names, KAA_PYTHON, "/another");
	add_path(&names, KAA_SOURCE, "/another");
	assert_int_equal(names.arena.used, used);
	names_deinit(&names);
}

/* What the file says of itself; the Python is this program. */
static void check_metadata(const struct profile *profile)
{
	const struct metadata *m = &profile->recordings.data[0].metadata;

	assert_int_equal(profile->recordings.count, 1);
	assert_string_equal(m->hostname, "box");
	assert_string_equal(m->arch, "x86_64");
	assert_null(m->cpu);
	assert_int_equal(m->command.count, 2);
	assert_string_equal(m->command.data[1], "record");
	assert_true(m->recorded > 0);
	assert_true(m->has_python_frames);
	assert_int_equal(m->pythons.count, 1);
	assert_string_equal(m->pythons.data[0].path, self);
	assert_int_equal(m->pythons.data[0].version, 0x030c01f0);
	assert_int_equal(m->scripts.count, 1);
	assert_int_equal(m->scripts.data[0].pid, PID);
	assert_string_equal(m->scripts.data[0].script, "app.py");
}

static void test_model_is_shared_and_complete(void **state)
{
	struct convert_options options = {};
	struct profile_options aggregate = { .aggregate = true };
	struct features features = {};
	struct profile *profile;
	uint32_t stack, depth = 0;

	(void)state;
	for (int i = 0; i < 5; i++)
		PUT_CHAIN(USER, at(long_add), at(_PyEval_EvalFrameDefault),
			  kaa_slot_address(SPAN, 1 + i % 2));
	ok(features_set_string(&features, FEATURE_HOSTNAME, "box"));
	ok(features_set_string(&features, FEATURE_ARCH, "x86_64"));
	ok(features_add_cmdline(&features, "kaa"));
	ok(features_add_cmdline(&features, "record"));
	ok(perfdata_writer_finish(writer, &features));
	features_deinit(&features);
	ok(convert_profile(path, &options, &aggregate, &profile));
	/* The stream is no event of the model. */
	assert_int_equal(profile->events.count, 1);
	assert_int_equal(profile->events.data[0].samples, 5);
	check_metadata(profile);
	assert_int_equal(profile->events.data[0].period, 5000);
	assert_int_equal(profile->events.data[0].kind, EVENT_ON_CPU);
	assert_int_equal(profile->events.data[0].unit, EVENT_NANOSECONDS);
	/* Two lines, two stacks. */
	assert_int_equal(profile->samples.rows, 2);
	assert_int_equal(profile->samples.count[0], 3);
	assert_int_equal(profile->samples.count[1], 2);
	for (stack = profile->samples.stack[1]; stack != PROFILE_NONE;
	     stack = profile->stack_parents.data[stack])
		depth++;
	assert_int_equal(depth, 3);
	profile_destroy(profile);
}

/* --- Several recordings ------------------------------------------------- */

static void finish(const char *hostname)
{
	struct features features = {};

	ok(features_set_string(&features, FEATURE_HOSTNAME, hostname));
	ok(perfdata_writer_finish(writer, &features));
	features_deinit(&features);
}

/* The thread of the second is renamed at last; the first has a fault. */
static void write_two(void **state, char *first)
{
	const struct kaa_counter counter = { text("rings full"), 3 };
	struct strbuf summary = STRBUF_INIT;

	for (int i = 0; i < 3; i++)
		PUT_CHAIN(USER, at(long_add), at(list_sort));
	ok(kaa_encode_summary(&counter, 1, &summary));
	put_stream(&summary);
	finish("first");
	sprintf(first, "%s.first", path);
	assert_int_equal(rename(path, first), 0);
	end(state);
	begin(state);
	PUT_CHAIN(USER, at(long_add), at(list_sort));
	PUT_CHAIN(USER, at(pymain_run_python), at(list_sort));
	put_comm(PID, "later", false);
	finish("second");
}

static void add_file(struct profile *profile, const char *file)
{
	static const struct convert_options options;
	struct converter *converter;

	ok(converter_open(file, &options, &converter));
	ok(convert_add_to_profile(converter, profile));
	converter_destroy(converter);
}

static void check_recording(const struct profile *profile, uint32_t i,
			    const char *hostname, uint64_t samples,
			    const char *last_comm)
{
	const struct profile_event *event = &profile->events.data[i];
	const struct profile_recording *recording =
		&profile->recordings.data[i];
	uint64_t count = 0;

	assert_string_equal(recording->metadata.hostname, hostname);
	assert_string_equal(profile_string(profile, event->name, ""),
			    "task-clock");
	assert_int_equal(event->recording, i);
	assert_int_equal(event->leader, i);
	assert_int_equal(event->samples, samples);
	assert_int_equal(event->period, samples * 1000);
	for (size_t row = 0; row < profile->samples.rows; row++) {
		uint32_t task = profile->samples.task[row];

		if (profile->samples.event[row] != i)
			continue;
		count += profile->samples.count[row];
		assert_int_equal(profile_task(profile, task)->recording, i);
		assert_string_equal(
			profile_string(profile,
				       profile->last_comms.data[task], ""),
			last_comm);
	}
	assert_int_equal(count, samples);
}

static void check_two(const struct profile *profile)
{
	const struct profile_samples *s = &profile->samples;

	assert_int_equal(profile->recordings.count, 2);
	assert_int_equal(profile->events.count, 2);
	check_recording(profile, 0, "first", 3, "python3");
	check_recording(profile, 1, "second", 2, "later");
	assert_int_equal(faults_count(&profile->recordings.data[0].faults,
				      FAULT_OF_RECORDER), 3);
	assert_int_equal(faults_count(&profile->recordings.data[1].faults,
				      FAULT_OF_RECORDER), 0);
	/* A stack that both have is one. */
	assert_int_equal(s->event[s->rows - 2], 1);
	assert_int_equal(s->stack[s->rows - 2], s->stack[0]);
	assert_int_not_equal(s->stack[s->rows - 1], s->stack[0]);
	assert_int_equal(profile->stack_parents.data[s->stack[s->rows - 1]],
			 profile->stack_parents.data[s->stack[0]]);
}

static void test_two_recordings_in_one_profile(void **state)
{
	const struct profile_options options[] = { {}, { .aggregate = true,
							 .keep_cpu = true } };
	char first[sizeof(path) + 8];

	write_two(state, first);
	for (size_t i = 0; i < 2; i++) {
		struct profile *profile;

		ok(profile_create(&options[i], &profile));
		add_file(profile, first);
		add_file(profile, path);
		assert_int_equal(profile->samples.rows, i ? 3 : 5);
		check_two(profile);
		profile_destroy(profile);
	}
	unlink(first);
}

/* --- Read while it is made ---------------------------------------------- */

enum { LIVE_SAMPLES = 400, LIVE_STEP = 40000000, LIVE_ROWS_MAX = 50 };

/* Stacks of two functions, lines and leafs, in an order that chance makes. */
static void put_live_samples(int count)
{
	for (int i = 0; i < count; i++) {
		uint64_t leaf = at(rand() % 3 ? long_add : list_sort);
		uint64_t line = kaa_slot_address(
			SPAN, 1 + (unsigned int)rand() % 2);
		uint64_t inner = kaa_slot_address(SPAN + 6, 0);

		now += LIVE_STEP;
		if (rand() % 4)
			PUT_CHAIN(USER, leaf, at(_PyEval_EvalFrameDefault),
				  line);
		else
			PUT_CHAIN(USER, leaf, at(_PyEval_EvalFrameDefault),
				  inner, line);
	}
}

static void write_pipe_to_file(int count)
{
	struct perfdata_writer_options options = { .path = "-",
						   .events = &events };
	int output = dup(STDOUT_FILENO), file = open(path, O_WRONLY | O_TRUNC);

	perfdata_writer_destroy(writer);
	fflush(stdout);
	assert_int_equal(dup2(file, STDOUT_FILENO), STDOUT_FILENO);
	ok(perfdata_writer_create(&options, &writer));
	put_comm(PID, "python3", true);
	put_self();
	put_python();
	put_code(SPAN, "outer", 10, lines, 3);
	put_code(SPAN + 6, "inner", 20, lines, 1);
	put_live_samples(count);
	ok(perfdata_writer_finish(writer, &(struct features){}));
	perfdata_writer_destroy(writer);
	writer = NULL;
	assert_int_equal(dup2(output, STDOUT_FILENO), STDOUT_FILENO);
	close(output);
	close(file);
}

static struct live *start_live(const struct convert_options *options, int fd,
			       size_t rows_max)
{
	const struct live_options live_options = { .convert = options,
						   .rows_max = rows_max };
	struct live *live;

	ok(live_start(fd, &live_options, &live));
	return live;
}

static struct live_state wait_for_end(struct live *live)
{
	struct live_state state;

	do {
		usleep(1000);
		state = live_state(live);
	} while (!state.has_ended);
	return state;
}

static void assert_same_entries(const struct profile *a,
				const struct own_entry_vec *x,
				const struct profile *b,
				const struct own_entry_vec *y)
{
	assert_int_equal(x->count, y->count);
	for (size_t i = 0; i < x->count; i++) {
		const struct own_entry *e = &x->data[i], *f = &y->data[i];

		assert_string_equal(profile_string(a, e->name, "-"),
				    profile_string(b, f->name, "-"));
		assert_int_equal(e->line, f->line);
		assert_int_equal(e->own.period, f->own.period);
		assert_int_equal(e->own.samples, f->own.samples);
		assert_int_equal(e->total.samples, f->total.samples);
		assert_int_equal(e->part_count, f->part_count);
	}
}

/* What the first screen of a report would say of them. */
static void assert_same_own_time(const struct profile *a,
				 const struct profile *b)
{
	struct own_time *x, *y;

	ok(own_time_create(a, 0, &x));
	ok(own_time_create(b, 0, &y));
	assert_int_equal(x->all.samples, y->all.samples);
	assert_same_entries(a, &x->functions, b, &y->functions);
	assert_same_entries(a, &x->lines, b, &y->lines);
	own_time_destroy(x);
	own_time_destroy(y);
}

/* Of a real pipe, written in pieces that end anywhere, what a report reads of a file. */
static void test_a_live_recording_is_the_same(void **state)
{
	const struct convert_options options = {};
	struct profile *report, *snapshot;
	struct live_state end_state;
	char bytes[1000];
	struct live *live;
	ssize_t n;
	int ends[2], file;

	(void)state;
	srand(3);
	write_pipe_to_file(LIVE_SAMPLES);
	ok(convert_profile(path, &options, NULL, &report));
	assert_int_equal(report->samples.rows, LIVE_SAMPLES);
	assert_int_equal(pipe(ends), 0);
	live = start_live(&options, ends[0], 0);
	file = open(path, O_RDONLY);
	while ((n = read(file, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(ends[1], bytes, (size_t)n), n);
	close(file);
	close(ends[1]);
	end_state = wait_for_end(live);
	assert_null(end_state.failure);
	assert_int_equal(end_state.samples, LIVE_SAMPLES);
	assert_int_equal(end_state.kept_from, end_state.began);
	ok(live_snapshot(live, 0, &snapshot));
	/* Those near each other are one row. */
	assert_true(snapshot->samples.rows < LIVE_SAMPLES);
	assert_same_own_time(report, snapshot);
	assert_int_equal(snapshot->recordings.data[0].metadata.pythons.count, 1);
	profile_destroy(snapshot);
	/* The last two seconds, and what was before the next slice began. */
	ok(live_snapshot(live, 50 * (uint64_t)LIVE_STEP, &snapshot));
	assert_in_range(snapshot->events.data[0].samples, 50 - 500 / 40,
			50 + 500 / 40);
	profile_destroy(snapshot);
	live_stop(live);
	profile_destroy(report);
}

/* However long it runs, so much is kept: the last of it, and all of that. */
static void test_a_live_recording_forgets(void **state)
{
	const struct convert_options options = {};
	struct profile *report, *last, *snapshot;
	struct live_state end_state;
	struct live *live;
	size_t first = 0;

	(void)state;
	srand(4);
	write_pipe_to_file(LIVE_SAMPLES);
	ok(convert_profile(path, &options, NULL, &report));
	live = start_live(&options, open(path, O_RDONLY), LIVE_ROWS_MAX);
	end_state = wait_for_end(live);
	assert_int_equal(end_state.samples, LIVE_SAMPLES);
	assert_true(end_state.kept_from > end_state.began);
	ok(live_snapshot(live, 0, &snapshot));
	assert_in_range(snapshot->samples.rows, LIVE_ROWS_MAX / 2,
			LIVE_ROWS_MAX);
	/* A row of samples that were near each other went as a whole. */
	while (report->samples.time[first] < end_state.kept_from)
		first++;
	ok(profile_window(report, first, &last));
	assert_in_range(snapshot->events.data[0].samples,
			last->events.data[0].samples - 500 / 40,
			last->events.data[0].samples);
	profile_destroy(last);
	profile_destroy(snapshot);
	live_stop(live);
	profile_destroy(report);
}

static void test_a_live_recording_that_is_none(void **state)
{
	const struct convert_options options = {};
	struct live_state end_state;
	struct profile *snapshot;
	struct live *live;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	live = start_live(&options, ends[0], 0);
	ok(live_snapshot(live, 0, &snapshot));
	assert_int_equal(snapshot->samples.rows, 0);
	profile_destroy(snapshot);
	assert_int_equal(write(ends[1], "no recording at all", 19), 19);
	close(ends[1]);
	end_state = wait_for_end(live);
	assert_non_null(end_state.failure);
	assert_int_equal(end_state.samples, 0);
	live_stop(live);
}

static void test_glue_names(void **state)
{
	static const char *const glue[] = {
		"_PyEval_EvalFrameDefault",	"_PyEval_EvalFrameDefault.cold",
		"_PyFunction_Vectorcall",	"method_vectorcall_NOARGS",
		"gen_send_ex2",			"pymain_run_file_obj",
		"_PyRun_SimpleFileObject",	"slot_tp_call",
		"_PyObject_MakeTpCall",		"Py_BytesMain",
		"_PyEval_EvalFrameDefault.constprop.0",
	};
	static const char *const workers[] = {
		"list_sort", "PyDict_GetItem", "long_add", "_PyEval_Frob",
		"sre_ucs1_match",
		"builtin_sorted", "PyObject_GetAttr", "", "Py_BytesMainly",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(glue) / sizeof(*glue); i++)
		assert_true(interpreter_frame_is_glue(glue[i]));
	for (size_t i = 0; i < sizeof(workers) / sizeof(*workers); i++)
		assert_false(interpreter_frame_is_glue(workers[i]));
	assert_true(interpreter_path("/usr/bin/python3.11"));
	assert_true(interpreter_path("/x/libpython3.12.so.1.0"));
	assert_false(interpreter_path("/usr/lib/python3/dist-packages/_x.so"));
}

/* --- Names of threads --- */

static void put_thread_name(struct thread_table *table, uint32_t tid,
			    uint64_t from, const char *name)
{
	const struct kaa_thread thread = { .pid = PID,
					   .tid = tid,
					   .valid_from = from,
					   .name = text(name) };

	ok(thread_table_add(table, &thread));
}

static void test_names_of_threads_hold_for_their_time(void **state)
{
	struct thread_table table = {};

	(void)state;
	put_thread_name(&table, 7, 100, "first");
	/* The records come in any order. */
	put_thread_name(&table, 7, 300, "");
	put_thread_name(&table, 7, 200, "second");
	put_thread_name(&table, 7, 400, "another thread");
	put_thread_name(&table, 8, 100, "first");
	/* Samples before the first record have its name, too. */
	assert_string_equal(thread_table_at(&table, PID, 7, 1), "first");
	assert_string_equal(thread_table_at(&table, PID, 7, 199), "first");
	assert_string_equal(thread_table_at(&table, PID, 7, 200), "second");
	assert_null(thread_table_at(&table, PID, 7, 300));
	assert_string_equal(thread_table_at(&table, PID, 7, UINT64_MAX),
			    "another thread");
	/* One pointer for a name. */
	assert_ptr_equal(thread_table_at(&table, PID, 8, 100),
			 thread_table_at(&table, PID, 7, 100));
	assert_null(thread_table_at(&table, PID, 9, 100));
	assert_null(thread_table_at(&table, PID + 1, 7, 100));
	thread_table_deinit(&table);
}

struct listed_thread {
	int32_t pid;
	int32_t tid;
	const char *comm;
	const char *name;
};

/* As the converter does it: what passes, and then what of that is meant. */
static void add_listed(struct profile *profile, struct seen_tasks *seen,
		       const struct convert_options *options,
		       const struct listed_thread *thread)
{
	const struct seen_task known = { thread->pid, thread->tid, thread->comm,
					 thread->name, 1 };
	struct profile_task task = { .pid = thread->pid,
				     .tid = thread->tid,
				     .name = PROFILE_NONE };
	struct profile_sample sample = { .stack = PROFILE_NONE,
					 .period = 3,
					 .count = 1 };

	ok(seen_tasks_add(seen, &known));
	ok(profile_intern(profile, thread->comm, &task.comm));
	if (thread->name)
		ok(profile_intern(profile, thread->name, &task.name));
	ok(profile_intern_task(profile, &task, &sample.task));
	if (filter_names(options, thread->comm, thread->name))
		ok(profile_add_sample(profile, &sample));
}

/* A name of a list means the threads that are called so there, and no others. */
static void test_threads_are_those_that_are_listed_so(void **state)
{
	static const struct listed_thread
		threads[] = { { 100, 100, "python3", "MainThread" },
			      { 100, 101, "python3", NULL },
			      { 100, 102, "python3", "worker" },
			      { 100, 103, "worker", "other" } },
		named[] = { { 100, 100, "python3", "MainThread" },
			    { 100, 102, "python3", "worker" } },
		many[] = { { 100, 101, "python3", "Thread-1 (serve)" },
			   { 100, 102, "python3", "Thread-22 (serve)" },
			   { 100, 103, "python3", "Thread-N (serve)" },
			   { 100, 104, "python3", "Thread-3 (store)" } },
		processes[] = { { 100, 100, "python3", "MainThread" },
				{ 200, 200, "python3", NULL } };
	static const struct {
		const struct listed_thread *threads;
		size_t count;
		const char *names[2];
		int32_t kept[4];
	} cases[] = {
		{ threads, 4, { "python3" }, { 101 } },
		{ threads, 4, { "worker" }, { 102 } },
		{ threads, 4, { "MainThread", "python3" }, { 100, 101 } },
		/* The list has no such name: it is the command's. */
		{ named, 2, { "python3" }, { 100, 102 } },
		/* As a list has those that differ in numbers alone. */
		{ many, 4, { "Thread-N (serve)" }, { 101, 102, 103 } },
		{ many, 4, { "Thread-2N (serve)", "Thread-N" }, { 0 } },
		{ many, 4, { "Thread-22 (serve)" }, { 102 } },
		/* Processes are listed by their commands. */
		{ processes, 2, { "python3" }, { 100, 200 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct convert_options options = {
			.comms = { cases[i].names, cases[i].names[1] ? 2 : 1 },
		};
		const struct profile_event event = {};
		struct seen_tasks seen = {};
		struct profile *profile;
		uint32_t id;
		size_t kept = 0;

		ok(profile_create(NULL, &profile));
		ok(profile_add_recording(profile, &id));
		ok(profile_add_event(profile, &event, &id));
		for (size_t k = 0; k < cases[i].count; k++)
			add_listed(profile, &seen, &options,
				   &cases[i].threads[k]);
		ok(named_tasks_keep(profile, 0, &seen, &options.comms));
		for (; kept < 4 && cases[i].kept[kept]; kept++) {
			assert_true(kept < profile->samples.rows);
			assert_int_equal(
				profile_task(profile,
					     profile->samples.task[kept])->tid,
				cases[i].kept[kept]);
		}
		assert_int_equal(profile->samples.rows, kept);
		assert_int_equal(profile->events.data[0].samples, kept);
		assert_int_equal(profile->events.data[0].period, 3 * kept);
		profile_destroy(profile);
		seen_tasks_deinit(&seen);
	}
}

static void test_another_thread_of_the_number_has_no_name(void **state)
{
	struct thread_table table = {};

	(void)state;
	put_thread_name(&table, 7, 100, "first");
	put_thread_name(&table, 8, 100, "first");
	put_thread_name(&table, 8, 300, "second");
	/* Before the first name, and of threads that have none, there is nothing to end. */
	ok(thread_table_begun(&table, PID, 7, 50));
	ok(thread_table_begun(&table, PID, 9, 50));
	assert_string_equal(thread_table_at(&table, PID, 7, 60), "first");
	ok(thread_table_begun(&table, PID, 7, 200));
	assert_string_equal(thread_table_at(&table, PID, 7, 199), "first");
	assert_null(thread_table_at(&table, PID, 7, 200));
	/* Its own name may be known already. */
	ok(thread_table_begun(&table, PID, 8, 300));
	assert_string_equal(thread_table_at(&table, PID, 8, 300), "second");
	thread_table_deinit(&table);
}

/* What a marker says of a thread or a task is a kind of own time, and no other's. */
static void test_states(void **state)
{
	bool seen[SPENT_KINDS] = {};

	(void)state;
	for (size_t i = 0; i < KAA_MARKER_COUNT; i++) {
		enum spent_kind kind =
			spent_kind_of_function(kaa_markers[i].name, false);

		assert_int_equal(kaa_is_state(kaa_markers[i].address),
				 spent_is_state(kind));
		assert_false(spent_is_state(kind) && seen[kind]);
		seen[kind] = true;
	}
	for (size_t kind = 0; kind < SPENT_KINDS; kind++)
		assert_int_equal(seen[kind] && kind != SPENT_NATIVE,
				 spent_is_state((enum spent_kind)kind));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_names_of_threads_hold_for_their_time),
		cmocka_unit_test(test_threads_are_those_that_are_listed_so),
		cmocka_unit_test(test_another_thread_of_the_number_has_no_name),
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
		TEST(test_python_frames_have_names_and_lines),
		TEST(test_interpreter_frames_are_folded),
		TEST(test_the_start_is_folded),
		TEST(test_a_native_stack_keeps_the_interpreter),
		TEST(test_markers_are_frames_and_flags),
		TEST(test_symbols_hold_for_their_time),
		TEST(test_symbols_begin),
		TEST(test_symbols_begin_in_a_pipe),
		TEST(test_trampolines_are_python_frames),
		TEST(test_walked_frames_fold_trampolines),
		TEST(test_junk_ends_the_stack),
		TEST(test_unknown_contexts_end_the_chain),
		TEST(test_like_perf_a_damaged_chain_is_its_leaf),
		TEST(test_damaged_stream_is_counted),
		TEST(test_filters),
		TEST(test_max_stack),
		TEST(test_callers_are_named_by_their_call),
		TEST(test_kernel_functions_that_are_about_to_be_called),
		TEST(test_model_is_shared_and_complete),
		TEST(test_a_recording_that_ended_early),
		TEST(test_a_packed_recording_that_goes_on),
		TEST(test_the_model_has_all_faults),
		cmocka_unit_test(test_pythons_and_sources_are_bounded),
		TEST(test_two_recordings_in_one_profile),
		TEST(test_a_live_recording_is_the_same),
		TEST(test_a_live_recording_forgets),
		TEST(test_a_live_recording_that_is_none),
		cmocka_unit_test(test_glue_names),
	};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return 1;
	self[n] = '\0';
	return cmocka_run_group_tests(tests, NULL, NULL);
}
