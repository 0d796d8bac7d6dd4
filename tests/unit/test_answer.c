// SPDX-License-Identifier: GPL-2.0-only
/* The first screen of a report: what stands in it, and that it fits. */
#include "assert_says.h"

#include "base/late_samples.h"
#include "model.h"
#include "perfdata/kaa_stream.h"
#include "profile/installed_path.h"
#include "view/answer.h"
#include "view/fit.h"
#include "view/place_name.h"
#include "view/printable.h"
#include "view/spent_text.h"

#define MAIN "py:py::<module>:/srv/x.py@90"
#define F "py:py::f:/srv/x.py"
#define G "py:py::g:/srv/x.py"

static void put_source(void *arg, const char *file, uint32_t line,
		       struct strbuf *out)
{
	(void)arg;
	if (path_is_library(file) || file[0] == '<')
		return;
	assert_memory_equal(file, "/srv/", 5);
	strbuf_printf(out, "\t\tsource of line %u, which is as long as a line of code may well be;", line);
}

static void put_next(const void *arg, const char *symbol, bool has_source,
		     struct strbuf *out)
{
	(void)arg;
	assert_true(!symbol || !strncmp(symbol, "py::", strlen("py::")));
	assert_true(symbol || !has_source);
	strbuf_puts(out, "next\n");
}

/* To be freed. */
static char *screen_with(const struct model *m,
			 const struct answer_options *options)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(answer_event(m->profile), 0);
	assert_ok(answer_write(m->profile, 0, options, out));
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *ordered_screen(const struct model *m, size_t columns,
			    bool by_total)
{
	return screen_with(m, &(struct answer_options){ .columns = columns,
							.folder = "/srv",
							.source = put_source,
							.by_total = by_total,
							.next = put_next });
}

static char *screen(const struct model *m, size_t columns)
{
	return ordered_screen(m, columns, false);
}

/* What the first line begins with, of all samples or of those that are asked for. */
static void assert_headed(const struct model *m, bool is_filtered,
			  const char *name)
{
	char *text = screen_with(m, &(struct answer_options){
					    .columns = 100,
					    .is_filtered = is_filtered });

	if (strncmp(text, name, strlen(name)) || strncmp(text + strlen(name), "   ", 3))
		fail_msg("not headed by '%s': %s", name, text);
	free(text);
}

#define assert_screen_says(m, columns, words)                 \
	do {                                                  \
		char *text_ = screen(m, columns);             \
							      \
		assert_says(text_, words);                    \
		free(text_);                                  \
	} while (0)

#define assert_screen_does_not_say(m, columns, words)         \
	do {                                                  \
		char *text_ = screen(m, columns);             \
							      \
		assert_does_not_say(text_, words);            \
		free(text_);                                  \
	} while (0)

static void init(struct model *m)
{
	model_init(m, NULL);
	m->profile->events.data[0].kind = EVENT_ON_CPU;
	m->profile->events.data[0].unit = EVENT_NANOSECONDS;
}

static void test_the_hot_function_comes_first(void **state)
{
	struct model m;
	char *text;

	(void)state;
	init(&m);
	model_sample(&m, 700000000, MAIN " I:eval " F "@3 list_sort");
	model_sample(&m, 200000000, MAIN " I:eval " F "@4");
	model_sample(&m, 100000000, MAIN " I:eval " G "@8 lib:deflate");
	text = screen(&m, 100);
	assert_string_equal(
		text,
		"x.py   1.00 s CPU   3 samples, none lost\n"
		"Spent in: native 80 %, interpreter 20 %\n"
		"So few samples: a share may be off by 73 points.\n"
		"\n"
		"   own   total  function  defined in  spent in, %\n"
		" 90.0%   90.0%  f         x.py        list_sort 70, interpreter 20\n"
		" 10.0%   10.0%  g         x.py        deflate (libother) 10\n"
		"\n"
		"   own   total  line\n"
		" 70.0%   70.0%  x.py:3  source of line 3, which is as long as a line of code may well be;\n"
		" 20.0%   20.0%  x.py:4  source of line 4, which is as long as a line of code may well be;\n"
		" 10.0%   10.0%  x.py:8  source of line 8, which is as long as a line of code may well be;\n"
		"\n"
		"next\n");
	free(text);
	model_deinit(&m);
}

#define LOADS "py:py::loads:/usr/lib/python3.11/json/__init__.py"
#define GET "py:py::get:/srv/venv/lib/python3.11/site-packages/requests/api.py"
#define OWN_HINT " report --no-libraries' counts it for the functions of your own files"

/* Who wants to know which of the own lines to change, sees others' functions alone. */
static void test_time_in_libraries_may_count_for_who_calls_them(void **state)
{
	struct answer_options options = { .columns = 100,
					  .folder = "/srv",
					  .without_libraries = true };
	struct model m;
	size_t size;
	char *text;
	FILE *out;

	(void)state;
	init(&m);
	model_sample(&m, 500000000, MAIN " I:eval " F "@3 I:eval " LOADS " list_sort");
	model_sample(&m, 300000000, MAIN " I:eval " F "@4 I:eval " GET);
	model_sample(&m, 200000000, MAIN " I:eval " F "@4 list_sort");
	assert_screen_says(&m, 200, OWN_HINT);
	out = open_memstream(&text, &size);
	assert_ok(answer_write(m.profile, 0, &options, out));
	assert_int_equal(fclose(out), 0);
	assert_says(text, "Spent in: libraries 80 %, native 20 %\n"
			  "What libraries do counts for the functions of your own files that call them.\n");
	assert_says(text, "\n100.0%  100.0%  f         x.py        json 50, requests 30, list_sort 20\n\n");
	assert_says(text, "\n 50.0%   50.0%  x.py:3\n 50.0%   50.0%  x.py:4\n\n");
	assert_does_not_say(text, "--no-libraries");
	free(text);
	model_deinit(&m);
}

static void test_libraries_are_no_news_where_little_is_in_them(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 490000000, MAIN " I:eval " F "@3 I:eval " LOADS);
	model_sample(&m, 510000000, MAIN " I:eval " F "@4");
	assert_screen_does_not_say(&m, 200, "--no-libraries");
	model_deinit(&m);
	/* There is nothing of one's own to see. */
	init(&m);
	model_sample(&m, 970000000, GET " I:eval " LOADS);
	model_sample(&m, 30000000, MAIN);
	assert_screen_does_not_say(&m, 200, "--no-libraries");
	model_deinit(&m);
}

/* A library's own threads: who works there, and in which file. */
static void test_time_without_python_is_of_its_library(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 500000000, MAIN " I:eval " F "@3");
	model_sample(&m, 300000000,
		     "start:__GI___clone3 start:start_thread lib:serve lib:dgemm");
	model_sample(&m, 150000000,
		     "start:__GI___clone3 start:start_thread lib:serve c:memcpy");
	model_sample(&m, 50000000, "start:_start Py_FinalizeEx");
	assert_screen_says(&m, 100,
			   "50.0%   50.0%  [no Python code]  libother.so  dgemm 30, serve 15, end of Python 5\n");
	assert_screen_does_not_say(&m, 100, "clone");
	/* Of no library is most of it. */
	model_sample(&m, 900000000, "start:_start Py_FinalizeEx");
	assert_screen_says(&m, 100,
			   " [no Python code]              end of Python 50, dgemm (libother) 16");
	model_deinit(&m);
}

/* Defined nowhere, it has the room of that column. */
static void test_time_without_python_keeps_its_name(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 995000000,
		     MAIN " I:eval py:py::f:/srv/a_long_name_of_a_folder/and_another_one/app.py@3 "
			  "list_sort_of_a_long_name");
	model_sample(&m, 4000000, "start:_start Py_FinalizeEx");
	assert_screen_says(&m, 80, " [no Python code] ");
	assert_screen_says(&m, 60, " [no Python code] ");
	model_deinit(&m);
}

static void test_time_without_python_may_be_of_no_library(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 500000000, MAIN " I:eval " F "@3");
	model_sample(&m, 300000000, "start:__GI___clone3 lib:dgemm");
	model_sample(&m, 200000000, "start:_start Py_FinalizeEx");
	assert_screen_says(&m, 100,
			   " [no Python code]              dgemm (libother) 30, end of Python 20\n");
	model_deinit(&m);
	/* Its library need not be that of the heaviest function. */
	init(&m);
	model_sample(&m, 150000000, "start:__GI___clone3 c:inflate");
	model_sample(&m, 300000000, MAIN " I:eval " F "@3");
	model_sample(&m, 140000000, "start:__GI___clone3 lib:dgemm");
	model_sample(&m, 140000000, "start:__GI___clone3 lib:sgemm");
	model_sample(&m, 140000000, "start:__GI___clone3 lib:zgemm");
	model_sample(&m, 130000000, "start:__GI___clone3 lib:cgemm");
	assert_screen_says(&m, 100, " [no Python code]  libother.so  ");
	model_deinit(&m);
}

/* Polled, nothing is known of what own time was spent in, and nothing has its room. */
static void test_places_have_the_room_of_what_is_not_there(void **state)
{
	const char *row =
		"100.0%  function  a_folder/with_a_name/and_one_more/as_long/as/it/may_be/x.py\n";
	struct model m;

	(void)state;
	init(&m);
	m.profile->events.data[0].python_only = true;
	model_sample(&m, 700000000,
		     "py:py::function:/srv/a_folder/with_a_name/and_one_more/as_long/as/it/may_be/x.py@3");
	/* Not one column is left; "100.0%  " is before it, and no line end is in it. */
	assert_screen_says(&m, strlen("100.0%  ") + strlen(row) - 1, row);
	model_deinit(&m);
}

/* Long names of others, and places of what is little, take no room from it. */
static void test_what_is_hot_has_its_room(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 700000000, MAIN " I:eval " F "@3 list.__contains__");
	model_sample(&m, 50000000,
		     MAIN " I:eval py:py::made.<locals>.of.<locals>.a_function_with_a_name:/srv/x.py@5");
	model_sample(&m, 1000000,
		     MAIN " I:eval py:py::little:/srv/a_folder/with_a_file_of_a_long_name.py@7");
	assert_screen_says(&m, 80, " f                             x.py          list.__contains__ 93\n");
	model_deinit(&m);
}

