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

static bool read_elf(void *arg, uint64_t offset, void *buf, size_t size)
{
	struct error *error = elf_file_read_at(arg, offset, buf, size);

	error_destroy(error);
	return !error;
}

static bool find_plain(const struct elf_file *elf, const char *name,
		       uint64_t *ret)
{
	const struct elf_section *section = elf_file_section(elf, name);

	*ret = section ? section->offset : 0;
	return !section || !(section->flags & SHF_COMPRESSED);
}

bool elf_cfi_unload(struct elf_file *elf, struct cfi_table *table)
{
	struct cfi_source source = { .read = read_elf, .arg = elf };

	if (!find_plain(elf, ".eh_frame", &source.eh_frame) ||
	    !find_plain(elf, ".debug_frame", &source.debug_frame))
		return false;
	cfi_table_unload(table, &source);
	return true;
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
