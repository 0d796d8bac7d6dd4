// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <lzma.h>

#include "obj/elf_debug.h"
#include "obj/elf_file.h"
#include "obj/elf_symbols.h"
#include "obj/elf_symtab.h"
#include "assert_ok.h"
#include "synthetic_elf.h"

#define TEXT SYNTHETIC_TEXT_VADDR

static uint8_t text[SYNTHETIC_TEXT_SIZE];
static uint8_t data[SYNTHETIC_DATA_SIZE];

/* "GNU" note with the bytes 1..8, in the byte order of the machine. */
static const uint32_t note[] = { 4, 8, 3, 0x00554e47, 0x04030201, 0x08070605 };

static const char strings[] = "\0alpha\0beta\0hidden_label\0absent\0unit.c.1a2b";

#define SYMBOLS(type)                                                       \
	static const type symbols_##type[] = {                              \
		{},                                                         \
		{ .st_name = 1, .st_info = STB_GLOBAL << 4 | STT_FUNC,      \
		  .st_shndx = 1, .st_value = TEXT + 0x10, .st_size = 0x20 },\
		{ .st_name = 7, .st_info = STB_LOCAL << 4 | STT_NOTYPE,     \
		  .st_shndx = 1, .st_value = TEXT + 0x40 },                 \
		{ .st_name = 12, .st_info = STB_LOCAL << 4 | STT_NOTYPE,    \
		  .st_other = STV_HIDDEN, .st_shndx = 1,                    \
		  .st_value = TEXT + 0x50 },                                \
		{ .st_name = 25, .st_info = STB_GLOBAL << 4 | STT_FUNC },   \
		{ .st_name = 9999, .st_info = STB_GLOBAL << 4 | STT_FUNC,   \
		  .st_shndx = 1, .st_value = TEXT + 0x60, .st_size = 4 },   \
		/* As LTO has them in .debug_info: an offset in it. */      \
		{ .st_name = 32, .st_info = STB_LOCAL << 4 | STT_NOTYPE,    \
		  .st_shndx = 4, .st_value = TEXT + 0x12 },                 \
	}
SYMBOLS(Elf64_Sym);
SYMBOLS(Elf32_Sym);

/* .text, .data, .symtab, .strtab, and a build-id if the order is ours. */
static struct synthetic_elf basic(int elf_class, int encoding)
{
	bool is_64 = elf_class == ELFCLASS64;
	struct synthetic_elf elf = {
		.elf_class = elf_class,
		.encoding = encoding,
		.machine = EM_X86_64,
		.sections = {
			{ .name = ".text", .type = SHT_PROGBITS,
			  .flags = SHF_ALLOC | SHF_EXECINSTR, .addr = TEXT,
			  .offset = SYNTHETIC_TEXT_OFFSET, .data = text,
			  .size = sizeof(text) },
			{ .name = ".data", .type = SHT_PROGBITS,
			  .flags = SHF_ALLOC | SHF_WRITE,
			  .addr = SYNTHETIC_DATA_VADDR,
			  .offset = SYNTHETIC_DATA_OFFSET, .data = data,
			  .size = sizeof(data) },
			{ .name = ".symtab", .type = SHT_SYMTAB, .link = 4,
			  .data = is_64 ? (const void *)symbols_Elf64_Sym :
					  (const void *)symbols_Elf32_Sym,
			  .size = is_64 ? sizeof(symbols_Elf64_Sym) :
					  sizeof(symbols_Elf32_Sym),
			  .entsize = is_64 ? sizeof(Elf64_Sym) :
					     sizeof(Elf32_Sym),
			  .data_type = ELF_T_SYM },
			{ .name = ".strtab", .type = SHT_STRTAB,
			  .data = strings, .size = sizeof(strings) },
		},
		.count = 4,
	};

	if (encoding == ELFDATA2LSB)
		elf.sections[elf.count++] = (struct synthetic_section){
			.name = ".note.gnu.build-id", .type = SHT_NOTE,
			.data = note, .size = sizeof(note),
		};
	return elf;
}