/* Where nothing stands behind them, those with little time have all of their names. */
static void test_room_that_nobody_needs_is_used(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	m.profile->events.data[0].is_polled = true;
	m.profile->events.data[0].python_only = true;
	model_sample(&m, 990000000, MAIN " " F "@3");
	model_sample(&m, 5000000,
		     MAIN " py:py::Condition.a_name_of_more_than_24_letters:/srv/a_folder/threading.py@7");
	assert_screen_says(&m, 80, "  0.5%    0.5%  Condition.a_name_of_more_than_24_letters  a_folder/threading.py\n");
	model_deinit(&m);
}

/* What calls the hot function has no own time, and stands first by total. */
static void test_the_order_of_totals(void **state)
{
	struct model m;
	char *text;

	(void)state;
	init(&m);
	model_sample(&m, 600000000, MAIN " I:eval " G "@8 I:eval " F "@3");
	model_sample(&m, 400000000, MAIN " I:eval " F "@4");
	assert_screen_does_not_say(&m, 80, "  g ");
	text = ordered_screen(&m, 80, true);
	assert_says(text, "  0.0%  100.0%  <module>");
	assert_says(text, "\n100.0%  100.0%  f ");
	assert_says(text, "\n  0.0%   60.0%  g ");
	assert_true(strstr(text, "  f ") < strstr(text, "  g "));
	assert_says(text, "\n  0.0%   60.0%  x.py:8 ");
	free(text);
	model_deinit(&m);
}

/* Of a hundred samples chance moves shares by ten points; nothing is said from there on. */
static void test_few_samples_are_said(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	for (int i = 0; i < 25; i++)
		model_sample(&m, 1000000, MAIN " I:eval " F "@3");
	assert_screen_says(&m, 80, "\nSo few samples: a share may be off by 20 points.\n");
	/* A clock counts CPU time, but none the time with the GIL. */
	m.profile->events.data[0].kind = EVENT_GIL;
	assert_screen_says(&m, 120, "may be off by 20 points, and the time with the GIL by 40 %.\n");
	m.profile->events.data[0].kind = EVENT_ON_CPU;
	for (int i = 0; i < 75; i++)
		model_sample(&m, 1000000, MAIN " I:eval " F "@3");
	assert_screen_does_not_say(&m, 80, "So few samples");
	/* One that stands for a third of the time. */
	model_sample(&m, 50000000, MAIN " I:eval " F "@3");
	assert_screen_says(&m, 80, "\nSo few samples: a share may be off by 34 points.\n");
	model_deinit(&m);
}

/* What the recorder has counted is said once it is enough. */
static void check_counted(const char *subject, uint64_t few, uint64_t many,
			  const char *words)
{
	struct faults *faults;
	struct model m;

	init(&m);
	faults = &m.profile->recordings.data[0].faults;
	for (int i = 0; i < 900; i++)
		model_sample(&m, 1000000, MAIN " I:eval " F "@3");
	assert_ok(faults_add(faults, FAULT_OF_RECORDER, few, subject));
	assert_screen_does_not_say(&m, 100, words);
	faults->list.data[faults->list.count - 1].count = many;
	assert_screen_says(&m, 100, words);
	model_deinit(&m);
}

/* Less than a tenth is in every recording. */
static void test_time_without_samples_is_said(void **state)
{
	(void)state;
	check_counted(FAULT_WITHOUT_SAMPLES, 120000, 300000, "have no samples");
	check_counted(FAULT_WITHOUT_SAMPLES, 120000, 300000,
		      "\n300 ms of 1.20 s of CPU time have no samples: shares may be off by 25 points.\n");
}

/* A burst that is shorter than what polling may miss of a long one. */
static void check_short_time(bool python_only)
{
	const char *words = "\n70 ms of 116 ms of CPU time have no samples: shares may be off by 60 points.\n";
	struct faults *faults;
	struct model m;

	init(&m);
	m.profile->events.data[0].is_polled = true;
	m.profile->events.data[0].python_only = python_only;
	faults = &m.profile->recordings.data[0].faults;
	for (int i = 0; i < 46; i++)
		model_sample(&m, 1000000, MAIN " " F "@3");
	assert_ok(faults_add(faults, FAULT_OF_RECORDER, 35000, FAULT_WITHOUT_SAMPLES));
	assert_screen_does_not_say(&m, 100, "have no samples");
	assert_screen_says(&m, 100, "\nSo few samples: a share may be off by 15 points.\n");
	faults->list.data[faults->list.count - 1].count = 70000;
	assert_screen_says(&m, 100, words);
	assert_screen_says(&m, 100, "\nSo few samples: by chance alone, a share may be off by 15 points.\n");
	/* Of a second that is nothing. */
	for (int i = 0; i < 1000; i++)
		model_sample(&m, 1000000, MAIN " " F "@3");
	assert_screen_does_not_say(&m, 100, "have no samples");
	model_deinit(&m);
}

static void test_most_of_a_short_time_is_said(void **state)
{
	(void)state;
	check_short_time(true);
	check_short_time(false);
}

/* What polling missed, and where it was is not told by chance. */
static void test_late_samples_are_said(void **state)
{
	(void)state;
	check_counted(FAULT_LATE, 40, 100, "came too late");
	check_counted(FAULT_LATE, 40, 100,
		      "\nThe machine was busy, and 10 % of the samples came too late: shares may be off by 10 points.\n");
	check_counted(FAULT_LATE, 40, 500,
		      "\nThe machine was busy, and 36 % of the samples came too late: shares may be off by 36 points.\n");
}

/* Where the function that has none of the samples has all that is missing. */
static void test_late_samples_beside_missing_time(void **state)
{
	struct faults *faults;
	struct model m;

	(void)state;
	init(&m);
	faults = &m.profile->recordings.data[0].faults;
	for (int i = 0; i < 500; i++)
		model_sample(&m, 1000000, MAIN " I:eval " F "@3");
	assert_ok(faults_add(faults, FAULT_OF_RECORDER, 500, FAULT_LATE));
	assert_screen_says(&m, 100, "too late: shares may be off by 50 points.\n");
	/* Half of the time, and half of what is left of it: a quarter is seen. */
	assert_ok(faults_add(faults, FAULT_OF_RECORDER, 500000, FAULT_WITHOUT_SAMPLES));
	assert_screen_says(&m, 100, "have no samples: shares may be off by 50 points.\n");
	assert_screen_says(&m, 100, "too late: shares may be off by another 25 points.\n");
	model_deinit(&m);
}

/* By hand: a function with so many of the taken samples has none or all of the others. */
static void test_late_samples_in_one_function(void **state)
{
	(void)state;
	for (int taken = 1; taken <= 100; taken += 33)
		for (int late = 0; late <= 300; late += 60)
			for (int own = 0; own <= taken; own++) {
				double share = 100.0 * own / taken, all = taken + late;
				double least = 100.0 * own / all;
				double most = 100.0 * (own + late) / all;
				double bound = late_samples_points((uint64_t)late, (uint64_t)taken);

				assert_true(share - least < bound + 1e-9);
				assert_true(most - share < bound + 1e-9);
				if (own == taken)
					assert_true(share - least > bound - 1e-9);
			}
}

/* Where polling left something out, "none lost" would be half of the truth. */
static void test_samples_not_taken_are_in_the_first_line(void **state)
{
	struct faults *faults;
	struct model m;

	(void)state;
	init(&m);
	faults = &m.profile->recordings.data[0].faults;
	for (int i = 0; i < 900; i++)
		model_sample(&m, 1000000, MAIN " I:eval " F "@3");
	assert_screen_says(&m, 100, "   900 samples, none lost\n");
	assert_ok(faults_add(faults, FAULT_OF_RECORDER, 80, FAULT_LATE));
	assert_screen_says(&m, 100, "   900 samples, 8.2 % not taken\n");
	assert_ok(faults_add(faults, FAULT_OF_RECORDER, 20, FAULT_LEFT_OUT));
	assert_screen_says(&m, 100, "   900 samples, 10 % not taken\n");
	m.profile->events.data[0].lost = 7;
	assert_screen_says(&m, 100, "   900 samples, 7 lost, 10 % not taken\n");
	/* Of a part of the recording it is the share of all that is known. */
	assert_ok(faults_add(faults, FAULT_OF_RECORDER, 1900, FAULT_SAMPLES));
	assert_screen_says(&m, 100, "   900 samples, 7 lost, 5.0 % not taken\n");
	model_deinit(&m);
}

/* Nobody knows what stood there. */
static void test_recording_that_was_cut_off(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 1000000, MAIN " I:eval " F "@3");
	assert_screen_says(&m, 100, " 1 sample, none lost");
	assert_ok(faults_add(&m.profile->recordings.data[0].faults, FAULT_MISSING_BYTES, 9, NULL));
	assert_screen_says(&m, 100, " 1 sample, cut off: the end is missing\n");
	model_deinit(&m);
}

static void init_wall(struct model *m)
{
	init(m);
	m->profile->events.data[0].kind = EVENT_WALL;
	m->profile->events.data[0].python_only = true;
	m->profile->events.data[0].sample_period = 999;
	m->profile->events.data[0].is_freq = true;
}

/* Two sleeps of a second, which were watched: their length is no chance. */
static void test_few_samples_of_sleep_are_many_looks(void **state)
{
	struct model m;
	char *text;

	(void)state;
	init_wall(&m);
	model_sample(&m, 1000000000, MAIN " " F "@3 m:[idle]");
	model_sample(&m, 1000000000, MAIN " " G "@8 m:[idle]");
	for (int i = 0; i < 5; i++)
		model_sample(&m, 1001001, MAIN " " F "@4");
	assert_screen_does_not_say(&m, 100, "may be off");
	/* Where ticks came late, nobody knows what was between them. */
	model_sample(&m, 500000000, MAIN " " F "@4");
	text = screen(&m, 100);
	assert_does_not_say(text, "So few samples");
	assert_says(text, "\nSo short a recording, or so busy a machine: a share may be off by 21 points.\n");
	free(text);
	model_deinit(&m);
}

/* Threads ended before they were looked at again. */
static void test_wall_time_without_samples_is_said(void **state)
{
	struct faults *faults;
	struct model m;

	(void)state;
	init_wall(&m);
	faults = &m.profile->recordings.data[0].faults;
	for (int i = 0; i < 8400; i++)
		model_sample(&m, 1000000, MAIN " " F "@3");
	/* Some ms of each. */
	assert_ok(faults_add(faults, FAULT_OF_RECORDER, 80000,
			     FAULT_WALL_WITHOUT_SAMPLES));
	assert_screen_does_not_say(&m, 100, "have no samples");
	faults->list.data[faults->list.count - 1].count = 7600000;
	assert_screen_says(&m, 100, "\n7.60 s of 16.00 s of wall time have no samples: shares may be off by 48 points.\n");
	/* Many tasks of one thread have many times its time. */
	m.profile->events.data[0].kind = EVENT_TASKS;
	faults->list.data[faults->list.count - 1].count = 60000;
	assert_ok(faults_add(faults, FAULT_OF_RECORDER, 1000000, FAULT_TIME));
	assert_screen_does_not_say(&m, 100, "have no samples");
	assert_ok(faults_add(faults, FAULT_OF_RECORDER, 1940000,
			     FAULT_WALL_WITH_SAMPLES));
	assert_screen_says(&m, 100, "\n60 ms of 2.00 s of wall time have no samples: shares may be off by 3 points.\n");
	model_deinit(&m);
}

