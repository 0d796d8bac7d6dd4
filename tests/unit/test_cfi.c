// SPDX-License-Identifier: GPL-2.0-only
/*
 * CFI rows. Oracle: elfutils' libdw, asked for every row of every FDE of real
 * files. Then forms that no compiler here writes, and damaged sections.
 *
 * KAA_TEST_ELF_FILES: more files to compare, patterns separated by colons.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <glob.h>

#include "unwind_process.h"

struct comparison {
	struct test_module module;
	unsigned long rows, rules, expressions, differ;
};

static const uint8_t compared_regs[] = {
	UNWIND_RBX, UNWIND_RBP, UNWIND_R12, UNWIND_R13,
	UNWIND_R14, UNWIND_R15, UNWIND_RIP,
};

static void differ(struct comparison *c, uint64_t at, const char *what)
{
	if (c->differ++ < 20)
		print_message("%s: %#" PRIx64 ": %s\n", c->module.path, at,
			      what);
}

/* Operation by operation; libdw puts the CFA in front of register rules. */
static bool same_expression(struct comparison *c, int32_t number,
			    const Dwarf_Op *ops, size_t n_ops, bool with_cfa)
{
	struct bytes bytes = cfi_expression(c->module.cfi, number);

	c->expressions++;
	if (with_cfa) {
		if (n_ops == 0 || ops[0].atom != DW_OP_call_frame_cfa)
			return false;
		ops++;
		n_ops--;
	}
	if (n_ops > 0 && ops[n_ops - 1].atom == DW_OP_stack_value)
		n_ops--;
	for (size_t i = 0; i < n_ops; i++) {
		size_t at = ops[i].offset;

		if (at >= bytes.size || bytes.data[at] != ops[i].atom)
			return false;
	}
	return n_ops > 0 && bytes.size > 0;
}

static void compare_cfa(struct comparison *c, Dwarf_Frame *frame, uint64_t at,
			const struct cfi_rules *rules)
{
	const struct cfi_rule *rule = &rules->cfa;
	Dwarf_Op *ops;
	size_t n_ops;

	if (dwarf_frame_cfa(frame, &ops, &n_ops)) {
		differ(c, at, "libdw has no CFA");
		return;
	}
	if (n_ops == 0) {
		if (rule->kind != CFI_UNDEFINED)
			differ(c, at, "CFA is undefined");
		return;
	}
	if (rule->kind == CFI_VAL_EXPRESSION) {
		if (!same_expression(c, rule->value, ops, n_ops, false))
			differ(c, at, "CFA expression");
		return;
	}
	if (rule->kind != CFI_OFFSET || n_ops != 1 ||
	    ops->atom != DW_OP_bregx || ops->number != rule->reg ||
	    (int64_t)ops->number2 != rule->value)
		differ(c, at, "CFA");
}