static void open_synthetic(const struct synthetic_elf *elf,
			   struct elf_file **ret)
{
	assert_null(elf_file_open_fd(synthetic_elf_write(elf), "synthetic",
				     ret));
}

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * 7);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 3);
	return 0;
}

static void check_symbols(struct elf_file *file)
{
	struct elf_symbol symbol;
	struct symtab tab = {};

	assert_null(elf_file_find_symbol(file, "alpha", &symbol));
	assert_int_equal(symbol.vaddr, TEXT + 0x10);
	assert_int_equal(symbol.size, 0x20);
	assert_int_equal(symbol.type, STT_FUNC);
	assert_int_equal(symbol.binding, STB_GLOBAL);
	/* An undefined symbol is none. */
	assert_fails(elf_file_find_symbol(file, "absent", &symbol),
		     ERROR_NOT_FOUND);
	assert_null(elf_symtab_load(file, NULL, false, &tab, NULL));
	assert_int_equal(tab.count, 2);
	assert_string_equal(symtab_find(&tab, TEXT + 0x12)->name, "alpha");
	assert_string_equal(symtab_find(&tab, TEXT + 0x2f)->name, "alpha");
	assert_null(symtab_find(&tab, TEXT + 0x30));
	assert_string_equal(symtab_find(&tab, TEXT + 0x40)->name, "beta");
	symtab_deinit(&tab);
}

static void test_every_class_and_order(void **state)
{
	static const int classes[] = { ELFCLASS64, ELFCLASS32 };
	static const int orders[] = { ELFDATA2LSB, ELFDATA2MSB };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct synthetic_elf elf = basic(classes[i & 1], orders[i >> 1]);
		_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
		struct error *error;

		open_synthetic(&elf, &file);
		assert_int_equal(file->is_64, classes[i & 1] == ELFCLASS64);
		assert_int_equal(file->big_endian, orders[i >> 1] ==
							   ELFDATA2MSB);
		assert_int_equal(file->segment_count, 2);
		check_symbols(file);
		error = elf_file_check_native(file);
		assert_int_equal(!error, i == 0);
		error_destroy(error);
	}
}

static void test_build_id(void **state)
{
	struct synthetic_elf elf = basic(ELFCLASS64, ELFDATA2LSB);
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	char hex[BUILD_ID_TEXT_SIZE];
	struct build_id padded = {};

	(void)state;
	open_synthetic(&elf, &file);
	build_id_format(&file->build_id, hex);
	assert_string_equal(hex, "0102030405060708");
	/* perf records short ones with zeros up to 20 bytes. */
	memcpy(padded.data, file->build_id.data, 8);
	padded.size = 20;
	assert_true(build_id_equal(&padded, &file->build_id));
	padded.data[19] = 1;
	assert_false(build_id_equal(&padded, &file->build_id));
	padded.size = 0;
	assert_false(build_id_equal(&padded, &padded));
}

static void test_notes_that_end_too_soon(void **state)
{
	struct build_id id;

	(void)state;
	assert_true(build_id_from_notes(note, sizeof(note), false, &id));
	for (size_t size = 0; size < sizeof(note); size++)
		assert_false(build_id_from_notes(note, size, false, &id));
}

static void test_image_and_offsets(void **state)
{
	struct synthetic_elf elf = basic(ELFCLASS64, ELFDATA2LSB);
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	uint8_t buf[2 * SYNTHETIC_DATA_SIZE];
	uint64_t value = 0;

	(void)state;
	open_synthetic(&elf, &file);
	assert_null(elf_file_read_image(file, TEXT + 5, buf, 16));
	assert_memory_equal(buf, text + 5, 16);
	/* The part of a segment without bytes in the file is zeros. */
	memset(buf, 0xff, sizeof(buf));
	assert_null(elf_file_read_image(file, SYNTHETIC_DATA_VADDR, buf,
					sizeof(buf)));
	assert_memory_equal(buf, data, sizeof(data));
	for (size_t i = sizeof(data); i < sizeof(buf); i++)
		assert_int_equal(buf[i], 0);
	assert_fails(elf_file_read_image(file, SYNTHETIC_DATA_VADDR + 1, buf,
					 sizeof(buf)), ERROR_FAULT);
	assert_fails(elf_file_read_image(file, UINT64_MAX, buf, 2),
		     ERROR_FAULT);

	assert_true(elf_file_offset_to_vaddr(file, 0x1010, &value));
	assert_int_equal(value, TEXT + 0x10);
	assert_true(elf_file_vaddr_to_offset(file, TEXT + 0x10, &value));
	assert_int_equal(value, 0x1010);
	assert_false(elf_file_offset_to_vaddr(file, 0x5000, &value));
	assert_true(elf_file_bias(file, 0x7f0000000000, 0x1000, 0x1000,
				  &value));
	assert_int_equal(value, 0x7f0000000000 - TEXT);
	assert_false(elf_file_bias(file, 0x7f0000000000, 0x1000, 0x8000,
				   &value));
	assert_true(elf_file_is_exec(file, TEXT));
	assert_false(elf_file_is_exec(file, SYNTHETIC_DATA_VADDR));
}

