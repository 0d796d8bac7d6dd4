// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/elf_cfi.h"

static struct bytes section_bytes(struct elf_file *elf, const char *name,
				  uint64_t *vaddr)
{
	const struct elf_section *section = NULL;
	struct bytes bytes = {};
	struct error *error =
		elf_file_section_by_name(elf, name, &section, &bytes);

	if (error) {
		error_destroy(error);
		return (struct bytes){};
	}
	*vaddr = section->addr;
	return bytes;
}

static uint64_t section_vaddr(const struct elf_file *elf, const char *name)
{
	const struct elf_section *section = elf_file_section(elf, name);

	return section ? section->addr : 0;
}

struct error *elf_cfi_create(struct elf_file *elf, struct cfi_table **ret)
{
	struct cfi_sections sections = {
		.text_vaddr = section_vaddr(elf, ".text"),
		.got_vaddr = section_vaddr(elf, ".got"),
		.path = elf->path,
	};
	uint64_t unused;

	sections.eh_frame = section_bytes(elf, ".eh_frame",
					  &sections.eh_frame_vaddr);
	sections.eh_frame_hdr = section_bytes(elf, ".eh_frame_hdr",
					      &sections.eh_frame_hdr_vaddr);
	sections.debug_frame = section_bytes(elf, ".debug_frame", &unused);
	return cfi_table_create(&sections, ret);
}
