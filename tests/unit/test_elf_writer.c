// SPDX-License-Identifier: GPL-2.0-only
/*
 * Images as libelf and libdw read them, and as readelf does without a warning;
 * numbers as the bounded reader reads them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>

#include "base/bytes.h"
#include "obj/elf_writer.h"
#include "obj/line_writer.h"
#include "read_elf.h"

#define TEXT_SIZE 32768
#define ROWS 2000

enum section {
	NONE,
	NOTE,
	TEXT,
	/* Never placed. */
	ABSENT,
	SYMTAB,
	STRTAB,
	ABBREV,
	INFO,
	ARANGES,
	LINE,
	SHSTRTAB,
	COUNT,
};

static const struct elf_writer_row rows[COUNT] = {
	[NONE] = { "", SHT_NULL, 0, 0 },
	[NOTE] = { ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 4 },
	[TEXT] = { ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 64 },
	[ABSENT] = { ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 8 },
	[SYMTAB] = { ".symtab", SHT_SYMTAB, 0, 8 },
	[STRTAB] = { ".strtab", SHT_STRTAB, 0, 1 },
	[ABBREV] = { ".debug_abbrev", SHT_PROGBITS, 0, 1 },
	[INFO] = { ".debug_info", SHT_PROGBITS, 0, 1 },
	[ARANGES] = { ".debug_aranges", SHT_PROGBITS, 0, 1 },
	[LINE] = { ".debug_line", SHT_PROGBITS, 0, 1 },
	[SHSTRTAB] = { ".shstrtab", SHT_STRTAB, 0, 1 },
};

static const uint8_t build_id[ELF_WRITER_BUILD_ID_SIZE] = { 1, 2, 3, [19] = 9 };
static const char strings[] = "\0main";
static uint8_t text[TEXT_SIZE];

/* A row of the line table. */
struct line {
	uint64_t address;
	int line;
	const char *file;
};

static const char *const files[] = { "/srv/a.py", "<string>", "/srv/b c.py" };

/* Rows of ascending addresses, with steps of all sizes. */
static void make_lines(uint64_t start, struct line ret[ROWS])
{
	uint32_t chance = 12345;
	uint64_t at = start;
	int line = 1;

	for (int i = 0; i < ROWS; i++) {
		int step = (int)((chance >> 16) % 30) - 12;

		chance = chance * 1103515245 + 12345;
		if (i % 10 == 3)
			line = (int)(chance >> 8) % 100000;
		line = line + step > 0 ? line + step : 1;
		ret[i] = (struct line){
			.address = at,
			.line = line,
			.file = files[(chance >> 9) % 3],
		};
		at += 1 + (i % 500 == 7 ? 300 : (chance >> 20) % 20);
	}
	assert_true(at < start + TEXT_SIZE);
}

static void put_lines(struct elf_writer *w, const struct line *lines)
{
	struct line_writer table = {};
	struct line last = { lines[0].address, 1, files[0] };

	for (int i = 0; i < 3; i++)
		assert_int_equal(line_writer_file(&table, files[i]), i + 1);
	assert_int_equal(line_writer_file(&table, files[1]), 2);
	elf_writer_begin(w, LINE);
	line_writer_begin(&table, w->out);
	line_writer_sequence(&table, lines[0].address);
	for (int i = 0; i < ROWS; i++) {
		if (lines[i].file != last.file)
			line_writer_set_file(&table,
					     line_writer_file(&table,
							      lines[i].file));
		line_writer_row(&table, lines[i].line - last.line,
				lines[i].address - last.address);
		last = lines[i];
	}
	line_writer_end_sequence(&table, w->sections[TEXT].sh_addr + TEXT_SIZE -
						 last.address);
	line_writer_end(&table);
	elf_writer_end(w, LINE);
	line_writer_deinit(&table);
}

/* What is asked for again is known by where it stands, however long it is. */
static void test_name_is_read_once(void **state)
{
	struct line_writer table = {};
	char name[] = "/a", other[] = "/b";

	(void)state;
	assert_int_equal(line_writer_file(&table, name), 1);
	name[1] = 'b';
	assert_int_equal(line_writer_file(&table, name), 1);
	assert_int_equal(line_writer_file(&table, other), 2);
	assert_int_equal(line_writer_file(&table, name), 2);
	line_writer_deinit(&table);
}

