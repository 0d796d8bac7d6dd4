// SPDX-License-Identifier: GPL-2.0-only
/* The model, its call trees and merged chains, against brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"
#include "profile/calltree.h"
#include "profile/chains.h"
#include "profile/location.h"
#include "profile/metadata.h"
#include "profile/profile_window.h"

static void test_handles_are_unique(void **state)
{
	struct model m;
	uint32_t a, b;

	(void)state;
	model_init(&m, NULL);
	assert_int_equal(model_frame(&m, "foo"), model_frame(&m, "foo"));
	assert_int_not_equal(model_frame(&m, "foo"), model_frame(&m, "I:foo"));
	assert_int_not_equal(model_frame(&m, "py:foo@1"),
			     model_frame(&m, "py:foo@2"));
	a = model_stack(&m, "_start main foo");
	b = model_stack(&m, "_start main bar");
	assert_int_equal(a, model_stack(&m, "_start main foo"));
	assert_int_equal(m.profile->stack_parents.data[a],
			 m.profile->stack_parents.data[b]);
	assert_true(m.profile->stack_parents.data[a] < a);
	assert_int_equal(profile_stack_depth(m.profile, a), 3);
	assert_int_equal(profile_stack_depth(m.profile, PROFILE_NONE), 0);
	/* Strings may hold NULs. */
	model_check(profile_intern_string(m.profile, "a\0b", 3, &a));
	model_check(profile_intern_string(m.profile, "a\0c", 3, &b));
	assert_int_not_equal(a, b);
	model_deinit(&m);
}

static void test_many_handles(void **state)
{
	struct model m;
	uint32_t first = 0, id;
	char name[32];

	(void)state;
	model_init(&m, NULL);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 20000; i++) {
			snprintf(name, sizeof(name), "name %u", i);
			id = model_string(&m, name);
			if (i == 0 && round == 0)
				first = id;
			assert_int_equal(id, first + i);
			assert_string_equal(profile_string(m.profile, id, ""),
					    name);
		}
	}
	model_deinit(&m);
}

static void test_aggregation(void **state)
{
	const struct profile_options by_stack = { .aggregate = true };
	const struct profile_options by_cpu = { .aggregate = true,
						.keep_cpu = true };
	const struct profile_options *all[] = { NULL, &by_stack, &by_cpu };
	const size_t rows[] = { 5, 3, 4 };
	struct model m;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const uint32_t cpu = 2;
		struct profile_sample sample;

		model_init(&m, all[i]);
		model_sample(&m, 10, "main foo");
		model_sample(&m, 20, "main foo");
		model_sample(&m, 5, "main bar");
		model_add(&m, 5, "main bar", PROFILE_SAMPLE_TRUNCATED);
		sample = profile_sample(m.profile, 0);
		sample.labels = &cpu;
		sample.count = 1;
		model_check(profile_add_sample(m.profile, &sample));
		assert_int_equal(m.profile->samples.rows, rows[i]);
		assert_int_equal(m.profile->events.data[0].samples, 5);
		if (i == 1) {
			assert_int_equal(m.profile->samples.count[0], 3);
			assert_int_equal(profile_find_label(m.profile, "cpu"),
					 PROFILE_NONE);
		}
		model_deinit(&m);
	}
}

/* The same samples are one row only if they are near each other in time. */
static void test_slices(void **state)
{
	const struct profile_options slices = { .slice_ns = 100 };
	static const uint64_t times[] = { 110, 150, 199, 200, 299, 310, 290 };
	static const uint32_t counts[] = { 3, 2, 1, 1 };
	struct profile_sample sample = { .period = 5, .count = 1 };
	struct model m;

	(void)state;
	model_init(&m, &slices);
	sample.task = m.task;
	sample.stack = model_stack(&m, "main foo");
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		sample.time = times[i];
		model_check(profile_add_sample(m.profile, &sample));
	}
	assert_int_equal(m.profile->samples.rows, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(m.profile->samples.count[i], counts[i]);
		assert_int_equal(m.profile->samples.period[i], 5 * counts[i]);
	}
	assert_int_equal(m.profile->samples.time[0], 110);
	assert_int_equal(m.profile->samples.time[1], 200);
	model_deinit(&m);
}

