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
#include <malloc.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "obj/dwarf_info.h"
#include "obj/dwarf_unit.h"
#include "assert_ok.h"
#include "synthetic_elf.h"

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

/* --- What is made to take long ------------------------------------------ */

/* Sections of a file, and what reads them. */
struct made {
	struct strbuf info;
	struct strbuf abbrev;
	struct strbuf ranges;
	struct strbuf lines;
	struct elf_file *elf;
	struct dwarf_info *read;
};

#define MADE_INIT \
	{ STRBUF_INIT, STRBUF_INIT, STRBUF_INIT, STRBUF_INIT, NULL, NULL }

static void put(struct strbuf *out, uint64_t value, size_t size)
{
	strbuf_append(out, &value, size);
}

/* An abbreviation: pairs of attribute and form, up to a zero. */
static void put_abbrev(struct strbuf *out, uint8_t code, uint8_t tag,
		       bool children, const char *specs)
{
	put(out, code, 1);
	put(out, tag, 1);
	put(out, children, 1);
	strbuf_puts(out, specs);
	put(out, 0, 2);
}

/* The head of a unit of DWARF 4; returns where its length stands. */
static size_t begin_unit(struct made *made)
{
	size_t start = made->info.len;

	put(&made->info, 0, 4);
	put(&made->info, 4, 2);
	put(&made->info, 0, 4);
	put(&made->info, 8, 1);
	return start;
}

static void end_unit(struct made *made, size_t start)
{
	uint32_t length = (uint32_t)(made->info.len - start - 4);

	memcpy(made->info.data + start, &length, sizeof(length));
}

static void read_made(struct made *made)
{
	const struct synthetic_elf elf = {
		.elf_class = ELFCLASS64, .encoding = ELFDATA2LSB,
		.machine = EM_X86_64, .count = made->lines.len ? 4 : 3,
		.sections = {
			{ .name = ".debug_info", .type = SHT_PROGBITS,
			  .data = made->info.data, .size = made->info.len },
			{ .name = ".debug_abbrev", .type = SHT_PROGBITS,
			  .data = made->abbrev.data, .size = made->abbrev.len },
			{ .name = ".debug_ranges", .type = SHT_PROGBITS,
			  .data = made->ranges.data, .size = made->ranges.len },
			{ .name = ".debug_line", .type = SHT_PROGBITS,
			  .data = made->lines.data, .size = made->lines.len },
		},
	};

	assert_null(elf_file_open_fd(synthetic_elf_write(&elf), "made",
				     &made->elf));
	assert_null(dwarf_info_create(made->elf, made->lines.len, &made->read));
}

static void free_made(struct made *made)
{
	dwarf_info_destroy(made->read);
	elf_file_destroy(made->elf);
	strbuf_deinit(&made->info);
	strbuf_deinit(&made->abbrev);
	strbuf_deinit(&made->ranges);
	strbuf_deinit(&made->lines);
}

static size_t memory_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Many units say that they have the same long list of ranges. */
static void test_ranges_of_many_units(void **state)
{
	enum { UNITS = 400, RANGES = 400 };
	struct made made = MADE_INIT;
	size_t before;

	(void)state;
	put_abbrev(&made.abbrev, 1, DW_TAG_compile_unit, false, "\x11\x01\x55\x17");
	put(&made.abbrev, 0, 1);
	for (int i = 0; i < UNITS; i++) {
		size_t start = begin_unit(&made);

		put(&made.info, 1, 1);
		put(&made.info, 0x1000, 8);
		put(&made.info, 0, 4);
		end_unit(&made, start);
	}
	for (uint64_t i = 0; i < RANGES; i++) {
		put(&made.ranges, 16 * i, 8);
		put(&made.ranges, 16 * i + 8, 8);
	}
	strbuf_fill(&made.ranges, 0, 16);
	before = memory_in_use();
	read_made(&made);
	/* The spans of all would have 5 MB. */
	assert_in_range(memory_in_use() - before, 0, 2 << 20);
	free_made(&made);
}

enum {
	LINE_UNITS = 400,
	LINE_ROWS = 4000,
	LINE_HEAD = 25,
	LINE_PROGRAM = 11 + LINE_ROWS + 3,
};

/* The head of a table of DWARF 4, whose program ends the section, `from` bytes from here. */
static void put_line_head(struct strbuf *out, size_t from)
{
	put(out, from + LINE_PROGRAM - 4, 4);
	put(out, 4, 2);
	put(out, from - 10, 4);
	/* No opcodes but special ones; a step in the address leaves the line. */
	strbuf_append(out, "\1\1\1\0\1\1", 6);
	strbuf_append(out, "\0a.c\0\0\0\0\0", 9);
}

/* A row every four bytes from 0x1000 on. */
static void put_line_program(struct strbuf *out)
{
	strbuf_append(out, "\0\11\2", 3);
	put(out, 0x1000, 8);
	strbuf_fill(out, 5, LINE_ROWS);
	strbuf_append(out, "\0\1\1", 3);
}

