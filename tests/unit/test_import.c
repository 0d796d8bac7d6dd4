// SPDX-License-Identifier: GPL-2.0-only
/* Files of other profilers that would take time or memory without bound. */
#include "assert_says.h"

#include "base/pprof_fields.h"
#include "export/protobuf.h"
#include "import/import_format.h"

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
		cmocka_unit_test(test_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