static struct dwarf_put_unit unit_of(const struct elf_writer *w)
{
	return (struct dwarf_put_unit){ .producer = "test",
					.language = DWARF_LANG_PYTHON,
					.name = "unit",
					.folder = "/srv",
					.start = w->sections[TEXT].sh_addr,
					.size = TEXT_SIZE };
}

static void symbols_of(const struct elf_writer *w, Elf64_Sym ret[2])
{
	ret[0] = (Elf64_Sym){};
	ret[1] = (Elf64_Sym){
		.st_name = 1,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		/* ABSENT has no header: .text is the second all the same. */
		.st_shndx = TEXT,
		.st_value = w->sections[TEXT].sh_addr,
		.st_size = TEXT_SIZE,
	};
}

static void add_segments(struct elf_writer *w)
{
	const Elf64_Shdr *code = &w->sections[TEXT];
	const Elf64_Phdr load = elf_writer_segment(
		PT_LOAD, PF_R | PF_X, 0, code->sh_offset + code->sh_size, 0x1000);
	const Elf64_Phdr note = elf_writer_segment(PT_NOTE, PF_R,
						   w->sections[NOTE].sh_offset,
						   ELF_WRITER_NOTE_SIZE, 4);

	elf_writer_add_segment(w, &load);
	elf_writer_add_segment(w, &note);
}

#define WRITER { .rows = rows, .count = COUNT, .machine = EM_X86_64 }

/* An image in memory that grows, behind what is there already. */
static void grow_image(struct elf_writer *w, struct strbuf *out,
		       struct line lines[ROWS])
{
	struct dwarf_put_unit unit;
	Elf64_Sym symbols[2];

	elf_writer_begin_image(w, out, elf_writer_headers_size(2));
	elf_writer_add_note(w, NOTE, build_id);
	elf_writer_add(w, TEXT, (struct bytes){ text, sizeof(text) });
	symbols_of(w, symbols);
	elf_writer_add(w, SYMTAB, (struct bytes){ (const uint8_t *)symbols,
						  sizeof(symbols) });
	elf_writer_add(w, STRTAB, (struct bytes){ (const uint8_t *)strings,
						  sizeof(strings) });
	elf_writer_link_symtab(w, SYMTAB, STRTAB, 1);
	unit = unit_of(w);
	elf_writer_add_unit(w, ABBREV, &unit);
	make_lines(w->sections[TEXT].sh_addr, lines);
	put_lines(w, lines);
	add_segments(w);
	elf_writer_finish(w);
	assert_null(strbuf_error(out));
}

static void check_sections(Elf *elf, const struct elf_writer *w)
{
	size_t count;

	assert_int_equal(elf_getshdrnum(elf, &count), 0);
	assert_int_equal(count, COUNT - 1);
	for (size_t i = 1; i < COUNT; i++) {
		GElf_Shdr shdr;
		Elf_Scn *section = find_section(elf, rows[i].name, &shdr);

		if (i == ABSENT) {
			assert_null(section);
			continue;
		}
		assert_non_null(section);
		assert_int_equal(shdr.sh_type, rows[i].type);
		assert_int_equal(shdr.sh_flags, rows[i].flags);
		assert_int_equal(shdr.sh_addralign, rows[i].align);
		assert_int_equal(shdr.sh_offset % rows[i].align, 0);
		assert_int_equal(shdr.sh_offset, w->sections[i].sh_offset);
		assert_int_equal(shdr.sh_addr,
				 rows[i].flags & SHF_ALLOC ? shdr.sh_offset : 0);
	}
}

static void check_symbol(Elf *elf)
{
	GElf_Shdr shdr, code;
	Elf_Scn *section = find_section(elf, ".symtab", &shdr);
	Elf_Scn *of;
	GElf_Sym symbol;

	assert_int_equal(shdr.sh_size / shdr.sh_entsize, 2);
	assert_non_null(gelf_getsym(elf_getdata(section, NULL), 1, &symbol));
	assert_string_equal(elf_strptr(elf, shdr.sh_link, symbol.st_name),
			    "main");
	of = find_section(elf, ".text", &code);
	assert_int_equal(elf_ndxscn(of), symbol.st_shndx);
	assert_int_equal(symbol.st_value, code.sh_addr);
	assert_memory_equal(elf_getdata(of, NULL)->d_buf, text, sizeof(text));
}