static void test_seconds_are_those_that_are_shown(void **state)
{
	static const struct {
		uint64_t ns;
		const char *says;
	} cases[] = {
		{ 999400000, "x.py   999 ms CPU" },
		{ 999600000, "x.py   1.00 s CPU" },
		{ 99994000000, "x.py   99.99 s CPU" },
		{ 99996000000, "x.py   100 s CPU" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct model m;

		init(&m);
		model_sample(&m, cases[i].ns, MAIN " " F);
		assert_screen_says(&m, 100, cases[i].says);
		model_deinit(&m);
	}
}

/* Polling knows nothing of what is between two looks. */
static void test_looks_that_were_far_apart_are_said(void **state)
{
	static const char words[] =
		"\nThe recorder had no processor for 34 % of the time: one wait or call is exact to about 12 ms, a sum\n  of many less so.\n";
	struct faults *faults;
	struct model m;

	(void)state;
	init_wall(&m);
	faults = &m.profile->recordings.data[0].faults;
	for (int i = 0; i < 4000; i++)
		model_sample(&m, 1000000, MAIN " " F "@3");
	assert_ok(faults_add(faults, FAULT_OF_RECORDER, 10000000, FAULT_TIME));
	assert_screen_does_not_say(&m, 100, "exact to");
	assert_ok(faults_add(faults, FAULT_OF_RECORDER, 3400000,
			     FAULT_RECORDER_KEPT_OFF));
	assert_ok(faults_add(faults, FAULT_OF_RECORDER, 12000,
			     FAULT_TICKS_APART));
	assert_screen_says(&m, 100, words);
	m.profile->events.data[0].kind = EVENT_GIL;
	assert_screen_says(&m, 100, words);
	m.profile->events.data[0].kind = EVENT_TASKS;
	assert_screen_does_not_say(&m, 100, "exact to");
	assert_screen_says(&m, 300,
			   "\nThe recorder had no processor for 34 % of the time: which tasks ran then is taken from the looks before and after.\n");
	/* CPU time is counted by the kernel. */
	m.profile->events.data[0].kind = EVENT_ON_CPU;
	assert_screen_does_not_say(&m, 100, "had no processor");
	/* It begins a little before, and ends a little behind. */
	m.profile->events.data[0].kind = EVENT_WALL;
	faults->list.data[1].count = 10000001;
	assert_screen_says(&m, 100, "\nThe recorder had no processor for 100 % of the time");
	model_deinit(&m);
}

/* A module that is outermost where a stack was cut is what the program imports. */
static void test_a_cut_stack_does_not_name_the_program(void **state)
{
	struct model m;
	char *text;

	(void)state;
	init(&m);
	model_sample(&m, 700000000,
		     "m:[truncated] py:py::<module>:/srv/json.py@1 I:eval " F
		     "@3");
	model_sample(&m, 200000000, MAIN " I:eval " F "@3");
	text = screen(&m, 100);
	assert_int_equal(strncmp(text, "x.py   ", 7), 0);
	free(text);
	model_deinit(&m);
}

static uint32_t thread(struct model *m, int tid, const char *name)
{
	struct profile_task task = { .pid = 100,
				     .tid = tid,
				     .comm = model_string(m, "python3"),
				     .name = model_string(m, name) };
	uint32_t id;

	assert_ok(profile_intern_task(m->profile, &task, &id));
	return id;
}

/* Programs that the Python program has started: by fork, and then by exec. */
static void test_time_without_python_is_of_its_programs(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 500000000, MAIN " I:eval " F "@3");
	m.task = model_process(&m, 101, "python3");
	model_sample(&m, 10000000, MAIN " I:eval " F "@4 fork_exec");
	m.task = model_process(&m, 101, "cc1");
	model_sample(&m, 300000000, "start:_start lib:parse");
	m.task = model_process(&m, 102, "as");
	model_sample(&m, 150000000, "start:_start lib:assemble");
	m.task = model_process(&m, 103, "ld");
	model_sample(&m, 5000000, "start:_start lib:link");
	assert_screen_says(&m, 100, " [no Python code]  of cc1, as ");
	/* More than all of that is of the Python's own thread of a library. */
	m.task = model_task(&m, 104, "pool");
	model_sample(&m, 600000000, "start:__GI___clone3 lib:serve lib:dgemm");
	assert_screen_does_not_say(&m, 100, " of cc1");
	assert_screen_does_not_say(&m, 100, " of pool");
	model_deinit(&m);
}

static void add_words(struct model *m, const char *const *words)
{
	for (; *words; words++)
		assert_true(vec_push(&m->profile->recordings.data[0].metadata.command,
				     *words));
}

/* Of threads alone no module body is seen: what they have in common is their name. */
static void test_threads_name_what_is_shown(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	m.task = thread(&m, 71, "worker");
	model_sample(&m, 700000000, G " I:eval " F "@3");
	m.task = thread(&m, 72, "worker");
	model_sample(&m, 100000000, G " I:eval " F "@3");
	assert_headed(&m, true, "worker");
	/* That only these ran does not make them the program. */
	assert_headed(&m, false, "python3, process 100");
	m.task = thread(&m, 73, "other");
	model_sample(&m, 100000000, G " I:eval " F "@3");
	/* Of several names that of their process. */
	assert_headed(&m, true, "python3, process 100");
	m.task = model_process(&m, 200, "python3");
	model_sample(&m, 100000000, G " I:eval " F "@3");
	assert_headed(&m, true, "Python code");
	model_deinit(&m);
}

/* Who records a thread has asked for it. */
static void test_a_recorded_thread_names_what_is_shown(void **state)
{
	const char *const words[] = { "kaa", "record", "-t", "71", NULL };
	struct model m;

	(void)state;
	init(&m);
	add_words(&m, words);
	m.task = thread(&m, 71, "worker");
	model_sample(&m, 700000000, G " I:eval " F "@3");
	assert_headed(&m, false, "worker");
	model_deinit(&m);
}

static void add_script(struct model *m, uint32_t pid, const char *script)
{
	const struct metadata_script added = { .pid = pid, .script = script };

	assert_true(vec_push(&m->profile->recordings.data[0].metadata.scripts,
			     added));
}

/* What the recorder has seen that processes run; the last one counts, as after exec. */
static void test_scripts_name_what_is_shown(void **state)
{
	const char *const words[] = { "kaa", "record", "-p", "100,200", NULL };
	struct model m;

	(void)state;
	init(&m);
	add_words(&m, words);
	add_script(&m, 200, "/srv/other.py");
	add_script(&m, 100, "first.py");
	add_script(&m, 100, "/srv/app.py");
	m.task = thread(&m, 71, "worker");
	model_sample(&m, 700000000, G " I:eval " F "@3");
	assert_headed(&m, false, "/srv/app.py");
	assert_headed(&m, true, "worker");
	m.task = model_process(&m, 200, "python3");
	model_sample(&m, 100000000, G " I:eval " F "@3");
	assert_headed(&m, false, "Python code");
	/* All of them run one. */
	for (size_t i = 0; i < 3; i++)
		m.profile->recordings.data[0].metadata.scripts.data[i].script = "/srv/app.py";
	assert_headed(&m, false, "/srv/app.py");
	/* The code that runs tells more. */
	model_sample(&m, 100000000, MAIN " I:eval " F "@3");
	assert_headed(&m, false, "/srv/x.py");
	model_deinit(&m);
}

/* After exec a thread's name is another program's. */
static void test_a_thread_goes_by_its_last_name(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	m.task = thread(&m, 100, "MainThread");
	model_sample(&m, 600000000, MAIN " I:eval " F "@3");
	m.task = thread(&m, 101, "worker");
	model_sample(&m, 300000000, G " I:eval " F "@3");
	assert_screen_says(&m, 100, " 66.7%          100      MainThread\n");
	m.task = model_process(&m, 100, "sh");
	model_sample(&m, 100000000, "k:exit");
	assert_screen_says(&m, 100, " 70.0%          100      sh\n");
	model_deinit(&m);
}

/* What runs before the script, in the same process, is not what was recorded. */
static void test_the_heavier_module_body_is_the_script(void **state)
{
	struct model m;
	char *text;

	(void)state;
	init(&m);
	model_sample(&m, 1000000,
		     "py:py::<module>:/srv/encodings.py@29");
	model_sample(&m, 700000000, MAIN " I:eval " F "@3");
	text = screen(&m, 100);
	assert_int_equal(strncmp(text, "x.py   ", 7), 0);
	free(text);
	model_deinit(&m);
}

/* A server has a thread for each request; what they have in common is the row's. */
static void test_threads_whose_numbers_differ_are_one_row(void **state)
{
	struct model m;
	char name[32];

	(void)state;
	init(&m);
	m.task = thread(&m, 100, "MainThread");
	model_sample(&m, 100000000, MAIN " I:eval " F "@3");
	for (int i = 0; i < 120; i++) {
		snprintf(name, sizeof(name), "Thread-%d (serve 2)", 5 + i);
		m.task = thread(&m, 1000 + i, name);
		model_sample(&m, 5000000, G " I:eval " F "@3");
		/* So many have a row each. */
		if (i == 7)
			assert_screen_says(&m, 100, "\n  3.6%          1007     Thread-12 (serve 2)\n");
	}
	for (int i = 0; i < 10; i++) {
		m.task = thread(&m, 2000 + i, "pool");
		model_sample(&m, 30000000, G " I:eval " F "@3");
	}
	assert_screen_says(&m, 100,
			   "\n total          thread   name\n"
			   " 60.0%                   Thread-N (serve 2), 120 threads\n"
			   " 30.0%                   pool, 10 threads\n"
			   " 10.0%          100      MainThread\n"
			   "\n");
	/* Of another process they are others. */
	m.task = model_process(&m, 3000, "python3");
	model_sample(&m, 1000000000, MAIN " I:eval " F "@3");
	assert_screen_says(&m, 100,
			   "\n total          process  thread   name\n"
			   " 50.0%          3000     3000     python3 (x.py)\n"
			   " 30.0%          100               Thread-N (serve 2), 120 threads\n");
	model_deinit(&m);
}