enum { WINDOW_ROWS = 3000, WINDOW_NAMES = 7, WINDOW_DEPTH = 9 };

/* A stack that chance makes: many have beginnings in common. */
static void random_stack(char *out, size_t size)
{
	int depth = 1 + rand() % WINDOW_DEPTH;
	size_t n = 0;

	for (int i = 0; i < depth; i++)
		n += (size_t)snprintf(out + n, size - n, "%sf%d", i ? " " : "",
				      rand() % (i < 4 ? 2 : WINDOW_NAMES));
}

/* Both have the same samples, of the same stacks; handles of stacks may differ. */
static void assert_same_rows(const struct profile *a, size_t first,
			     const struct profile *b)
{
	assert_int_equal(a->samples.rows - first, b->samples.rows);
	for (size_t i = 0; i < b->samples.rows; i++) {
		struct profile_sample x = profile_sample(a, first + i);
		struct profile_sample y = profile_sample(b, i);

		assert_int_equal(x.time, y.time);
		assert_int_equal(x.period, y.period);
		assert_int_equal(x.task, y.task);
		assert_int_equal(profile_stack_depth(a, x.stack),
				 profile_stack_depth(b, y.stack));
		while (x.stack != PROFILE_NONE) {
			assert_int_equal(a->stack_frames.data[x.stack],
					 b->stack_frames.data[y.stack]);
			x.stack = a->stack_parents.data[x.stack];
			y.stack = b->stack_parents.data[y.stack];
		}
		assert_int_equal(y.stack, PROFILE_NONE);
	}
}

/* Each stack is there once, and has a row, or a child that has. */
static void assert_tight(const struct profile *p)
{
	size_t count = p->stack_parents.count;
	bool *used = calloc(count + 1, sizeof(*used));

	for (size_t i = 0; i < p->samples.rows; i++)
		used[p->samples.stack[i]] = true;
	for (size_t i = count; i-- > 0;) {
		uint32_t parent = p->stack_parents.data[i];

		assert_true(used[i]);
		if (parent == PROFILE_NONE)
			continue;
		assert_true(parent < i);
		used[parent] = true;
	}
	free(used);
}

static void fill_window_rows(struct model *m, size_t from, size_t to)
{
	char stack[128];

	for (size_t i = from; i < to; i++) {
		struct profile_sample sample = { .time = 1000 + i * 10,
						 .period = 1 + i % 3,
						 .task = m->task,
						 .count = 1 };

		random_stack(stack, sizeof(stack));
		sample.stack = model_stack(m, stack);
		model_check(profile_add_sample(m->profile, &sample));
	}
}

/* A window has the rows that it is asked for, and what is forgotten leaves the rest. */
static void test_windows_and_forgetting(void **state)
{
	struct profile *window, *whole;
	struct model m;

	(void)state;
	srand(20);
	model_init(&m, NULL);
	fill_window_rows(&m, 0, WINDOW_ROWS);
	assert_int_equal(profile_first_row(m.profile, 0), 0);
	assert_int_equal(profile_first_row(m.profile, 1015), 2);
	assert_int_equal(profile_first_row(m.profile, UINT64_MAX), WINDOW_ROWS);
	for (size_t first = 0; first <= WINDOW_ROWS; first += 500) {
		model_check(profile_window(m.profile, first, &window));
		assert_same_rows(m.profile, first, window);
		assert_tight(window);
		assert_int_equal(window->events.data[0].samples,
				 WINDOW_ROWS - first);
		profile_destroy(window);
	}
	/* All, to compare with. */
	model_check(profile_window(m.profile, 0, &whole));
	model_check(profile_forget(m.profile, 1000));
	assert_same_rows(whole, 1000, m.profile);
	assert_tight(m.profile);
	/* Stacks that are still there are found again, others are added once. */
	srand(20);
	for (size_t i = 0; i < WINDOW_ROWS; i++) {
		char stack[128];
		uint32_t handle;

		random_stack(stack, sizeof(stack));
		handle = model_stack(&m, stack);
		if (i >= 1000)
			assert_int_equal(handle,
					 m.profile->samples.stack[i - 1000]);
	}
	fill_window_rows(&m, WINDOW_ROWS, 2 * WINDOW_ROWS);
	model_check(profile_window(m.profile, 2000, &window));
	assert_same_rows(m.profile, 2000, window);
	assert_tight(window);
	profile_destroy(window);
	/* Everything. */
	model_check(profile_forget(m.profile, m.profile->samples.rows));
	assert_int_equal(m.profile->samples.rows, 0);
	assert_int_equal(m.profile->stack_parents.count, 0);
	fill_window_rows(&m, 0, 100);
	assert_tight(m.profile);
	profile_destroy(whole);
	model_deinit(&m);
}

