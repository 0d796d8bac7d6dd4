// SPDX-License-Identifier: GPL-2.0-only
/* What changed between recordings: pairs, sums, and what is called real. */
#include "assert_ok.h"
#include "assert_says.h"

#include <math.h>

#include "model.h"
#include "base/faults.h"
#include "explore/line_pairs.h"
#include "profile/chance.h"
#include "profile/file_pairs.h"
#include "profile/own_diff.h"
#include "view/diff_text.h"

#define MS 1000000

/* --- Chance ------------------------------------------------------------- */

static void assert_near(double value, double expected, double allowed)
{
	if (!(fabs(value - expected) <= allowed))
		fail_msg("%.12g is not %.12g", value, expected);
}

/* P(k = n events of `of`), by the definition. */
static double binomial(int n, int of, double p)
{
	return exp(lgamma(of + 1) - lgamma(n + 1) - lgamma(of - n + 1) +
		   n * log(p) + (of - n) * log1p(-p));
}

static double by_definition(int a, int b, double p)
{
	double above = 0, below = 0, least;

	for (int i = 0; i <= a + b; i++) {
		above += i >= a ? binomial(i, a + b, p) : 0;
		below += i <= a ? binomial(i, a + b, p) : 0;
	}
	least = 2 * (above < below ? above : below);
	return least < 1 ? least : 1;
}

/* --- The screen --------------------------------------------------------- */

static void put_source(void *arg, bool is_after, uint32_t file, uint32_t line,
		       struct strbuf *out)
{
	(void)arg;
	(void)file;
	strbuf_printf(out, "\tline %u %s, which is as long as a line may well be;",
		      line, is_after ? "after" : "before");
}

/* To be freed. */
static char *screen(const struct model *m, const struct own_diff *diff,
		    size_t columns, enum own_diff_by by)
{
	static const char *const paths[] = { "old.data", "new.data",
					     "third.data" };
	const struct diff_text_options options = { .columns = columns,
						   .folder = "/srv",
						   .paths = paths,
						   .by = by,
						   .percent_limit = 1,
						   .source = put_source };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_ok(diff_text_write(m->profile, diff, &options, out));
	assert_int_equal(fclose(out), 0);
	return text;
}

static void test_chance_of_counts(void **state)
{
	static const int counts[][2] = { { 0, 8 },   { 3, 5 },	   { 10, 10 },
					 { 100, 1 }, { 400, 470 }, { 2000, 1 },
					 { 7, 0 },   { 5000, 5300 } };
	static const double shares[] = { 0.5, 0.3, 0.01, 0.97 };

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		for (size_t k = 0; k < sizeof(shares) / sizeof(*shares); k++) {
			int a = counts[i][0], b = counts[i][1];
			double expected = by_definition(a, b, shares[k]);

			assert_near(chance_of_counts(a, b, shares[k]), expected,
				    1e-7 * expected + 1e-12);
		}
	}
	/* Where the exact one ends the normal one goes on. */
	assert_near(chance_of_counts(501000, 499100, 0.5) /
			    chance_of_counts(500800, 498900, 0.5),
		    1, 0.01);
	assert_near(chance_of_counts(0, 0, 0.5), 1, 0);
	assert_near(chance_of_counts(3, 4, 0), 1, 0);
}

/* From the tables in books. */
static void test_student(void **state)
{
	(void)state;
	assert_near(chance_half_width(1), 12.706, 0.001);
	assert_near(chance_half_width(4), 2.776, 0.001);
	assert_near(chance_half_width(30), 2.042, 0.001);
	assert_near(chance_half_width(INFINITY), 1.960, 0.001);
	assert_near(chance_of_t(4.604, 4), 0.01, 0.00001);
	assert_near(chance_of_t(-4.604, 4), 0.01, 0.00001);
	assert_near(chance_of_t(0, 3), 1, 1e-12);
}

static void test_many_at_once(void **state)
{
	/* 0.012 is above 3/5 of 0.05 / 5, but 0.039 is not above 4/5. */
	const double p[] = { 0.039, NAN, 0.001, 0.012, 0.8, 0.035 };
	const bool expected[] = { true, false, true, true, false, true };
	bool real[6];

	(void)state;
	assert_ok(chance_find_real(p, 6, 0.05, real));
	assert_memory_equal(real, expected, sizeof(real));
	assert_ok(chance_find_real(p, 6, 0.0001, real));
	for (size_t i = 0; i < 6; i++)
		assert_false(real[i]);
	assert_ok(chance_find_real(p, 0, 0.05, real));
}

/* --- Files -------------------------------------------------------------- */

static void put_files(struct model *m, const char *text, struct file_list *ret)
{
	char *copy = strdup(text), *save = NULL;

	for (char *path = strtok_r(copy, " ", &save); path;
	     path = strtok_r(NULL, " ", &save))
		assert_true(vec_push(ret, model_string(m, path)));
	free(copy);
}

/* pairs: "before=after ...", those of unequal paths */
static void check_files(const char *before, const char *after,
			const char *expected)
{
	struct file_list lists[2] = {};
	struct file_pairs pairs = {};
	struct strbuf text = STRBUF_INIT;
	struct model m;

	model_init(&m, NULL);
	put_files(&m, before, &lists[0]);
	put_files(&m, after, &lists[1]);
	assert_ok(file_pairs_find(m.profile, &lists[0], &lists[1], &pairs));
	vec_for_each(pair, &pairs.list)
		strbuf_printf(&text, "%s%s=%s", text.len ? " " : "",
			      m.profile->strings.data[pair->before],
			      m.profile->strings.data[pair->after]);
	assert_string_equal(text.data, expected);
	strbuf_deinit(&text);
	file_pairs_deinit(&pairs);
	vec_deinit(&lists[0]);
	vec_deinit(&lists[1]);
	model_deinit(&m);
}

static void test_files(void **state)
{
	(void)state;
	check_files("/a/x.py /a/y.py", "/a/x.py /a/y.py", "");
	/* Two checkouts. */
	check_files("/a/app/x.py /a/app/y.py", "/b/app/x.py /b/app/y.py",
		    "/a/app/x.py=/b/app/x.py /a/app/y.py=/b/app/y.py");
	check_files("/a/x/__init__.py /a/y/__init__.py",
		    "/b/y/__init__.py /b/x/__init__.py",
		    "/a/x/__init__.py=/b/x/__init__.py /a/y/__init__.py=/b/y/__init__.py");
	check_files("x.py", "/b/x.py", "x.py=/b/x.py");
	/* "u.py" is as much like one as like the other, but for where its neighbours are. */
	check_files("/before/u.py /before/a/u.py", "/after/a/u.py /after/u.py",
		    "/before/a/u.py=/after/a/u.py /before/u.py=/after/u.py");
	/* A copy in a folder below. */
	check_files("/p/x.py /p/y.py", "/p/after/x.py /p/after/y.py",
		    "/p/x.py=/p/after/x.py /p/y.py=/p/after/y.py");
	check_files("/p/before/x.py", "/p/x.py", "/p/before/x.py=/p/x.py");
	check_files("/p/x.py /p/y.py", "/p/after/x.py /p/y.py", "");
	/* Another name in the same folder. */
	check_files("/p/old.py /p/u.py", "/p/new.py /p/u.py", "/p/old.py=/p/new.py");
	check_files("old.py", "new.py", "old.py=new.py");
	check_files("/p/old.py", "/q/new.py", "");
	check_files("/p/old.py", "/p/new.py /p/other.py", "");
	/* Two environments, two Pythons; and what is not the same. */
	check_files("/v/lib/python3.11/site-packages/p/u.py /usr/lib/python3.11/json/e.py",
		    "/w/lib/python3.12/site-packages/q/u.py /usr/lib/python3.12/json/e.py",
		    "/usr/lib/python3.11/json/e.py=/usr/lib/python3.12/json/e.py");
	/* Both recordings know the folder, so it has not moved. */
	check_files("/p/main.py /p/a/u.py /p/a/v.py",
		    "/p/main.py /p/b/u.py /p/a/v.py", "");
	/* As good a match as another. */
	check_files("/a/x.py", "/b/x.py /c/x.py", "");
	check_files("<string>", "<stdin>", "");
}

