/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call frame information of an ELF file.
 */
#ifndef KAA_UNWIND_ELF_CFI_H
#define KAA_UNWIND_ELF_CFI_H

#include "base/error.h"
#include "obj/elf_file.h"
#include "unwind/cfi.h"

/*
 * Indexes .eh_frame and .debug_frame of the file, which must outlive the table.
 * A section that is not there, or cannot be read, is as good as empty. Fails
 * as cfi_table_create() does.
 */
struct error *elf_cfi_create(struct elf_file *elf, struct cfi_table **ret);

/*
 * cfi_table_unload(), with the file as what is read: nobody needs the sections'
 * bytes any more. False, and nothing is done, if a section is compressed.
 */
bool elf_cfi_unload(struct elf_file *elf, struct cfi_table *table);

#endif