/* All that is left has names, too. */
static void test_other_threads_are_named_alike(void **state)
{
	struct model m;
	char name[32];

	(void)state;
	init(&m);
	m.task = thread(&m, 100, "MainThread");
	model_sample(&m, 1000000000, MAIN " I:eval " F "@3");
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "Thread-%d (%s)", i,
			 i % 2 ? "serve" : "read");
		m.task = thread(&m, 1000 + i, name);
		model_sample(&m, 100000, G " I:eval " F "@3");
	}
	assert_screen_says(&m, 100,
			   "20 other threads: Thread-N (read), Thread-N (serve)\n");
	/* What was ending is no thread of its own. */
	m.task = thread(&m, -1, "x");
	model_sample(&m, 100000, G " I:eval " F "@3");
	assert_screen_says(&m, 100,
			   "20 other threads: Thread-N (read), Thread-N (serve)\n");
	model_deinit(&m);
}

/* A version manager starts dozens of shells before the script. */
static void test_others_have_names(void **state)
{
	static const char *const comms[] = { "bash", "sed", "bash", "head", "tr", "bash" };
	struct model m;

	(void)state;
	init(&m);
	m.task = model_process(&m, 100, "python3");
	model_sample(&m, 900000000, MAIN " I:eval " F "@3");
	for (int i = 0; i < 6; i++) {
		m.task = model_process(&m, 200 + i, comms[i]);
		model_sample(&m, 1000000 - 1000 * (unsigned int)i, "I:main");
		if (i != 3)
			continue;
		assert_screen_says(&m, 100, "4 other processes: bash, sed, head\n");
	}
	assert_screen_says(&m, 100, "6 other processes: bash, sed, head, ...\n");
	model_deinit(&m);
}

static void add_command(struct model *m, const char *line)
{
	char *words = strdup(line), *save = NULL;

	for (char *word = strtok_r(words, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		const char *copy;

		assert_ok(metadata_copy(&m->profile->recordings.data[0].metadata,
					word, &copy));
		assert_true(vec_push(&m->profile->recordings.data[0].metadata.command,
				     copy));
	}
	free(words);
}

static void add_counter(struct model *m, uint64_t ms, const char *subject)
{
	assert_ok(faults_add(&m->profile->recordings.data[0].faults,
			     FAULT_OF_RECORDER, ms * 1000, subject));
}

#define RUN_FOREVER \
	"py:py::BaseEventLoop.run_forever:/usr/lib/python3.13/asyncio/base_events.py"

/* What was recorded is to be recorded again, in another way: the command can be typed. */
static void test_who_waits_is_told_how_to_see_where(void **state)
{
	static const struct {
		const char *command;
		const char *stack;
		const char *says[2];
		const char *not;
	} cases[] = {
		{ "kaa record -o x.data -F99 -gv python3 a.py -p 1", MAIN " " F,
		  { "processors: '", " record --mode wall python3 a.py -p 1' shows where.\n" },
		  "--async" },
		{ "kaa record --off-cpu -- python3 a.py", MAIN " " RUN_FOREVER " " F,
		  { " record --mode wall python3 a.py' shows where.\n",
		    " record --async python3 a.py' shows what its tasks of asyncio awaited.\n" } },
		/* A process that ended cannot be looked at again. This one is there anywhere. */
		{ "kaa record -p 1,1 --duration 3", MAIN " " F,
		  { " record --mode wall -p 1,1' shows where.\n" } },
		/* What is a value, and what the command? What has to be quoted? */
		{ "kaa record --mmap-pages 8 python3 a.py", MAIN " " F,
		  { " record --mode wall COMMAND' shows where.\n" } },
		{ "kaa record python3 a'b.py", MAIN " " F,
		  { " record --mode wall COMMAND' shows where.\n" } },
		{ "kaa record --pid=1", MAIN " " F,
		  { " record --mode wall -p 1' shows where.\n" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct model m;

		init(&m);
		add_command(&m, cases[i].command);
		add_counter(&m, 2000, FAULT_TIME);
		model_sample(&m, 300000000, cases[i].stack);
		for (size_t k = 0; k < 2 && cases[i].says[k]; k++)
			assert_screen_says(&m, 300, cases[i].says[k]);
		if (cases[i].not)
			assert_screen_does_not_say(&m, 300, cases[i].not);
		model_deinit(&m);
	}
}

/* All that waits show of a loop is that it waits: its tasks are seen elsewhere. */
static void test_a_loop_that_waits_is_told_of_its_tasks(void **state)
{
	static const char says[] =
		" record --async python3 a.py' shows what its tasks of asyncio awaited.\n";
	static const char name[] = "record --async";
	struct model m;

	(void)state;
	init(&m);
	m.profile->events.data[0].kind = EVENT_WAIT;
	add_command(&m, "kaa record --off-cpu -- python3 a.py");
	model_sample(&m, 950000000, MAIN " " F);
	assert_screen_does_not_say(&m, 300, name);
	model_sample(&m, 50000000, MAIN " " RUN_FOREVER " " F);
	assert_screen_does_not_say(&m, 300, name);
	model_sample(&m, 500000000, MAIN " " RUN_FOREVER " " F);
	assert_screen_says(&m, 300, says);
	m.profile->events.data[0].kind = EVENT_WALL;
	assert_screen_says(&m, 300, says);
	m.profile->events.data[0].kind = EVENT_TASKS;
	assert_screen_does_not_say(&m, 300, name);
	model_deinit(&m);
}

/* Of 2 s so many threads ran for 500 ms, 100 of these without samples, and waited for so many. */
static void check_kept_off(int threads, uint64_t ms, const char *says)
{
	struct model m;

	init(&m);
	m.profile->events.data[0].is_polled = true;
	add_counter(&m, 2000, FAULT_TIME);
	add_counter(&m, ms, FAULT_KEPT_OFF);
	add_counter(&m, 100, FAULT_WITHOUT_SAMPLES);
	for (int i = 0; i < threads; i++) {
		m.task = thread(&m, 100 + i, "worker");
		model_sample(&m, 400000000 / (unsigned int)threads, MAIN " " F);
	}
	assert_screen_says(&m, 300, says);
	model_deinit(&m);
}

/* Who had no processor is not told to look where it sleeps. */
static void test_waits_for_a_processor_are_no_sleep(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	add_counter(&m, 2000, FAULT_TIME);
	add_counter(&m, 700, FAULT_KEPT_OFF);
	model_sample(&m, 500000000, MAIN " " F);
	assert_screen_says(&m, 300, "25 % of the time. Else it waited, or other programs");
	model_deinit(&m);
	init(&m);
	add_counter(&m, 2000, FAULT_TIME);
	add_counter(&m, 1400, FAULT_KEPT_OFF);
	model_sample(&m, 500000000, MAIN " " F);
	assert_screen_says(&m, 300,
			   "It had a processor for 25 % of the time, and waited for one for 1.40 s: other programs had the processors.\n");
	assert_screen_does_not_say(&m, 300, "--mode wall");
	model_deinit(&m);
	check_kept_off(1, 1400, "25 % of the time, and waited for one for 1.40 s: other");
	check_kept_off(1, 1900, "25 % of the time, and waited for one for 1.50 s: other");
	check_kept_off(2, 1900, "25 % of the time, and its threads waited for one for 1.90 s in all: other");
	check_kept_off(2, 5000, "25 % of the time, and its threads waited for one for 5.00 s in all: other");
}

/* The first line and the note on waits tell of one time: what ran, sampled or not. */
static void test_cpu_time_is_one(void **state)
{
	struct model m;
	char *part;

	(void)state;
	init(&m);
	add_counter(&m, 2000, FAULT_TIME);
	add_counter(&m, 36, FAULT_WITHOUT_SAMPLES);
	model_sample(&m, 112000000, MAIN " " F);
	assert_screen_says(&m, 300, "148 ms CPU in 2.00 s");
	assert_screen_says(&m, 300, "It had a processor for 7.4 % of the time.");
	part = screen_with(&m, &(struct answer_options){ .columns = 300,
							 .is_filtered = true });
	assert_says(part, "   112 ms CPU   1 sample");
	free(part);
	m.profile->events.data[0].kind = EVENT_WALL;
	assert_screen_says(&m, 300, "112 ms of threads in 2.00 s");
	model_deinit(&m);
}

static void task_sample(struct model *m, uint64_t period, const char *words)
{
	model_task_sample(m, period, words, F "@3");
}

/* The time is of tasks: which they were stands on the screen, not what they did alone. */
static void test_tasks_are_named(void **state)
{
	char name[32];
	struct model m;

	(void)state;
	init(&m);
	m.profile->events.data[0].kind = EVENT_TASKS;
	task_sample(&m, 500000000, "task");
	assert_screen_does_not_say(&m, 100, "  task\n");
	task_sample(&m, 2000000000, "task b c");
	task_sample(&m, 1500000000, "task b c");
	task_sample(&m, 1000000000, "task a");
	model_sample(&m, 1000000000, MAIN);
	assert_screen_says(&m, 100,
			   "\n total  total, s  task\n"
			   " 58.3%      3.50  b c\n"
			   " 16.7%      1.00  a\n"
			   "  8.3%      0.50  [tasks of f without a name, or not read]\n"
			   "\n");
	for (int i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "task %c", 'n' + i);
		task_sample(&m, 100000000, name);
	}
	assert_screen_says(&m, 100, "  5.8%      0.40  4 others\n");
	m.profile->events.data[0].kind = EVENT_WALL;
	assert_screen_does_not_say(&m, 100, "  task\n");
	model_deinit(&m);
}

/* A program may number its tasks: a row for each of thousands tells nothing. */
static void test_tasks_whose_numbers_differ_are_one_row(void **state)
{
	char name[32];
	struct model m;

	(void)state;
	init(&m);
	m.profile->events.data[0].kind = EVENT_TASKS;
	task_sample(&m, 5000000000, "task main");
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "task job-%d of v2", i);
		task_sample(&m, 10000000, name);
		if (i == 7)
			assert_screen_says(&m, 100, "  1.6%      0.08  8 others\n");
	}
	assert_screen_says(&m, 100,
			   "\n total  total, s  task\n"
			   " 83.3%      5.00  main\n"
			   " 16.7%      1.00  job-N of v2, 100 names\n"
			   "\n");
	model_deinit(&m);
}