static void check_dwarf(Elf *elf, const struct line lines[ROWS])
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	Dwarf_Die unit_memory, *unit;
	Dwarf_Attribute attribute;
	Dwarf_Lines *table;
	size_t count;

	assert_non_null(dwarf);
	unit = dwarf_addrdie(dwarf, lines[5].address, &unit_memory);
	assert_non_null(unit);
	assert_string_equal(dwarf_diename(unit), "unit");
	assert_int_equal(dwarf_srclang(unit), DWARF_LANG_PYTHON);
	assert_string_equal(dwarf_formstring(dwarf_attr(unit, 0x1b, &attribute)),
			    "/srv");
	assert_string_equal(dwarf_formstring(dwarf_attr(unit, 0x25, &attribute)),
			    "test");
	assert_int_equal(dwarf_getsrclines(unit, &table, &count), 0);
	/* The end of the sequence is one, too. */
	assert_int_equal(count, ROWS + 1);
	for (size_t i = 0; i < ROWS; i++) {
		Dwarf_Line *row = dwarf_onesrcline(table, i);
		Dwarf_Addr address;
		const char *file = dwarf_linesrc(row, NULL, NULL);
		int line;

		assert_int_equal(dwarf_lineaddr(row, &address), 0);
		assert_int_equal(dwarf_lineno(row, &line), 0);
		assert_int_equal(address, lines[i].address);
		assert_int_equal(line, lines[i].line);
		assert_string_equal(strrchr(file, '/') ? strrchr(file, '/') :
							 file,
				    *lines[i].file == '/' ?
					    strrchr(lines[i].file, '/') :
					    "/<string>");
	}
	dwarf_end(dwarf);
}

static void test_image_as_libelf_and_libdw_read_it(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct elf_writer w = WRITER;
	static struct line lines[ROWS];
	const void *id;
	GElf_Phdr load;
	Elf *elf;

	(void)state;
	/* An image may begin anywhere. */
	strbuf_puts(&out, "before");
	grow_image(&w, &out, lines);
	elf = open_elf(out.data + 6, out.len - 6);
	assert_int_equal(dwelf_elf_gnu_build_id(elf, &id), sizeof(build_id));
	assert_memory_equal(id, build_id, sizeof(build_id));
	assert_non_null(gelf_getphdr(elf, 0, &load));
	assert_int_equal(load.p_type, PT_LOAD);
	assert_int_equal(load.p_filesz,
			 w.sections[TEXT].sh_offset + TEXT_SIZE);
	check_sections(elf, &w);
	check_symbol(elf);
	check_dwarf(elf, lines);
	elf_end(elf);
	strbuf_deinit(&out);
}

/* What readelf says of a file; it warns about what is not well-formed. */
static void test_readelf_has_nothing_to_say_against_it(void **state)
{
	char path[] = "/tmp/kaa-elf-writer-XXXXXX";
	struct strbuf out = STRBUF_INIT;
	struct elf_writer w = WRITER;
	static struct line lines[ROWS];
	char command[200], text_of[256];
	size_t length = 0;
	FILE *pipe;
	int fd = mkstemp(path);

	(void)state;
	grow_image(&w, &out, lines);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, out.data, out.len), out.len);
	close(fd);
	snprintf(command, sizeof(command),
		 "readelf -aW --debug-dump=info,abbrev,aranges,rawline %s 2>&1 >/dev/null",
		 path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	length = fread(text_of, 1, sizeof(text_of) - 1, pipe);
	text_of[length] = '\0';
	assert_int_equal(pclose(pipe), 0);
	unlink(path);
	assert_string_equal(text_of, "");
	strbuf_deinit(&out);
}

static void check_end(struct put p, const uint8_t *out, const Elf64_Shdr *of)
{
	assert_ptr_equal(p.at, out + of->sh_offset + of->sh_size);
}