static void put_line_abbrev(struct made *made)
{
	put_abbrev(&made->abbrev, 1, DW_TAG_compile_unit, false,
		   "\x11\x01\x12\x06\x10\x17");
	put(&made->abbrev, 0, 1);
}

static void put_line_unit(struct made *made, uint64_t address, size_t size,
			  size_t table)
{
	size_t start = begin_unit(made);

	put(&made->info, 1, 1);
	put(&made->info, address, 8);
	put(&made->info, size, 4);
	put(&made->info, table, 4);
	end_unit(made, start);
}

/* Units whose tables begin at the same place, or one in the other. */
static void make_lines(struct made *made, size_t heads)
{
	put_line_abbrev(made);
	for (size_t i = 0; i < LINE_UNITS; i++)
		put_line_unit(made, 0x1000 + 16 * i, 16, i % heads * LINE_HEAD);
	for (size_t i = 0; i < heads; i++)
		put_line_head(&made->lines, (heads - i) * LINE_HEAD);
	put_line_program(&made->lines);
}

/* How many of the units have a line. */
static size_t count_lines(struct made *made)
{
	const char *file;
	size_t count = 0;
	uint32_t line;

	for (size_t i = 0; i < LINE_UNITS; i++) {
		assert_ok(dwarf_info_line(made->read, 0x1008 + 16 * i, &file,
					  &line));
		assert_true(!file || (!strcmp(file, "a.c") && line == 1));
		count += file != NULL;
	}
	return count;
}

/* Units of a linker or of dwz may share a table. It is read once. */
static void test_lines_that_units_share(void **state)
{
	struct made made = MADE_INIT;
	size_t before;

	(void)state;
	make_lines(&made, 1);
	read_made(&made);
	before = memory_in_use();
	assert_int_equal(count_lines(&made), LINE_UNITS);
	/* The rows of all would have 25 MB. */
	assert_in_range(memory_in_use() - before, 0, 1 << 20);
	free_made(&made);
}

/* Nobody makes tables that overlap. */
static void test_lines_within_lines(void **state)
{
	struct made made = MADE_INIT;
	size_t before;

	(void)state;
	make_lines(&made, LINE_UNITS);
	read_made(&made);
	before = memory_in_use();
	assert_in_range(count_lines(&made), 1, 10);
	assert_in_range(memory_in_use() - before, 0, 2 << 20);
	free_made(&made);
}

/* A unit that holds others has an address behind so many of them. */
static bool is_found_behind(size_t units)
{
	struct made made = MADE_INIT;
	const char *file;
	uint32_t line;

	put_line_abbrev(&made);
	put_line_unit(&made, 0x1000, 4 * LINE_ROWS, 0);
	for (size_t i = 0; i < units; i++)
		put_line_unit(&made, 0x1001 + i, 1, 0);
	put_line_head(&made.lines, LINE_HEAD);
	put_line_program(&made.lines);
	read_made(&made);
	assert_ok(dwarf_info_line(made.read, 0x1000 + 4 * LINE_ROWS - 8, &file,
				  &line));
	free_made(&made);
	return file;
}

/* They are looked at one by one, so who makes very many is not answered. */
static void test_units_within_a_unit(void **state)
{
	(void)state;
	assert_true(is_found_behind(0));
	assert_true(is_found_behind(9000));
	assert_false(is_found_behind(12000));
}

/* A DIE that stands in the attributes of another one is none. */
static void test_sibling_within_attributes(void **state)
{
	struct made made = MADE_INIT;
	struct dwarf_function function;
	size_t start, count = 7;

	(void)state;
	put_abbrev(&made.abbrev, 1, DW_TAG_compile_unit, true, "\x11\x01\x12\x06");
	put_abbrev(&made.abbrev, 2, DW_TAG_subprogram, true, "\x01\x13\x02\x0a");
	put_abbrev(&made.abbrev, 3, DW_TAG_subprogram, false,
		   "\x03\x08\x11\x01\x12\x06");
	put(&made.abbrev, 0, 1);
	start = begin_unit(&made);
	put(&made.info, 1, 1);
	put(&made.info, 0x1000, 8);
	put(&made.info, 0x100, 4);
	put(&made.info, 2, 1);
	put(&made.info, made.info.len + 5, 4);
	put(&made.info, 18, 1);
	put(&made.info, 3, 1);
	strbuf_append(&made.info, "fake", 5);
	put(&made.info, 0x1000, 8);
	put(&made.info, 0x10, 4);
	/* Nothing in the function, and nothing more in the unit. */
	put(&made.info, 0, 2);
	end_unit(&made, start);
	read_made(&made);
	assert_null(dwarf_info_functions(made.read, 0x1000, &function, 1, &count));
	assert_int_equal(count, 0);
	free_made(&made);
}