/* Task-1 to Task-5000 have no names in a recording: what they were made of tells them apart. */
static void test_tasks_without_a_name_are_told_by_their_coroutines(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	m.profile->events.data[0].kind = EVENT_TASKS;
	model_task_sample(&m, 2000000000, "task", F "@3");
	model_task_sample(&m, 3000000000, "task", F "@5");
	/* Nothing that the functions do not say. */
	assert_screen_does_not_say(&m, 100, "  task\n");
	model_task_sample(&m, 4000000000, "task", G "@9");
	model_task_sample(&m, 1000000000, "task", "m:[awaits sleep]");
	assert_screen_says(&m, 100,
			   "\n total  total, s  task\n"
			   " 50.0%      5.00  [tasks of f]\n"
			   " 40.0%      4.00  [tasks of g]\n"
			   " 10.0%      1.00  [tasks]\n"
			   "\n");
	model_task_sample(&m, 10000000000, "task a", G "@9");
	assert_screen_says(&m, 100,
			   " 50.0%     10.00  a\n"
			   " 25.0%      5.00  [tasks of f without a name, or not read]\n"
			   " 20.0%      4.00  [tasks of g without a name, or not read]\n"
			   "  5.0%      1.00  [tasks without a name, or not read]\n"
			   "\n");
	model_deinit(&m);
}

/* Threads of an executor are no tasks, and what a loop does itself is little. */
static void test_threads_are_no_tasks(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	m.profile->events.data[0].kind = EVENT_TASKS;
	model_sample(&m, 40000000, MAIN);
	assert_screen_says(&m, 100, "   40 ms of threads   ");
	task_sample(&m, 4500000000, "task");
	task_sample(&m, 500000000, "task a");
	assert_screen_says(&m, 100, "   5.00 s of tasks   ");
	model_sample(&m, 2000000000, G " I:eval " F "@3");
	assert_screen_says(&m, 100, "   5.00 s of tasks, 2.04 s of threads   ");
	model_deinit(&m);
}

/* Functions of one name are one part: which of them it was, the name does not tell. */
static void test_what_is_called_alike_is_one_part(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 300000000, MAIN " I:eval " F "@3 k:__x64_sys_futex");
	model_sample(&m, 200000000, MAIN " I:eval " F "@3 k:do_futex");
	model_sample(&m, 200000000, MAIN " I:eval " F "@3 malloc");
	model_sample(&m, 100000000, MAIN " I:eval " F "@3 free");
	assert_screen_says(&m, 100, "futex() 62, allocation 38\n");
	m.profile->events.data[0].kind = EVENT_WAIT;
	assert_screen_says(&m, 100, "Spent in: futex() 62 %, allocation 38 %\n");
	model_deinit(&m);
}

/* By name, the longest first; the rest is no kind of wait of its own. */
static void test_waits_for_more_calls_than_are_named(void **state)
{
	static const char *const calls[] = { "futex", "read", "poll", "wait4",
					     "select", "recvfrom", "pause",
					     "pselect6", "flock", "fsync" };
	struct model m;

	(void)state;
	init(&m);
	m.profile->events.data[0].kind = EVENT_WAIT;
	for (uint64_t i = 0; i < 10; i++) {
		char stack[128];

		snprintf(stack, sizeof(stack), MAIN " I:eval " F "@3 k:__x64_sys_%s",
			 calls[i]);
		model_sample(&m, (15 - i) * 10000000, stack);
	}
	assert_screen_says(&m, 300, "Spent in: futex() 14 %, read() 13 %, ");
	assert_screen_says(&m, 300, ", pselect6() 7.6 %, other waits 12 %\n");
	assert_screen_does_not_say(&m, 300, "kernel");
	model_deinit(&m);
}

/* The command says what it runs, where no stack does. */
static void test_the_command_names_what_is_shown(void **state)
{
	static const char *const commands[][8] = {
		{ "kaa", "record", "-F", "999", "python3", "jobs/run.py", "--fast" },
		{ "kaa", "record", "-g", "python3", "-m", "json.tool", "x.json" },
		{ "kaa", "record", "python3", "-X", "dev", "serve", "x.py" },
		{ "kaa", "record", "-p", "100", "--", "sleep", "x.py" },
	};
	static const char *const expected[] = { "jobs/run.py", "json.tool", "serve",
						"python3, process 100" };

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		struct model m;

		init(&m);
		add_words(&m, commands[i]);
		m.task = model_process(&m, 100, "python3");
		model_sample(&m, 700000000, G " I:eval " F "@3");
		assert_headed(&m, false, expected[i]);
		model_deinit(&m);
	}
}

/* Those that weigh something are one row, too; processes that run Python have their own. */
static void test_helpers_of_one_name_are_one_row(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	m.task = model_process(&m, 100, "python3");
	model_sample(&m, 500000000, MAIN " I:eval " F "@3");
	m.task = model_process(&m, 101, "python3");
	model_sample(&m, 100000000, G " I:eval " F "@3");
	for (int i = 0; i < 12; i++) {
		m.task = model_process(&m, 200 + i, i % 4 ? "bash" : "pyenv");
		model_sample(&m, i % 4 ? 40000000 : 13333333, "lib:main");
	}
	assert_screen_says(&m, 100, "\n total          process  name\n"
				    " 50.0%          100      python3 (x.py)\n"
				    " 36.0%                   bash (9 processes)\n"
				    " 10.0%          101      python3\n"
				    "  4.0%                   pyenv (3 processes)\n");
	/* Beside threads. */
	m.task = thread(&m, 105, "worker");
	model_sample(&m, 1000000000, G " I:eval " F "@3");
	assert_screen_says(&m, 100, "\n 18.0%                            bash (9 processes)\n");
	model_deinit(&m);
}

/* A program that runs: what is told of it beside its samples, and what shows its waits. */
static void test_a_program_that_runs(void **state)
{
	static const char *const command[] = { "kaa", "record", "-p" };
	struct answer_options options = { .columns = 80,
					  .is_live = true,
					  .script = "jobs/run" };
	struct metadata *metadata;
	char *text = NULL;
	struct model m;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	init(&m);
	metadata = &m.profile->recordings.data[0].metadata;
	for (size_t i = 0; i < 3; i++)
		assert_true(vec_push(&metadata->command, command[i]));
	metadata->first_sample_time = 1;
	metadata->last_sample_time = 10000000001;
	model_sample(&m, 700000000, G " I:eval " F "@3");
	assert_ok(answer_write(m.profile, 0, &options, out));
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strncmp(text, "jobs/run   ", 11), 0);
	assert_says(text, " top --mode wall -p PID'");
	assert_does_not_say(text, "record");
	free(text);
	model_deinit(&m);
}

static void test_processes_have_their_scripts(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	m.task = model_process(&m, 100, "python3");
	model_sample(&m, 700000000, MAIN " I:eval " F "@3");
	m.task = model_process(&m, 101, "serve.py");
	model_sample(&m, 200000000, "py:py::<module>:/srv/serve.py@3");
	m.task = model_process(&m, 102, "sh");
	model_sample(&m, 100000000, "lib:main");
	assert_screen_says(&m, 100, " 70.0%          100      python3 (x.py)\n"
				    " 20.0%          101      serve.py\n"
				    " 10.0%          102      sh\n");
	model_deinit(&m);
}

/* What a child was before it ran another program, says a few samples. */
static void test_a_program_of_its_own_has_no_script(void **state)
{
	static const char *const last[] = { "python3", "sh", "renamed", "python3" };
	struct profile *p;
	struct model m;

	(void)state;
	init(&m);
	p = m.profile;
	m.task = model_process(&m, 100, "python3");
	model_sample(&m, 600000000, MAIN " I:eval " F "@3");
	m.task = model_process(&m, 101, "python3");
	model_sample(&m, 10000000, MAIN " I:eval " F "@3");
	m.task = model_process(&m, 101, "sh");
	model_sample(&m, 190000000, "lib:main");
	m.task = model_process(&m, 102, "python3");
	model_sample(&m, 100000000, MAIN " I:eval " F "@3");
	m.task = model_process(&m, 102, "renamed");
	model_sample(&m, 90000000, MAIN " I:eval " F "@3");
	/* The same Python, but for a few samples with python3 -c. */
	m.task = model_process(&m, 103, "python3");
	model_sample(&m, 1000000, MAIN " I:eval " F "@3");
	model_sample(&m, 9000000, "py:py::<module>:<string>@1");
	for (size_t i = 0; i < p->tasks.count; i++) {
		uint32_t comm;

		model_check(profile_intern(p, last[p->tasks.data[i].pid - 100], &comm));
		assert_true(vec_push(&p->last_comms, comm));
	}
	assert_screen_says(&m, 100, " 20.0%          101      sh\n");
	assert_screen_says(&m, 100, "102      renamed (x.py)\n");
	assert_screen_says(&m, 100, "  1.0%          103      python3\n");
	model_deinit(&m);
}

static void test_workers_are_told_from_their_parent(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	m.task = model_process(&m, 100, "python3");
	model_sample(&m, 300000000, MAIN " I:eval " F "@3");
	m.task = model_child(&m, 101, "python3", 100);
	model_sample(&m, 200000000, MAIN " I:eval " MODEL_WORKER F "@3");
	/* Started by spawn, so it has no script itself; one whose parent has no samples. */
	m.task = model_child(&m, 102, "python3", 100);
	model_sample(&m, 150000000, MODEL_WORKER F "@3");
	m.task = model_child(&m, 103, "python3", 99);
	model_sample(&m, 130000000, MODEL_WORKER F "@3");
	/* Another script, a shell, and what that starts. */
	m.task = model_child(&m, 104, "python3", 100);
	model_sample(&m, 100000000, "py:py::<module>:/srv/serve.py@3");
	m.task = model_child(&m, 105, "sh", 100);
	model_sample(&m, 70000000, "lib:main");
	m.task = model_child(&m, 106, "python3", 105);
	model_sample(&m, 50000000, G " I:eval " F "@3");
	assert_screen_says(&m, 100, "\n total          process  name\n"
				    " 30.0%          100      python3 (x.py)\n"
				    " 20.0%          101      python3 (x.py), worker of 100\n"
				    " 15.0%          102      python3 (x.py), worker of 100\n"
				    " 13.0%          103      python3, worker\n"
				    " 10.0%          104      python3 (serve.py), child of 100\n"
				    "  7.0%          105      sh\n"
				    "  5.0%          106      python3\n");
	/* Beside threads: each main thread has the same name. */
	m.task = thread(&m, 100, "MainThread");
	model_sample(&m, 1000000000, MAIN " I:eval " F "@3");
	m.task = thread(&m, 110, "Thread-1");
	model_sample(&m, 2000000000, G " I:eval " F "@3");
	assert_screen_says(&m, 100, "\n total          process  thread   name\n"
				    " 50.0%          100      110      Thread-1\n"
				    " 32.5%          100      100      MainThread (x.py)\n"
				    "  5.0%          101      101      python3 (x.py), worker of 100\n");
	model_deinit(&m);
}

