// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of the agent's core that need no Python: the table of code objects, beside
 * base/map; names of the process, beside dlsym(); a thread's stack, beside what
 * the C library says of it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/code_table.h"
#include "agent/lookup.h"
#include "agent/stack.h"
#include "base/map.h"

/* --- codes --- */

enum { CODES = 100000 };

/* Addresses as an allocator gives them: multiples of 16, many of them near. */
static uintptr_t address(size_t i)
{
	return 0x7f0000000000 + i % 7 * 0x10000000 + i / 7 * 176 / 16 * 16;
}

static void fill(struct codes *codes, struct map *expected)
{
	for (size_t i = 0; i < CODES; i++) {
		struct code_entry *entry = codes_insert(codes, address(i));

		assert_non_null(entry);
		assert_int_equal(entry->code, address(i));
		entry->first_line = (int)i;
		assert_non_null(map_insert(expected, address(i), i, NULL));
	}
}

static void test_every_code_is_found(void **state)
{
	struct map expected = {};
	struct codes codes;
	size_t seen = 0;

	(void)state;
	codes_init(&codes);
	assert_null(codes_find_in(&codes.view, address(0)));
	codes_show(&codes);
	fill(&codes, &expected);
	assert_int_equal(codes.count, expected.count);
	for (size_t i = 0; i < CODES; i++) {
		uint64_t *line = map_find(&expected, address(i));
		const struct code_entry *entry =
			codes_find_in(&codes.view, address(i));

		assert_non_null(entry);
		assert_int_equal(entry->first_line, *line);
		assert_ptr_equal(codes_insert(&codes, address(i)), entry);
		assert_null(codes_find_in(&codes.view, address(i) + 8));
	}
	for (struct code_entry *entry = codes_next(&codes, NULL); entry;
	     entry = codes_next(&codes, entry))
		seen++;
	assert_int_equal(seen, expected.count);
	codes_deinit(&codes);
	map_deinit(&expected);
}

static void test_hidden_and_forgotten_codes(void **state)
{
	struct map expected = {};
	struct codes codes;

	(void)state;
	codes_init(&codes);
	fill(&codes, &expected);
	/* Not shown yet. */
	assert_null(codes_find_in(&codes.view, address(5)));
	codes_show(&codes);
	assert_non_null(codes_find_in(&codes.view, address(5)));
	codes_hide(&codes);
	for (size_t i = 0; i < CODES; i++)
		assert_null(codes_find_in(&codes.view, address(i)));
	codes_show(&codes);
	codes_forget_announced(&codes);
	for (size_t i = 0; i < CODES; i++) {
		struct code_entry *entry = codes_find(&codes, address(i));

		assert_null(codes_find_in(&codes.view, address(i)));
		assert_non_null(entry);
		assert_false(code_entry_announced(entry));
	}
	codes_deinit(&codes);
	assert_null(codes_find_in(&codes.view, address(5)));
	map_deinit(&expected);
}

/* --- lookup --- */

static void test_names_of_the_process(void **state)
{
	static const char *const names[] = {
		"malloc", "getenv",  "dl_iterate_phdr", "strtoul",
		"stdout", "environ", "no_such_name_at_all",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_ptr_equal(agent_lookup(names[i]),
				 dlsym(RTLD_DEFAULT, names[i]));
}

/* --- stack --- */

struct seen {
	uintptr_t word;
	size_t count;
	size_t words;
};

static void look(uintptr_t word, void *arg)
{
	struct seen *seen = arg;

	seen->words++;
	seen->count += word == seen->word;
}

/* The room that is found ends with the stack, and begins within it. */
__attribute__((no_sanitize("address"))) static void *check_stack(void *arg)
{
	volatile uintptr_t mark = 0x5ca1ab1e0ddba11;
	struct seen seen = { .word = mark };
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	pthread_attr_t attr;
	void *start;
	size_t size;

	agent_stack_words(look, &seen);
	assert_true(seen.count >= 1);
	assert_false(agent_stack_look(here));
	assert_true(here - agent_stack_room.low < agent_stack_room.size);
	assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
	pthread_attr_getstack(&attr, &start, &size);
	pthread_attr_destroy(&attr);
	/* Some is kept free at the lower end, not more than an eighth. */
	assert_true(agent_stack_room.low > (uintptr_t)start);
	assert_true(agent_stack_room.low <
		    (uintptr_t)start + size / 8 + (1 << 20));
	assert_true(seen.words * sizeof(uintptr_t) <= size);
	return arg;
}

static void test_stacks(void **state)
{
	pthread_attr_t attr;
	pthread_t thread;

	(void)state;
	check_stack(NULL);
	pthread_attr_init(&attr);
	for (size_t size = 1 << 17; size <= 1 << 24; size *= 8) {
		pthread_attr_setstacksize(&attr, size);
		assert_int_equal(pthread_create(&thread, &attr, check_stack,
						NULL), 0);
		pthread_join(thread, NULL);
	}
	pthread_attr_destroy(&attr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code_is_found),
		cmocka_unit_test(test_hidden_and_forgotten_codes),
		cmocka_unit_test(test_names_of_the_process),
		cmocka_unit_test(test_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
