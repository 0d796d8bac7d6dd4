// SPDX-License-Identifier: GPL-2.0-only
/* Memory of which each page is read once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dump/page_memory.h"

enum { PAGE = PAGE_MEMORY_PAGE };

/* From BEGIN on there are so many bytes, each that of its place, plus a shift. */
#define BEGIN (16 * UINT64_C(4096))

struct target {
	size_t size;
	uint8_t shift;
	unsigned int reads;
};

static bool read_target(void *arg, uint64_t address, void *buf, size_t size)
{
	struct target *target = arg;

	target->reads++;
	if (address < BEGIN || address - BEGIN + size > target->size)
		return false;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)buf)[i] = (uint8_t)((address + i) * 7 + target->shift);
	return true;
}

static void check(struct page_memory *pages, const struct target *target,
		  uint64_t address, size_t size)
{
	uint8_t bytes[3 * PAGE];

	assert_true(page_memory_read(pages, address, bytes, size));
	for (size_t i = 0; i < size; i++)
		assert_int_equal(bytes[i],
				 (uint8_t)((address + i) * 7 + target->shift));
}

static void test_a_page_is_read_once(void **state)
{
	struct target target = { .size = 64 * PAGE };
	const struct py_memory memory = { read_target, &target, NULL };
	struct page_memory pages = PAGE_MEMORY_INIT(&memory);

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		check(&pages, &target, BEGIN + i * 8, 8);
	assert_int_equal(target.reads, 2);
	/* Across the ends of pages, one of which is known. */
	check(&pages, &target, BEGIN + 2 * PAGE - 5, PAGE + 10);
	assert_int_equal(target.reads, 4);
	page_memory_deinit(&pages);
}

static void test_what_changes_is_seen_once_all_is_forgotten(void **state)
{
	struct target target = { .size = PAGE };
	const struct py_memory memory = { read_target, &target, NULL };
	struct page_memory pages = PAGE_MEMORY_INIT(&memory);
	const struct target before = target;

	(void)state;
	check(&pages, &before, BEGIN, 8);
	target.shift = 1;
	check(&pages, &before, BEGIN + 8, 8);
	page_memory_clear(&pages);
	check(&pages, &target, BEGIN, 16);
	page_memory_deinit(&pages);
}

/* As at the end of a file: what there is of a page can be read all the same. */
static void test_part_of_a_page(void **state)
{
	struct target target = { .size = PAGE + 100 };
	const struct py_memory memory = { read_target, &target, NULL };
	struct page_memory pages = PAGE_MEMORY_INIT(&memory);
	uint8_t bytes[16];

	(void)state;
	check(&pages, &target, BEGIN + PAGE, 100);
	check(&pages, &target, BEGIN + PAGE - 8, 16);
	assert_false(page_memory_read(&pages, BEGIN + PAGE + 90, bytes, 16));
	assert_false(page_memory_read(&pages, BEGIN - 8, bytes, 16));
	assert_false(page_memory_read(&pages, UINT64_MAX - 7, bytes, 16));
	page_memory_deinit(&pages);
}

/* Beyond so many each piece is read by itself. */
static void test_many_pages(void **state)
{
	struct target target = { .size = (PAGE_MEMORY_PAGES_MAX + 10) * (size_t)PAGE };
	const struct py_memory memory = { read_target, &target, NULL };
	struct page_memory pages = PAGE_MEMORY_INIT(&memory);

	(void)state;
	for (uint64_t i = 0; i < PAGE_MEMORY_PAGES_MAX + 10; i++)
		check(&pages, &target, BEGIN + i * PAGE + i % 100, 8);
	assert_int_equal(pages.bytes.len, (size_t)PAGE_MEMORY_PAGES_MAX * PAGE);
	check(&pages, &target, BEGIN + 100, 8);
	page_memory_deinit(&pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_page_is_read_once),
		cmocka_unit_test(test_what_changes_is_seen_once_all_is_forgotten),
		cmocka_unit_test(test_part_of_a_page),
		cmocka_unit_test(test_many_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