/* A process for each piece of work says nothing that the others do not say. */
static void test_children_that_are_alike_are_one_row(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	m.task = model_process(&m, 100, "python3");
	model_sample(&m, 200000000, MAIN " I:eval " F "@3");
	for (int i = 0; i < 8; i++) {
		m.task = model_child(&m, 200 + i, "python3", 100);
		model_sample(&m, 50000000, MAIN " I:eval " F "@3");
	}
	/* So few have rows. */
	assert_screen_says(&m, 100, "\n  8.3%          200      python3 (x.py), child of 100\n");
	m.task = model_child(&m, 208, "python3", 100);
	model_sample(&m, 50000000, MAIN " I:eval " F "@3");
	/* Other scripts, names and kinds are others. */
	m.task = model_child(&m, 301, "python3", 100);
	model_sample(&m, 140000000, "py:py::<module>:/srv/serve.py@3");
	m.task = model_child(&m, 302, "python3", 100);
	model_sample(&m, 120000000, MAIN " I:eval " MODEL_WORKER F "@3");
	m.task = model_child(&m, 303, "other", 100);
	model_sample(&m, 90000000, MAIN " I:eval " F "@3");
	assert_screen_says(&m, 100, "\n total          process  name\n"
				    " 45.0%                   python3 (x.py), 9 children of 100\n"
				    " 20.0%          100      python3 (x.py)\n"
				    " 14.0%          301      python3 (serve.py), child of 100\n"
				    " 12.0%          302      python3 (x.py), worker of 100\n"
				    "  9.0%          303      other (x.py), child of 100\n");
	/* Beside threads. */
	m.task = thread(&m, 105, "helper");
	model_sample(&m, 1000000000, G " I:eval " F "@3");
	assert_screen_says(&m, 100, "\n 22.5%                            python3 (x.py), 9 children of 100\n");
	model_deinit(&m);
}

/* Of what runs the numbers are known: a hint has them, and no word to replace. */
static void test_the_hint_about_waits_has_the_numbers(void **state)
{
	static const struct {
		const char *command[8];
		const char *says;
	} cases[] = {
		{ { "kaa", "record", "-p", "1" }, "wall -p 1'" },
		{ { "kaa", "record", "-gp1,1", "--", "sleep", "5" }, "wall -p 1,1'" },
		{ { "kaa", "record", "-F", "999", "--pid=1" }, "wall -p 1'" },
		{ { "kaa", "record", "--pid", "1" }, "wall -p 1'" },
		{ { "kaa", "record", "-t", "1" }, "wall -t 1'" },
		{ { "kaa", "record", "--tid=1" }, "wall -t 1'" },
		/* No process has such a number: it has ended. */
		{ { "kaa", "record", "-p", "2147483647" }, "wall -p PID'" },
		{ { "kaa", "record", "-p", "1,2147483647" }, "wall -p PID'" },
		/* Nobody knows what a file has there. */
		{ { "kaa", "record", "-p", "$(reboot)" }, "wall -p PID'" },
		{ { "kaa", "record", "-p" }, "wall -p PID'" },
		{ { "kaa", "record", "-a" }, "wall -p PID'" },
		{ { "kaa", "record", "python3", "-p", "100" }, "wall python3 -p 100'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct metadata *metadata;
		struct model m;

		init(&m);
		metadata = &m.profile->recordings.data[0].metadata;
		metadata->last_sample_time = 9000000000;
		for (size_t k = 0; k < 8 && cases[i].command[k]; k++)
			assert_true(vec_push(&metadata->command, cases[i].command[k]));
		m.task = model_process(&m, 100, "python3");
		model_sample(&m, 700000000, G " I:eval " F "@3");
		assert_screen_says(&m, 200, cases[i].says);
		model_deinit(&m);
	}
}

/* A state has one name, in stacks and in what time was spent on. */
static void test_states_have_one_name(void **state)
{
	size_t states = 0;

	(void)state;
	for (size_t i = 0; i < KAA_MARKER_COUNT; i++) {
		enum spent_kind kind =
			spent_kind_of_function(kaa_markers[i].name, false);
		char name[64];

		if (!spent_is_state(kind))
			continue;
		snprintf(name, sizeof(name), "[%s]", spent_kind_text(kind));
		assert_string_equal(kaa_markers[i].name, name);
		states++;
	}
	assert_int_equal(states, SPENT_KINDS - SPENT_IDLE);
	assert_string_equal(spent_kind_text(SPENT_GIL), "GIL wait");
	/* As recordings of earlier versions have it. */
	assert_int_equal(spent_kind_of_function("[waiting for a CPU]", false),
			 SPENT_CPU_WAIT);
}

/* What gcc appends to a static function's name when it links is not its name. */
static void test_names_of_linked_functions(void **state)
{
	struct model m;
	char *text;

	(void)state;
	init(&m);
	model_sample(&m, 700000000, MAIN " I:eval " F "@3 lib:dict_dealloc.lto_priv.0");
	model_sample(&m, 200000000, MAIN " I:eval " F "@3 lib:list_sort.lto_priv.12.cold");
	model_sample(&m, 100000000, MAIN " I:eval " G "@8 lib:main.main");
	text = screen(&m, 100);
	assert_says(text, "dict_dealloc (libother) 70, list_sort.cold (libother) 20");
	assert_says(text, "main.main (libother) 10");
	free(text);
	model_deinit(&m);
}

/* Allocation may be among what no symbol names: the first lines say how much that is. */
static void test_what_has_no_names_is_said(void **state)
{
	struct model m;
	char *text;

	(void)state;
	init(&m);
	model_sample(&m, 500000000, MAIN " I:eval " F "@3 python3.11+0x40");
	model_sample(&m, 200000000, MAIN " I:eval " F "@3 lib:deflate");
	model_sample(&m, 300000000, MAIN " I:eval " F "@3");
	text = screen(&m, 100);
	assert_says(text, "Spent in: native 70 % (50 % without names), interpreter 30 %\n");
	assert_says(text, "50 % is native time in C functions of python3.11 without names");
	assert_says(text, " doctor' says which file has the names");
	assert_does_not_say(text, "python3.11-dbg");
	free(text);
	/* What the distribution built has a package. */
	model_sample(&m, 600000000, MAIN " I:eval " F "@3 /usr/bin/python3.11+0x80");
	assert_screen_says(&m, 100, "python3.11-dbg gives them names");
	model_deinit(&m);
	/* Of all files, the most first. One that calls a library has its name. */
	init(&m);
	model_sample(&m, 100000000, MAIN " I:eval " F "@3 python3.11+0x40");
	model_sample(&m, 300000000, MAIN " I:eval " F "@3 lib:libother.so+0x90");
	model_sample(&m, 200000000, MAIN " I:eval " F "@3 python3.11+0x40 lib:deflate lib:libother.so+0x20");
	model_sample(&m, 300000000, MAIN " I:eval " F "@3 lib:sha256 lib:libother.so+0x20");
	model_sample(&m, 100000000, MAIN " I:eval " F "@3");
	text = screen(&m, 120);
	assert_non_null(strstr(text, "Spent in: native 90 % (40 % without names), interpreter 10 %\n"));
	assert_non_null(strstr(text, "40 % is native time in C functions without names: 30 % in libother.so, 10 % in python3.11.\n"));
	assert_non_null(strstr(text, "\nDebug symbols of libother.so give names, in this recording too (in Debian: packages -dbg, -dbgsym).\n"));
	assert_non_null(strstr(text, "\nAllocation, garbage collection and waits for the GIL may be among them, or inlined into others.\n"));
	free(text);
	model_deinit(&m);
	/* One package has all of glibc. */
	init(&m);
	model_sample(&m, 100000000, MAIN " I:eval " F "@3 c:libc.so.6+0x40");
	model_sample(&m, 100000000, MAIN " I:eval " F "@3");
	assert_screen_says(&m, 120, "\nDebug symbols of libc.so.6 give names, in this recording too (in Debian: package libc6-dbg).\n");
	model_deinit(&m);
}

/* Processes of other PID namespaces have no number, so they are one row. */
static void test_processes_outside_are_called_that(void **state)
{
	struct model m;
	char *text;

	(void)state;
	init(&m);
	model_sample(&m, 500000000, MAIN " I:eval " F "@3");
	m.task = model_process(&m, 0, "swapper");
	model_sample(&m, 200000000, "k:idle");
	assert_screen_says(&m, 100, "swapper");
	m.task = model_process(&m, 0, "nginx");
	model_sample(&m, 200000000, "main");
	text = screen(&m, 100);
	assert_says(text, "[processes outside this container]");
	assert_does_not_say(text, "nginx");
	free(text);
	model_deinit(&m);
}

/* To be freed; it names that thread. */
static char *screen_with_one_that_was_ending(struct model *m, uint64_t period)
{
	char *text;

	m->task = model_process(m, -1, ":-1");
	model_sample(m, period, "k:do_exit");
	text = screen(m, 100);
	assert_says(text, "[threads that were ending]");
	return text;
}

/* Of nine threads each has a row, as without a sample of one that was ending. */
static void test_what_was_ending_takes_no_row(void **state)
{
	struct model m;
	char name[32];
	char *text;

	(void)state;
	init(&m);
	for (int i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "worker%d", i);
		m.task = thread(&m, 100 + i, name);
		model_sample(&m, 100000000, MAIN " I:eval " F "@3");
	}
	text = screen_with_one_that_was_ending(&m, 100000);
	assert_says(text, "worker8");
	assert_does_not_say(text, "other threads");
	assert_does_not_say(text, "process");
	free(text);
	model_deinit(&m);
}

/* They have no number any more, and no name. */
static void test_threads_that_were_ending_are_called_that(void **state)
{
	struct model m;
	char *text;

	(void)state;
	init(&m);
	model_sample(&m, 500000000, MAIN " I:eval " F "@3");
	text = screen_with_one_that_was_ending(&m, 200000000);
	assert_does_not_say(text, ":-1");
	free(text);
	model_deinit(&m);
}