/* CFA + offset as libdw spells it, or -1 operations. */
static bool is_cfa_offset(const Dwarf_Op *ops, size_t n_ops, int32_t offset)
{
	if (n_ops == 0 || ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	if (n_ops == 1)
		return offset == 0;
	return n_ops == 2 && ops[1].atom == DW_OP_plus_uconst &&
	       (int64_t)ops[1].number == offset;
}

static bool same_rule(struct comparison *c, const struct cfi_rule *rule,
		      const Dwarf_Op *ops, size_t n_ops, bool undefined)
{
	bool value = n_ops > 1 && ops[n_ops - 1].atom == DW_OP_stack_value;

	switch (rule->kind) {
	case CFI_UNDEFINED:
		return n_ops == 0 && undefined;
	case CFI_SAME:
		return n_ops == 0 && !undefined;
	case CFI_OFFSET:
		return is_cfa_offset(ops, n_ops, rule->value);
	case CFI_VAL_OFFSET:
		return value && is_cfa_offset(ops, n_ops - 1, rule->value);
	case CFI_REGISTER:
		return n_ops == 1 && ops->atom == DW_OP_regx &&
		       ops->number == rule->reg;
	case CFI_EXPRESSION:
		return !value &&
		       same_expression(c, rule->value, ops, n_ops, true);
	case CFI_VAL_EXPRESSION:
		return value &&
		       same_expression(c, rule->value, ops, n_ops, true);
	}
	return false;
}

static void compare_regs(struct comparison *c, Dwarf_Frame *frame, uint64_t at,
			 const struct cfi_rules *rules)
{
	for (size_t i = 0; i < sizeof(compared_regs); i++) {
		unsigned int reg = compared_regs[i];
		Dwarf_Op mem[3], *ops;
		size_t n_ops;

		if (dwarf_frame_register(frame, (int)reg, mem, &ops, &n_ops)) {
			differ(c, at, "libdw has no register rule");
			continue;
		}
		c->rules++;
		/*
		 * What the file does not mention, the psABI preserves.
		 * elfutils takes 0 for the number of rbx there (it is 3).
		 */
		if (reg == UNWIND_RBX && n_ops == 0 && ops == mem &&
		    rules->reg[reg].kind == CFI_SAME)
			continue;
		if (!same_rule(c, &rules->reg[reg], ops, n_ops, ops == mem))
			differ(c, at, "register rule");
	}
}

/* One row of libdw's: ours at its start, middle and last byte. */
static void compare_row(struct comparison *c, Dwarf_Frame *frame,
			uint64_t start, uint64_t end, bool is_signal)
{
	const uint64_t at[] = { start, start + (end - start) / 2, end - 1 };
	const struct cfi_rules *previous = NULL;

	c->rows++;
	for (size_t i = 0; i < 3; i++) {
		const struct cfi_rules *rules = cfi_find(c->module.cfi, at[i]);

		if (!rules) {
			differ(c, at[i], "no rules");
			return;
		}
		if (rules == previous)
			continue;
		previous = rules;
		compare_cfa(c, frame, at[i], rules);
		compare_regs(c, frame, at[i], rules);
		if (!!rules->signal_frame != is_signal)
			differ(c, at[i], "signal frame");
	}
}

static void compare_fde(struct comparison *c, Dwarf_CFI *cfi, uint64_t start,
			uint64_t end)
{
	uint64_t at = start;

	while (at < end) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Addr row_start, row_end;
		bool is_signal;
		int reg;

		if (dwarf_cfi_addrframe(cfi, at, &frame)) {
			differ(c, at, "libdw has no row");
			return;
		}
		reg = dwarf_frame_info(frame, &row_start, &row_end, &is_signal);
		if (reg != UNWIND_RIP || row_end <= at) {
			free(frame);
			differ(c, at, "libdw's row");
			return;
		}
		compare_row(c, frame, at, row_end < end ? row_end : end,
			    is_signal);
		free(frame);
		at = row_end;
	}
}

/* Covering FDEs as libdw's plain walk over the section counts them. */
static size_t count_entries(const struct comparison *c)
{
	struct cfi_sections sections;
	unsigned char ident[EI_NIDENT] = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
					   ELFCLASS64, ELFDATA2LSB };
	Elf_Data data = {};
	Dwarf_Off offset = 0, next;
	Dwarf_CFI_Entry entry;
	size_t count = 0;
	int result;

	test_sections(c->module.elf, c->module.path, &sections);
	data.d_buf = (void *)(uintptr_t)sections.eh_frame.data;
	data.d_size = sections.eh_frame.size;
	while ((result = dwarf_next_cfi(ident, &data, true, offset, &next,
					&entry)) != 1) {
		if (next == (Dwarf_Off)-1 || next <= offset)
			break;
		if (result == 0 && !dwarf_cfi_cie_p(&entry))
			count++;
		offset = next;
	}
	return count;
}

static void compare_table(struct comparison *c, Dwarf_CFI *cfi)
{
	struct cfi_stats stats;

	cfi_table_stats(c->module.cfi, &stats);
	for (size_t i = 0; i < stats.fdes; i++) {
		struct cfi_range range = cfi_fde_at(c->module.cfi, i);

		compare_fde(c, cfi, range.start, range.end);
	}
	cfi_table_stats(c->module.cfi, &stats);
	print_message("%s: %zu FDEs, %lu rows, %zu rule sets, %lu rules, "
		      "%lu expressions, %zu KiB, %lu differ\n",
		      c->module.path, stats.fdes, c->rows, stats.rule_sets,
		      c->rules, c->expressions, stats.memory / 1024,
		      c->differ);
	assert_int_equal(c->differ, 0);
	assert_true(stats.fdes > 0);
	assert_int_equal(stats.fdes_built, stats.fdes);
}

