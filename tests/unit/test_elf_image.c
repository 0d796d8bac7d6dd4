// SPDX-License-Identifier: GPL-2.0-only
/* The image as elfutils reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

#include "obj/elf_image.h"
#include "assert_ok.h"
#include "read_elf.h"

#define BASE 0x6b6100000000ull

static const uint32_t lines_f[] = { 10, 11, 5, 70000, 12 };
static const uint32_t lines_g[] = { 1 };

static const struct elf_image_span spans[] = {
	{ BASE + 0x10, 1, "[truncated stack]", NULL, NULL },
	{ BASE + 0x1000, 5, "py::f:/a.py", "/a.py", lines_f },
	{ BASE + 0x100a, 1, "py::g:<string>", "<string>", lines_g },
	{ BASE + 0xf0000000, 1, "py::h:/a.py", "/a.py", lines_g },
};

static struct elf_image image = { .base = BASE,
				  .slot_size = 2,
				  .spans = spans,
				  .count = 4,
				  .build_id = { 0xab, 0xcd } };

static Elf *open_image(const struct elf_image *from, struct strbuf *out)
{
	assert_ok(elf_image_write(from, out));
	return open_elf(out->data, out->len);
}

static void test_symbols(void **state)
{
	struct strbuf out = STRBUF_INIT;
	Elf *elf = open_image(&image, &out);
	GElf_Shdr shdr, text;
	Elf_Scn *section;
	Elf_Data *data;

	(void)state;
	assert_non_null(find_section(elf, ".text", &text));
	assert_int_equal(text.sh_type, SHT_NOBITS);
	assert_int_equal(text.sh_addr, text.sh_offset);
	section = find_section(elf, ".symtab", &shdr);
	data = elf_getdata(section, NULL);
	assert_int_equal(shdr.sh_size / shdr.sh_entsize, 5);
	for (int i = 0; i < 4; i++) {
		GElf_Sym symbol;

		gelf_getsym(data, i + 1, &symbol);
		assert_int_equal(symbol.st_value, spans[i].start - BASE);
		assert_int_equal(symbol.st_size, 2 * spans[i].slots);
		assert_int_equal(GELF_ST_TYPE(symbol.st_info), STT_FUNC);
		assert_string_equal(elf_strptr(elf, shdr.sh_link,
					       symbol.st_name),
				    spans[i].symbol);
		assert_true(symbol.st_value >= text.sh_addr);
		assert_true(symbol.st_value + symbol.st_size <=
			    text.sh_addr + text.sh_size);
	}
	elf_end(elf);
	strbuf_deinit(&out);
}

static void test_build_id_and_segments(void **state)
{
	struct strbuf out = STRBUF_INIT;
	Elf *elf = open_image(&image, &out);
	const void *id;
	GElf_Phdr load;

	(void)state;
	assert_int_equal(dwelf_elf_gnu_build_id(elf, &id), 20);
	assert_memory_equal(id, image.build_id, 20);
	gelf_getphdr(elf, 0, &load);
	assert_int_equal(load.p_type, PT_LOAD);
	assert_int_equal(load.p_offset, load.p_vaddr);
	assert_true(load.p_filesz <= out.len);
	assert_true(load.p_memsz >= 0xf0000002);
	/* However far the spans reach, the file stays small. */
	assert_true(out.len < 4096);
	elf_end(elf);
	strbuf_deinit(&out);
}

static void assert_line(Dwarf_Die *unit, uint64_t address, const char *file,
			int line)
{
	Dwarf_Line *found = dwarf_getsrc_die(unit, address);
	int got = 0;

	if (!file) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_int_equal(dwarf_lineno(found, &got), 0);
	assert_int_equal(got, line);
	assert_string_equal(dwarf_linesrc(found, NULL, NULL), file);
}

static void test_lines(void **state)
{
	struct strbuf out = STRBUF_INIT;
	Elf *elf = open_image(&image, &out);
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_Die unit;

	(void)state;
	assert_non_null(dwarf);
	assert_non_null(dwarf_addrdie(dwarf, 0x1003, &unit));
	for (uint64_t i = 0; i < 5; i++) {
		/* A return address, and the same less one. */
		assert_line(&unit, 0x1000 + 2 * i + 1, "/a.py", (int)lines_f[i]);
		assert_line(&unit, 0x1000 + 2 * i, "/a.py", (int)lines_f[i]);
	}
	assert_line(&unit, 0x100b, "<string>", 1);
	assert_line(&unit, 0xf0000001, "/a.py", 1);
	dwarf_end(dwarf);
	elf_end(elf);
	strbuf_deinit(&out);
}

/* Many spans and files, of all kinds of line steps. */
static void test_many(void **state)
{
	enum { SPANS = 3000, SLOTS = 9 };
	static struct elf_image_span many[SPANS];
	static uint32_t lines[SPANS][SLOTS];
	static char names[SPANS][32];
	struct elf_image big = { .base = BASE, .slot_size = 2, .spans = many,
				 .count = SPANS };
	struct strbuf out = STRBUF_INIT;
	Dwarf *dwarf;
	Dwarf_Die unit;
	Elf *elf;

	(void)state;
	for (uint32_t i = 0; i < SPANS; i++) {
		snprintf(names[i], sizeof(names[i]), "/f%u.py", i % 700);
		for (uint32_t s = 0; s < SLOTS; s++)
			lines[i][s] = 1 + (i * 7919 + s * s * 31) % (s < 5 ? 30 : 90000);
		many[i] = (struct elf_image_span){
			BASE + 0x1000 + i * 2 * SLOTS, SLOTS, names[i],
			names[i], lines[i]
		};
	}
	elf = open_image(&big, &out);
	dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	assert_non_null(dwarf_addrdie(dwarf, 0x1001, &unit));
	for (uint32_t i = 0; i < SPANS; i += 13)
		for (uint32_t s = 0; s < SLOTS; s++)
			assert_line(&unit, 0x1001 + 2 * (i * SLOTS + s),
				    names[i], (int)lines[i][s]);
	dwarf_end(dwarf);
	elf_end(elf);
	strbuf_deinit(&out);
}

static void test_empty(void **state)
{
	struct elf_image none = { .base = BASE, .slot_size = 2 };
	struct strbuf out = STRBUF_INIT;

	(void)state;
	elf_end(open_image(&none, &out));
	strbuf_deinit(&out);
}

static void assert_refused(struct elf_image_span first,
			   struct elf_image_span second)
{
	const struct elf_image_span both[] = { first, second };
	struct elf_image bad = { .base = BASE, .slot_size = 2, .spans = both,
				 .count = 2 };
	struct strbuf out = STRBUF_INIT;
	struct error *err = elf_image_write(&bad, &out);

	assert_non_null(err);
	assert_int_equal(err->code, ERROR_INVALID_ARGUMENT);
	assert_int_equal(out.len, 0);
	error_destroy(err);
	strbuf_deinit(&out);
}

static void test_bad_spans(void **state)
{
	const struct elf_image_span a = { BASE + 0x1000, 5, "a", NULL, NULL };
	struct elf_image_span b = { BASE + 0x1008, 5, "b", NULL, NULL };

	(void)state;
	assert_refused(a, b);
	b.start = BASE;
	assert_refused(a, b);
	b.start = BASE - 2;
	assert_refused(a, b);
	b.start = BASE + 0xfffffffe;
	assert_refused(a, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_build_id_and_segments),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_bad_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