/* Line 1 of the model's functions is their first slot: no line is known. */
static void test_trampolines_are_said(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 950000000, MAIN " I:eval " F "@3");
	model_sample(&m, 50000000, MAIN " I:eval " G "@1");
	assert_screen_does_not_say(&m, 120, "are not known");
	model_sample(&m, 1000000000, MAIN " I:eval " G "@1 lib:deflate");
	assert_screen_says(&m, 120, "52 % of the time in Python is in functions whose lines are not known");
	model_deinit(&m);
}

/* Also where it has no names, and where Cython made them. */
static void test_an_extension_is_called_as_its_module(void **state)
{
	const struct {
		const char *leaf, *text;
	} cases[] = {
		{ "lib:_index.cpython-313-x86_64-linux-gnu.so+0x40",
		  "_index+0x40 100\n" },
		{ "lib:libz.so.1+0x40", "libz.so.1+0x40 100\n" },
		{ "lib:__pyx_pw_3app_11libother.so_4Shop_7sold",
		  "Shop.sold (libother) 100\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct model m;
		char stack[160];

		init(&m);
		snprintf(stack, sizeof(stack), MAIN " I:eval " F "@3 %s",
			 cases[i].leaf);
		model_sample(&m, 700000000, stack);
		assert_screen_says(&m, 100, cases[i].text);
		model_deinit(&m);
	}
}

/* Also where names leave little room; an address alone says nothing. */
static void test_what_has_no_room_is_said(void **state)
{
	static const char why[] =
		"+: and others, each with less; annotate shows them\n";
	struct model m;
	char *text;

	(void)state;
	init(&m);
	model_sample(&m, 600000000,
		     "py:py::a_class_of_this_program.its_method:/srv/x.py@3 I:eval python3.11+0x5fe2a0");
	model_sample(&m, 300000000,
		     "py:py::a_class_of_this_program.its_method:/srv/x.py@3 I:eval");
	model_sample(&m, 100000000, "py:py::g:/srv/x.py@8 I:eval");
	text = screen(&m, 72);
	assert_says(text, "  python3.11 60 +\n");
	assert_says(text, why);
	free(text);
	text = screen(&m, 120);
	assert_says(text, "  python3.11+0x5fe2a0 60, interpreter 30\n");
	assert_does_not_say(text, why);
	free(text);
	model_deinit(&m);
}

/* "allocation 41, others 56" would not say what most of the time was spent in. */
static void test_others_do_not_hide_what_is_heavy(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 410000000,
		     "py:py::f:/srv/x.py@3 I:eval malloc_of_all");
	model_sample(&m, 390000000,
		     "py:py::f:/srv/x.py@3 I:eval lookup_of_all");
	model_sample(&m, 200000000, "py:py::f:/srv/x.py@3 I:eval");
	assert_screen_says(&m, 76, "  malloc_of_all 41, lookup_of_all 39 +\n");
	assert_screen_says(&m, 68, "  malloc_of_all 41, others 59\n");
	model_deinit(&m);
}

static void test_shares_add_up(void **state)
{
	double sum[2] = {};
	int table = -1;
	struct model m;
	char *text, *save = NULL;

	(void)state;
	init(&m);
	for (unsigned int i = 0; i < 60; i++) {
		char stack[128];

		snprintf(stack, sizeof(stack), MAIN " I:eval py:py::f%u:/srv/x.py@%u",
			 i, 100 + i);
		model_sample(&m, (i < 20 ? 900 : 10) + i, stack);
	}
	model_sample(&m, 5, "_start");
	text = screen(&m, 100);
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "   own", 6))
			table++;
		else if (strchr(line, '%') == line + 5 && table >= 0)
			sum[table] += atof(line);
	}
	assert_int_equal(table, 1);
	/* A row may be rounded by 0.05. */
	for (size_t i = 0; i < 2; i++)
		assert_true(sum[i] > 99 && sum[i] < 101);
	free(text);
	model_deinit(&m);
}

static void test_no_line_is_too_long(void **state)
{
	static const size_t widths[] = { 60, 80, 100, 132, 200 };
	struct model m;
	char *text, *save;

	(void)state;
	init(&m);
	model_sample(&m, 50,
		     MAIN " I:eval "
			  "py:py::Orders.with_a_very_long_name_of_its_own.<locals>.and_a_function_in_it:"
			  "/srv/a/package/in/many/folders/below/the/current/one/module.py@12345 "
			  "lib:a_native_function<with<many,template>,arguments>::of_its_class");
	model_sample(&m, 20, MAIN " I:eval " F "@3");
	model_sample(&m, 10, "lib:no_python_at_all");
	m.task = model_task(&m, 4321, "a-name-of-15-by");
	model_sample(&m, 9, MAIN " I:eval " G "@4 k:__x64_sys_read");
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		text = screen(&m, widths[i]);
		/* The end tells functions apart. */
		assert_says(text, "_in_it ");
		save = NULL;
		/* The first lines are sentences. */
		for (char *line = strtok_r(strstr(text, "   own"), "\n", &save);
		     line; line = strtok_r(NULL, "\n", &save))
			if (printable_width(line, strlen(line)) > widths[i])
				fail_msg("at %zu: %s", widths[i], line);
		free(text);
	}
	model_deinit(&m);
}

/* A file's name alone takes the room that there is for it and the function. */
static void test_long_names_of_files(void **state)
{
	struct model m;
	char *text;

	(void)state;
	init(&m);
	model_sample(&m, 50,
		     MAIN " I:eval "
			  "py:py::a_function_of_some_length:"
			  "/srv/a/module_with_a_name_that_is_long_itself.py@12345 "
			  "lib:a_native_function<with<many,template>,arguments>::of_its_class");
	for (size_t columns = 60; columns < 120; columns++) {
		text = screen(&m, columns);
		assert_says(text, "100.0%  100.0%  ");
		for (const char *line = strstr(text, "   own"); *line;
		     line += strcspn(line, "\n") + 1)
			assert_true(strcspn(line, "\n") <= columns ||
				    strncmp(line, "next", 4) == 0);
		free(text);
	}
	model_deinit(&m);
}

static void test_hostile_names_are_no_escapes(void **state)
{
	struct model m;
	char *text;

	(void)state;
	init(&m);
	model_sample(&m, 3, "I:eval py:py::f\x1b[2J:/srv/x.py@3 lib:n\x1b]0;x");
	text = screen(&m, 80);
	assert_null(strchr(text, '\x1b'));
	assert_says(text, "f?[2J");
	free(text);
	model_deinit(&m);
}

static void test_there_is_no_screen_without_python(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 3, "_start main");
	assert_int_equal(answer_event(m.profile), PROFILE_NONE);
	model_sample(&m, 3, "_start main I:eval " F);
	assert_int_equal(answer_event(m.profile), 0);
	m.profile->events.data[0].kind = EVENT_OCCURRENCE;
	assert_int_equal(answer_event(m.profile), 0);
	m.profile->events.data[0].kind = EVENT_DUMMY;
	assert_int_equal(answer_event(m.profile), PROFILE_NONE);
	m.profile->events.data[0].kind = EVENT_WAIT;
	assert_int_equal(answer_event(m.profile), 0);
	model_deinit(&m);
}

/* --- Places ------------------------------------------------------------- */

static void add_file(struct model *m, const char *path)
{
	struct profile_frame frame = { .kind = PROFILE_FRAME_PYTHON,
				       .symbol = PROFILE_NONE,
				       .dso = PROFILE_NONE };
	uint32_t id;

	frame.file = frame.address = model_string(m, path);
	model_check(profile_intern_frame(m->profile, &frame, &id));
}

static void test_places(void **state)
{
	static const struct {
		const char *path;
		const char *name;
	} cases[] = {
		{ "/srv/shop/orders.py", "orders.py" },
		{ "/srv/shop/lib/a.py", "lib/a.py" },
		{ "/srv/shopping/b.py", "/srv/shopping/b.py" },
		{ "/usr/lib/python3.11/json/decoder.py", "json/decoder.py" },
		{ "/opt/lib/python3.13t/abc.py", "abc.py" },
		{ "/usr/lib/python3/dist-packages/six.py", "six.py" },
		{ "/v/lib/python3.12/site-packages/numpy/core/x.py",
		  "numpy/core/x.py" },
		/* Two of one name keep their paths. */
		{ "/v/lib/python3.12/site-packages/app/run.py",
		  "/v/lib/python3.12/site-packages/app/run.py" },
		{ "/srv/shop/app/run.py", "/srv/shop/app/run.py" },
		{ "<frozen importlib._bootstrap>",
		  "<frozen importlib._bootstrap>" },
		{ "./tool.py", "tool.py" },
		{ "/usr/lib/python3.x/c.py", "/usr/lib/python3.x/c.py" },
		{ "/a/site-packages/", "/a/site-packages/" },
		{ "", "" },
	};
	_cleanup_place_names_ struct place_names *names = NULL;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		add_file(&m, cases[i].path);
	assert_ok(place_names_create(m.profile, "/srv/shop", &names));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(
			place_name(names, model_string(&m, cases[i].path)),
			cases[i].name);
	assert_string_equal(place_name(names, PROFILE_NONE), "");
	model_deinit(&m);
}

static void test_no_folder(void **state)
{
	const char *const path = "/srv/x.py";
	struct model m;

	(void)state;
	model_init(&m, NULL);
	add_file(&m, path);
	for (const char **folder = (const char *[]){ "/", "", NULL };;
	     folder++) {
		_cleanup_place_names_ struct place_names *names = NULL;

		assert_ok(place_names_create(m.profile, *folder, &names));
		assert_string_equal(place_name(names, model_string(&m, path)),
				    path);
		if (!*folder)
			break;
	}
	model_deinit(&m);
}