/* A label that comes late, beside one that is there from the start. */
static void test_labels(void **state)
{
	const struct profile_options by_cpu = { .aggregate = true,
						.keep_cpu = true };
	uint32_t values[2] = { 1, PROFILE_NONE }, cpu, waiting, idle;
	struct profile_sample sample;
	struct model m;

	(void)state;
	model_init(&m, &by_cpu);
	cpu = profile_find_label(m.profile, PROFILE_LABEL_CPU);
	model_sample(&m, 10, "main foo");
	model_check(profile_add_label(m.profile, "GIL", &waiting));
	assert_int_equal(profile_find_label(m.profile, "GIL"), waiting);
	assert_int_equal(profile_find_label(m.profile, "gil"), PROFILE_NONE);
	idle = model_string(&m, "wanted");
	sample = profile_sample(m.profile, 0);
	sample.labels = values;
	/* The first has no value, as those before the label came. */
	model_check(profile_add_sample(m.profile, &sample));
	assert_int_equal(m.profile->samples.rows, 1);
	values[waiting] = idle;
	for (int i = 0; i < 3000; i++) {
		values[cpu] = (uint32_t)i % 1500;
		model_check(profile_add_sample(m.profile, &sample));
	}
	assert_int_equal(m.profile->samples.rows, 1501);
	assert_int_equal(profile_label(m.profile, waiting, 0), PROFILE_NONE);
	assert_int_equal(profile_label(m.profile, cpu, 0), 1);
	for (size_t row = 1; row <= 1500; row++) {
		assert_int_equal(profile_label(m.profile, cpu, row), row - 1);
		assert_int_equal(profile_label(m.profile, waiting, row), idle);
		assert_int_equal(m.profile->samples.count[row], 2);
	}
	assert_int_equal(profile_label(m.profile, PROFILE_NONE, 7),
			 PROFILE_NONE);
	model_deinit(&m);
}

/* --- Against brute force ------------------------------------------------ */

enum { STACKS = 300, MAX_DEPTH = 9, NAMES = 6 };

struct random_stacks {
	uint8_t names[STACKS][MAX_DEPTH];
	uint8_t depth[STACKS];
	uint64_t period[STACKS];
	uint64_t total;
};

static void fill_random(struct model *m, struct random_stacks *r, unsigned seed)
{
	char text[256];

	srand(seed);
	r->total = 0;
	for (int i = 0; i < STACKS; i++) {
		text[0] = '\0';
		r->depth[i] = (uint8_t)(1 + rand() % MAX_DEPTH);
		r->period[i] = (uint64_t)(rand() % 5);
		r->total += r->period[i];
		for (int j = 0; j < r->depth[i]; j++) {
			char name[] = { ' ', 0, 0 };

			r->names[i][j] = (uint8_t)(rand() % NAMES);
			name[1] = (char)('a' + r->names[i][j]);
			strcat(text, name);
		}
		model_sample(m, r->period[i], text);
	}
}

static int name_of(const struct calltree *tree, uint32_t location)
{
	const struct profile *profile = tree->profile;
	uint32_t frame = tree->locations->all.data[location].frame;
	uint32_t symbol = profile_frame(profile, frame)->symbol;

	return profile_string(profile, profile->symbols.data[symbol].name,
			      "")[0] -
	       'a';
}