static void test_closed_file_keeps_what_was_read(void **state)
{
	struct synthetic_elf elf = basic(ELFCLASS64, ELFDATA2LSB);
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	struct bytes bytes;
	uint8_t buf[4];

	(void)state;
	open_synthetic(&elf, &file);
	assert_null(elf_file_section_by_name(file, ".data", NULL, &bytes));
	elf_file_close_fd(file);
	assert_memory_equal(bytes.data, data, sizeof(data));
	assert_null(elf_file_section_by_name(file, ".data", NULL, &bytes));
	assert_fails(elf_file_read_image(file, TEXT, buf, 4), ERROR_FAULT);
	error_destroy(elf_file_section_by_name(file, ".text", NULL, &bytes));
}

static void read_file(int fd, uint8_t **ret, size_t *size)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	*size = (size_t)st.st_size;
	*ret = malloc(*size);
	assert_int_equal(pread(fd, *ret, *size, 0), *size);
	close(fd);
}

/* A stripped file whose .symtab is in .gnu_debugdata. */
static void test_minidebuginfo(void **state)
{
	struct synthetic_elf elf = basic(ELFCLASS64, ELFDATA2LSB);
	_cleanup_free_ uint8_t *plain = NULL;
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	uint8_t packed[65536];
	size_t size, packed_size = 0;

	(void)state;
	read_file(synthetic_elf_write(&elf), &plain, &size);
	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL,
						 plain, size, packed,
						 &packed_size, sizeof(packed)),
			 LZMA_OK);
	elf.sections[2] = (struct synthetic_section){
		.name = ".gnu_debugdata", .type = SHT_PROGBITS, .data = packed,
		.size = packed_size,
	};
	open_synthetic(&elf, &file);
	check_symbols(file);
	elf_file_destroy(take_ptr(file));
	/* Cut off: no symbols, but no harm. */
	elf.sections[2].size = packed_size / 2;
	open_synthetic(&elf, &file);
	assert_fails(elf_file_minidebug(file, &(struct elf_file *){ NULL }),
		     ERROR_FORMAT);
	assert_null(elf_symtab_load(file, NULL, false, &(struct symtab){}, NULL));
}

static void test_debuglink(void **state)
{
	static const char link[] = "x.debug\0\x78\x56\x34\x12";
	static const char bad[] = "../x.debug\0\0\x78\x56\x34\x12";
	struct synthetic_elf elf = basic(ELFCLASS64, ELFDATA2LSB);
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	const char *name = NULL;
	uint32_t crc = 0;

	(void)state;
	open_synthetic(&elf, &file);
	assert_fails(elf_file_debuglink(file, &name, &crc), ERROR_NOT_FOUND);
	elf_file_destroy(take_ptr(file));
	elf.sections[2] = (struct synthetic_section){
		.name = ".gnu_debuglink", .type = SHT_PROGBITS, .data = link,
		.size = sizeof(link) - 1,
	};
	open_synthetic(&elf, &file);
	assert_null(elf_file_debuglink(file, &name, &crc));
	assert_string_equal(name, "x.debug");
	assert_int_equal(crc, 0x12345678);
	elf_file_destroy(take_ptr(file));
	elf.sections[2].data = bad;
	elf.sections[2].size = sizeof(bad) - 1;
	open_synthetic(&elf, &file);
	assert_fails(elf_file_debuglink(file, &name, &crc), ERROR_FORMAT);
}

