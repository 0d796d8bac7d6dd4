// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as an ELF file with debug information: functions and lines. */
#include <stddef.h>
#include <stdint.h>

#include "obj/dwarf_info.h"
#include "obj/elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(struct dwarf_info *info, uint64_t vaddr)
{
	struct dwarf_function functions[8];
	const char *file;
	uint32_t line;
	size_t count;

	error_destroy(
		dwarf_info_functions(info, vaddr, functions, 8, &count));
	error_destroy(dwarf_info_line(info, vaddr, &file, &line));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	_cleanup_(cleanup_dwarf_info_) struct dwarf_info *info = NULL;

	error_destroy(elf_file_open_memory(data, size, "fuzz", &file));
	if (!file)
		return 0;
	error_destroy(dwarf_info_create(file, true, &info));
	for (uint64_t i = 0; info && i < 64; i++)
		look_up(info, 0x1000 + i * 24);
	return 0;
}