/* The first (or last) place of a name in a stack, or -1. */
static int find_name(const struct random_stacks *r, int stack, int name,
		     bool last)
{
	int found = -1;

	for (int j = 0; j < r->depth[stack]; j++)
		if (r->names[stack][j] == name && (found < 0 || last))
			found = j;
	return found;
}

/* The chain of a stack for an entry, as chains.h words it; its length. */
static int expected_chain(const struct random_stacks *r, int stack, int name,
			  bool caller_order, bool children, int *chain)
{
	int leaf = r->depth[stack] - 1;
	bool hit = r->names[stack][leaf] == name;
	int at = find_name(r, stack, name, !caller_order);
	int n = 0;

	if (at < 0 || (!children && !hit))
		return 0;
	if (caller_order)
		for (int j = hit ? 0 : at; j <= leaf; j++)
			chain[n++] = r->names[stack][j];
	else
		for (int j = at; j >= 0; j--)
			chain[n++] = r->names[stack][j];
	return n;
}

/* Weight of all chains that begin with `path`; ended: only equal ones. */
static uint64_t expected_weight(const struct random_stacks *r, int name,
				const struct chains_options *how, bool children,
				const int *path, int n, bool ended)
{
	uint64_t weight = 0;

	for (int i = 0; i < STACKS; i++) {
		int chain[MAX_DEPTH];
		int length = expected_chain(r, i, name, how->caller_order,
					    children, chain);

		if (length >= n && (!ended || length == n) &&
		    !memcmp(chain, path, (size_t)n * sizeof(*path)))
			weight += r->period[i];
	}
	return weight;
}

struct chain_check {
	const struct random_stacks *r;
	const struct calltree *tree;
	const struct chains *chains;
	const struct chains_options *how;
	int name;
	int path[MAX_DEPTH];
};

/* Returns the weight of the branches from `first` on. */
static uint64_t check_branches(struct chain_check *c, uint32_t first, int n)
{
	bool children = c->tree->options.children;
	uint64_t sum = 0, before = UINT64_MAX;

	for (uint32_t id = first; id != PROFILE_NONE;
	     id = c->chains->branches.data[id].next) {
		const struct chain_branch *b = &c->chains->branches.data[id];
		int end = n;

		for (uint32_t i = 0; i < b->steps; i++)
			c->path[end++] = name_of(
				c->tree,
				c->chains->steps.data[b->first_step + i]);
		assert_int_equal(chain_branch_hits(b),
				 expected_weight(c->r, c->name, c->how,
						 children, c->path, end,
						 false));
		assert_int_equal(b->hit,
				 expected_weight(c->r, c->name, c->how,
						 children, c->path, end, true));
		/* Nothing may end or fork within a branch. */
		for (int i = n + 1; i < end; i++)
			assert_int_equal(expected_weight(c->r, c->name, c->how,
							 children, c->path, i,
							 false),
					 chain_branch_hits(b));
		assert_true(chain_branch_hits(b) >= c->how->min_hit);
		assert_true(chain_branch_hits(b) <= before);
		before = chain_branch_hits(b);
		sum += before;
		check_branches(c, b->first_child, end);
	}
	return sum;
}

static void check_entries(const struct random_stacks *r,
			  const struct calltree *tree)
{
	size_t expected = 0;

	for (int name = 0; name < NAMES; name++)
		for (int i = 0; i < STACKS; i++)
			if (tree->options.children
				    ? find_name(r, i, name, false) >= 0
				    : r->names[i][r->depth[i] - 1] == name) {
				expected++;
				break;
			}
	assert_int_equal(tree->entries.count, expected);
	vec_for_each(entry, &tree->entries) {
		int name = name_of(tree, entry->location);
		uint64_t period = 0, self = 0;

		for (int i = 0; i < STACKS; i++) {
			if (find_name(r, i, name, false) >= 0)
				period += r->period[i];
			if (r->names[i][r->depth[i] - 1] == name)
				self += r->period[i];
		}
		assert_int_equal(entry->self_period, self);
		assert_int_equal(entry->period,
				 tree->options.children ? period : self);
	}
}

