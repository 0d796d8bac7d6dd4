// SPDX-License-Identifier: GPL-2.0-only
/* Formats of `kaa export`, on profiles whose stacks the test knows. */
#include "assert_ok.h"

#include "export/format.h"
#include "export/groups.h"
#include "export/unique.h"
#include "model.h"

/* Python functions of one file. */
#define F "py:py::f:/srv/x.py"
#define G "py:py::g:/srv/x.py"

static export_write_fn *writer_of(const char *name)
{
	for (const struct export_row *row = export_formats; row->name; row++)
		if (!strcmp(row->name, name))
			return row->write;
	fail_msg("no format %s", name);
	return NULL;
}

/* What the format makes of the profile; to be freed. */
static char *exported_bytes(const char *format, const struct model *m,
			    const struct export_options *options, size_t *size)
{
	char *bytes;
	FILE *out = open_memstream(&bytes, size);

	assert_non_null(out);
	assert_ok(writer_of(format)(m->profile, options, out));
	assert_int_equal(fclose(out), 0);
	return bytes;
}

static char *exported(const char *format, const struct model *m,
		      const struct export_options *options)
{
	size_t size;

	return exported_bytes(format, m, options, &size);
}

static void check(const char *format, struct model *m,
		  const struct export_options *options, const char *expected)
{
	char *text = exported(format, m, options);

	assert_string_equal(text, expected);
	free(text);
	model_deinit(m);
}

static void test_stacks_add_up(void **state)
{
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 1, "_start I:eval " F " I:eval " G " malloc");
	model_sample(&m, 1, "_start I:eval " F " I:eval " G " malloc");
	model_sample(&m, 1, "_start I:eval " F "@7 I:eval " G " malloc");
	model_sample(&m, 1, "_start I:eval " F);
	model_sample(&m, 1, "_start I:eval");
	check("collapsed", &m, &(struct export_options){},
	      "python3;_start;f (/srv/x.py);g (/srv/x.py);malloc 3\n"
	      "python3;_start;f (/srv/x.py) 1\n"
	      "python3;_start;eval 1\n");
}

static void test_lines_and_interpreter(void **state)
{
	const struct export_options options = {
		.stacks = { .lines = true, .interpreter_frames = true }
	};
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 1, "I:eval " F "@6 k:page_fault");
	model_sample(&m, 1, "I:eval " F "@7 k:page_fault");
	model_sample(&m, 1, "I:eval " F "@6 k:page_fault");
	check("collapsed", &m, &options,
	      "python3;eval;f (/srv/x.py:6);page_fault 2\n"
	      "python3;eval;f (/srv/x.py:7);page_fault 1\n");
}

/* What has no name counts as its file, however many addresses there are. */
static void test_unnamed(void **state)
{
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 1, "_start 4096");
	model_sample(&m, 1, "_start 8192");
	model_sample(&m, 1, "");
	check("collapsed", &m, &(struct export_options){},
	      "python3;_start;[unknown] 2\n"
	      "python3;[unknown] 1\n");
}

/* No name ends a frame or a line. */
static void test_hostile_names(void **state)
{
	struct model m;

	(void)state;
	model_init(&m, NULL);
	m.task = model_task(&m, 101, "a;b\nc");
	model_sample(&m, 1, "x;y\n1 py:py::f;\x1b[0m:/srv/x.py");
	check("collapsed", &m, &(struct export_options){},
	      "a:b?c;x:y?1;f:?[0m (/srv/x.py) 1\n");
}

static void test_other_events_are_left_out(void **state)
{
	struct profile_event event = { .has_callchain = true };
	struct model m;
	uint32_t second;

	(void)state;
	model_init(&m, NULL);
	event.name = model_string(&m, "page-faults");
	assert_ok(profile_add_event(m.profile, &event, &second));
	model_sample(&m, 1, "_start f");
	model_sample(&m, 1, "_start g");
	m.profile->samples.event[1] = (uint16_t)second;
	check("collapsed", &m, &(struct export_options){ .event = second },
	      "python3;_start;g 1\n");
}

/* How often the text has that. */
static unsigned int times(const char *text, const char *what)
{
	unsigned int count = 0;

	for (text = strstr(text, what); text; text = strstr(text + 1, what))
		count++;
	return count;
}