/* Each section into its place, as the agent does. */
static void put_by_plan(struct elf_writer *w, const struct strbuf *grown,
			uint64_t sections_at, uint8_t *out)
{
	const struct dwarf_put_unit unit = unit_of(w);
	const Elf64_Shdr *at = w->sections;
	struct put p;

	for (size_t i = 1; i < COUNT; i++)
		if (i == TEXT || i == SYMTAB || i == STRTAB || i == LINE)
			memcpy(out + at[i].sh_offset,
			       grown->data + at[i].sh_offset, at[i].sh_size);
	p.at = out + at[NOTE].sh_offset;
	elf_writer_put_note(&p, build_id);
	check_end(p, out, &at[NOTE]);
	p.at = out + at[ABBREV].sh_offset;
	dwarf_put_abbrev(&p, &unit);
	check_end(p, out, &at[ABBREV]);
	p.at = out + at[INFO].sh_offset;
	dwarf_put_info(&p, &unit);
	check_end(p, out, &at[INFO]);
	p.at = out + at[ARANGES].sh_offset;
	dwarf_put_ranges(&p, &unit);
	check_end(p, out, &at[ARANGES]);
	p.at = out + at[SHSTRTAB].sh_offset;
	elf_writer_put_names(w, &p);
	check_end(p, out, &at[SHSTRTAB]);
	p.at = out + sections_at;
	elf_writer_put_sections(w, &p);
	p.at = out;
	elf_writer_put_headers(w, sections_at, &p);
	assert_ptr_equal(p.at, out + elf_writer_headers_size(2));
}

static void test_a_plan_gives_the_same_image(void **state)
{
	struct strbuf grown = STRBUF_INIT;
	struct elf_writer w = WRITER, planned = WRITER;
	static struct line lines[ROWS];
	const struct dwarf_put_unit unit = { .producer = "test",
					     .language = 1,
					     .name = "unit",
					     .folder = "/srv" };
	uint64_t sections_at;
	uint8_t *out;

	(void)state;
	grow_image(&w, &grown, lines);
	sections_at = grown.len - (COUNT - 1) * sizeof(Elf64_Shdr);
	for (size_t i = 1; i < COUNT; i++)
		if (i != ABSENT)
			elf_writer_place(&planned, i, w.sections[i].sh_offset,
					 w.sections[i].sh_size);
	assert_int_equal(w.sections[ABBREV].sh_size,
			 dwarf_put_abbrev_size(&unit));
	assert_int_equal(w.sections[INFO].sh_size, dwarf_put_info_size(&unit));
	assert_int_equal(w.sections[SHSTRTAB].sh_size,
			 elf_writer_names_size(&planned));
	elf_writer_link_symtab(&planned, SYMTAB, STRTAB, 1);
	add_segments(&planned);
	out = calloc(1, grown.len);
	assert_non_null(out);
	put_by_plan(&planned, &grown, sections_at, out);
	assert_memory_equal(out, grown.data, grown.len);
	free(out);
	strbuf_deinit(&grown);
}

static void test_leb128_as_the_reader_reads_it(void **state)
{
	uint8_t bytes[PUT_LEB128_MAX];

	(void)state;
	for (int i = 0; i < 64 * 3; i++) {
		uint64_t value = (1ull << i / 3) + (uint64_t)(i % 3) - 1;

		for (int sign = 0; sign < 2; sign++) {
			int64_t number = (int64_t)(sign ? -value : value);
			struct put p = { bytes };
			struct reader r;
			uint64_t read;
			int64_t read_number;

			put_uleb128(&p, value);
			r = reader_init(bytes, (size_t)(p.at - bytes));
			assert_true(reader_uleb128(&r, &read));
			assert_true(read == value && !reader_left(&r));
			p.at = bytes;
			put_sleb128(&p, number);
			r = reader_init(bytes, (size_t)(p.at - bytes));
			assert_true(reader_sleb128(&r, &read_number));
			assert_true(read_number == number && !reader_left(&r));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name_is_read_once),
		cmocka_unit_test(test_image_as_libelf_and_libdw_read_it),
		cmocka_unit_test(test_readelf_has_nothing_to_say_against_it),
		cmocka_unit_test(test_a_plan_gives_the_same_image),
		cmocka_unit_test(test_leb128_as_the_reader_reads_it),
	};

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * 31);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