static void check_chains(const struct random_stacks *r,
			 const struct calltree *tree, bool caller_order,
			 uint64_t min_hit)
{
	struct chains_options how = { .caller_order = caller_order,
				      .min_hit = min_hit,
				      .min_part = -1.0 };
	struct chains chains;

	model_check(chains_init(&chains, tree));
	for (uint32_t i = 0; i < tree->entries.count; i++) {
		const struct calltree_entry *entry = &tree->entries.data[i];
		struct chain_check check = {
			.r = r,
			.tree = tree,
			.chains = &chains,
			.how = &how,
			.name = name_of(tree, entry->location),
		};
		uint64_t sum;

		model_check(chains_build(&chains, i, &how));
		assert_int_equal(chains.hit, entry->period);
		sum = check_branches(&check, chains.first, 0);
		if (!min_hit)
			assert_int_equal(sum, entry->period);
	}
	chains_deinit(&chains);
}

static void test_trees_against_brute_force(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 24; seed++) {
		const struct location_options where = {
			.entry_keys = ENTRY_KEY_DSO | ENTRY_KEY_SYMBOL
		};
		const struct profile_options rows = { .aggregate = seed & 4 };
		const struct calltree_options how = { .children = seed & 1 };
		struct locations *locations;
		struct calltree *tree;
		struct random_stacks r;
		struct model m;

		model_init(&m, &rows);
		fill_random(&m, &r, seed);
		model_check(locations_create(m.profile, &where, &locations));
		model_check(calltree_create(m.profile, locations, &how, &tree));
		assert_int_equal(tree->period, r.total);
		assert_int_equal(tree->count, STACKS);
		check_entries(&r, tree);
		check_chains(&r, tree, seed & 2, seed & 8 ? r.total / 50 : 0);
		calltree_destroy(tree);
		locations_destroy(locations);
		model_deinit(&m);
	}
}

/* A stack deeper than any real one, with a fork at each step. */
static void test_deep_recursion(void **state)
{
	enum { DEPTH = 20000 };
	const struct location_options where = { .entry_keys =
							ENTRY_KEY_SYMBOL };
	const struct calltree_options how = { .children = true };
	struct chains_options draw = { .caller_order = true, .min_part = -1.0 };
	struct locations *locations;
	struct calltree *tree;
	struct chains chains;
	struct model m;
	uint32_t stack = PROFILE_NONE, f;

	(void)state;
	model_init(&m, NULL);
	f = model_frame(&m, "f");
	for (int i = 0; i < DEPTH; i++) {
		struct profile_sample sample = { .period = 1,
						 .count = 1,
						 .task = m.task };

		model_check(profile_stack_push(m.profile, stack, f, &stack));
		sample.stack = stack;
		model_check(profile_add_sample(m.profile, &sample));
	}
	model_check(locations_create(m.profile, &where, &locations));
	model_check(calltree_create(m.profile, locations, &how, &tree));
	assert_int_equal(tree->entries.count, 1);
	assert_int_equal(tree->entries.data[0].period, DEPTH);
	assert_int_equal(tree->entries.data[0].self_period, DEPTH);
	model_check(chains_init(&chains, tree));
	model_check(chains_build(&chains, 0, &draw));
	assert_int_equal(chains.branches.count, CHAINS_MAX_LEVELS + 1);
	chains_deinit(&chains);
	calltree_destroy(tree);
	locations_destroy(locations);
	model_deinit(&m);
}

/* The words live as long as the metadata. */
static void set_command(struct metadata *metadata, const char *line)
{
	char *words = strdup(line), *at = NULL;

	for (char *word = strtok_r(words, " ", &at); word;
	     word = strtok_r(NULL, " ", &at)) {
		const char *copy;

		model_check(metadata_copy(metadata, word, &copy));
		assert_true(vec_push(&metadata->command, copy));
	}
	free(words);
}