/* Everything that the library does with a file; errors are fine. */
static void use_all(const void *bytes, size_t size)
{
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	struct elf_symbol symbol;
	struct symtab tab = {};
	struct bytes section;
	uint8_t buf[64];
	uint32_t crc;
	const char *name;

	error_destroy(elf_file_open_memory(bytes, size, "hostile", &file));
	if (!file)
		return;
	for (size_t i = 0; i < file->section_count; i++)
		error_destroy(elf_file_section_bytes(file, &file->sections[i],
						     &section));
	error_destroy(elf_file_find_symbol(file, "alpha", &symbol));
	error_destroy(elf_file_debuglink(file, &name, &crc));
	for (size_t i = 0; i < file->segment_count; i++)
		error_destroy(elf_file_read_image(file,
						  file->segments[i].vaddr, buf,
						  sizeof(buf)));
	error_destroy(elf_symtab_load(file, NULL, false, &tab, NULL));
	symtab_find(&tab, TEXT + 0x10);
	symtab_deinit(&tab);
}

/* A table of n functions; each has another part of the last `part` letters as its name. */
static struct elf_file *open_long_names(size_t n, const char *names,
					size_t size, size_t part,
					Elf64_Sym *symbols)
{
	struct synthetic_elf elf = basic(ELFCLASS64, ELFDATA2LSB);
	struct elf_file *file = NULL;

	for (size_t i = 0; i < n; i++)
		symbols[i] = (Elf64_Sym){
			.st_name = (uint32_t)(size - 1 - part + i),
			.st_info = STB_GLOBAL << 4 | STT_FUNC,
			.st_shndx = 1, .st_value = TEXT + i, .st_size = 1,
		};
	elf.sections[2].data = symbols;
	elf.sections[2].size = n * sizeof(*symbols);
	elf.sections[3].data = names;
	elf.sections[3].size = size;
	open_synthetic(&elf, &file);
	return file;
}

static void test_name_without_an_end(void **state)
{
	enum { SIZE = ELF_SYMBOL_NAME_MAX + 100 };
	_cleanup_free_ char *names = malloc(SIZE);
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	Elf64_Sym symbols[2];
	struct symtab tab = {};

	(void)state;
	memset(names, 'x', SIZE - 1);
	names[SIZE - 1] = 0;
	/* With its NUL it is a byte too long, the second one is not. */
	file = open_long_names(2, names, SIZE, ELF_SYMBOL_NAME_MAX, symbols);
	assert_null(elf_symtab_load(file, NULL, false, &tab, NULL));
	assert_int_equal(tab.count, 1);
	assert_int_equal(strlen(symtab_find(&tab, TEXT + 1)->name),
			 ELF_SYMBOL_NAME_MAX - 1);
	symtab_deinit(&tab);
}

static void test_names_within_names(void **state)
{
	enum { COUNT = 1000, SIZE = 40000, SHORT = 400 };
	_cleanup_free_ Elf64_Sym *symbols = calloc(COUNT, sizeof(*symbols));
	_cleanup_free_ char *names = malloc(SIZE);
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	struct symtab tab = {};

	(void)state;
	memset(names, 'x', SIZE - 1);
	names[SIZE - 1] = 0;
	file = open_long_names(COUNT, names, SIZE, SIZE - 1, symbols);
	assert_null(elf_symtab_load(file, NULL, false, &tab, NULL));
	assert_in_range(tab.count, 1, COUNT - 1);
	assert_in_range(tab.names.used, 1,
			2 * ELF_SYMBOL_NAMES_FACTOR *
				(SIZE + COUNT * sizeof(*symbols)));
	symtab_deinit(&tab);
	elf_file_destroy(take_ptr(file));
	/* Names that are not that long may all be in one. */
	file = open_long_names(SHORT, names, SIZE, SHORT, symbols);
	assert_null(elf_symtab_load(file, NULL, false, &tab, NULL));
	assert_int_equal(tab.count, SHORT);
	symtab_deinit(&tab);
}

