// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as an ELF file: everything that kaa does with one. */
#include <stddef.h>
#include <stdint.h>

#include "obj/elf_debug.h"
#include "obj/elf_file.h"
#include "obj/elf_symbols.h"
#include "obj/elf_symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_sections(struct elf_file *file)
{
	struct bytes bytes;

	for (size_t i = 0; i < file->section_count; i++)
		error_destroy(elf_file_section_bytes(file, &file->sections[i],
						     &bytes));
}

static void read_segments(struct elf_file *file)
{
	uint64_t value;
	uint8_t buf[64];

	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];

		error_destroy(elf_file_read_image(file, segment->vaddr, buf,
						  sizeof(buf)));
		elf_file_offset_to_vaddr(file, segment->offset, &value);
		elf_file_bias(file, 0x1000, segment->filesz, segment->offset,
			      &value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	struct elf_symbol symbol;
	struct symtab tab = {};
	const char *name;
	uint32_t crc;

	error_destroy(elf_file_open_memory(data, size, "fuzz", &file));
	if (!file)
		return 0;
	read_segments(file);
	error_destroy(elf_symtab_load(file, NULL, false, &tab, NULL));
	symtab_find(&tab, file->entry);
	symtab_deinit(&tab);
	error_destroy(elf_file_find_symbol(file, "main", &symbol));
	error_destroy(elf_file_debuglink(file, &name, &crc));
	error_destroy(elf_file_crc(file, &crc));
	read_sections(file);
	return 0;
}