/* --- Functions and lines ------------------------------------------------ */

enum { EVENTS_MAX = 8 };

/* Of a recording that has all lines of its code. */
static void add_python(struct model *m, uint32_t recording)
{
	const struct metadata_python python = { .version = 0x030d01f0 };

	assert_true(vec_push(
		&m->profile->recordings.data[recording].metadata.pythons, python));
}

/* Recordings of one event each. */
static void init(struct model *m, size_t count)
{
	struct profile_event event = { .kind = EVENT_ON_CPU,
				       .unit = EVENT_NANOSECONDS };
	uint32_t id;

	model_init(m, NULL);
	add_python(m, 0);
	m->profile->events.data[0].kind = EVENT_ON_CPU;
	m->profile->events.data[0].unit = EVENT_NANOSECONDS;
	for (size_t i = 1; i < count; i++) {
		model_check(profile_add_recording(m->profile, &event.recording));
		add_python(m, event.recording);
		event.name = model_string(m, "cycles");
		model_check(profile_add_event(m->profile, &event, &id));
	}
}

static void add(struct model *m, uint16_t event, uint32_t count, uint32_t stack)
{
	struct profile_sample sample = { .period = (uint64_t)count * MS,
					 .stack = stack,
					 .task = m->task,
					 .count = count,
					 .event = event };

	if (count)
		model_check(profile_add_sample(m->profile, &sample));
}

/* The n-th of a function's lines, which is at that line of a file. */
static uint32_t frame_at(struct model *m, const char *name, const char *path,
			 uint32_t def, uint32_t lines, uint32_t nth,
			 uint32_t line)
{
	char symbol_name[128];
	struct profile_symbol symbol = { .line = def };
	struct profile_frame frame = { .kind = PROFILE_FRAME_PYTHON,
				       .line = line };
	uint32_t id;

	snprintf(symbol_name, sizeof(symbol_name), "py::%s:%s", name, path);
	symbol.name = model_string(m, symbol_name);
	symbol.dso = model_dso(m, "[python]", PROFILE_DSO_PYTHON);
	symbol.start = (uint64_t)symbol.name << 20 | def << 10;
	symbol.end = symbol.start + 2 * lines;
	frame.file = model_string(m, path);
	frame.dso = symbol.dso;
	frame.rel = frame.address = symbol.start + 2 * nth + 1;
	model_check(profile_intern_symbol(m->profile, &symbol, &frame.symbol));
	model_check(profile_intern_frame(m->profile, &frame, &id));
	return id;
}

/* Of one whose lines follow each other. */
static uint32_t frame_of(struct model *m, const char *name, const char *path,
			 uint32_t def, uint32_t lines, uint32_t line)
{
	return frame_at(m, name, path, def, lines, line - def + 1, line);
}

static uint32_t stack_of(struct model *m, uint32_t parent, uint32_t frame)
{
	uint32_t stack;

	model_check(profile_stack_push(m->profile, parent, frame, &stack));
	return stack;
}

static struct own_diff *diff_of(const struct model *m, size_t before,
				size_t after, enum own_diff_by by)
{
	static const uint32_t events[EVENTS_MAX] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	const struct own_diff_options options = { .events = events,
						  .before = before,
						  .after = after,
						  .by = by };
	struct own_diff *diff = NULL;

	assert_ok(own_diff_create(m->profile, &options, &diff));
	return diff;
}

static const struct own_diff_entry *
find(const struct model *m, const struct own_diff_entry_vec *entries,
     const char *name, uint32_t line)
{
	vec_for_each(entry, entries) {
		const struct own_entry *one =
			entry->is_after ? &entry->after : &entry->before;

		if (strstr(profile_string(m->profile, one->name, "-"), name) &&
		    (!line || line == one->line))
			return entry;
	}
	fail_msg("no entry %s:%u", name, line);
	return NULL;
}

static void check(const struct model *m,
		  const struct own_diff_entry_vec *entries, const char *name,
		  uint32_t line, double before, double after)
{
	const struct own_diff_entry *entry = find(m, entries, name, line);

	assert_near(entry->own.before, before * MS, 1e-6);
	assert_near(entry->own.after, after * MS, 1e-6);
}

/* What runs have of an entry by its number is what it has. */
static void check_numbers(const struct own_diff *diff,
			  const struct own_diff_entry_vec *entries,
			  const struct own_diff_entry *entry)
{
	bool is_line = entries == &diff->lines;
	double sums[2] = {}, runs[2] = {};

	for (size_t i = 0; i < diff->runs.count; i++) {
		const struct own_diff_run *run = &diff->runs.data[i];
		const struct own_entry_vec *own =
			is_line ? &run->own->lines : &run->own->functions;
		const uint32_t *numbers = is_line ? run->line_entries :
						    run->function_entries;
		bool side = diff->noise.data[i].is_after;

		runs[side]++;
		for (size_t k = 0; k < own->count; k++)
			if (numbers[k] == entry->number)
				sums[side] += (double)own->data[k].own.period *
					      run->scale;
	}
	assert_near(sums[0] / runs[0], entry->own.before,
		    1e-6 * diff->all.before);
	assert_near(sums[1] / runs[1], entry->own.after,
		    1e-6 * diff->all.after);
}

static void check_sums(const struct own_diff *diff,
		       const struct own_diff_entry_vec *entries)
{
	double before = 0, after = 0;

	vec_for_each(entry, entries) {
		before += entry->own.before;
		after += entry->own.after;
		check_numbers(diff, entries, entry);
	}
	assert_near(before, diff->all.before, 1e-6 * diff->all.before);
	assert_near(after, diff->all.after, 1e-6 * diff->all.after);
}

static void test_sums(void **state)
{
	struct own_diff *diff;
	struct model m;
	uint32_t caller, f, g, native;

	(void)state;
	init(&m, 2);
	caller = stack_of(&m, PROFILE_NONE,
			  frame_of(&m, "main", "/srv/x.py", 50, 9, 55));
	f = stack_of(&m, caller, frame_of(&m, "f", "/srv/x.py", 1, 4, 2));
	g = stack_of(&m, caller, frame_of(&m, "g", "/srv/x.py", 9, 4, 10));
	native = stack_of(&m, PROFILE_NONE, model_frame(&m, "_start"));
	add(&m, 0, 300, f);
	add(&m, 0, 50, g);
	add(&m, 0, 5, native);
	add(&m, 1, 100, f);
	add(&m, 1, 40, caller);
	add(&m, 1, 6, native);
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	check(&m, &diff->functions, "py::f:", 0, 300, 100);
	check(&m, &diff->functions, "py::g:", 0, 50, 0);
	check(&m, &diff->functions, "py::main:", 0, 0, 40);
	check(&m, &diff->functions, "-", 0, 5, 6);
	assert_near(find(&m, &diff->functions, "main", 0)->total.before,
		    350 * MS, 1e-3);
	assert_near(find(&m, &diff->functions, "main", 0)->total.after,
		    140 * MS, 1e-3);
	check_sums(diff, &diff->functions);
	check_sums(diff, &diff->lines);
	/* The largest change first, and the sample more or less is noise. */
	assert_ptr_equal(find(&m, &diff->functions, "py::f:", 0),
			 &diff->functions.data[0]);
	assert_true(find(&m, &diff->functions, "py::f:", 0)->own.is_real);
	assert_true(find(&m, &diff->functions, "py::g:", 0)->own.is_real);
	assert_false(find(&m, &diff->functions, "-", 0)->own.is_real);
	/* One run each does not tell how runs differ: so much is assumed. */
	assert_near(diff->all.half_width,
		    1.96 * DIFF_NOISE_RUNS * hypot(355, 146) * MS, MS);
	assert_true(diff->all.is_real);
	own_diff_destroy(diff);
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_SHARE);
	assert_near(diff->all.before, 1, 1e-12);
	assert_true(isnan(diff->all.half_width));
	assert_near(find(&m, &diff->functions, "py::f:", 0)->own.after,
		    100 / 146.0, 1e-12);
	check_sums(diff, &diff->functions);
	check_sums(diff, &diff->lines);
	own_diff_destroy(diff);
	model_deinit(&m);
}