/* Eight symbol tables whose headers tell of the same bytes. */
static void test_sections_of_the_same_bytes(void **state)
{
	enum { COUNT = 4000, TABLES = 8 };
	_cleanup_free_ Elf64_Sym *symbols = calloc(COUNT, sizeof(*symbols));
	struct synthetic_elf elf = basic(ELFCLASS64, ELFDATA2LSB);
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	unsigned int skipped = 0;
	struct symtab tab = {};

	(void)state;
	symbols[COUNT - 1] = symbols_Elf64_Sym[1];
	elf.sections[2].data = symbols;
	elf.sections[2].size = COUNT * sizeof(*symbols);
	elf.sections[2].offset = 0x4000;
	for (int i = 1; i < TABLES; i++)
		elf.sections[elf.count++] = elf.sections[2];
	open_synthetic(&elf, &file);
	assert_null(elf_symtab_load(file, NULL, false, &tab, &skipped));
	assert_string_equal(symtab_find(&tab, TEXT + 0x10)->name, "alpha");
	assert_in_range(skipped, TABLES - 1 - ELF_FILE_READ_FACTOR, TABLES - 1);
	symtab_deinit(&tab);
}

/* All entries jump through one slot, whose symbol has a long name. */
static void test_many_entries_of_one_function(void **state)
{
	enum { GOT = TEXT + 0x100000, ENTRY = 8 };
	static uint8_t code[SYNTHETIC_TEXT_SIZE];
	static char names[1000];
	const Elf64_Rela slot = { .r_offset = GOT,
				  .r_info = ELF64_R_INFO(1, R_X86_64_JUMP_SLOT) };
	const Elf64_Sym symbols[] = { {}, { .st_name = 1 } };
	struct synthetic_elf elf = basic(ELFCLASS64, ELFDATA2LSB);
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	unsigned int skipped = 0;
	struct symtab tab = {};

	(void)state;
	memset(names + 1, 'x', sizeof(names) - 2);
	for (size_t at = 0; at < sizeof(code); at += ENTRY) {
		uint32_t displacement = (uint32_t)(GOT - (TEXT + at + 6));

		memcpy(code + at, "\xff\x25", 2);
		memcpy(code + at + 2, &displacement, sizeof(displacement));
	}
	elf.sections[0].name = ".plt";
	elf.sections[0].data = code;
	elf.sections[0].entsize = ENTRY;
	elf.sections[1] = (struct synthetic_section){
		.name = ".rela.plt", .type = SHT_RELA, .flags = SHF_ALLOC,
		.data = &slot, .size = sizeof(slot),
	};
	elf.sections[2].type = SHT_DYNSYM;
	elf.sections[2].data = symbols;
	elf.sections[2].size = sizeof(symbols);
	elf.sections[3].data = names;
	elf.sections[3].size = sizeof(names);
	open_synthetic(&elf, &file);
	assert_null(elf_symtab_load(file, NULL, false, &tab, &skipped));
	assert_string_equal(symtab_find(&tab, TEXT)->name + sizeof(names) - 2,
			    "@plt");
	assert_in_range(tab.count, 2, sizeof(code) / ENTRY - 1);
	assert_int_equal(skipped, 1);
	symtab_deinit(&tab);
}

/* The build-id stands in the last of many sections of notes. */
static void test_many_notes(void **state)
{
	static Elf64_Shdr headers[ELF_FILE_NOTES_MAX + 2];
	static uint8_t bytes[sizeof(Elf64_Ehdr) + sizeof(headers) + sizeof(note)];
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(header), .e_shentsize = sizeof(*headers),
		.e_shoff = sizeof(header),
	};

	(void)state;
	for (int beyond = 0; beyond < 2; beyond++) {
		struct elf_file *file = NULL;
		size_t last = ELF_FILE_NOTES_MAX + (size_t)beyond;

		for (size_t i = 1; i <= last; i++)
			headers[i] = (Elf64_Shdr){
				.sh_type = SHT_NOTE, .sh_offset = 64,
				.sh_size = i == last ? sizeof(note) : 0 };
		headers[last].sh_offset = sizeof(bytes) - sizeof(note);
		header.e_shnum = (uint16_t)(last + 1);
		memcpy(bytes, &header, sizeof(header));
		memcpy(bytes + sizeof(header), headers, sizeof(headers));
		memcpy(bytes + sizeof(bytes) - sizeof(note), note, sizeof(note));
		assert_null(elf_file_open_memory(bytes, sizeof(bytes), "notes",
						 &file));
		assert_int_equal(file->build_id.size, beyond ? 0 : 8);
		elf_file_destroy(file);
	}
}