/* Of several events each has its profiles; of one that is chosen only these. */
static void test_speedscope_events(void **state)
{
	struct profile_event event = { .has_callchain = true };
	struct export_options options = { .event = PROFILE_NONE };
	struct model m;
	uint32_t second;
	char *text;

	(void)state;
	model_init(&m, NULL);
	event.name = model_string(&m, "page-faults");
	assert_ok(profile_add_event(m.profile, &event, &second));
	model_sample(&m, 5, "_start f");
	model_sample(&m, 7, "_start g");
	m.profile->samples.event[1] = (uint16_t)second;
	text = exported("speedscope", &m, &options);
	assert_int_equal(times(text, "\"cycles: "), 2);
	assert_int_equal(times(text, "\"page-faults: "), 2);
	free(text);
	options.event = second;
	text = exported("speedscope", &m, &options);
	assert_int_equal(times(text, "\"name\":\"all threads\""), 1);
	assert_int_equal(times(text, "cycles"), 0);
	free(text);
	model_deinit(&m);
}

/* A number beyond 31 bits is a long, in digits of 15 bits (marshal.c of CPython). */
static void test_pstats_large_numbers(void **state)
{
	static const unsigned char expected[] = { 'l', 3, 0, 0, 0,
						  0x00, 0x5e, 0xa0, 0x65,
						  0x02, 0x00 };
	const uint32_t count = 3000000000u;
	struct export_options options = { .event = PROFILE_NONE };
	struct model m;
	size_t size;
	char *bytes;

	(void)state;
	assert_int_equal(count, 0x5e00 + (0x65a0u << 15) + (2u << 30));
	model_init(&m, NULL);
	model_sample(&m, 5, "_start f");
	m.profile->samples.count[0] = count;
	bytes = exported_bytes("pstats", &m, &options, &size);
	assert_non_null(memmem(bytes, size, expected, sizeof(expected)));
	free(bytes);
	model_deinit(&m);
}

/*
 * Its trace processor prints the bytes of a build id in hex, and puts a '/' before
 * a path without one, also before an empty one.
 */
static void test_perfetto_mappings(void **state)
{
	/* A string (field 16 of the interned data), and a mapping (19) with its number alone. */
	static const char build_id[] = { '\x82', 1, 7, 8, 2, 0x12,
					 3, 0x0a, 0x1b, '\xff' };
	static const char nothing_known[] = { '\x9a', 1, 2, 8, 3 };
	struct export_options options = { .event = PROFILE_NONE };
	struct model m;
	size_t size;
	char *bytes;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 5, "_start lib:f 0x1234");
	assert_int_equal(m.profile->dsos.count, 2);
	m.profile->dsos.data[1].build_id = model_string(&m, "0a1bff");
	bytes = exported_bytes("perfetto", &m, &options, &size);
	assert_non_null(memmem(bytes, size, build_id, sizeof(build_id)));
	assert_non_null(memmem(bytes, size, nothing_known, sizeof(nothing_known)));
	free(bytes);
	model_deinit(&m);
}

/* --- many of each --- */

/* One stack; samples of all events and threads in turn, those of others between them. */
static void fill_groups(struct model *m, uint32_t events, uint32_t threads,
			uint32_t samples)
{
	struct profile_event event = { .name = model_string(m, "e") };
	struct profile_sample sample = { .count = 1, .period = 2 };
	uint32_t id, first;

	first = model_task(m, 1000, "t");
	for (uint32_t i = 1; i < threads; i++)
		model_task(m, 1000 + (int)i, "t");
	for (uint32_t i = 1; i < events; i++)
		model_check(profile_add_event(m->profile, &event, &id));
	sample.stack = model_stack(m, "main");
	for (uint32_t i = 0; i < samples; i++) {
		sample.time = i;
		sample.event = (samples - i) % events;
		sample.task = first + (samples - i) % threads;
		model_check(profile_add_sample(m->profile, &sample));
	}
}