/* What one side has all of, and the other nothing, has changed. */
static void test_all_or_nothing(void **state)
{
	struct own_diff *diff;
	struct model m;

	(void)state;
	for (int by = OWN_DIFF_BY_TIME; by <= OWN_DIFF_BY_SHARE; by++) {
		init(&m, 2);
		add(&m, 0, 300,
		    stack_of(&m, PROFILE_NONE,
			     frame_of(&m, "f", "/srv/x.py", 1, 4, 2)));
		add(&m, 1, 100,
		    stack_of(&m, PROFILE_NONE,
			     frame_of(&m, "g", "/srv/x.py", 9, 4, 10)));
		diff = diff_of(&m, 1, 1, by);
		assert_int_equal(diff->functions.count, 2);
		vec_for_each(entry, &diff->functions)
			assert_true(entry->own.is_real);
		own_diff_destroy(diff);
		model_deinit(&m);
	}
}

static uint32_t line_of(struct model *m, const char *name, const char *path,
			uint32_t def, uint32_t lines, uint32_t line)
{
	return stack_of(m, PROFILE_NONE,
			frame_of(m, name, path, def, lines, line));
}

static void test_functions_that_moved(void **state)
{
	struct own_diff *diff;
	struct model m;

	(void)state;
	init(&m, 2);
	/* f grew, so that g and all below it moved by ten lines. */
	add(&m, 0, 30, line_of(&m, "f", "/a/x.py", 1, 5, 3));
	add(&m, 0, 20, line_of(&m, "g", "/a/x.py", 20, 5, 22));
	add(&m, 0, 10, line_of(&m, "<lambda>", "/a/x.py", 40, 1, 40));
	add(&m, 0, 11, line_of(&m, "<lambda>", "/a/x.py", 41, 1, 41));
	add(&m, 0, 9, line_of(&m, "gone", "/a/x.py", 60, 3, 61));
	add(&m, 1, 31, line_of(&m, "f", "/b/x.py", 1, 15, 3));
	add(&m, 1, 22, line_of(&m, "g", "/b/x.py", 30, 5, 32));
	add(&m, 1, 12, line_of(&m, "<lambda>", "/b/x.py", 50, 1, 50));
	add(&m, 1, 8, line_of(&m, "new", "/b/x.py", 70, 3, 71));
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	assert_int_equal(diff->files.list.count, 1);
	check(&m, &diff->functions, "py::f:", 0, 30, 31);
	check(&m, &diff->functions, "py::g:", 0, 20, 22);
	check(&m, &diff->functions, "py::gone:", 0, 9, 0);
	check(&m, &diff->functions, "py::new:", 0, 0, 8);
	/* Which of them is which cannot be told. */
	check(&m, &diff->functions, "<lambda>", 0, 21, 12);
	assert_int_equal(find(&m, &diff->functions, "<lambda>", 0)->functions,
			 2);
	assert_int_equal(diff->functions.count, 5);
	/* g has its lines, and moved; f was changed. */
	check(&m, &diff->lines, "py::g:", 32, 20, 22);
	assert_true(find(&m, &diff->lines, "py::f:", 0)->is_unpaired);
	assert_int_equal(find(&m, &diff->lines, "py::f:", 0)->after.line, 1);
	check_sums(diff, &diff->functions);
	check_sums(diff, &diff->lines);
	own_diff_destroy(diff);
	model_deinit(&m);
}

static uint32_t nth_of(struct model *m, const char *name, uint32_t def,
		       uint32_t lines, uint32_t nth, uint32_t line)
{
	return stack_of(m, PROFILE_NONE,
			frame_at(m, name, "/a/x.py", def, lines, nth, line));
}

/* Comments move a function's lines, and which of them they are stays. */
static void test_comments_in_a_function(void **state)
{
	struct own_diff *diff;
	struct model m;

	(void)state;
	init(&m, 2);
	add(&m, 0, 30, nth_of(&m, "f", 1, 6, 2, 2));
	add(&m, 0, 40, nth_of(&m, "f", 1, 6, 3, 3));
	add(&m, 0, 9, nth_of(&m, "f", 1, 6, 5, 9));
	add(&m, 0, 20, nth_of(&m, "f.<locals>.g", 4, 3, 2, 5));
	add(&m, 1, 31, nth_of(&m, "f", 1, 6, 2, 3));
	add(&m, 1, 42, nth_of(&m, "f", 1, 6, 3, 5));
	add(&m, 1, 8, nth_of(&m, "f", 1, 6, 4, 6));
	add(&m, 1, 22, nth_of(&m, "f.<locals>.g", 8, 3, 2, 9));
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	check(&m, &diff->lines, "py::f:", 3, 30, 31);
	check(&m, &diff->lines, "py::f:", 5, 40, 42);
	check(&m, &diff->lines, "<locals>.g:", 9, 20, 22);
	/* Those that one side alone has samples of. */
	check(&m, &diff->lines, "py::f:", 6, 0, 8);
	check(&m, &diff->lines, "py::f:", 9, 9, 0);
	assert_int_equal(diff->lines.count, 5);
	assert_false(diff->by_distance);
	check_sums(diff, &diff->lines);
	own_diff_destroy(diff);
	model_deinit(&m);
}

/* Number 12 is a line of g before, and after that one of f. */
static void test_a_line_is_its_own_recordings(void **state)
{
	struct own_diff *diff;
	struct model m;

	(void)state;
	init(&m, 2);
	add(&m, 0, 30, nth_of(&m, "f", 1, 6, 5, 5));
	add(&m, 0, 20, nth_of(&m, "g", 11, 4, 2, 12));
	add(&m, 1, 31, nth_of(&m, "f", 1, 6, 5, 12));
	add(&m, 1, 22, nth_of(&m, "g", 21, 4, 2, 22));
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	assert_int_equal(diff->lines.count, 2);
	check(&m, &diff->lines, "py::f:", 12, 30, 31);
	check(&m, &diff->lines, "py::g:", 22, 20, 22);
	vec_for_each(entry, &diff->lines)
		assert_int_equal(entry->before.name, entry->after.name);
	own_diff_destroy(diff);
	model_deinit(&m);
}

/* A line that two functions have, of which only one is as it was. */
static void test_a_line_of_two_functions(void **state)
{
	struct own_diff *diff;
	struct model m;
	uint32_t outer;

	(void)state;
	init(&m, 2);
	outer = nth_of(&m, "f", 1, 6, 3, 3);
	add(&m, 0, 30,
	    stack_of(&m, outer,
		     frame_at(&m, "f.<listcomp>", "/a/x.py", 3, 2, 1, 3)));
	add(&m, 0, 7, outer);
	outer = nth_of(&m, "f", 1, 9, 4, 4);
	add(&m, 1, 31,
	    stack_of(&m, outer,
		     frame_at(&m, "f.<listcomp>", "/a/x.py", 4, 2, 1, 4)));
	add(&m, 1, 8, outer);
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	assert_int_equal(diff->lines.count, 1);
	assert_near(diff->lines.data[0].own.before, 37 * MS, 1e-3);
	assert_near(diff->lines.data[0].own.after, 39 * MS, 1e-3);
	assert_false(diff->lines.data[0].is_unpaired);
	own_diff_destroy(diff);
	model_deinit(&m);
}

/* What was imported has only the lines that there are samples of. */
static void test_lines_without_tables(void **state)
{
	struct own_diff *diff;
	struct model m;
	char *text;

	(void)state;
	init(&m, 2);
	m.profile->recordings.data[1].metadata.pythons.count = 0;
	add(&m, 0, 30, nth_of(&m, "f", 1, 6, 3, 3));
	add(&m, 0, 20, nth_of(&m, "f", 1, 6, 4, 5));
	add(&m, 1, 31, nth_of(&m, "f", 11, 2, 1, 13));
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	check(&m, &diff->lines, "py::f:", 13, 30, 31);
	check(&m, &diff->lines, "py::f:", 5, 20, 0);
	text = screen(&m, diff, 80, OWN_DIFF_BY_TIME);
	assert_non_null(strstr(text, "\nNo line tables are known: a line is the one as far below its def as before.\n"));
	free(text);
	own_diff_destroy(diff);
	model_deinit(&m);
}

