// SPDX-License-Identifier: GPL-2.0-only
/*
 * insns sizes FILE ADDRESS SIZE	the size of each instruction in that range of vaddrs
 * insns frames FILE		what instructions tell about stacks, beside the CFI of the
 *				same code: at how many instructions both agree, differ, and
 *				nothing can be told
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj/elf_file.h"
#include "obj/elf_symtab.h"
#include "unwind/assembly.h"
#include "unwind/cfi.h"
#include "unwind/insn.h"

static struct error *print_sizes(struct elf_file *file, uint64_t address,
				 size_t size)
{
	uint8_t *code = malloc(size ? size : 1);
	struct error *error = elf_file_read_image(file, address, code, size);
	struct insn insn;

	for (size_t at = 0; !error && at < size; at += insn.size) {
		if (!insn_decode(code + at, size - at, &insn)) {
			printf("%" PRIx64 " -\n", address + at);
			break;
		}
		printf("%" PRIx64 " %u\n", address + at, insn.size);
	}
	free(code);
	return error;
}

struct counts {
	unsigned long equal;
	unsigned long different;
	unsigned long untold;
};

static const uint8_t preserved[] = { UNWIND_RBX, UNWIND_RBP, UNWIND_R12,
				     UNWIND_R13, UNWIND_R14, UNWIND_R15 };

/* Equal, if both find the CFA by the same register; -1: cannot be compared. */
static int compare(const struct cfi_rules *rules,
		   const struct assembly_frame *frame)
{
	if (rules->cfa.kind != CFI_OFFSET || rules->cfa.reg != frame->cfa_reg)
		return -1;
	if (rules->cfa.value != frame->cfa_offset)
		return 0;
	for (size_t i = 0; i < sizeof(preserved); i++) {
		const struct cfi_rule *rule = &rules->reg[preserved[i]];
		int32_t below = frame->saved_below_cfa[preserved[i]];

		/* A register that is saved, but still there as well, is no fault. */
		if (rule->kind == CFI_OFFSET && below && rule->value != -below)
			return 0;
	}
	return 1;
}

static void count_function(struct cfi_table *cfi, const struct symbol *symbol,
			   const uint8_t *code, size_t size,
			   struct counts *counts)
{
	struct assembly_frame frame;
	struct insn insn;

	for (size_t at = 0; at < size; at += insn.size) {
		const struct cfi_rules *rules =
			cfi_find(cfi, symbol->start + at);
		int result;

		if (!insn_decode(code + at, size - at, &insn))
			return;
		if (!rules)
			continue;
		result = assembly_frame_at(code, size, at, &frame) ?
				 compare(rules, &frame) :
				 -1;
		counts->equal += result == 1;
		counts->different += result == 0;
		counts->untold += result < 0;
	}
}

static struct error *print_frames(struct elf_file *file)
{
	enum { SIZE_MAX_HERE = 4096 };
	const struct elf_section *eh_frame, *hdr;
	struct cfi_sections sections = { .path = file->path };
	struct cfi_table *cfi;
	struct symtab symtab = {};
	struct counts counts = {};
	uint8_t code[SIZE_MAX_HERE];
	struct error *error = elf_file_section_by_name(
		file, ".eh_frame", &eh_frame, &sections.eh_frame);

	if (!error)
		error = elf_file_section_by_name(file, ".eh_frame_hdr", &hdr,
						 &sections.eh_frame_hdr);
	if (error)
		return error;
	sections.eh_frame_vaddr = eh_frame->addr;
	sections.eh_frame_hdr_vaddr = hdr->addr;
	error = cfi_table_create(&sections, &cfi);
	if (!error)
		error = elf_symtab_load(file, NULL, false, &symtab, NULL);
	for (size_t i = 0; !error && i < symtab.count; i++) {
		const struct symbol *symbol = &symtab.symbols[i];
		size_t size = symbol->end - symbol->start;

		if (symbol->type != STT_FUNC || size > sizeof(code) ||
		    strstr(symbol->name, ".cold"))
			continue;
		error = elf_file_read_image(file, symbol->start, code, size);
		if (!error)
			count_function(cfi, symbol, code, size, &counts);
	}
	printf("equal %lu different %lu untold %lu\n", counts.equal,
	       counts.different, counts.untold);
	symtab_deinit(&symtab);
	cfi_table_destroy(cfi);
	return error;
}

int main(int argc, char **argv)
{
	struct elf_file *file;
	struct error *error;

	if (argc < 3)
		return 2;
	error = elf_file_open(argv[2], &file);
	if (!error && !strcmp(argv[1], "sizes") && argc == 5)
		error = print_sizes(file, strtoull(argv[3], NULL, 0),
				    strtoull(argv[4], NULL, 0));
	else if (!error)
		error = print_frames(file);
	if (error)
		fprintf(stderr, "insns: %s\n", error->message);
	return error != NULL;
}
