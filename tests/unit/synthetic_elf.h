/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small ELF files for tests, of any class and byte order, made by libelf in a
 * memfd: one executable segment, one data segment, and the sections asked for.
 */
#ifndef KAA_TESTS_SYNTHETIC_ELF_H
#define KAA_TESTS_SYNTHETIC_ELF_H

#include <gelf.h>
#include <libelf.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	SYNTHETIC_SECTIONS_MAX = 16,
	/* The executable segment: offset, vaddr, size. */
	SYNTHETIC_TEXT_OFFSET = 0x1000,
	SYNTHETIC_TEXT_VADDR = 0x401000,
	SYNTHETIC_TEXT_SIZE = 0x1000,
	/* The data segment, with as many bytes of .bss behind it. */
	SYNTHETIC_DATA_OFFSET = 0x2000,
	SYNTHETIC_DATA_VADDR = 0x403000,
	SYNTHETIC_DATA_SIZE = 0x100,
};

struct synthetic_section {
	const char *name;
	uint32_t type;
	uint64_t flags;
	uint64_t addr;
	/* 0: wherever it falls, after the segments. */
	uint64_t offset;
	const void *data;
	size_t size;
	uint32_t link;
	uint64_t entsize;
	/* Of the data; ELF_T_SYM is brought into the file's order. */
	Elf_Type data_type;
};

struct synthetic_elf {
	int elf_class;
	int encoding;
	uint16_t machine;
	/* Numbered from 1; the section names are added behind them. */
	struct synthetic_section sections[SYNTHETIC_SECTIONS_MAX];
	size_t count;
};

static inline void synthetic_segments(Elf *elf)
{
	GElf_Phdr text = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X,
		.p_offset = SYNTHETIC_TEXT_OFFSET,
		.p_vaddr = SYNTHETIC_TEXT_VADDR,
		.p_filesz = SYNTHETIC_TEXT_SIZE,
		.p_memsz = SYNTHETIC_TEXT_SIZE, .p_align = 0x1000,
	};
	GElf_Phdr data = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_W,
		.p_offset = SYNTHETIC_DATA_OFFSET,
		.p_vaddr = SYNTHETIC_DATA_VADDR,
		.p_filesz = SYNTHETIC_DATA_SIZE,
		.p_memsz = 2 * SYNTHETIC_DATA_SIZE, .p_align = 0x1000,
	};

	gelf_newphdr(elf, 2);
	gelf_update_phdr(elf, 0, &text);
	gelf_update_phdr(elf, 1, &data);
}

static inline size_t synthetic_add(Elf *elf, const struct synthetic_section *s,
				   size_t name, uint64_t *end)
{
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *data = elf_newdata(scn);
	uint64_t offset = s->offset ? s->offset : *end;
	GElf_Shdr shdr;

	data->d_buf = (void *)(uintptr_t)s->data;
	data->d_type = s->data_type;
	data->d_size = s->size;
	data->d_align = 1;
	data->d_version = EV_CURRENT;
	gelf_getshdr(scn, &shdr);
	shdr.sh_name = (uint32_t)name;
	shdr.sh_type = s->type;
	shdr.sh_flags = s->flags;
	shdr.sh_addr = s->addr;
	shdr.sh_offset = offset;
	shdr.sh_size = s->size;
	shdr.sh_link = s->link;
	shdr.sh_entsize = s->entsize;
	shdr.sh_addralign = 8;
	gelf_update_shdr(scn, &shdr);
	if (!s->offset)
		*end = (offset + s->size + 7) & ~7ull;
	return elf_ndxscn(scn);
}

/* Returns a memfd with the file. */
static inline int synthetic_elf_write(const struct synthetic_elf *in)
{
	static const char padding[0x3000];
	char names[SYNTHETIC_SECTIONS_MAX * 32] = "";
	size_t at = 1, offsets[SYNTHETIC_SECTIONS_MAX + 1];
	uint64_t end = 0x3000;
	int fd = memfd_create("synthetic", MFD_CLOEXEC);
	ssize_t written = write(fd, padding, sizeof(padding));
	Elf *elf;
	GElf_Ehdr ehdr;
	struct synthetic_section last = { .name = ".shstrtab",
					  .type = SHT_STRTAB };

	(void)written;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	gelf_newehdr(elf, in->elf_class);
	elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT);
	gelf_getehdr(elf, &ehdr);
	ehdr.e_ident[EI_DATA] = (unsigned char)in->encoding;
	ehdr.e_type = ET_DYN;
	ehdr.e_machine = in->machine;
	ehdr.e_version = EV_CURRENT;
	ehdr.e_entry = SYNTHETIC_TEXT_VADDR;
	ehdr.e_phoff = in->elf_class == ELFCLASS64 ? 64 : 52;
	gelf_update_ehdr(elf, &ehdr);
	synthetic_segments(elf);
	for (size_t i = 0; i <= in->count; i++) {
		const char *name = i < in->count ? in->sections[i].name :
						   last.name;

		offsets[i] = at;
		strcpy(names + at, name);
		at += strlen(name) + 1;
	}
	for (size_t i = 0; i < in->count; i++)
		synthetic_add(elf, &in->sections[i], offsets[i], &end);
	last.data = names;
	last.size = at;
	gelf_getehdr(elf, &ehdr);
	ehdr.e_shstrndx = (uint16_t)synthetic_add(elf, &last,
						  offsets[in->count], &end);
	ehdr.e_shoff = end;
	gelf_update_ehdr(elf, &ehdr);
	elf_update(elf, ELF_C_WRITE);
	elf_end(elf);
	return fd;
}

#endif