/* What is defined in it was edited, and the module has as many lines as before. */
static void test_a_module_around_an_edit(void **state)
{
	struct own_diff *diff;
	struct model m;
	char *text;

	(void)state;
	init(&m, 2);
	add(&m, 0, 30, line_of(&m, "f", "/a/x.py", 2, 5, 3));
	add(&m, 0, 20, nth_of(&m, "<module>", 1, 4, 3, 30));
	add(&m, 1, 31, line_of(&m, "f", "/a/x.py", 2, 15, 3));
	add(&m, 1, 22, nth_of(&m, "<module>", 1, 4, 3, 40));
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	check(&m, &diff->lines, "<module>", 40, 20, 22);
	check(&m, &diff->lines, "py::f:", 2, 30, 31);
	assert_true(find(&m, &diff->lines, "py::f:", 2)->is_unpaired);
	text = screen(&m, diff, 80, OWN_DIFF_BY_TIME);
	assert_non_null(strstr(text, "  [changed]\n"));
	assert_non_null(strstr(text, "\n[changed]: which lines were which before cannot be told, so they are one row.\n"));
	free(text);
	own_diff_destroy(diff);
	model_deinit(&m);
}

static void test_names_before_3_11(void **state)
{
	const struct metadata_python old = { .version = 0x03080af0 };
	struct own_diff *diff;
	struct model m;

	(void)state;
	init(&m, 2);
	m.profile->recordings.data[0].metadata.pythons.data[0] = old;
	add(&m, 0, 30, line_of(&m, "run", "/a/x.py", 1, 5, 3));
	add(&m, 0, 20, line_of(&m, "run", "/a/x.py", 20, 5, 22));
	add(&m, 0, 10, line_of(&m, "step", "/a/x.py", 40, 5, 42));
	add(&m, 1, 31, line_of(&m, "A.run", "/a/x.py", 1, 5, 3));
	add(&m, 1, 22, line_of(&m, "B.run", "/a/x.py", 20, 5, 22));
	add(&m, 1, 12, line_of(&m, "B.run.<locals>.step", "/a/x.py", 40, 5, 42));
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	assert_true(diff->by_last_name);
	check(&m, &diff->functions, "A.run", 0, 30, 31);
	check(&m, &diff->functions, "py::B.run:", 0, 20, 22);
	check(&m, &diff->functions, "step", 0, 10, 12);
	assert_int_equal(diff->functions.count, 3);
	check_sums(diff, &diff->lines);
	own_diff_destroy(diff);
	model_deinit(&m);
}

/* --- What is known of lines --------------------------------------------- */

static enum own_diff_lines known;

static enum own_diff_lines lines(void *arg, uint32_t before, uint32_t after)
{
	(void)arg;
	(void)before;
	(void)after;
	return known;
}

/* A line was put in at 5, and 9 was taken out. */
static uint32_t line_after(void *arg, uint32_t before, uint32_t after,
			   uint32_t line)
{
	(void)arg;
	(void)before;
	(void)after;
	if (line == 9)
		return 0;
	return line + (line >= 5 && line < 9);
}

static void test_lines_of_known_sources(void **state)
{
	static const uint32_t events[] = { 0, 1 };
	struct own_diff_options options = { .events = events,
					    .before = 1,
					    .after = 1,
					    .lines = lines,
					    .line_after = line_after };
	struct own_diff *diff;
	struct model m;

	(void)state;
	init(&m, 2);
	for (uint32_t line = 2; line <= 12; line++) {
		add(&m, 0, line, line_of(&m, "f", "/a/x.py", 1, 15, line));
		add(&m, 1, 100 + line, line_of(&m, "f", "/a/x.py", 1, 16, line));
	}
	known = OWN_DIFF_LINES_PAIRED;
	assert_ok(own_diff_create(m.profile, &options, &diff));
	check(&m, &diff->lines, "py::f:", 4, 4, 104);
	check(&m, &diff->lines, "py::f:", 6, 5, 106);
	check(&m, &diff->lines, "py::f:", 5, 0, 105);
	check(&m, &diff->lines, "py::f:", 12, 12, 112);
	vec_for_each(entry, &diff->lines)
		assert_true(entry->is_after || entry->before.line == 9);
	check_sums(diff, &diff->lines);
	own_diff_destroy(diff);
	known = OWN_DIFF_LINES_SAME;
	assert_ok(own_diff_create(m.profile, &options, &diff));
	assert_int_equal(diff->lines.count, 11);
	check(&m, &diff->lines, "py::f:", 9, 9, 109);
	own_diff_destroy(diff);
	model_deinit(&m);
}

/* --- Texts -------------------------------------------------------------- */

static void put_line(struct source *source, const char *line)
{
	assert_true(vec_push(&source->starts, source->text.len));
	strbuf_printf(&source->text, "%s\n", line);
}

/* A letter is a line; expected: the number of each after, '.' is gone. */
static void check_text(const char *before, const char *after,
		       const char *expected)
{
	struct source sources[2] = { { .text = STRBUF_INIT },
				     { .text = STRBUF_INIT } };
	struct strbuf found = STRBUF_INIT;
	struct line_pairs pairs = {};

	for (const char *c = before; *c; c++)
		put_line(&sources[0], (const char[]){ *c, '\0' });
	for (const char *c = after; *c; c++)
		put_line(&sources[1], (const char[]){ *c, '\0' });
	assert_ok(line_pairs_find(&sources[0], &sources[1], &pairs));
	for (size_t i = 1; i < pairs.count; i++)
		strbuf_printf(&found, "%c", pairs.data[i] ?
						    (int)('0' + pairs.data[i]) :
						    '.');
	assert_string_equal(found.data, expected);
	strbuf_deinit(&found);
	vec_deinit(&pairs);
	source_deinit(&sources[0]);
	source_deinit(&sources[1]);
}

static void test_texts(void **state)
{
	(void)state;
	check_text("abc", "abc", "123");
	check_text("abc", "axbc", "134");
	check_text("abcd", "acd", "1.23");
	check_text("abcde", "axcye", "1.3.5");
	check_text("", "abc", "");
	check_text("abc", "", "...");
	/* Equal lines in the order in which they stand. */
	check_text("axbxc", "xbxcx", ".1234");
	check_text("aab", "ab", "1.2");
}

/* Too long to be compared: the ends are. */
static void test_long_texts(void **state)
{
	struct source sources[2] = { { .text = STRBUF_INIT },
				     { .text = STRBUF_INIT } };
	struct line_pairs pairs = {};
	char line[32];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		bool is_end = i < 10 || i >= 19990;

		snprintf(line, sizeof(line), "%d", i);
		put_line(&sources[0], line);
		snprintf(line, sizeof(line), "%d", is_end ? i : i + 1);
		put_line(&sources[1], line);
	}
	assert_ok(line_pairs_find(&sources[0], &sources[1], &pairs));
	assert_int_equal(pairs.data[10], 10);
	assert_int_equal(pairs.data[12], 0);
	assert_int_equal(pairs.data[19991], 19991);
	vec_deinit(&pairs);
	source_deinit(&sources[0]);
	source_deinit(&sources[1]);
}

/* --- Noise -------------------------------------------------------------- */

enum { FUNCTIONS = 24, SAMPLES = 1500 };

static uint64_t random_state;

/* 0 to 1; the same numbers in each run of the test (xorshift64*). */
static double random_share(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (double)(random_state * 0x2545f4914f6cdd1du >> 11) /
	       (double)(UINT64_C(1) << 53);
}

/* From the normal distribution, nearly. */
static double random_normal(void)
{
	double sum = -6;

	for (size_t i = 0; i < 12; i++)
		sum += random_share();
	return sum;
}