static void test_tables_of_abbreviations(void **state)
{
	enum { COUNT = 40 };
	struct strbuf abbrev = STRBUF_INIT;
	struct dwarf_sections sections = {};
	struct dwarf_tables tables = {};
	struct dwarf_unit units[2 * COUNT] = {};
	size_t size;

	(void)state;
	for (uint8_t i = 1; i <= COUNT; i++)
		put_abbrev(&abbrev, i, DW_TAG_subprogram, false, "");
	put(&abbrev, 0, 1);
	size = (abbrev.len - 1) / COUNT;
	sections.abbrev = (struct bytes){ (uint8_t *)abbrev.data, abbrev.len };
	for (size_t i = 0; i < 2 * COUNT; i++) {
		units[i].encoding.address_size = 8;
		units[i].encoding.offset_size = 4;
		/* The second half are of tables that overlap. */
		units[i].abbrev_offset = i < COUNT ? 0 : (i - COUNT) * size;
		assert_null(dwarf_unit_abbrevs(&sections, &tables, &units[i]));
		if (i < COUNT)
			assert_ptr_equal(units[i].abbrevs, units[0].abbrevs);
		if (i == COUNT)
			assert_int_equal(tables.read, abbrev.len);
	}
	assert_int_equal(units[0].abbrevs->list.count, COUNT);
	assert_int_equal(units[COUNT + 2].abbrevs->list.count, COUNT - 2);
	assert_int_equal(units[2 * COUNT - 1].abbrevs->list.count, 0);
	assert_in_range(tables.read, abbrev.len,
			(DWARF_TABLES_FACTOR + 2) * abbrev.len);
	dwarf_tables_forget(&tables);
	strbuf_deinit(&abbrev);
}

static void test_codes_in_any_order(void **state)
{
	static const uint8_t codes[] = { 7, 3, 3, 9 };
	const uint8_t dies[] = { 3, 7, 9, 5 };
	struct strbuf abbrev = STRBUF_INIT;
	struct dwarf_sections sections = { .info = { dies, sizeof(dies) } };
	struct dwarf_tables tables = {};
	struct dwarf_unit unit = { .end = sizeof(dies),
				   .encoding.address_size = 8 };
	struct dwarf_die die;
	struct reader r;

	(void)state;
	for (uint8_t i = 0; i < sizeof(codes); i++)
		put_abbrev(&abbrev, codes[i], 0x10 + i, false, "");
	/* One with more attributes than a DIE can have ends the table. */
	put(&abbrev, 5 | 0x10 << 8, 3);
	strbuf_fill(&abbrev, 0x19, 600);
	put(&abbrev, 0, 3);
	sections.abbrev = (struct bytes){ (uint8_t *)abbrev.data, abbrev.len };
	assert_null(dwarf_unit_abbrevs(&sections, &tables, &unit));
	assert_int_equal(unit.abbrevs->list.count, sizeof(codes));
	r = dwarf_reader(&sections, &sections.info, 0);
	assert_true(dwarf_die_read(&r, &unit, &die));
	assert_int_equal(die.tag, 0x11);
	assert_true(dwarf_die_read(&r, &unit, &die));
	assert_int_equal(die.tag, 0x10);
	assert_true(dwarf_die_read(&r, &unit, &die));
	assert_int_equal(die.tag, 0x13);
	assert_false(dwarf_die_read(&r, &unit, &die));
	dwarf_tables_forget(&tables);
	strbuf_deinit(&abbrev);
}

/* A string is not searched for to the end of its section. */
static void test_string_without_an_end(void **state)
{
	enum { SIZE = 70000 };
	_cleanup_strbuf_ struct strbuf strings = STRBUF_INIT;
	const struct dwarf_encoding encoding = {};
	struct dwarf_value value = { .class = DWARF_STRING_OFFSET };
	struct dwarf_sections sections = {};

	(void)state;
	strbuf_fill(&strings, 'x', SIZE);
	sections.str = (struct bytes){ (uint8_t *)strings.data, SIZE + 1 };
	assert_null(dwarf_string(&sections, &encoding, &value));
	value.number = SIZE - 60000;
	assert_ptr_equal(dwarf_string(&sections, &encoding, &value),
			 strings.data + value.number);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_are_libdws),
		cmocka_unit_test(test_lines_are_libdws),
		cmocka_unit_test(test_first_question_is_new),
		cmocka_unit_test(test_ranges_of_many_units),
		cmocka_unit_test(test_sibling_within_attributes),
		cmocka_unit_test(test_tables_of_abbreviations),
		cmocka_unit_test(test_codes_in_any_order),
		cmocka_unit_test(test_string_without_an_end),
		cmocka_unit_test(test_lines_that_units_share),
		cmocka_unit_test(test_lines_within_lines),
		cmocka_unit_test(test_units_within_a_unit),
	};

	outermost(5);
	return cmocka_run_group_tests(tests, open_both, close_both);
}
