/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The symbols of an ELF file's code, merged from everything that it has.
 *
 * Taken: functions, IFUNCs and data objects, and labels (STT_NOTYPE, not
 * hidden), that lie in executable segments, and in no section that is not
 * loaded, from .symtab and .dynsym of the file, of its debug file, and of
 * .gnu_debugdata; `name@plt` for each PLT entry (from the file's relocations),
 * `.plt` for what stands before them. Addresses are vaddrs. Of aliases one
 * stays (SYMTAB_BEST_ALIAS).
 */
#ifndef KAA_OBJ_ELF_SYMTAB_H
#define KAA_OBJ_ELF_SYMTAB_H

#include "base/error.h"
#include "obj/elf_file.h"
#include "obj/symtab.h"

/*
 * Fills *ret, which must be zero-initialised, and finishes it. debug is the
 * separate debug file, or NULL. A symbol table that is broken is left out as
 * far as it is; *skipped, if not NULL, counts tables with faults. No symbols
 * at all is no error. versions: names keep GNU's symbol versions, where the table
 * has them (`cfree@GLIBC_2.2.5`). The symtab does not need the files any more.
 */
struct error *elf_symtab_load(struct elf_file *file, struct elf_file *debug,
			      bool versions, struct symtab *ret,
			      unsigned int *skipped);

#endif