/* A run that samples functions by their weights. */
static void record(struct model *m, uint16_t event, const uint32_t *stacks,
		   const double *weights, size_t samples)
{
	uint32_t counts[FUNCTIONS] = {};
	double all = 0;

	for (size_t i = 0; i < FUNCTIONS; i++)
		all += weights[i];
	for (size_t i = 0; i < samples; i++) {
		double at = random_share() * all;
		size_t k = 0;

		for (; k < FUNCTIONS - 1 && at >= weights[k]; k++)
			at -= weights[k];
		counts[k]++;
	}
	for (size_t i = 0; i < FUNCTIONS; i++)
		add(m, event, counts[i], stacks[i]);
}

struct trial {
	size_t runs;
	/* How much the functions of a run differ from those of another. */
	double spread;
	/* Points that the first function gains. */
	double planted;
	enum own_diff_by by;
	/* After takes so many times the samples. */
	double longer;
	/* How much the length of a run differs from that of another. */
	double pace;
};

/* A few functions have most of the time, as programs have it. */
static void weigh(const struct trial *t, bool is_after, double *weights)
{
	double first = 0.3 + (is_after ? t->planted : 0);

	weights[0] = first;
	for (size_t i = 1; i < FUNCTIONS; i++)
		weights[i] = (1 - first) / 3 * pow(0.75, (double)i);
	for (size_t i = 0; i < FUNCTIONS; i++)
		weights[i] *= exp(t->spread * random_normal());
}

/* Whether anything is called real; *first whether the first function is. */
static bool try(const struct trial *t, bool *first)
{
	struct own_diff *diff;
	uint32_t stacks[FUNCTIONS];
	double weights[FUNCTIONS];
	bool any = false;
	struct model m;

	init(&m, 2 * t->runs);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%02u", i);
		stacks[i] = line_of(&m, name, "/a/x.py", 10 * i + 1, 5,
				    10 * i + 2);
	}
	for (uint16_t i = 0; i < 2 * t->runs; i++) {
		double longer = i >= t->runs && t->longer > 0 ? t->longer : 1;

		longer *= exp(t->pace * random_normal());
		weigh(t, i >= t->runs, weights);
		record(&m, i, stacks, weights, (size_t)(SAMPLES * longer));
	}
	diff = diff_of(&m, t->runs, t->runs, t->by);
	vec_for_each(entry, &diff->functions)
		any |= entry->own.is_real;
	if (first)
		*first = find(&m, &diff->functions, "py::f00:", 0)->own.is_real;
	own_diff_destroy(diff);
	model_deinit(&m);
	return any;
}

enum { TRIALS = 600 };

static size_t count_real(const struct trial *t)
{
	size_t count = 0;

	random_state = 88172645463325252;
	for (size_t i = 0; i < TRIALS; i++)
		count += try(t, NULL);
	return count;
}

/*
 * At most 1 of 100 comparisons of the same is to find a difference: of 600 six.
 * More than 14 would be chance once in 1000 times.
 */