static enum recording_subject subject_of(const char *line)
{
	_cleanup_metadata_ struct metadata metadata = {};

	set_command(&metadata, line);
	return metadata_subject(&metadata);
}

static void assert_program(const char *line, const char *first)
{
	_cleanup_metadata_ struct metadata metadata = {};
	size_t at;

	set_command(&metadata, line);
	at = metadata_program(&metadata);
	if (first)
		assert_string_equal(metadata.command.data[at], first);
	else
		assert_int_equal(at, 0);
}

/* Options of the recorded command are none of the recorder. */
static void test_what_was_recorded(void **state)
{
	(void)state;
	assert_int_equal(subject_of("kaa record -F 99 -a"), SUBJECT_MACHINE);
	assert_int_equal(subject_of("kaa record -ag -- sleep 1"), SUBJECT_MACHINE);
	assert_int_equal(subject_of("perf record --all-cpus -o x"), SUBJECT_MACHINE);
	assert_int_equal(subject_of("kaa record -g -p 12"), SUBJECT_RUNNING);
	assert_int_equal(subject_of("kaa record -gp12 sleep 1"), SUBJECT_RUNNING);
	assert_int_equal(subject_of("kaa record --tid=12"), SUBJECT_RUNNING);
	assert_int_equal(subject_of("kaa record -F 99 -g prog -a"), SUBJECT_COMMAND);
	assert_int_equal(subject_of("kaa record -- -a"), SUBJECT_COMMAND);
	assert_int_equal(subject_of("kaa record -o data prog -p 1"), SUBJECT_COMMAND);
	assert_int_equal(subject_of("kaa record --native prog -a"), SUBJECT_COMMAND);
	assert_int_equal(subject_of("kaa record -F99 prog -a"), SUBJECT_COMMAND);
	assert_int_equal(subject_of("kaa record --call-graph dwarf -a"), SUBJECT_MACHINE);
	assert_int_equal(subject_of("kaa"), SUBJECT_COMMAND);
}

/* Behind options whose values are known; else a value may be the program. */
static void test_where_the_program_begins(void **state)
{
	(void)state;
	assert_program("kaa record prog -x", "prog");
	assert_program("kaa record -F 99 -o data -gv prog", "prog");
	assert_program("kaa record -F99 --off-cpu --event=x prog", "prog");
	assert_program("kaa record --mode wall --duration 3 prog", "prog");
	assert_program("kaa record --mode", NULL);
	assert_program("kaa record -g -- -prog", "-prog");
	assert_program("kaa record --mmap-pages 8 prog", NULL);
	assert_program("kaa record --mmap-pages --off-cpu prog", NULL);
	assert_program("kaa record -F 99", NULL);
	assert_program("kaa record -F", NULL);
	assert_program("kaa record --", NULL);
	assert_program("kaa", NULL);
}

static bool is_of_itself(const char *line, const char *last)
{
	_cleanup_metadata_ struct metadata metadata = {};

	set_command(&metadata, line);
	assert_true(vec_push(&metadata.command, last));
	return metadata_is_of_itself(&metadata);
}

/* tests/live/test_profile_in_python.py has what a real recording says. */
static void test_a_program_that_records_itself(void **state)
{
	const char *waits = "echo; read end; true";

	(void)state;
	assert_true(is_of_itself("kaa record -p 7 -o x -- sh -c", waits));
	assert_true(is_of_itself("kaa record -p 7 --native -- sh -c", waits));
	assert_false(is_of_itself("kaa record -p 7 -- sh -c", "sleep 1"));
	assert_false(is_of_itself("kaa record -- sh -c", waits));
	assert_false(is_of_itself("-c", waits));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_recorded),
		cmocka_unit_test(test_a_program_that_records_itself),
		cmocka_unit_test(test_where_the_program_begins),
		cmocka_unit_test(test_handles_are_unique),
		cmocka_unit_test(test_many_handles),
		cmocka_unit_test(test_aggregation),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_windows_and_forgetting),
		cmocka_unit_test(test_trees_against_brute_force),
		cmocka_unit_test(test_deep_recursion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