static void test_what_fits(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	(void)state;
	fit_end(&out, "abc", 5);
	assert_string_equal(out.data, "abc  ");
	strbuf_clear(&out);
	fit_end(&out, "abcdefgh", 6);
	assert_string_equal(out.data, "...fgh");
	strbuf_clear(&out);
	fit_lines(&out, "ab cd   ef\n\nabcdefghij kl\nabcdef\n", 6);
	assert_string_equal(out.data,
			    "ab cd\n  ef\n\nabcdefghij\n  kl\nabcdef\n");
	strbuf_clear(&out);
	fit_lines(&out, "it's not 'a b c', and (x 'd e') of 12 f\n", 12);
	assert_string_equal(out.data,
			    "it's not\n  'a b c',\n  and (x\n  'd e') of\n  12 f\n");
	strbuf_clear(&out);
	/* No line has room for it: the terminal breaks it, and it is copied whole. */
	fit_lines(&out, "see 'a long command' now\n", 10);
	assert_string_equal(out.data, "see\n  'a long command'\n  now\n");
	strbuf_clear(&out);
	/* Threads of a pool are told apart by their ends. */
	fit_middle(&out, "ThreadPoolExecutor-0_12", 12);
	assert_string_equal(out.data, "Thr...r-0_12");
	strbuf_clear(&out);
	/* A mark that has no other one begins no quotation. */
	fit_lines(&out, "see 'a long way\n", 10);
	assert_string_equal(out.data, "see 'a\n  long way\n");
	strbuf_clear(&out);
	fit_begin(&out, "abcdefgh", 8, 6);
	assert_string_equal(out.data, "abc...");
	strbuf_clear(&out);
	fit_begin(&out, "abcdef", 6, 6);
	assert_string_equal(out.data, "abcdef");
}

/* "0.0 %" tells nothing: it is among the others. */
static void test_what_rounds_to_nothing_is_left_out(void **state)
{
	struct model m;
	char *text;

	(void)state;
	init(&m);
	model_sample(&m, 999000, MAIN " I:eval " F "@3");
	model_sample(&m, 600, MAIN " I:eval " G "@3");
	model_sample(&m, 400, "py:py::_find_spec:<frozen importlib._bootstrap>@9");
	text = screen(&m, 80);
	assert_says(text, "  0.1%    0.1%  g ");
	assert_does_not_say(text, "_find_spec");
	assert_says(text, "  0.0%          1 other function\n");
	free(text);
	model_deinit(&m);
}

#define LAMBDA "Report.build.<locals>.<lambda>"
#define MANAGER "BaseManager._get_queryset_methods.<locals>.create_method.<locals>.manager_method"

static void test_names_keep_both_ends(void **state)
{
	static const struct {
		const char *name, *expected;
	} cases[] = {
		{ "dedupe", "dedupe  " },
		{ LAMBDA, LAMBDA },
		{ LAMBDA, "Report.build...<lambda> " },
		{ LAMBDA, "...build...<lambda> " },
		{ LAMBDA, "Repo...<lambda>" },
		{ MANAGER, "BaseManager...manager_method   " },
		{ MANAGER, "Bas...manager_method" },
		{ MANAGER, "...manager_method  " },
		{ MANAGER, "man...method" },
		{ "Orders.with_items.sorted_by_price", "Orders...sorted_by_price" },
		{ "get_prefetch_querysets", "get_..._querysets" },
		{ "outer.<locals>.<lambda>.<locals>.inner", "outer...inner       " },
	};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		strbuf_clear(&out);
		fit_name(&out, cases[i].name, strlen(cases[i].expected));
		assert_string_equal(out.data, cases[i].expected);
	}
	for (size_t width = 3; width < 100; width++) {
		strbuf_clear(&out);
		fit_name(&out, MANAGER, width);
		assert_int_equal(out.len, width);
	}
}

#define PACKAGES "/srv/venv/lib/python3.12/site-packages/"

/* Functions of Django and SymPy, in a terminal of 80 columns. */
static void test_long_names_are_told_apart(void **state)
{
	static const struct {
		const char *name, *file, *shown, *shown_file;
	} functions[] = {
		{ MANAGER, PACKAGES "django/db/models/manager.py", "...manager_method ",
		  "/manager.py" },
		{ "convert_exception_to_response.<locals>.inner",
		  PACKAGES "django/core/handlers/exception.py", " convert_",
		  "/exception.py" },
		{ "SQLCompiler.results_iter", PACKAGES "django/db/models/sql/compiler.py",
		  " SQL", "/compiler.py" },
		{ "__cacheit.<locals>.func_wrapper.<locals>.wrapper",
		  PACKAGES "sympy/core/cache.py", " __cacheit...wrapper ", "/cache.py" },
		{ LAMBDA, "/srv/monthly/report_of_the_month.py", "build...<lambda> ",
		  "_of_the_month.py" },
		{ "Report.totals.<locals>.<lambda>", "/srv/monthly/report_of_the_month.py",
		  "totals...<lambda> ", "_of_the_month.py" },
	};
	enum { COUNT = sizeof(functions) / sizeof(*functions) };
	struct model m;
	char *text, *row;

	(void)state;
	init(&m);
	for (unsigned int i = 0; i < COUNT; i++) {
		char stack[256];

		snprintf(stack, sizeof(stack), MAIN " I:eval py:py::%s:%s@%u list_sort",
			 functions[i].name, functions[i].file, 3 + i);
		model_sample(&m, 100 - i, stack);
	}
	text = screen(&m, 80);
	row = strstr(text, "spent in, %\n");
	assert_non_null(row);
	for (unsigned int i = 0; i < COUNT; i++) {
		size_t n;

		row += strcspn(row, "\n") + 1;
		n = strcspn(row, "\n");
		assert_true(n <= 80);
		assert_non_null(memmem(row, n, functions[i].shown,
				       strlen(functions[i].shown)));
		assert_non_null(memmem(row, n, functions[i].shown_file,
				       strlen(functions[i].shown_file)));
		assert_non_null(memmem(row, n, "list_", strlen("list_")));
	}
	free(text);
	model_deinit(&m);
}

/* Of a trampoline no line is known; there is no text that needs the room. */
static void test_what_has_no_line_has_all_of_it(void **state)
{
	struct model m;

	(void)state;
	init(&m);
	model_sample(&m, 9, "py:py::" MANAGER ":" PACKAGES "django/db/models/manager.py@0");
	assert_screen_says(&m, 100, "manager.py (BaseManager._get_queryset_methods...create_method...manager_method)\n");
	assert_screen_says(&m, 140, "100.0%  django/db/models/manager.py (" MANAGER ")\n");
	model_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_hot_function_comes_first),
		cmocka_unit_test(test_time_without_python_is_of_its_programs),
		cmocka_unit_test(test_time_without_python_is_of_its_library),
		cmocka_unit_test(test_time_without_python_keeps_its_name),
		cmocka_unit_test(test_time_without_python_may_be_of_no_library),
		cmocka_unit_test(test_time_in_libraries_may_count_for_who_calls_them),
		cmocka_unit_test(test_libraries_are_no_news_where_little_is_in_them),
		cmocka_unit_test(test_a_cut_stack_does_not_name_the_program),
		cmocka_unit_test(test_threads_whose_numbers_differ_are_one_row),
		cmocka_unit_test(test_other_threads_are_named_alike),
		cmocka_unit_test(test_others_have_names),
		cmocka_unit_test(test_the_order_of_totals),
		cmocka_unit_test(test_places_have_the_room_of_what_is_not_there),
		cmocka_unit_test(test_what_is_hot_has_its_room),
		cmocka_unit_test(test_room_that_nobody_needs_is_used),
		cmocka_unit_test(test_few_samples_are_said),
		cmocka_unit_test(test_time_without_samples_is_said),
		cmocka_unit_test(test_most_of_a_short_time_is_said),
		cmocka_unit_test(test_late_samples_are_said),
		cmocka_unit_test(test_late_samples_beside_missing_time),
		cmocka_unit_test(test_late_samples_in_one_function),
		cmocka_unit_test(test_samples_not_taken_are_in_the_first_line),
		cmocka_unit_test(test_recording_that_was_cut_off),
		cmocka_unit_test(test_few_samples_of_sleep_are_many_looks),
		cmocka_unit_test(test_wall_time_without_samples_is_said),
		cmocka_unit_test(test_seconds_are_those_that_are_shown),
		cmocka_unit_test(test_looks_that_were_far_apart_are_said),
		cmocka_unit_test(test_threads_name_what_is_shown),
		cmocka_unit_test(test_a_recorded_thread_names_what_is_shown),
		cmocka_unit_test(test_scripts_name_what_is_shown),
		cmocka_unit_test(test_a_thread_goes_by_its_last_name),
		cmocka_unit_test(test_the_heavier_module_body_is_the_script),
		cmocka_unit_test(test_who_waits_is_told_how_to_see_where),
		cmocka_unit_test(test_a_loop_that_waits_is_told_of_its_tasks),
		cmocka_unit_test(test_waits_for_a_processor_are_no_sleep),
		cmocka_unit_test(test_cpu_time_is_one),
		cmocka_unit_test(test_tasks_are_named),
		cmocka_unit_test(test_tasks_whose_numbers_differ_are_one_row),
		cmocka_unit_test(test_tasks_without_a_name_are_told_by_their_coroutines),
		cmocka_unit_test(test_threads_are_no_tasks),
		cmocka_unit_test(test_what_is_called_alike_is_one_part),
		cmocka_unit_test(test_waits_for_more_calls_than_are_named),
		cmocka_unit_test(test_the_command_names_what_is_shown),
		cmocka_unit_test(test_helpers_of_one_name_are_one_row),
		cmocka_unit_test(test_states_have_one_name),
		cmocka_unit_test(test_a_program_that_runs),
		cmocka_unit_test(test_processes_have_their_scripts),
		cmocka_unit_test(test_a_program_of_its_own_has_no_script),
		cmocka_unit_test(test_workers_are_told_from_their_parent),
		cmocka_unit_test(test_children_that_are_alike_are_one_row),
		cmocka_unit_test(test_the_hint_about_waits_has_the_numbers),
		cmocka_unit_test(test_names_of_linked_functions),
		cmocka_unit_test(test_what_has_no_names_is_said),
		cmocka_unit_test(test_processes_outside_are_called_that),
		cmocka_unit_test(test_threads_that_were_ending_are_called_that),
		cmocka_unit_test(test_what_was_ending_takes_no_row),
		cmocka_unit_test(test_trampolines_are_said),
		cmocka_unit_test(test_an_extension_is_called_as_its_module),
		cmocka_unit_test(test_what_has_no_room_is_said),
		cmocka_unit_test(test_others_do_not_hide_what_is_heavy),
		cmocka_unit_test(test_shares_add_up),
		cmocka_unit_test(test_no_line_is_too_long),
		cmocka_unit_test(test_long_names_of_files),
		cmocka_unit_test(test_hostile_names_are_no_escapes),
		cmocka_unit_test(
			test_there_is_no_screen_without_python),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_no_folder),
		cmocka_unit_test(test_what_fits),
		cmocka_unit_test(test_what_rounds_to_nothing_is_left_out),
		cmocka_unit_test(test_names_keep_both_ends),
		cmocka_unit_test(test_long_names_are_told_apart),
		cmocka_unit_test(test_what_has_no_line_has_all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
