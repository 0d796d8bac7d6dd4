// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debug information of this program itself, address by address, beside what
 * libdw of elfutils reads in it. The program is built with one version of
 * DWARF or another (meson.build).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "obj/dwarf_info.h"

#define INLINE static inline __attribute__((always_inline))

enum { MAX = 64 };

static volatile unsigned long sink;

INLINE void innermost(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i ^ n;
}

INLINE void between(unsigned long n)
{
	innermost(n);
	sink++;
	innermost(n / 2);
}

static __attribute__((noinline)) void outermost(unsigned long n)
{
	between(n);
	for (unsigned long i = 0; i < n; i++) {
		if (i % 3)
			between(i);
		else
			innermost(i);
	}
}

struct both {
	struct elf_file *elf;
	struct dwarf_info *info;
	int fd;
	Dwarf *dwarf;
};

static int open_both(void **state)
{
	struct both *both = calloc(1, sizeof(*both));

	assert_non_null(both);
	assert_null(elf_file_open("/proc/self/exe", &both->elf));
	assert_null(dwarf_info_create(both->elf, true, &both->info));
	both->fd = open("/proc/self/exe", O_RDONLY);
	both->dwarf = dwarf_begin(both->fd, DWARF_C_READ);
	assert_non_null(both->dwarf);
	*state = both;
	return 0;
}

static int close_both(void **state)
{
	struct both *both = *state;

	dwarf_end(both->dwarf);
	close(both->fd);
	dwarf_info_destroy(both->info);
	elf_file_destroy(both->elf);
	free(both);
	return 0;
}

/* libdw leaves some paths relative to the folder that was compiled in. */
static const char *base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* "inner<outer": functions, and where each calls the next one in. */
static void ours(struct both *both, uint64_t address, struct strbuf *out)
{
	struct dwarf_function functions[MAX];
	size_t count;

	assert_null(dwarf_info_functions(both->info, address, functions, MAX,
					 &count));
	for (size_t i = 0; i < count; i++) {
		const struct dwarf_function *f = &functions[i];

		assert_int_equal(f->inlined, i + 1 < count);
		strbuf_printf(out, "%s", f->name ? f->name : "?");
		if (f->inlined)
			strbuf_printf(out, " %s:%u<", base(f->call_file), f->call_line);
	}
}

static const char *file_at(Dwarf_Die *unit, Dwarf_Word index)
{
	Dwarf_Files *files;
	size_t count;

	if (dwarf_getsrcfiles(unit, &files, &count))
		return NULL;
	return dwarf_filesrc(files, index, NULL, NULL);
}

static void theirs(Dwarf_Die *unit, uint64_t address, struct strbuf *out)
{
	Dwarf_Die *found, *scopes = NULL;
	int count = dwarf_getscopes(unit, address, &found);

	/* That goes on with where an inlined function stands in the source. */
	if (count > 0) {
		count = dwarf_getscopes_die(&found[0], &scopes);
		free(found);
	}
	for (int i = 0; i < count; i++) {
		int tag = dwarf_tag(&scopes[i]);
		const char *name = dwarf_diename(&scopes[i]);
		Dwarf_Attribute attribute;
		Dwarf_Word file = 0, line = 0;

		if (tag != DW_TAG_inlined_subroutine &&
		    tag != DW_TAG_subprogram)
			continue;
		strbuf_printf(out, "%s", name ? name : "?");
		if (tag == DW_TAG_subprogram)
			break;
		dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file,
					   &attribute),
				&file);
		dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line,
					   &attribute),
				&line);
		strbuf_printf(out, " %s:%u<", base(file_at(unit, file)),
			      (unsigned int)line);
	}
	free(scopes);
}

static const struct elf_section *text(struct both *both)
{
	const struct elf_section *section =
		elf_file_section(both->elf, ".text");

	assert_non_null(section);
	return section;
}

/* Every address; of the large code that sanitizers make, so many that it takes seconds. */
static uint64_t step(const struct elf_section *section)
{
	return 1 + section->size / 40000;
}

static void test_functions_are_libdws(void **state)
{
	_cleanup_strbuf_ struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;
	struct both *both = *state;
	const struct elf_section *section = text(both);
	size_t inlined = 0, named = 0;

	for (uint64_t at = 0; at < section->size;
	     at += step(section)) {
		uint64_t address = section->addr + at;
		Dwarf_Die unit;

		strbuf_clear(&a);
		strbuf_clear(&b);
		ours(both, address, &a);
		if (dwarf_addrdie(both->dwarf, address, &unit))
			theirs(&unit, address, &b);
		assert_string_equal(a.len ? a.data : "", b.len ? b.data : "");
		named += a.len > 0;
		inlined += a.len && strchr(a.data, '<');
	}
	assert_true(named > 500);
	assert_true(inlined > 50);
}

static void test_lines_are_libdws(void **state)
{
	struct both *both = *state;
	const struct elf_section *section = text(both);
	size_t known = 0;

	for (uint64_t at = 0; at < section->size;
	     at += step(section)) {
		uint64_t address = section->addr + at;
		const char *file = NULL, *expected = NULL;
		Dwarf_Line *row = NULL;
		Dwarf_Die unit;
		uint32_t line;
		int number = 0;

		if (dwarf_addrdie(both->dwarf, address, &unit))
			row = dwarf_getsrc_die(&unit, address);
		if (row) {
			expected = dwarf_linesrc(row, NULL, NULL);
			dwarf_lineno(row, &number);
		}
		assert_null(
			dwarf_info_line(both->info, address, &file, &line));
		assert_int_equal(line, number);
		if (expected)
			assert_string_equal(base(file), base(expected));
		known += expected != NULL;
	}
	assert_true(known > 500);
}

static void test_first_question_is_new(void **state)
{
	struct both *both = *state;
	struct dwarf_function functions[MAX];
	struct elf_file *elf = both->elf;
	_cleanup_(cleanup_dwarf_info_) struct dwarf_info *info = NULL;
	size_t count;

	assert_null(dwarf_info_create(elf, false, &info));
	for (int i = 0; i < 2; i++) {
		assert_null(dwarf_info_functions(info, elf->entry, functions,
						 MAX, &count));
		/* _start is written in assembler, which has no functions. */
		assert_int_equal(count, 0);
	}
	for (int i = 0; i < 2; i++) {
		uint64_t address = text(both)->addr;

		do
			assert_null(dwarf_info_functions(info, address++,
							 functions, MAX,
							 &count));
		while (!count);
		assert_int_equal(functions[0].is_new, i == 0);
		assert_true(functions[0].is_linkage_name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_are_libdws),
		cmocka_unit_test(test_lines_are_libdws),
		cmocka_unit_test(test_first_question_is_new),
	};

	outermost(5);
	return cmocka_run_group_tests(tests, open_both, close_both);
}