static void test_no_difference(void **state)
{
	static const struct trial trials[] = {
		{ .runs = 1 },
		{ .runs = 1, .by = OWN_DIFF_BY_SHARE },
		{ .runs = 1, .by = OWN_DIFF_BY_SHARE, .longer = 5 },
		{ .runs = 1, .pace = 0.04, .spread = 0.03 },
		{ .runs = 1, .spread = 0.05, .by = OWN_DIFF_BY_SHARE },
		{ .runs = 3 },
		{ .runs = 3, .pace = 0.05, .spread = 0.1 },
		{ .runs = 4, .spread = 0.3, .by = OWN_DIFF_BY_SHARE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(trials) / sizeof(*trials); i++) {
		size_t count = count_real(&trials[i]);

		if (count > 14)
			fail_msg("trial %zu: %zu of %d", i, count, TRIALS);
	}
}

static void test_changes_are_found(void **state)
{
	static const struct trial trials[] = {
		{ .runs = 1, .planted = 0.15 },
		{ .runs = 1, .planted = -0.15, .by = OWN_DIFF_BY_SHARE },
		{ .runs = 4, .planted = 0.1, .spread = 0.02 },
	};

	(void)state;
	random_state = 362436069;
	for (size_t i = 0; i < sizeof(trials) / sizeof(*trials); i++) {
		size_t found = 0;

		for (size_t k = 0; k < 100; k++) {
			bool first = false;

			try(&trials[i], &first);
			found += first;
		}
		if (found < 95)
			fail_msg("trial %zu: %zu of 100", i, found);
	}
}

/* +- holds the true change in 95 of 100 trials. */
static void test_half_width(void **state)
{
	size_t held = 0;

	(void)state;
	random_state = 521288629;
	for (size_t i = 0; i < 1000; i++) {
		struct diff_run runs[2] = {
			{ .all = SAMPLES, .sample = 1, .samples = SAMPLES },
			{ .is_after = true, .all = SAMPLES, .sample = 1,
			  .samples = SAMPLES }
		};
		double values[2] = {};
		/* No run is as the other. */
		const double shares[2] = {
			0.3 * (1 + DIFF_NOISE_RUNS * random_normal()),
			0.5 * (1 + DIFF_NOISE_RUNS * random_normal())
		};
		struct diff_value value;

		for (size_t k = 0; k < SAMPLES; k++) {
			values[0] += random_share() < shares[0];
			values[1] += random_share() < shares[1];
		}
		value = diff_noise_measure(runs, 2, values, NULL, SAMPLES);
		held += fabs(value.after - value.before - 0.2 * SAMPLES) <=
			value.half_width;
	}
	assert_true(held > 930 && held < 970);
}

/* Samples of a thread that sleeps, in ns. */
static void add_wall(struct model *m, uint16_t event, size_t count,
		     double period, const char *stack)
{
	for (size_t i = 0; i < count; i++) {
		struct profile_sample sample = { .period = (uint64_t)period,
						 .stack = model_stack(m, stack),
						 .task = m->task,
						 .count = 1,
						 .event = event };

		model_check(profile_add_sample(m->profile, &sample));
	}
}

static void init_wall(struct model *m, uint64_t rate)
{
	init(m, 2);
	for (size_t i = 0; i < 2; i++) {
		struct profile_event *event = &m->profile->events.data[i];

		event->kind = EVENT_WALL;
		event->sample_period = rate;
		event->is_freq = true;
	}
}

#define FETCH "py:py::fetch:/a/x.py"
#define SLEEPS FETCH " m:[idle]"

/* *off is in ms, without what runs are taken to differ by. */
static struct diff_value fetch_of(const struct model *m, double *off)
{
	struct own_diff *diff = diff_of(m, 1, 1, OWN_DIFF_BY_TIME);
	struct diff_value value =
		find(m, &diff->functions, "py::fetch:", 0)->own;
	double runs = 1.96 * DIFF_NOISE_RUNS * hypot(value.before, value.after);

	assert_true(value.half_width > runs);
	*off = sqrt(value.half_width * value.half_width - runs * runs) / 1e6;
	own_diff_destroy(diff);
	return value;
}

/* It is watched while it lasts, and is not a draw by chance that may have missed it. */
static void test_a_halved_wait(void **state)
{
	double off;
	struct model m;

	(void)state;
	/* Two seconds and one, of which one sample stands for each. */
	init_wall(&m, 999);
	add_wall(&m, 0, 2, 1e9, SLEEPS);
	add_wall(&m, 1, 1, 1e9, SLEEPS);
	assert_true(fetch_of(&m, &off).is_real);
	assert_true(off > 8 && off < 50);
	model_deinit(&m);
	/* Twenty of 0.1 s, and twenty of 0.05 s. */
	init_wall(&m, 999);
	add_wall(&m, 0, 20, 1e8, SLEEPS);
	add_wall(&m, 1, 20, 5e7, SLEEPS);
	assert_true(fetch_of(&m, &off).is_real);
	assert_true(off > 10 && off < 100);
	model_deinit(&m);
	/* At another rate looks are further apart. */
	init_wall(&m, 99);
	add_wall(&m, 0, 20, 1e8, SLEEPS);
	add_wall(&m, 1, 20, 5e7, SLEEPS);
	assert_true(fetch_of(&m, &off).is_real);
	assert_true(off > 100 && off < 400);
	model_deinit(&m);
}

/* A wait that is shorter than a tick is a sample by chance, as is one that runs. */
static void test_a_wait_by_chance(void **state)
{
	double off;
	struct model m;

	(void)state;
	init_wall(&m, 999);
	add_wall(&m, 0, 100, 1e6, SLEEPS);
	add_wall(&m, 1, 90, 1e6, SLEEPS);
	assert_false(fetch_of(&m, &off).is_real);
	assert_true(off > 20 && off < 40);
	model_deinit(&m);
	/* Ticks were late: a sample stands for all that was between two. */
	init_wall(&m, 999);
	add_wall(&m, 0, 20, 1e8, FETCH);
	add_wall(&m, 1, 10, 1e8, FETCH);
	assert_false(fetch_of(&m, &off).is_real);
	assert_true(off > 800);
	model_deinit(&m);
	/* So were sleeps then. */
	init_wall(&m, 999);
	for (uint16_t i = 0; i < 2; i++) {
		add_wall(&m, i, 20, 1e8, "py:py::work:/a/x.py");
		add_wall(&m, i, i ? 20 : 10, 1e8, SLEEPS);
	}
	assert_false(fetch_of(&m, &off).is_real);
	assert_true(off > 800);
	model_deinit(&m);
}

/* One run of bursts before is no difference to runs without them. */
static void test_runs_tell_more_than_samples(void **state)
{
	struct diff_run runs[6];
	const double values[] = { 100, 200, 100, 130, 250, 110 };
	struct diff_value value;

	(void)state;
	for (size_t i = 0; i < 6; i++)
		runs[i] = (struct diff_run){ .is_after = i > 2,
					     .all = SAMPLES,
					     .sample = 1,
					     .samples = SAMPLES };
	value = diff_noise_measure(runs, 6, values, NULL, 890);
	assert_near(value.after - value.before, 30, 1e-9);
	assert_true(value.half_width > 100 && value.chance > 0.3);
	value = diff_noise_measure(runs, 6, values, NULL, 7);
	assert_true(isnan(value.chance));
}

/* Six runs, of which each before has it and none after, or some that do not. */
static struct diff_value six_runs(const double *values, double sample)
{
	struct diff_run runs[6];

	for (size_t i = 0; i < 6; i++)
		runs[i] = (struct diff_run){ .is_after = i > 2,
					     .all = 300,
					     .sample = sample,
					     .samples = 300 / sample };
	return diff_noise_measure(runs, 6, values, NULL, 890);
}

static double chance_of_going(const double *values, double sample)
{
	return six_runs(values, sample).chance;
}

static void test_what_is_in_each_run_and_in_none(void **state)
{
	const double gone[] = { 28, 19, 37, 0, 0, 0 };
	const double bursts[] = { 80, 0, 4, 0, 0, 0 };
	const double uneven[] = { 4, 60, 5, 0, 0, 0 };
	struct diff_value value;
	const double less[] = { 28, 19, 37, 0, 0, 1 };
	const double came[] = { 0, 0, 0, 28, 19, 37 };

	(void)state;
	assert_true(chance_of_going(gone, 1) < 1e-6);
	assert_true(chance_of_going(came, 1) < 1e-6);
	/* As the runs differ. */
	assert_true(chance_of_going(bursts, 1) > 0.1);
	assert_true(chance_of_going(less, 1) > 1e-3);
	/* What is sure is no smaller than it may be off by. */
	value = six_runs(uneven, 1);
	assert_true(value.chance < 1e-6 && value.half_width < value.before);
	/* Two or three samples a run. */
	assert_true(chance_of_going(gone, 10) > 1e-3);
}

static void test_screen(void **state)
{
	struct own_diff *diff;
	struct model m;
	char *text;

	(void)state;
	init(&m, 2);
	add(&m, 0, 3000, line_of(&m, "dedupe", "/srv/x.py", 1, 5, 3));
	add(&m, 0, 200, line_of(&m, "parse", "/srv/x.py", 20, 5, 22));
	add(&m, 1, 500, line_of(&m, "dedupe", "/srv/x.py", 1, 5, 3));
	add(&m, 1, 210, line_of(&m, "parse", "/srv/x.py", 20, 5, 22));
	add(&m, 1, 40, line_of(&m, "load", "/srv/x.py", 30, 5, 31));
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	text = screen(&m, diff, 100, OWN_DIFF_BY_TIME);
	assert_string_equal(
		text,
		"before  python3, process 100  Python 3.13.1  3.20 s CPU  3,200 samples, none lost  (old.data)\n"
		"after   python3, process 100  Python 3.13.1  750 ms CPU  750 samples, none lost  (new.data)\n"
		"\n"
		"2.45 s (77 %) less CPU time after: dedupe -2.50 s, load +0.040 s.\n"
		"One run each: 5 % is taken for noise, more is 'real?'; three of each tell.\n"
		"\n"
		" own, s                                total\n"
		"before  after  change                 change  function  defined in\n"
		" 3.000  0.500  -2.500 +-0.300 real?   -2.500  dedupe    x.py:1\n"
		"     -  0.040  +0.040 +-0.013 new?    +0.040  load      x.py:30\n"
		" 0.200  0.210  +0.010 +-0.046 noise    noise  parse     x.py:20\n"
		" 3.200  0.750  -2.450 +-0.322 real?           all\n"
		"\n"
		" own, s                                total\n"
		"before  after  change                 change  line\n"
		" 3.000  0.500  -2.500 +-0.300 real?   -2.500  x.py:3   line 3 after, which is as long as a line m...\n"
		"     -  0.040  +0.040 +-0.013 new?    +0.040  x.py:31  line 31 after, which is as long as a line ...\n"
		" 0.200  0.210  +0.010 +-0.046 noise    noise  x.py:22  line 22 after, which is as long as a line ...\n"
		" 3.200  0.750  -2.450 +-0.322 real?           all\n");
	free(text);
	own_diff_destroy(diff);
	model_deinit(&m);
}

/* Where all is noise, the one with the most time is shown, too. */
static void test_the_largest_is_shown(void **state)
{
	struct own_diff *diff;
	struct model m;
	char *text;

	(void)state;
	init(&m, 2);
	add(&m, 0, 2400, line_of(&m, "hot", "/srv/x.py", 100, 5, 103));
	add(&m, 1, 2400, line_of(&m, "hot", "/srv/x.py", 100, 5, 103));
	for (uint32_t k = 0; k < 8; k++) {
		char name[16];

		snprintf(name, sizeof(name), "small%u", k);
		for (size_t run = 0; run < 2; run++)
			add(&m, run, 2 + 2 * run,
			    line_of(&m, name, "/srv/x.py", 10 * k + 1, 5,
				    10 * k + 3));
	}
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	text = screen(&m, diff, 100, OWN_DIFF_BY_TIME);
	assert_non_null(strstr(text, "\n 2.400  2.400  +0.000 "));
	assert_non_null(strstr(text, " hot "));
	assert_non_null(strstr(
		text, " 0.006  0.012  +0.006                         3 others\n"));
	assert_non_null(strstr(text, " x.py:103 "));
	free(text);
	own_diff_destroy(diff);
	model_deinit(&m);
}

/* Each of so many functions has 100 samples; the first has `after` in the second run. */
static struct own_diff *diff_of_one_that_changed(struct model *m,
						 uint32_t functions,
						 uint32_t after)
{
	init(m, 2);
	for (uint32_t k = 0; k < functions; k++) {
		char name[16];

		snprintf(name, sizeof(name), "work%u", k);
		for (size_t run = 0; run < 2; run++)
			add(m, run, run && !k ? after : 100,
			    line_of(m, name, "/srv/x.py", 10 * k + 1, 5,
				    10 * k + 3));
	}
	return diff_of(m, 1, 1, OWN_DIFF_BY_TIME);
}

/* Beyond what chance does to one function, and not to one of 40. */
static void test_what_may_be_real(void **state)
{
	struct own_diff *diff;
	struct model m;
	char *text;

	(void)state;
	diff = diff_of_one_that_changed(&m, 40, 145);
	text = screen(&m, diff, 100, OWN_DIFF_BY_TIME);
	assert_non_null(strstr(
		text, "0.100  0.145  +0.045 +-0.035 maybe   +0.045  work0 "));
	/* So the first sentence does not say that it has changed. */
	assert_non_null(strstr(
		text, "\nCPU time as before, as far as runs tell: no change of a function is certain.\n"));
	assert_non_null(strstr(
		text, "\n\n'maybe' is beyond its +-, as a few of many functions are by chance.\n"));
	free(text);
	own_diff_destroy(diff);
	model_deinit(&m);
}

/* A function that changed, of a program that took as long as before. */
static void test_a_cause_of_nothing(void **state)
{
	struct own_diff *diff;
	struct model m;
	char *text;

	(void)state;
	diff = diff_of_one_that_changed(&m, 80, 200);
	text = screen(&m, diff, 100, OWN_DIFF_BY_TIME);
	assert_non_null(strstr(
		text, "\nCPU time as before, as far as runs tell, but work0 +0.10 s.\n"));
	free(text);
	own_diff_destroy(diff);
	model_deinit(&m);
}

/* 18 % in one run of each is beyond its +-, and not certain. */
static void test_a_total_that_may_be_real(void **state)
{
	struct own_diff *diff;
	struct model m;
	char *text;

	(void)state;
	init(&m, 2);
	add(&m, 0, 1000, line_of(&m, "work", "/srv/x.py", 1, 5, 3));
	add(&m, 1, 1180, line_of(&m, "work", "/srv/x.py", 1, 5, 3));
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	text = screen(&m, diff, 100, OWN_DIFF_BY_TIME);
	assert_non_null(strstr(
		text, "\nCPU time may have changed: no change of a function is certain.\n"));
	assert_non_null(strstr(
		text, "1.000  1.180  +0.180 +-0.152 maybe           all\n"));
	free(text);
	own_diff_destroy(diff);
	model_deinit(&m);
}

static void set_command(struct model *m, size_t recording, const char *line)
{
	struct metadata *metadata =
		&m->profile->recordings.data[recording].metadata;
	char *words = strdup(line), *save = NULL;

	metadata->command.count = 0;
	for (char *word = strtok_r(words, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		const char *copy;

		assert_ok(metadata_copy(metadata, word, &copy));
		assert_true(vec_push(&metadata->command, copy));
	}
	free(words);
}

/* How each side is recorded; NULL: nothing differs. */
static const struct ways {
	const char *commands[2];
	struct profile_event events[2];
	const char *says;
} ways[] = {
	{ { "kaa record -o old.data -g python3 x.py --size 10",
	    "kaa record --mode cpu -- python3 x.py --size 10" } },
	{ { "kaa record -p 7", "perf record -p 8" } },
	/* Which words are the command is not known. */
	{ { "kaa record python3 x.py", "kaa record --odd 3 python3 y.py" } },
	{ { "kaa record python3 x.py --size 10 -v",
	    "kaa record python3 x.py --size 20 -v" },
	  .says = "The arguments differ: --size 10 -v before, --size 20 -v after.\n" },
	{ { "kaa record python3 x.py", "kaa record python3 x.py 'a" },
	  .says = "The arguments differ: none before, 'a after.\n" },
	{ { "kaa record python3 x.py", "kaa record python3.12 x.py" },
	  .says = "What was recorded differs: python3 x.py before, python3.12 x.py after.\n" },
	/* The line about two programs has that. */
	{ { "kaa record python3 x.py", "kaa record python3 y.py 1" } },
	{ { "kaa record python3 x.py a-word-that-is-rather-long another-word-that-is-rather-long",
	    "kaa record python3 x.py short" },
	  .says = "The arguments differ: a-word-that-is-rather-long another... before, short after.\n" },
	{ .events = { {}, { .is_polled = true, .python_only = true } },
	  .says = "Recorded in two ways: sampled by events before, polled after.\n" },
	{ .events = { {}, { .is_polled = true } },
	  .says = "Recorded in two ways: sampled by events before, polled with --native after.\n" },
	{ .events = { { .sample_period = 999, .is_freq = true },
		      { .sample_period = 10000000 } },
	  .says = "The sampling rates differ: 999 a second before, 100 a second after.\n" },
	/* One that is not known, or not of a recorder. */
	{ .events = { { .sample_period = 999, .is_freq = true }, {} } },
	{ .events = { { .sample_period = 999, .is_freq = true, .is_imported = true },
		      { .sample_period = 1, .is_imported = true } } },
};

static void check_ways(const struct ways *w)
{
	static const char *const paths[] = { "a", "b" };
	const struct diff_text_options options = { .columns = 80,
						   .folder = "/srv",
						   .paths = paths };
	_cleanup_strbuf_ struct strbuf notes = STRBUF_INIT;
	struct own_diff *diff;
	struct model m;
	char *text;

	init(&m, 2);
	for (uint16_t i = 0; i < 2; i++) {
		struct profile_event *event = &m.profile->events.data[i];

		event->is_polled = w->events[i].is_polled;
		event->python_only = w->events[i].python_only;
		event->sample_period = w->events[i].sample_period;
		event->is_freq = w->events[i].is_freq;
		event->is_imported = w->events[i].is_imported;
		set_command(&m, i, w->commands[i] ? w->commands[i] : "");
		add(&m, i, 100, line_of(&m, "work", "/srv/x.py", 1, 5, 3));
	}
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	text = screen(&m, diff, 80, OWN_DIFF_BY_TIME);
	assert_ok(diff_text_notes(m.profile, diff, &options, &notes));
	if (w->says) {
		if (!strstr(text, w->says))
			fail_msg("%s\n%s", w->says, text);
		assert_non_null(strstr(notes.data, w->says));
		assert_true(strlen(w->says) <= 81);
	} else {
		assert_null(strstr(text, "differ:"));
		assert_null(strstr(text, "two ways"));
	}
	free(text);
	own_diff_destroy(diff);
	model_deinit(&m);
}

/* ms of own and of library code on each side. */
static void check_libraries(uint32_t own, uint32_t theirs, bool says)
{
	struct own_diff *diff;
	struct model m;
	char *text;

	init(&m, 2);
	for (uint16_t i = 0; i < 2; i++) {
		add(&m, i, own, line_of(&m, "work", "/srv/x.py", 1, 5, 3));
		add(&m, i, theirs,
		    line_of(&m, "encode", "/usr/lib/python3.11/json/encoder.py", 1, 5, 3));
	}
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	text = screen(&m, diff, 80, OWN_DIFF_BY_TIME);
	assert_int_equal(!!strstr(text, "\nMost of the time is in libraries: --no-libraries counts it"),
			 says);
	free(text);
	own_diff_destroy(diff);
	model_deinit(&m);
}

static void test_libraries_are_told_of(void **state)
{
	(void)state;
	check_libraries(400, 600, true);
	check_libraries(600, 400, false);
	/* Nothing of the program's own would be seen. */
	check_libraries(10, 600, false);
}

/*
 * CPU time, ms, of each side's first thread and how long it waited for a CPU; and of
 * another one.
 */
static void check_busy_with(const uint64_t (*ms)[2], uint32_t others, bool polled,
			    const char *says)
{
	struct own_diff *diff;
	struct model m;
	char *text;

	init(&m, 2);
	for (uint16_t i = 0; i < 2; i++) {
		add(&m, i, (uint32_t)ms[i][0],
		    line_of(&m, "work", "/srv/x.py", 1, 5, 3));
		assert_ok(faults_add(&m.profile->recordings.data[i].faults,
				     FAULT_OF_RECORDER, ms[i][1] * 1000,
				     FAULT_KEPT_OFF));
		m.profile->events.data[i].is_polled = polled;
		if (!others)
			continue;
		m.task = model_task(&m, 77, "Thread-1");
		add(&m, i, others, line_of(&m, "work", "/srv/x.py", 1, 5, 3));
		m.task = model_task(&m, 100, "python3");
	}
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	text = screen(&m, diff, 80, OWN_DIFF_BY_TIME);
	if (says ? !strstr(text, says) : !!strstr(text, "had no processor"))
		fail_msg("%s\n%s", says, text);
	free(text);
	own_diff_destroy(diff);
	model_deinit(&m);
}

static void check_busy(const uint64_t (*ms)[2], const char *says)
{
	check_busy_with(ms, 0, false, says);
}

static void test_a_busy_machine(void **state)
{
	static const char says[] =
		"\nOf the time it could have run, it had no processor for 50 % before, 10 % after:\n"
		"on a busy machine the same work may take more or less CPU time.\n";

	(void)state;
	check_busy((const uint64_t[2][2]){ { 400, 400 }, { 360, 40 } }, says);
	check_busy((const uint64_t[2][2]){ { 400, 80 }, { 360, 40 } }, NULL);
	check_busy((const uint64_t[2][2]){ { 400, 0 }, { 360, 0 } }, NULL);
	/* None is what is not known, as of a process that ran before. */
	check_busy((const uint64_t[2][2]){ { 400, 0 }, { 360, 1000 } }, NULL);
	/* Others run, too: how long these waited only the poller knows. */
	check_busy_with((const uint64_t[2][2]){ { 400, 400 }, { 360, 40 } }, 20, false, says);
	check_busy_with((const uint64_t[2][2]){ { 40, 160 }, { 80, 20 } }, 800, false,
			"\nOf the time its first thread could have run, it had no processor for 80 % before, 20 % after:\n");
	check_busy_with((const uint64_t[2][2]){ { 100, 900 }, { 100, 900 } }, 800, true,
			"\nOf the time it could have run, it had no processor for 50 % before, 50 % after:\n");
}

/* What a recorder of the command counted on each side, us; beside 500 ms that have samples. */
static char *screen_of_counter(const uint64_t us[2], const char *counter,
			       const char *command, enum own_diff_by by)
{
	struct own_diff *diff;
	struct model m;
	char *text;

	init(&m, 2);
	for (uint16_t i = 0; i < 2; i++) {
		set_command(&m, i, command);
		add(&m, i, 500, line_of(&m, "work", "/srv/x.py", 1, 5, 3));
		assert_ok(faults_add(&m.profile->recordings.data[i].faults,
				     FAULT_OF_RECORDER, us[i], counter));
	}
	diff = diff_of(&m, 1, 1, by);
	text = screen(&m, diff, 120, by);
	own_diff_destroy(diff);
	model_deinit(&m);
	return text;
}

/* What is compared are samples; the first screen of a report has all CPU time. */
static void test_cpu_time_without_samples(void **state)
{
	char *text = screen_of_counter((const uint64_t[2]){ 76000, 20000 },
				       FAULT_WITHOUT_SAMPLES, "kaa record x.py",
				       OWN_DIFF_BY_TIME);

	(void)state;
	assert_says(text, "  500 ms of 576 ms CPU  500 samples");
	assert_says(text, "  520 ms CPU  500 samples");
	free(text);
}

/* A service takes as much CPU time as it is recorded for; a command ends by itself. */
static void test_recordings_that_are_not_as_long(void **state)
{
	static const char says[] = "\nThe recordings differ in length: 8.0 s before, 5.0 s after.\n";
	static const struct {
		uint64_t us[2];
		const char *command;
		enum own_diff_by by;
		bool is_said;
	} cases[] = {
		{ { 8000000, 5000000 }, "kaa record -p 7", OWN_DIFF_BY_TIME, true },
		{ { 8000000, 5000000 }, "kaa record -a", OWN_DIFF_BY_TIME, true },
		{ { 8000000, 5000000 }, "kaa record -p 7", OWN_DIFF_BY_SHARE, false },
		{ { 8000000, 5000000 }, "kaa record x.py", OWN_DIFF_BY_TIME, false },
		{ { 8040000, 8060000 }, "kaa record -p 7", OWN_DIFF_BY_TIME, false },
		{ { 8000000, 0 }, "kaa record -p 7", OWN_DIFF_BY_TIME, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = screen_of_counter(cases[i].us, FAULT_TIME,
					       cases[i].command, cases[i].by);

		if (!!strstr(text, cases[i].is_said ? says : "in length") !=
		    cases[i].is_said)
			fail_msg("case %zu\n%s", i, text);
		free(text);
	}
}

static void test_ways_of_recording(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		check_ways(&ways[i]);
}

/* A side whose recordings differ has no word of its own. */
static void test_ways_of_several_recordings(void **state)
{
	struct own_diff *diff;
	struct model m;
	char *text;

	(void)state;
	init(&m, 3);
	for (uint16_t i = 0; i < 3; i++) {
		set_command(&m, i, i == 1 ? "kaa record python3 x.py --fast" :
					    "kaa record python3 x.py");
		m.profile->events.data[i].is_polled = true;
		add(&m, i, 100, line_of(&m, "work", "/srv/x.py", 1, 5, 3));
	}
	diff = diff_of(&m, 2, 1, OWN_DIFF_BY_TIME);
	text = screen(&m, diff, 80, OWN_DIFF_BY_TIME);
	assert_non_null(strstr(
		text, "\nWhat was recorded differs: several before, python3 x.py after.\n"));
	assert_null(strstr(text, "two ways"));
	free(text);
	own_diff_destroy(diff);
	model_deinit(&m);
}

static void test_no_line_is_too_long(void **state)
{
	static const size_t widths[] = { 60, 80, 100, 132 };
	struct own_diff *diff;
	struct model m;

	(void)state;
	init(&m, 2);
	for (uint32_t i = 0; i < 40; i++) {
		char name[128];

		snprintf(name, sizeof(name),
			 "Orders.with_a_long_name_%u.<locals>.and_one_in_it\033[2J",
			 i);
		add(&m, 0, 5000 / (i + 1),
		    line_of(&m, name, "/srv/some/project/of/mine/orders.py",
			    10 * i + 1, 5, 10 * i + 2));
		add(&m, 1, 500000 / (i + 1),
		    line_of(&m, name, "/srv/some/project/of/mine/orders.py",
			    10 * i + 1, 5, 10 * i + 2));
	}
	diff = diff_of(&m, 1, 1, OWN_DIFF_BY_TIME);
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		char *text = screen(&m, diff, widths[i], OWN_DIFF_BY_TIME);
		char *save = NULL;
		bool is_table = false;

		assert_null(strchr(text, '\033'));
		for (char *line = strtok_r(text, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save)) {
			/* Sentences above the tables may be longer than 60. */
			is_table |= widths[i] >= 80 ||
				    !strncmp(line, " own", 4);
			if (is_table && strlen(line) > widths[i])
				fail_msg("%zu: %s", widths[i], line);
		}
		free(text);
	}
	own_diff_destroy(diff);
	model_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chance_of_counts),
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_all_or_nothing),
		cmocka_unit_test(test_functions_that_moved),
		cmocka_unit_test(test_comments_in_a_function),
		cmocka_unit_test(test_a_line_is_its_own_recordings),
		cmocka_unit_test(test_a_line_of_two_functions),
		cmocka_unit_test(test_lines_without_tables),
		cmocka_unit_test(test_a_module_around_an_edit),
		cmocka_unit_test(test_names_before_3_11),
		cmocka_unit_test(test_lines_of_known_sources),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_no_difference),
		cmocka_unit_test(test_changes_are_found),
		cmocka_unit_test(test_half_width),
		cmocka_unit_test(test_a_halved_wait),
		cmocka_unit_test(test_a_wait_by_chance),
		cmocka_unit_test(test_runs_tell_more_than_samples),
		cmocka_unit_test(test_what_is_in_each_run_and_in_none),
		cmocka_unit_test(test_screen),
		cmocka_unit_test(test_the_largest_is_shown),
		cmocka_unit_test(test_what_may_be_real),
		cmocka_unit_test(test_a_cause_of_nothing),
		cmocka_unit_test(test_a_total_that_may_be_real),
		cmocka_unit_test(test_libraries_are_told_of),
		cmocka_unit_test(test_a_busy_machine),
		cmocka_unit_test(test_cpu_time_without_samples),
		cmocka_unit_test(test_recordings_that_are_not_as_long),
		cmocka_unit_test(test_ways_of_recording),
		cmocka_unit_test(test_ways_of_several_recordings),
		cmocka_unit_test(test_no_line_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
