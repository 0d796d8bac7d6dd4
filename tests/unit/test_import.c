// SPDX-License-Identifier: GPL-2.0-only
/* Files of other profilers that would take time or memory without bound. */
#include "assert_says.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/pprof_fields.h"
#include "export/protobuf.h"
#include "import/import_format.h"
#include "import/json_in.h"
#include "import/recording.h"

/* What import_read() says of it; the model is the caller's. */
static struct error *read_text(const struct strbuf *text, struct import_model *m)
{
	const struct import_row *format;

	assert_false(text->failed);
	return import_read("file", text->data, text->len, NULL, m, &format);
}

/* Takes the error. */
static void assert_limit(struct error *error, const char *words)
{
	assert_non_null(error);
	assert_says(error->message, words);
	assert_fails(error, ERROR_LIMIT);
}

/* --- pprof --- */

/* Numbers by field from 1 on; 0: left out. */
static void put_row(struct strbuf *out, uint32_t field, const uint64_t *numbers,
		    size_t count)
{
	struct strbuf row = STRBUF_INIT;

	for (size_t i = 0; i < count; i++)
		protobuf_u64(&row, (uint32_t)i + 1, numbers[i]);
	protobuf_message(out, field, &row);
	strbuf_deinit(&row);
}

#define PUT_ROW(out, field, ...)                                  \
	put_row(out, field, (const uint64_t[]){ __VA_ARGS__ },    \
		sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* One type of values, and a location of that many lines of one function. */
static void begin_pprof(struct strbuf *out, const char *name, size_t lines)
{
	struct strbuf location = STRBUF_INIT;

	strbuf_append(out, "\x32\0", 2);
	protobuf_text(out, PROFILE_STRING_TABLE, name);
	PUT_ROW(out, PROFILE_SAMPLE_TYPE, 1);
	PUT_ROW(out, PROFILE_FUNCTION, 1, 1);
	protobuf_u64(&location, LOCATION_ID, 1);
	for (size_t i = 0; i < lines; i++)
		PUT_ROW(&location, LOCATION_LINE, 1);
	protobuf_message(out, PROFILE_LOCATION, &location);
	strbuf_deinit(&location);
}

/* A sample that names the location that often. */
static void put_sample(struct strbuf *out, size_t steps)
{
	struct strbuf sample = STRBUF_INIT;

	for (size_t i = 0; i < steps; i++)
		protobuf_u64(&sample, SAMPLE_LOCATION, 1);
	protobuf_u64(&sample, SAMPLE_VALUE, 1);
	protobuf_message(out, PROFILE_SAMPLE, &sample);
	strbuf_deinit(&sample);
}

static void test_lines_times_steps(void **state)
{
	struct import_model m = IMPORT_MODEL_INIT;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	begin_pprof(&text, "f", 1025);
	put_sample(&text, 1024);
	assert_limit(read_text(&text, &m), "a stack that is too deep");
	assert_int_equal(m.nodes.count, 1023 * 1025);
	import_model_deinit(&m);
	strbuf_deinit(&text);
}

static void test_as_deep_as_stacks_are(void **state)
{
	struct import_model m = IMPORT_MODEL_INIT;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	begin_pprof(&text, "f", 100);
	put_sample(&text, 200);
	put_sample(&text, 200);
	assert_ok(read_text(&text, &m));
	assert_int_equal(m.nodes.count, 20000);
	assert_int_equal(m.samples.count, 2);
	import_model_deinit(&m);
	strbuf_deinit(&text);
}

/* Samples of one stack that is there already take time, too. */
static void test_steps_of_all_stacks(void **state)
{
	struct import_model m = IMPORT_MODEL_INIT;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	begin_pprof(&text, "f", 10);
	for (size_t i = 0; i < 10; i++)
		put_sample(&text, 10);
	m.steps = IMPORT_STEPS_MAX - 999;
	assert_limit(read_text(&text, &m),
		     "'file' is too large: its stacks have too many frames");
	assert_int_equal(m.nodes.count, 100);
	import_model_deinit(&m);
	strbuf_deinit(&text);
}

/* --- names --- */

/* A name of the letter, that long. */
static void fill_name(struct strbuf *out, char letter, size_t length)
{
	strbuf_clear(out);
	strbuf_fill(out, letter, length);
}

static void test_a_long_name_is_cut(void **state)
{
	struct import_model m = IMPORT_MODEL_INIT;
	struct strbuf text = STRBUF_INIT, name = STRBUF_INIT;
	size_t longest = 0;

	(void)state;
	fill_name(&name, 'n', 3 * IMPORT_TEXT_MAX);
	begin_pprof(&text, name.data, 3);
	put_sample(&text, 2);
	assert_ok(read_text(&text, &m));
	assert_int_equal(m.functions.count, 1);
	vec_for_each(kept, &m.texts.all)
		if (strlen(*kept) > longest)
			longest = strlen(*kept);
	assert_int_equal(longest, IMPORT_TEXT_MAX);
	import_model_deinit(&m);
	strbuf_deinit(&text);
	strbuf_deinit(&name);
}

/* Of files, threads and events, too; what is shorter stays as it is. */
static void test_all_texts_are_cut(void **state)
{
	struct import_model m = IMPORT_MODEL_INIT;
	struct strbuf name = STRBUF_INIT;
	struct import_step step = { .name = "f", .kind = IMPORT_GUESS };
	uint32_t number;

	(void)state;
	fill_name(&name, 'n', IMPORT_TEXT_MAX + 3);
	strbuf_puts(&name, ".py");
	step.file = name.data;
	assert_ok(import_place(&m, &step, &number));
	assert_int_equal(m.functions.data[0].kind, PROFILE_FRAME_NATIVE);
	assert_ok(import_thread(&m, 1, 1, name.data, name.data, &number));
	assert_ok(import_event(&m, name.data, EVENT_COUNT, &number));
	assert_ok(import_text(&m, name.data, name.len, &number));
	vec_for_each(kept, &m.texts.all)
		assert_true(strlen(*kept) <= IMPORT_TEXT_MAX);
	fill_name(&name, 'n', IMPORT_TEXT_MAX);
	assert_ok(import_text(&m, name.data, name.len, &number));
	assert_string_equal(m.texts.all.data[number], name.data);
	import_model_deinit(&m);
	strbuf_deinit(&name);
}

/* A name that is there already is read each time that it is named. */
static void test_a_name_that_all_lines_have(void **state)
{
	struct import_model m = IMPORT_MODEL_INIT;
	struct strbuf text = STRBUF_INIT, name = STRBUF_INIT;

	(void)state;
	fill_name(&name, 'n', 1000);
	begin_pprof(&text, name.data, 100);
	put_sample(&text, 1);
	m.text_bytes = IMPORT_TEXTS_MAX - 100 * 1000 + 1;
	assert_limit(read_text(&text, &m), "its names are too long");
	import_model_deinit(&m);
	strbuf_deinit(&text);
	strbuf_deinit(&name);
}

/*
 * Whether threads are called after events is asked once, and not of each thread: it
 * would not end in the time that tests have.
 */
static void test_many_threads_of_firefox(void **state)
{
	struct import_model m = IMPORT_MODEL_INIT;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	strbuf_puts(&text,
		    "{\"meta\": {\"preprocessedProfileVersion\": 57,"
		    " \"importedFrom\": \"kaa\"},"
		    " \"shared\": {\"stackTable\": {\"frame\": []},"
		    " \"frameTable\": {\"func\": []}}, \"threads\": [");
	for (int i = 0; i < 200 * 1000; i++)
		strbuf_printf(&text, "%s{\"name\":\"main [e]\",\"samples\":{\"stack\":[]}}",
			      i ? "," : "");
	strbuf_puts(&text, "]}");
	assert_fails(read_text(&text, &m), ERROR_NOT_FOUND);
	assert_int_equal(m.events.count, 1);
	assert_string_equal(m.texts.all.data[m.events.data[0].name], "e");
	import_model_deinit(&m);
	strbuf_deinit(&text);
}

/* --- JSON --- */

static uint64_t memory_of(const char *text)
{
	return json_in_memory(text, strlen(text));
}

static void test_what_json_takes(void **state)
{
	uint64_t number = memory_of("[1,2,3]") - memory_of("[1,2]");
	uint64_t list = memory_of("[[],[],[]]") - memory_of("[[],[]]");
	uint64_t object = memory_of("[{},{},{}]") - memory_of("[{},{}]");

	(void)state;
	assert_true(number >= 32 && number < list && list < object);
	/* What stands in a string is text; a quote in it does not end it. */
	assert_int_equal(memory_of("\"{{{{[[[[,,,,\"") + 4,
			 memory_of("\"{{{{[[[[,,,,aaaa\""));
	assert_int_equal(memory_of("\"\\\"{{{{\""), memory_of("\"aaaaaa\""));
	assert_int_equal(memory_of("\"\\\\\"[]"), memory_of("\"aa\"[]"));
	memory_of("\"\\");
}

/* 30 million objects are 90 MB of text, and gzip makes nearly nothing of them. */
static void test_json_of_too_many_objects(void **state)
{
	const size_t count = JSON_IN_MEMORY_MAX / memory_of("{},") + 1;
	struct import_model m = IMPORT_MODEL_INIT;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	strbuf_puts(&text, "{\"a\":[");
	assert_true(strbuf_reserve(&text, 3 * count));
	for (size_t i = 0; i < count; i++)
		memcpy(text.data + text.len + 3 * i, "{},", 3);
	text.len += 3 * count;
	text.data[text.len] = '\0';
	assert_limit(read_text(&text, &m), "its JSON would take");
	import_model_deinit(&m);
	strbuf_deinit(&text);
}

/* --- the recording --- */

/* That many samples of a stack that deep. */
static void fill_model(struct import_model *m, size_t depth, size_t samples)
{
	struct import_sample sample = { .weight = 1,
					.count = 1,
					.node = PROFILE_NONE };
	const struct import_step step = { .name = "f",
					  .file = "",
					  .kind = IMPORT_GUESS };
	uint32_t place;

	m->has_times = true;
	assert_ok(import_place(m, &step, &place));
	assert_ok(import_event(m, "samples", EVENT_COUNT, &sample.event));
	assert_ok(import_thread(m, 1, 1, NULL, NULL, &sample.thread));
	for (size_t i = 0; i < depth; i++)
		assert_ok(import_node(m, sample.node, place, &sample.node));
	for (size_t i = 0; i < samples; i++)
		assert_ok(import_sample(m, &sample));
}

/* A stack stands in the recording once for each sample. */
static void test_depth_times_samples(void **state)
{
	char path[] = "/tmp/test-import-XXXXXX";
	int fd = mkstemp(path);
	struct import_model m = IMPORT_MODEL_INIT;
	struct import_written written = {};
	struct rlimit before, limit;
	struct error *error;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	fill_model(&m, 8000, 300 * 1000);
	/* Of 19 GB that are written nevertheless. */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){ 1 << 20, before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	error = import_write(&m, path, -1, -1, &written);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(unlink(path), -1);
	assert_limit(error, path);
	import_model_deinit(&m);
}

static void test_deep_stacks_are_written(void **state)
{
	struct import_model m = IMPORT_MODEL_INIT;
	struct import_written written = {};

	(void)state;
	fill_model(&m, 10000, 100);
	assert_ok(import_write(&m, "/dev/null", -1, -1, &written));
	assert_int_equal(written.samples, 100);
	import_model_deinit(&m);
}

/* --- the model --- */

static void test_nodes(void **state)
{
	/* None of them is looked at. */
	struct import_model m = { .nodes = { .count = IMPORT_NODES_MAX,
					     .capacity = IMPORT_NODES_MAX } };
	uint32_t node;

	(void)state;
	assert_limit(import_node(&m, PROFILE_NONE, 0, &node),
		     "it has too many stacks");
	assert_int_equal(m.nodes.count, IMPORT_NODES_MAX);
	import_model_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_times_steps),
		cmocka_unit_test(test_as_deep_as_stacks_are),
		cmocka_unit_test(test_steps_of_all_stacks),
		cmocka_unit_test(test_a_long_name_is_cut),
		cmocka_unit_test(test_all_texts_are_cut),
		cmocka_unit_test(test_a_name_that_all_lines_have),
		cmocka_unit_test(test_many_threads_of_firefox),
		cmocka_unit_test(test_what_json_takes),
		cmocka_unit_test(test_json_of_too_many_objects),
		cmocka_unit_test(test_depth_times_samples),
		cmocka_unit_test(test_deep_stacks_are_written),
		cmocka_unit_test(test_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