static void compare_file(const char *path)
{
	struct comparison c = {};
	struct cfi_stats stats;
	Dwarf_CFI *cfi;

	assert_true(test_module_open(&c.module, path));
	cfi = dwarf_getcfi_elf(c.module.elf);
	assert_non_null(cfi);
	compare_table(&c, cfi);
	cfi_table_stats(c.module.cfi, &stats);
	assert_int_equal(stats.fdes, count_entries(&c));
	dwarf_cfi_end(cfi);
	test_module_close(&c.module);
}

static void compare_pattern(const char *pattern)
{
	glob_t found = {};

	if (glob(pattern, GLOB_BRACE, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			compare_file(found.gl_pathv[i]);
	}
	globfree(&found);
}

/* The files that this program itself is made of: its libc and loader too. */
static void test_own_files(void **state)
{
	struct test_process process = { .pid = getpid() };
	size_t files = 0;

	(void)state;
	test_process_refresh(&process);
	for (struct test_module *m = process.modules; m; m = m->next) {
		if (m->path[0] == '/') {
			compare_file(m->path);
			files++;
		}
	}
	assert_true(files >= 3);
	test_process_deinit(&process);
}

static void test_more_files(void **state)
{
	const char *more = getenv("KAA_TEST_ELF_FILES");
	char names[4096], *rest = names, *name;

	(void)state;
	compare_pattern("/usr/bin/python3.{?,??}");
	compare_pattern("/usr/lib/x86_64-linux-gnu/libcrypto.so.?");
	compare_pattern("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
	snprintf(names, sizeof(names), "%s", more ? more : "");
	while ((name = strsep(&rest, ":"))) {
		if (*name)
			compare_pattern(name);
	}
}

/* A program built without .eh_frame for its own code, with .debug_frame. */
static void test_debug_frame(void **state)
{
	struct comparison c = {};
	struct cfi_sections sections;
	Dwarf *dwarf;
	int fd;

	(void)state;
	assert_true(test_module_open(&c.module, DEBUG_FRAME_VICTIM));
	test_sections(c.module.elf, c.module.path, &sections);
	assert_true(sections.debug_frame.size > 0);
	sections.eh_frame = sections.eh_frame_hdr = (struct bytes){};
	cfi_table_destroy(c.module.cfi);
	assert_null(cfi_table_create(&sections, &c.module.cfi));
	fd = open(DEBUG_FRAME_VICTIM, O_RDONLY);
	dwarf = dwarf_begin(fd, DWARF_C_READ);
	assert_non_null(dwarf);
	compare_table(&c, dwarf_getcfi(dwarf));
	dwarf_end(dwarf);
	close(fd);
	test_module_close(&c.module);
}

/*
 * ---- sections made by hand ----
 */

struct section {
	uint8_t data[1024];
	size_t size;
};

static void put(struct section *s, const void *data, size_t n)
{
	assert_true(s->size + n <= sizeof(s->data));
	if (n > 0)
		memcpy(s->data + s->size, data, n);
	s->size += n;
}

static void put_u8(struct section *s, uint8_t value)
{
	put(s, &value, 1);
}

static void put_uint(struct section *s, uint64_t value, size_t n)
{
	put(s, &value, n);
}

/* Returns where the length is; end_entry() fills it in. */
static size_t begin_entry(struct section *s, uint64_t id)
{
	size_t at = s->size;

	put_uint(s, 0, 4);
	put_uint(s, id, 4);
	return at;
}

static void end_entry(struct section *s, size_t at)
{
	uint32_t length = (uint32_t)(s->size - at - 4);

	memcpy(s->data + at, &length, 4);
}

/* CFA = rsp + 8, return address at CFA - 8. */
static void put_cie(struct section *s, const char *augmentation,
		    const void *augmentation_data, size_t n)
{
	static const uint8_t start[] = { 0x0c, 7, 8, 0x90, 1 };
	size_t at = begin_entry(s, 0);

	put_u8(s, 1);
	put(s, augmentation, strlen(augmentation) + 1);
	put_u8(s, 1);
	put_u8(s, 0x78);
	put_u8(s, 16);
	if (augmentation[0] == 'z')
		put_u8(s, (uint8_t)n);
	put(s, augmentation_data, n);
	put(s, start, sizeof(start));
	end_entry(s, at);
}

static struct cfi_table *make_table(const struct section *s, uint64_t vaddr)
{
	struct cfi_sections sections = {
		.eh_frame = { s->data, s->size },
		.eh_frame_vaddr = vaddr,
		.text_vaddr = 0x7000,
		.got_vaddr = 0x9000,
	};
	struct cfi_table *table = NULL;

	assert_null(cfi_table_create(&sections, &table));
	return table;
}

/* An FDE for [0x8000, 0x8040) whose pointers are encoded in each way. */
static void test_encodings(void **state)
{
	static const struct {
		uint8_t encoding;
		uint64_t base;
		size_t size;
	} cases[] = {
		{ 0x00, 0, 8 },	      { 0x02, 0, 2 },	   { 0x03, 0, 4 },
		{ 0x04, 0, 8 },	      { 0x0b, 0, 4 },	   { 0x0c, 0, 8 },
		{ 0x1b, 1, 4 },	      { 0x10, 1, 8 },	   { 0x1a, 1, 2 },
		{ 0x2b, 0x7000, 4 },  { 0x3b, 0x9000, 4 }, { 0x33, 0x9000, 4 },
		{ 0x3c, 0x9000, 8 },  { 0x18, 1, 8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		static const uint8_t code[] = { 0x44, 0x0e, 16 };
		struct section s = {};
		uint64_t vaddr = 0x8800, base = cases[i].base;
		struct cfi_table *table;
		struct cfi_range range;
		bool truncates = cases[i].encoding == 0x33;
		size_t at;

		put_cie(&s, "zR", &cases[i].encoding, 1);
		at = begin_entry(&s, s.size + 4);
		if (base == 1)
			base = vaddr + s.size;
		put_uint(&s, 0x8000 - base, cases[i].size);
		put_uint(&s, 0x40, cases[i].size);
		put_u8(&s, 0);
		put(&s, code, sizeof(code));
		end_entry(&s, at);
		table = make_table(&s, vaddr);
		if (truncates) {
			/* udata4 cannot go below its base. */
			assert_false(cfi_find_range(table, 0x8000, &range));
			cfi_table_destroy(table);
			continue;
		}
		assert_true(cfi_find_range(table, 0x8000, &range));
		assert_int_equal(range.start, 0x8000);
		assert_int_equal(range.end, 0x8040);
		assert_int_equal(cfi_find(table, 0x8003)->cfa.value, 8);
		assert_int_equal(cfi_find(table, 0x8004)->cfa.value, 16);
		assert_int_equal(cfi_find(table, 0x803f)->cfa.value, 16);
		assert_null(cfi_find(table, 0x8040));
		assert_null(cfi_find(table, 0x7fff));
		cfi_table_destroy(table);
	}
}

static void put_absolute_fde(struct section *s, size_t cie, uint64_t start,
			     uint64_t size, bool augmented, const void *code,
			     size_t n)
{
	size_t at = begin_entry(s, s->size + 4 - cie);

	put_uint(s, start, 8);
	put_uint(s, size, 8);
	if (augmented)
		put_u8(s, 0);
	put(s, code, n);
	end_entry(s, at);
}

static void test_augmentations(void **state)
{
	static const struct {
		const char *letters;
		uint8_t data[16];
		size_t size;
		bool known;
		bool signal_frame;
	} cases[] = {
		{ "", {}, 0, true, false },
		{ "eh", {}, 8, true, false },
		{ "S", {}, 0, true, true },
		{ "z", {}, 0, true, false },
		{ "zS", {}, 0, true, true },
		{ "zRS", { 0 }, 1, true, true },
		{ "zPLR", { 0x9b, 1, 2, 3, 4, 0x1b, 0 }, 7, true, false },
		{ "zLPRSB", { 0x1b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0 }, 11, true,
		  true },
		{ "zP", { 0xff }, 1, true, false },
		{ "zR", { 0xff }, 1, false, false },
		{ "zR", { 0x9b }, 1, false, false },
		{ "zX", { 0 }, 1, false, false },
		{ "Q", {}, 0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct cfi_rules *rules;
		struct section s = {};
		struct cfi_table *table;

		put_cie(&s, cases[i].letters, cases[i].data, cases[i].size);
		put_absolute_fde(&s, 0, 0x8000, 0x40,
				 cases[i].letters[0] == 'z', NULL, 0);
		table = make_table(&s, 0x100000);
		rules = cfi_find(table, 0x8010);
		assert_int_equal(rules != NULL, cases[i].known);
		if (rules)
			assert_int_equal(rules->signal_frame,
					 cases[i].signal_frame);
		cfi_table_destroy(table);
	}
}

/* The entries behind a terminator are known by .eh_frame_hdr alone. */
static void test_hdr(void **state)
{
	struct section s = {}, hdr = {};
	struct cfi_sections sections;
	struct cfi_table *table = NULL;
	uint64_t vaddr = 0;
	size_t second;

	(void)state;
	put_cie(&s, "", NULL, 0);
	put_absolute_fde(&s, 0, 0x8000, 0x40, false, NULL, 0);
	put_uint(&s, 0, 4);
	second = s.size;
	put_absolute_fde(&s, 0, 0x9000, 0x40, false, NULL, 0);
	put_uint(&hdr, 0x3b031b01, 4);
	put_uint(&hdr, 0x20000 - 0x1f004, 4);
	put_uint(&hdr, 1, 4);
	put_uint(&hdr, (uint64_t)(0x9000 - 0x1f000), 4);
	put_uint(&hdr, 0x20000 + second - 0x1f000, 4);
	sections = (struct cfi_sections){
		.eh_frame = { s.data, s.size },
		.eh_frame_vaddr = 0x20000,
		.eh_frame_hdr = { hdr.data, hdr.size },
		.eh_frame_hdr_vaddr = 0x1f000,
	};
	assert_true(cfi_hdr_eh_frame(sections.eh_frame_hdr, 0x1f000, &vaddr));
	assert_int_equal(vaddr, 0x20000);
	assert_null(cfi_table_create(&sections, &table));
	assert_non_null(cfi_find(table, 0x8000));
	assert_non_null(cfi_find(table, 0x9000));
	cfi_table_destroy(table);
	sections.eh_frame_hdr.size = 0;
	assert_null(cfi_table_create(&sections, &table));
	assert_non_null(cfi_find(table, 0x8000));
	assert_null(cfi_find(table, 0x9000));
	cfi_table_destroy(table);
}

/* Instructions that no compiler here emits, one FDE of each. */
static void test_instructions(void **state)
{
	static const struct {
		uint8_t code[24];
		size_t size;
		/* The rule of rbx at the end; the CFA's register and offset. */
		struct cfi_rule rbx;
		uint8_t cfa_reg;
		int32_t cfa;
		bool valid;
	} cases[] = {
		{ { 0x05, 3, 2 }, 3, { CFI_OFFSET, 0, 0, -16 }, 7, 8, true },
		{ { 0x11, 3, 0x7e }, 3, { CFI_OFFSET, 0, 0, 16 }, 7, 8, true },
		{ { 0x2f, 3, 2 }, 3, { CFI_OFFSET, 0, 0, 16 }, 7, 8, true },
		{ { 0x14, 3, 2 }, 3, { CFI_VAL_OFFSET, 0, 0, -16 }, 7, 8, true },
		{ { 0x15, 3, 0x7e }, 3, { CFI_VAL_OFFSET, 0, 0, 16 }, 7, 8,
		  true },
		{ { 0x07, 3 }, 2, { CFI_UNDEFINED }, 7, 8, true },
		{ { 0x07, 3, 0x08, 3 }, 4, { CFI_SAME }, 7, 8, true },
		{ { 0x09, 3, 12 }, 3, { CFI_REGISTER, 12 }, 7, 8, true },
		{ { 0x09, 3, 99 }, 3, { CFI_UNDEFINED, 99 }, 7, 8, true },
		{ { 0x83, 2, 0xc3 }, 3, { CFI_SAME }, 7, 8, true },
		{ { 0x83, 2, 0x06, 3 }, 4, { CFI_SAME }, 7, 8, true },
		{ { 0x83, 2, 0x0a, 0xc3, 0x41, 0x0b }, 6,
		  { CFI_OFFSET, 0, 0, -16 }, 7, 8, true },
		{ { 0x12, 6, 0x7d }, 3, { CFI_SAME }, 6, 24, true },
		{ { 0x13, 0x7d }, 2, { CFI_SAME }, 7, 24, true },
		{ { 0x0d, 6 }, 2, { CFI_SAME }, 6, 8, true },
		{ { 0x2e, 0x10 }, 2, { CFI_SAME }, 7, 8, true },
		{ { 0x03, 2, 0, 0x0e, 32 }, 5, { CFI_SAME }, 7, 32, true },
		{ { 0x04, 2, 0, 0, 0, 0x0e, 32 }, 7, { CFI_SAME }, 7, 32,
		  true },
		{ { 0x1d, 2, 0, 0, 0, 0, 0, 0, 0, 0x0e, 32 }, 11,
		  { CFI_SAME }, 7, 32, true },
		{ { 0x01, 2, 0x80, 0, 0, 0, 0, 0, 0, 0x0e, 32 }, 11,
		  { CFI_SAME }, 7, 32, true },
		/* Registers that are not followed. */
		{ { 0x05, 40, 2 }, 3, { CFI_SAME }, 7, 8, true },
		/* Beyond the end of the FDE. */
		{ { 0x02, 0xff, 0x0e, 32 }, 4, { CFI_SAME }, 7, 8, true },
		/* Unknown, backwards, nothing remembered, cut off, too big. */
		{ { 0x3f }, 1, {}, 0, 0, false },
		{ { 0x01, 0, 0x70, 0, 0, 0, 0, 0, 0 }, 9, {}, 0, 0, false },
		{ { 0x0b }, 1, {}, 0, 0, false },
		{ { 0x0e }, 1, {}, 0, 0, false },
		{ { 0x0f, 9, 0x30 }, 3, {}, 0, 0, false },
		{ { 0x0f, 1, 0x30, 0x0e, 8 }, 5, {}, 0, 0, false },
		{ { 0x0c, 77, 8 }, 3, {}, 0, 0, false },
		{ { 0x0e, 0xff, 0xff, 0xff, 0xff, 0x7f }, 6, {}, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct cfi_rules *rules;
		struct section s = {};
		struct cfi_table *table;

		put_cie(&s, "", NULL, 0);
		put_absolute_fde(&s, 0, 0x8000, 0x40, false, cases[i].code,
				 cases[i].size);
		table = make_table(&s, 0);
		rules = cfi_find(table, 0x803f);
		assert_int_equal(rules != NULL, cases[i].valid);
		if (rules) {
			assert_memory_equal(&rules->reg[UNWIND_RBX],
					    &cases[i].rbx,
					    sizeof(cases[i].rbx));
			assert_int_equal(rules->cfa.kind, CFI_OFFSET);
			assert_int_equal(rules->cfa.reg, cases[i].cfa_reg);
			assert_int_equal(rules->cfa.value, cases[i].cfa);
		}
		cfi_table_destroy(table);
	}
}

/*
 * ---- damage ----
 */

static void check_rule(const struct cfi_rule *rule)
{
	assert_true(rule->kind <= CFI_VAL_EXPRESSION);
	if (rule->kind == CFI_REGISTER)
		assert_true(rule->reg < UNWIND_REGS);
}

/* Every answer of a damaged table is at least well-formed. */
static void check_table(struct cfi_table *table)
{
	struct cfi_stats stats;

	cfi_table_stats(table, &stats);
	for (size_t i = 0; i < stats.fdes; i++) {
		struct cfi_range range = cfi_fde_at(table, i);
		uint64_t at[] = { range.start, range.start + 1,
				  range.start + (range.end - range.start) / 2,
				  range.end - 1 };

		assert_true(range.start < range.end);
		for (int j = 0; j < 4; j++) {
			const struct cfi_rules *rules = cfi_find(table, at[j]);

			if (!rules)
				continue;
			assert_true(rules->cfa.reg < UNWIND_REGS);
			check_rule(&rules->cfa);
			for (int reg = 0; reg < UNWIND_REGS; reg++)
				check_rule(&rules->reg[reg]);
		}
	}
}

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static bool read_bytes(void *arg, uint64_t offset, void *buf, size_t size)
{
	const struct bytes *bytes = arg;

	if (offset > bytes->size || size > bytes->size - offset)
		return false;
	memcpy(buf, bytes->data + offset, size);
	return true;
}

static void compare_rules(struct cfi_table *loaded, struct cfi_table *unloaded,
			  uint64_t vaddr)
{
	const struct cfi_rules *a = cfi_find(loaded, vaddr);
	const struct cfi_rules *b = cfi_find(unloaded, vaddr);

	assert_int_equal(a != NULL, b != NULL);
	if (!a)
		return;
	assert_memory_equal(&a->cfa, &b->cfa, sizeof(a->cfa));
	assert_memory_equal(a->reg, b->reg, sizeof(a->reg));
	assert_int_equal(a->signal_frame, b->signal_frame);
	for (int reg = -1; reg < UNWIND_REGS; reg++) {
		const struct cfi_rule *rule = reg < 0 ? &a->cfa : &a->reg[reg];
		struct bytes x, y;

		if (rule->kind < CFI_EXPRESSION)
			continue;
		x = cfi_expression(loaded, rule->value);
		y = cfi_expression(unloaded, rule->value);
		assert_int_equal(x.size, y.size);
		assert_memory_equal(x.data, y.data, x.size);
	}
}

/*
 * A table that reads its section entry by entry says what one says that has it
 * whole. bytes: of the one section that there is.
 */
static void compare_unloaded(const struct cfi_sections *sections,
			     struct bytes bytes)
{
	const struct cfi_source source = { .read = read_bytes, .arg = &bytes };
	struct cfi_table *loaded = NULL, *unloaded = NULL;
	struct cfi_stats stats;

	assert_null(cfi_table_create(sections, &loaded));
	assert_null(cfi_table_create(sections, &unloaded));
	cfi_table_unload(unloaded, &source);
	cfi_table_stats(loaded, &stats);
	for (size_t i = 0; i < stats.fdes; i++) {
		struct cfi_range range = cfi_fde_at(loaded, i);

		compare_rules(loaded, unloaded, range.start);
		compare_rules(loaded, unloaded, range.end - 1);
	}
	cfi_table_destroy(loaded);
	cfi_table_destroy(unloaded);
}

static void test_unloaded(void **state)
{
	static const char *const paths[] = {
		DEBUG_FRAME_VICTIM, "/proc/self/exe",
		"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/python3",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	};
	size_t seen = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct test_module module = {};
		struct cfi_sections sections;
		struct bytes debug;

		if (!test_module_open(&module, paths[i]))
			continue;
		test_sections(module.elf, module.path, &sections);
		seen += sections.eh_frame.size > 0;
		debug = sections.debug_frame;
		sections.debug_frame = (struct bytes){};
		compare_unloaded(&sections, sections.eh_frame);
		sections.debug_frame = debug;
		sections.eh_frame = sections.eh_frame_hdr = (struct bytes){};
		compare_unloaded(&sections, debug);
		test_module_close(&module);
	}
	assert_true(seen >= 3);
}

/* Copies, so that the sanitizer sees a read behind the end. */
static void check_damaged(struct bytes bytes, uint64_t vaddr, bool debug)
{
	struct cfi_sections sections = {};
	struct cfi_table *table = NULL;

	sections.eh_frame_vaddr = vaddr;
	if (debug)
		sections.debug_frame = bytes;
	else
		sections.eh_frame = bytes;
	assert_null(cfi_table_create(&sections, &table));
	check_table(table);
	cfi_table_destroy(table);
	compare_unloaded(&sections, bytes);
}

static void flip_and_cut(struct bytes bytes, uint64_t vaddr, bool debug)
{
	for (int round = 0; round < 200; round++) {
		size_t size = round % 2 ? bytes.size :
					  next_random() % bytes.size;
		uint8_t *copy = malloc(size ? size : 1);

		memcpy(copy, bytes.data, size);
		for (int i = 0; i < round / 2 && size; i++)
			copy[next_random() % size] ^= 1 << next_random() % 8;
		check_damaged((struct bytes){ copy, size }, vaddr, debug);
		free(copy);
	}
}

static void test_damage(void **state)
{
	struct test_module module = {};
	struct cfi_sections sections;

	(void)state;
	assert_true(test_module_open(&module, DEBUG_FRAME_VICTIM));
	test_sections(module.elf, module.path, &sections);
	flip_and_cut(sections.debug_frame, 0, true);
	test_module_close(&module);
	module = (struct test_module){};
	assert_true(test_module_open(&module, "/proc/self/exe"));
	test_sections(module.elf, module.path, &sections);
	flip_and_cut(sections.eh_frame, sections.eh_frame_vaddr, false);
	test_module_close(&module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_files),
		cmocka_unit_test(test_more_files),
		cmocka_unit_test(test_debug_frame),
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_augmentations),
		cmocka_unit_test(test_hdr),
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_unloaded),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