/* By event, then by thread; of both by time. */
static void check_groups(const struct export_groups *g, size_t samples)
{
	const struct profile_samples *s = &g->stacks->profile->samples;
	const struct export_group *before = NULL;
	size_t rows = 0;

	vec_for_each(group, &g->all) {
		assert_int_equal(group->first, rows);
		assert_true(!before || before->event < group->event ||
			    (before->event == group->event &&
			     before->thread < group->thread));
		for (size_t i = 0; i < group->count; i++) {
			uint32_t row = g->rows[group->first + i];

			assert_int_equal(s->event[row], group->event);
			assert_int_equal(g->thread_of[s->task[row]],
					 group->thread);
			assert_true(!i || g->rows[group->first + i - 1] < row);
		}
		assert_int_equal(group->samples, group->count);
		rows += group->count;
		before = group;
	}
	assert_int_equal(rows, samples);
}

static void test_groups(void **state)
{
	const struct export_stacks_options options = {};
	struct export_groups *g;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	fill_groups(&m, 3, 4, 100);
	assert_ok(export_groups_create(m.profile, &options, PROFILE_NONE, &g));
	check_groups(g, 100);
	assert_int_equal(g->all.count, 12);
	assert_int_equal(g->all.data[0].weight, 2 * g->all.data[0].count);
	export_groups_destroy(g);
	assert_ok(export_groups_create(m.profile, &options, 1, &g));
	check_groups(g, 34);
	assert_int_equal(g->all.count, 4);
	export_groups_destroy(g);
	model_deinit(&m);
}

/* A table of events and threads would have 200 GB. */
static void test_many_events_and_threads(void **state)
{
	const struct export_stacks_options options = {};
	struct export_groups *g;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	fill_groups(&m, 65000, 400 * 1000, 400 * 1000);
	assert_ok(export_groups_create(m.profile, &options, PROFILE_NONE, &g));
	assert_int_equal(g->threads.count, 400 * 1000);
	assert_int_equal(g->all.count, 400 * 1000);
	export_groups_destroy(g);
	model_deinit(&m);
}

/* Functions of that name; files are equal. */
static void add_functions(struct export_stacks *s, const char *name,
			  uint32_t line, size_t count)
{
	struct export_function function = { .line = line };

	assert_ok(texts_intern(&s->names, name, &function.name));
	assert_ok(texts_intern(&s->files, "x.py", &function.file));
	for (size_t i = 0; i < count; i++)
		assert_true(vec_push(&s->functions, function));
}

static void deinit_functions(struct export_stacks *s)
{
	texts_deinit(&s->names);
	texts_deinit(&s->files);
	vec_deinit(&s->functions);
}

static void test_names_that_are_taken(void **state)
{
	static const char *const expected[] = { "f (3)",   "f",	    "f (2)",
						"f (4)",   "f (line 7)",
						"f (5)",   "f (2) (2)",
						"f (6)" };
	struct export_stacks s = {};
	struct export_names names = {};

	(void)state;
	add_functions(&s, "f (3)", 0, 1);
	add_functions(&s, "f", 0, 3);
	add_functions(&s, "f", 7, 2);
	add_functions(&s, "f (2)", 0, 1);
	add_functions(&s, "f", 0, 1);
	assert_ok(export_names_create(&s, &names));
	assert_int_equal(names.count, sizeof(expected) / sizeof(*expected));
	for (size_t i = 0; i < names.count; i++)
		assert_string_equal(names.data[i], expected[i]);
	export_names_deinit(&names);
	deinit_functions(&s);
}

/* To try all numbers for each would not end in the time that tests have. */
static void test_many_functions_of_one_name(void **state)
{
	struct export_stacks s = {};
	struct export_names names = {};

	(void)state;
	add_functions(&s, "f", 0, 200 * 1000);
	assert_ok(export_names_create(&s, &names));
	assert_string_equal(vec_last(&names)[0], "f (200000)");
	export_names_deinit(&names);
	deinit_functions(&s);
}

static void test_no_samples(void **state)
{
	struct model m;

	(void)state;
	model_init(&m, NULL);
	check("collapsed", &m, &(struct export_options){}, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks_add_up),
		cmocka_unit_test(test_lines_and_interpreter),
		cmocka_unit_test(test_unnamed),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_other_events_are_left_out),
		cmocka_unit_test(test_speedscope_events),
		cmocka_unit_test(test_pstats_large_numbers),
		cmocka_unit_test(test_perfetto_mappings),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_many_events_and_threads),
		cmocka_unit_test(test_names_that_are_taken),
		cmocka_unit_test(test_many_functions_of_one_name),
		cmocka_unit_test(test_no_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
