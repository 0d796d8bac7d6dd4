// SPDX-License-Identifier: GPL-2.0-only
#include "module/stack_switch.h"

#include <stdlib.h>
#include <string.h>

#include "base/name_match.h"
#include "obj/elf_symbols.h"

/* The module is some 100 KiB; one with more code is not searched. */
#define TEXT_MAX (8u << 20)
/* A direct call, and both additions of slp_switch. */
enum { CALL_SIZE = 5, MOVE_SIZE = 6 };

struct search {
	struct elf_file *file;
	const struct py_code_pieces *pieces;
	struct unwind_switches *ret;
	/* greenlet's code; owned by the file. */
	uint64_t text_start;
	struct bytes text;
	struct unwind_range switchstack;
	bool is_greenlet;
	bool has_thread_state;
};

/*
 * In C++ the first function of a new greenlet is exported; a build without local
 * symbols has its name, too. Parts that the compiler split off end in .cold.
 */
static bool is_root(const char *name)
{
	return name_begins_with(name, STACK_SWITCH_ROOT) ||
	       !strcmp(name, "g_initialstub") ||
	       name_begins_with(name, "g_initialstub.");
}

static bool is_switchstack(const char *name)
{
	return !strcmp(name, "_ZN8greenlet8Greenlet13g_switchstackEv") ||
	       !strcmp(name, "g_switchstack");
}

/* Of the extension module; the second in greenlet 0.4. */
static bool is_init(const char *name)
{
	return !strcmp(name, "PyInit__greenlet") ||
	       !strcmp(name, "PyInit_greenlet");
}

static void add_range(struct unwind_range *ranges, size_t *count,
		      struct unwind_range range)
{
	if (*count == UNWIND_SWITCH_RANGES || range.start >= range.end)
		return;
	for (size_t i = 0; i < *count; i++)
		if (ranges[i].start == range.start)
			return;
	ranges[(*count)++] = range;
}

/* Of both only a file with local symbols tells. */
static void note_variable(struct search *search, const struct elf_symbol *s)
{
	if (s->type == STT_TLS && !strcmp(s->name, "_ZL21g_thread_state_global")) {
		search->ret->thread_state = s->vaddr;
		search->has_thread_state = true;
	}
	if (s->type == STT_OBJECT && !strcmp(s->name, "_ZL22switching_thread_state"))
		search->ret->switching = s->vaddr;
}

static void note_symbol(struct search *search, const struct elf_symbol *s)
{
	struct unwind_range range = { s->vaddr, s->vaddr + s->size };

	if (s->shndx == SHN_UNDEF)
		return;
	note_variable(search, s);
	if (s->type != STT_FUNC)
		return;
	search->is_greenlet |= is_init(s->name);
	if (is_root(s->name))
		add_range(search->ret->roots, &search->ret->root_count, range);
	else if (is_switchstack(s->name))
		search->switchstack = range;
}

/* A table that cannot be read is as good as none. */
static void read_symbols(struct search *search, uint32_t type)
{
	struct elf_symbol_iter it;
	struct elf_symbol s;
	struct error *error =
		elf_symbol_iter_init_type(search->file, type, &it);

	while (!error && elf_symbol_iter_next(&it, &s))
		note_symbol(search, &s);
	error_destroy(error);
}

/* add %r, %rsp; add %r, %rbp: the thread is on the other stack from here on. */
static bool is_move(const uint8_t *code)
{
	uint8_t reg = code[2] & 0x38;

	return (code[0] == 0x48 || code[0] == 0x4c) && code[1] == 0x01 &&
	       code[2] == (0xc4 | reg) && code[3] == code[0] &&
	       code[4] == 0x01 && code[5] == (0xc5 | reg);
}

/* Where the function that switches calls another. */
static void note_caller(struct search *search, uint64_t callee)
{
	const struct unwind_range *in = &search->switchstack;
	uint64_t offset = in->start - search->text_start;
	size_t size = search->text.size;
	int32_t distance;

	if (in->start < search->text_start)
		return;
	for (; offset + CALL_SIZE <= size &&
	       search->text_start + offset < in->end;
	     offset++) {
		uint64_t after = search->text_start + offset + CALL_SIZE;

		if (search->text.data[offset] != 0xe8)
			continue;
		memcpy(&distance, search->text.data + offset + 1, 4);
		if (after + (uint64_t)(int64_t)distance != callee)
			continue;
		/* The call itself still runs on the old stack. */
		search->ret->caller = *in;
		search->ret->settling = after;
		return;
	}
}

static void find_moves(struct search *search)
{
	const struct bytes *text = &search->text;

	for (size_t i = 0; i + MOVE_SIZE <= text->size; i++) {
		uint64_t vaddr = search->text_start + i;
		struct py_range piece;

		if (!is_move(text->data + i) ||
		    !search->pieces->find(search->pieces->arg, vaddr, &piece))
			continue;
		/* Behind the first of the two. */
		add_range(search->ret->moving, &search->ret->moving_count,
			  (struct unwind_range){ vaddr + MOVE_SIZE / 2,
						 piece.end });
		note_caller(search, piece.start);
	}
}

/* Elf64_Rela without a symbol: the number is that of the file itself. */
static bool is_own_number(struct reader *entries, uint64_t *place)
{
	uint64_t info;

	return reader_u64(entries, place) && reader_u64(entries, &info) &&
	       reader_skip(entries, 8) && info == R_X86_64_DTPMOD64;
}

/* Where the dynamic linker puts the file's number. */
static void find_number(struct search *search)
{
	const struct elf_section *section =
		elf_file_section(search->file, ".rela.dyn");
	struct bytes bytes;
	struct reader entries;
	struct error *error;
	uint64_t place;

	if (!section || !search->has_thread_state || !search->ret->switching)
		return;
	error = elf_file_section_bytes(search->file, section, &bytes);
	if (error) {
		error_destroy(error);
		return;
	}
	entries = reader_init(bytes.data, bytes.size);
	while (reader_left(&entries) >= sizeof(Elf64_Rela))
		if (is_own_number(&entries, &place))
			search->ret->module_number = place;
}

bool stack_switch_maybe(struct elf_file *file)
{
	struct unwind_switches none = {};
	struct search search = { .file = file, .ret = &none };

	read_symbols(&search, SHT_DYNSYM);
	return search.is_greenlet;
}

bool stack_switch_find(struct elf_file *file,
		       const struct py_code_pieces *pieces,
		       struct unwind_switches *ret)
{
	struct search search = { .file = file, .pieces = pieces, .ret = ret };
	const struct elf_section *text = elf_file_section(file, ".text");
	struct error *error;

	*ret = (struct unwind_switches){};
	read_symbols(&search, SHT_DYNSYM);
	if (!search.is_greenlet)
		return false;
	read_symbols(&search, SHT_SYMTAB);
	find_number(&search);
	if (!text || text->size > TEXT_MAX)
		return true;
	error = elf_file_section_bytes(file, text, &search.text);
	search.text_start = text->addr;
	if (!error)
		find_moves(&search);
	error_destroy(error);
	return true;
}
