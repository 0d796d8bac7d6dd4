// SPDX-License-Identifier: GPL-2.0-only
/* The image of a piece of code as elfutils reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

#include "obj/jit_image.h"
#include "read_elf.h"

#define ADDRESS 0x7f0000001000ull

/* Entries as in a dump: address, line, discriminator, name. */
static struct jitdump_lines make_lines(struct strbuf *out)
{
	static const struct {
		uint64_t offset;
		uint32_t line;
		const char *file;
	} entries[] = {
		{ 0, 10, "/a.js" },   { 40, 7, "/b.js" }, { 4, 11, "\xff" },
		{ 90, 500, "/a.js" }, { 96, 500, "/a.js" },
	};
	size_t count = sizeof(entries) / sizeof(*entries);

	for (size_t i = 0; i < count; i++) {
		uint64_t address = ADDRESS + entries[i].offset;
		uint32_t discriminator = 0;

		strbuf_append(out, &address, sizeof(address));
		strbuf_append(out, &entries[i].line, sizeof(entries[i].line));
		strbuf_append(out, &discriminator, sizeof(discriminator));
		strbuf_append(out, entries[i].file,
			      strlen(entries[i].file) + 1);
	}
	return (struct jitdump_lines){ .reader = reader_init(out->data,
							     out->len),
				       .left = count };
}

/* A CIE and an FDE for 93 bytes of code, and their header, as CPython has them. */
static const uint8_t eh_frame[] = {
	0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 0x10, 1, 0x1b, 0x0c,
	7, 8, 0x90, 1, 0, 0, 0x14, 0, 0, 0, 0x1c, 0, 0, 0,
	/* 0x20 bytes into the section, which is at 0xe0: back to 0x80. */
	0x80, 0xff, 0xff, 0xff, 93, 0, 0, 0, 0, 0x41, 0x0e, 0x10, 0, 0, 0, 0,
	0, 0, 0, 0,
};
static const uint8_t eh_frame_hdr[] = { 1, 0x1b, 0xff, 0xff, 0xc8, 0xff,
					0xff, 0xff };
static uint8_t code[93];

static struct jit_image image = {
	.name = "py::f:/x.py",
	.code = { code, sizeof(code) },
	.address = ADDRESS,
	.index = 7,
	.machine = EM_X86_64,
};

static Elf *open_image(struct strbuf *out, uint8_t *id)
{
	assert_null(jit_image_write(&image, out, id));
	return open_elf(out->data, out->len);
}

static void check_symbol(Elf *elf)
{
	GElf_Shdr shdr, text;
	Elf_Scn *section = find_section(elf, ".symtab", &shdr);
	GElf_Sym symbol;

	assert_non_null(section);
	assert_non_null(find_section(elf, ".text", &text));
	assert_int_equal(text.sh_offset, JIT_IMAGE_TEXT);
	assert_int_equal(shdr.sh_size / shdr.sh_entsize, 2);
	assert_non_null(gelf_getsym(elf_getdata(section, NULL), 1, &symbol));
	assert_int_equal(symbol.st_value, JIT_IMAGE_TEXT);
	assert_int_equal(symbol.st_size, sizeof(code));
	assert_string_equal(elf_strptr(elf, shdr.sh_link, symbol.st_name),
			    "py::f:/x.py");
}

static void test_plain(void **state)
{
	struct strbuf out = STRBUF_INIT;
	uint8_t id[JIT_IMAGE_BUILD_ID_SIZE];
	Elf *elf = open_image(&out, id);
	const void *found;
	GElf_Shdr shdr;

	(void)state;
	check_symbol(elf);
	assert_int_equal(dwelf_elf_gnu_build_id(elf, &found), sizeof(id));
	assert_memory_equal(found, id, sizeof(id));
	assert_null(find_section(elf, ".eh_frame", &shdr));
	assert_null(find_section(elf, ".debug_line", &shdr));
	assert_int_equal(jit_image_mapped(93, &image.unwinding), 93);
	elf_end(elf);
	strbuf_deinit(&out);
}

/* Equal code under equal names is not the same where it runs elsewhere. */
static void test_build_ids_differ(void **state)
{
	uint8_t ids[4][JIT_IMAGE_BUILD_ID_SIZE];

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct strbuf out = STRBUF_INIT;

		image.address = ADDRESS + (i & 1) * 64;
		image.index = 7 + (i >> 1);
		elf_end(open_image(&out, ids[i]));
		strbuf_deinit(&out);
		for (unsigned int j = 0; j < i; j++)
			assert_memory_not_equal(ids[i], ids[j], sizeof(ids[i]));
	}
	image.address = ADDRESS;
	image.index = 7;
}

static void assert_line(Dwarf *dwarf, uint64_t offset, const char *file,
			int line)
{
	Dwarf_Die unit;
	Dwarf_Line *found;
	int got;

	assert_non_null(dwarf_addrdie(dwarf, JIT_IMAGE_TEXT + offset, &unit));
	found = dwarf_getsrc_die(&unit, JIT_IMAGE_TEXT + offset);
	assert_non_null(found);
	assert_int_equal(dwarf_lineno(found, &got), 0);
	assert_int_equal(got, line);
	assert_string_equal(dwarf_linesrc(found, NULL, NULL), file);
}

static void test_lines(void **state)
{
	struct strbuf out = STRBUF_INIT, entries = STRBUF_INIT;
	uint8_t id[JIT_IMAGE_BUILD_ID_SIZE];
	Dwarf *dwarf;
	Elf *elf;

	(void)state;
	image.lines = make_lines(&entries);
	elf = open_image(&out, id);
	dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	assert_non_null(dwarf);
	check_symbol(elf);
	assert_line(dwarf, 0, "/a.js", 10);
	assert_line(dwarf, 3, "/a.js", 10);
	assert_line(dwarf, 4, "/b.js", 11);
	assert_line(dwarf, 39, "/b.js", 11);
	assert_line(dwarf, 40, "/b.js", 7);
	assert_line(dwarf, 90, "/a.js", 500);
	assert_line(dwarf, 92, "/a.js", 500);
	dwarf_end(dwarf);
	elf_end(elf);
	image.lines = (struct jitdump_lines){};
	strbuf_deinit(&entries);
	strbuf_deinit(&out);
}

static void test_unwinding(void **state)
{
	struct strbuf out = STRBUF_INIT;
	uint8_t id[JIT_IMAGE_BUILD_ID_SIZE];
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	Dwarf_CFI *cfi;
	GElf_Shdr shdr;
	size_t count;
	Elf *elf;

	(void)state;
	image.unwinding = (struct jitdump_unwinding){
		{ eh_frame, sizeof(eh_frame) },
		{ eh_frame_hdr, sizeof(eh_frame_hdr) },
		60,
	};
	elf = open_image(&out, id);
	assert_non_null(find_section(elf, ".eh_frame", &shdr));
	assert_int_equal(shdr.sh_addr, jit_image_eh_frame(sizeof(code)));
	assert_int_equal(shdr.sh_addr, 0xe0);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	assert_int_equal(dwarf_cfi_addrframe(cfi, JIT_IMAGE_TEXT + 50, &frame),
			 0);
	assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
	assert_int_equal(ops[0].number2, 16);
	free(frame);
	assert_int_not_equal(
		dwarf_cfi_addrframe(cfi, JIT_IMAGE_TEXT + 93, &frame), 0);
	assert_int_equal(jit_image_mapped(93, &image.unwinding), 96 + 60);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	image.unwinding = (struct jitdump_unwinding){};
	strbuf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_build_ids_differ),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_unwinding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
