// SPDX-License-Identifier: GPL-2.0-only
/* Code that is gone: read from this process, and asked for when it is unmapped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/kept_code.h"

struct world {
	struct kept_code kept;
	struct remote_memory memory;
	uint8_t *code;
	size_t size;
};

/* Each byte of `pages` pages is told from those around it. */
static struct world world_of(size_t pages)
{
	struct world world = { .memory = remote_memory_init(getpid()),
			       .size = pages * KEPT_PAGE };

	world.code = mmap(NULL, world.size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(world.code != MAP_FAILED);
	for (size_t i = 0; i < world.size; i++)
		world.code[i] = (uint8_t)(i * 31 + i / KEPT_PAGE);
	return world;
}

static uint64_t at(const struct world *world, size_t offset)
{
	return (uintptr_t)world->code + offset;
}

static bool look(struct world *world, size_t offset, size_t size)
{
	uint8_t now[2 * KEPT_PAGE];

	return kept_code_read(&world->kept, &world->memory, at(world, offset),
			      now, size) &&
	       !memcmp(now, world->code + offset, size);
}

/* What is remembered there, which is what `expected` has, or nothing at all. */
static bool has(const struct world *world, size_t offset, size_t size,
		const uint8_t *expected)
{
	uint8_t then[2 * KEPT_PAGE];

	if (!kept_code_remember(&world->kept, at(world, offset), then, size))
		return false;
	assert_memory_equal(then, expected + offset, size);
	return true;
}

static void world_deinit(struct world *world)
{
	kept_code_deinit(&world->kept);
	remote_memory_deinit(&world->memory);
}

static void test_gone(void **state)
{
	struct world world = world_of(3);
	uint8_t before[3 * KEPT_PAGE];

	(void)state;
	memcpy(before, world.code, sizeof(before));
	assert_false(has(&world, 100, 64, before));
	/* Across the border of two pages. */
	assert_true(look(&world, KEPT_PAGE - 10, 64));
	assert_int_equal(munmap(world.code, world.size), 0);
	assert_false(kept_code_read(&world.kept, &world.memory, at(&world, 0),
				    (uint8_t[8]){ 0 }, 8));
	assert_true(has(&world, KEPT_PAGE - 10, 64, before));
	/* Neighbours; and what was in no page that was looked at. */
	assert_true(has(&world, 0, 2 * KEPT_PAGE, before));
	assert_false(has(&world, 2 * KEPT_PAGE - 10, 64, before));
	world_deinit(&world);
}

static void test_made_anew(void **state)
{
	struct world world = world_of(1);

	(void)state;
	assert_true(look(&world, 0, 16));
	memset(world.code + 8, 0x90, 64);
	assert_true(look(&world, 8, 64));
	assert_true(has(&world, 0, KEPT_PAGE, world.code));
	munmap(world.code, world.size);
	world_deinit(&world);
}

/* More pages than are kept: later ones take the place of others. */
static void test_many_pages(void **state)
{
	struct world world = world_of(2 * KEPT_PAGES);
	size_t remembered = 0;

	(void)state;
	for (size_t i = 0; i < 2 * KEPT_PAGES; i++)
		assert_true(look(&world, i * KEPT_PAGE + 7, 64));
	for (size_t i = 0; i < 2 * KEPT_PAGES; i++)
		remembered += has(&world, i * KEPT_PAGE, 64, world.code);
	assert_int_equal(remembered, KEPT_PAGES);
	munmap(world.code, world.size);
	world_deinit(&world);
}

/* The last page that can be read ends before what was asked for. */
static void test_unreadable(void **state)
{
	struct world world = world_of(2);

	(void)state;
	assert_int_equal(munmap(world.code + KEPT_PAGE, KEPT_PAGE), 0);
	assert_false(kept_code_read(&world.kept, &world.memory,
				    at(&world, KEPT_PAGE - 8),
				    (uint8_t[16]){ 0 }, 16));
	assert_false(kept_code_remember(&world.kept, at(&world, KEPT_PAGE - 8),
					(uint8_t[8]){ 0 }, 8));
	munmap(world.code, KEPT_PAGE);
	world_deinit(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_made_anew),
		cmocka_unit_test(test_many_pages),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
