/* SPDX-License-Identifier: GPL-2.0-only */
/* An ELF image as libelf reads it. */
#ifndef KAA_UNIT_READ_ELF_H
#define KAA_UNIT_READ_ELF_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <gelf.h>

/* Keeps pointing into the bytes. */
static inline Elf *open_elf(char *bytes, size_t size)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory(bytes, size);
	assert_non_null(elf);
	assert_int_equal(elf_kind(elf), ELF_K_ELF);
	return elf;
}

/* NULL: there is no such section. */
static inline Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *ret)
{
	Elf_Scn *section = NULL;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((section = elf_nextscn(elf, section))) {
		assert_non_null(gelf_getshdr(section, ret));
		if (!strcmp(elf_strptr(elf, names, ret->sh_name), name))
			return section;
	}
	return NULL;
}

#endif