static void test_long_name_of_a_section(void **state)
{
	struct synthetic_elf elf = basic(ELFCLASS64, ELFDATA2LSB);
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	char name[ELF_FILE_SECTION_NAME_MAX + 1] = "";

	(void)state;
	memset(name, 'x', ELF_FILE_SECTION_NAME_MAX);
	elf.sections[1].name = name;
	open_synthetic(&elf, &file);
	assert_string_equal(file->sections[2].name, "");
	elf_file_destroy(take_ptr(file));
	elf.sections[1].name = name + 1;
	open_synthetic(&elf, &file);
	assert_string_equal(file->sections[2].name, name + 1);
}

static void test_truncated_at_every_byte(void **state)
{
	struct synthetic_elf elf = basic(ELFCLASS64, ELFDATA2LSB);
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size;

	(void)state;
	read_file(synthetic_elf_write(&elf), &bytes, &size);
	for (size_t n = 0; n <= size; n += n < 0x400 || n > 0x2f00 ? 1 : 61) {
		/* In memory of its own, so that a sanitizer sees the end. */
		_cleanup_free_ uint8_t *cut = malloc(n + !n);

		memcpy(cut, bytes, n);
		use_all(cut, n);
	}
}

static void test_flipped_bits(void **state)
{
	struct synthetic_elf elf = basic(ELFCLASS64, ELFDATA2LSB);
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size, headers = 0x100, tables = 0x3000;
	unsigned int seed = 3;

	(void)state;
	read_file(synthetic_elf_write(&elf), &bytes, &size);
	for (int round = 0; round < 20000; round++) {
		uint8_t saved[4];
		size_t at[4];

		for (int i = 0; i < 4; i++) {
			size_t n = (size_t)rand_r(&seed);

			at[i] = n & 1 ? n / 2 % headers :
					tables + n / 2 % (size - tables);
			saved[i] = bytes[at[i]];
			bytes[at[i]] ^= (uint8_t)(1 << (rand_r(&seed) & 7));
		}
		use_all(bytes, size);
		for (int i = 3; i >= 0; i--)
			bytes[at[i]] = saved[i];
	}
}

static void test_what_is_no_elf_file(void **state)
{
	struct elf_file *file = NULL;

	(void)state;
	assert_fails(elf_file_open("/", &file), ERROR_UNSUPPORTED);
	assert_fails(elf_file_open("/dev/zero", &file), ERROR_UNSUPPORTED);
	assert_fails(elf_file_open("/proc/self/nothing", &file), ERROR_OS);
	assert_fails(elf_file_open("/etc/passwd", &file), ERROR_FORMAT);
	assert_fails(elf_file_open_memory("", 0, "empty", &file), ERROR_FORMAT);
	assert_null(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_class_and_order),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_notes_that_end_too_soon),
		cmocka_unit_test(test_image_and_offsets),
		cmocka_unit_test(test_closed_file_keeps_what_was_read),
		cmocka_unit_test(test_minidebuginfo),
		cmocka_unit_test(test_debuglink),
		cmocka_unit_test(test_name_without_an_end),
		cmocka_unit_test(test_names_within_names),
		cmocka_unit_test(test_sections_of_the_same_bytes),
		cmocka_unit_test(test_many_entries_of_one_function),
		cmocka_unit_test(test_many_notes),
		cmocka_unit_test(test_long_name_of_a_section),
		cmocka_unit_test(test_truncated_at_every_byte),
		cmocka_unit_test(test_flipped_bits),
		cmocka_unit_test(test_what_is_no_elf_file),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
