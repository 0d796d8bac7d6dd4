/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What debug information says of an address: the function, what is inlined
 * into it there, files and lines.
 *
 * Units are indexed when the file is opened; the functions and the lines of
 * a unit are read when an address in it is asked for. What cannot be read is
 * as if it were not there. Another file's DIEs (dwz -m) and split units
 * (-gsplit-dwarf) are not read: their names are NULL.
 *
 * Not thread-safe.
 */
#ifndef KAA_OBJ_DWARF_INFO_H
#define KAA_OBJ_DWARF_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "obj/elf_file.h"

struct dwarf_info;

/* A function that an address stands for. Strings live as long as the info. */
struct dwarf_function {
	/* As the linker knows it, else as the source does; NULL: not known. */
	const char *name;
	/* The name is the linker's, or in the unit's language the same. */
	bool is_linkage_name;
	/* It is inlined into the next one, which calls it here. */
	bool inlined;
	/* No call before had this very function, at this place, innermost. */
	bool is_new;
	/* This call or one before had. */
	bool was_innermost;
	/* Where it begins, as its first range has it. */
	uint64_t start;
	/* NULL, 0: not known, or no lines were wanted. */
	const char *call_file;
	uint32_t call_line;
};

/*
 * lines: files and lines are wanted, too; their section is large, and may have
 * to be decompressed. elf must outlive the info. ERROR_NOT_FOUND if it has no .debug_info;
 * relocatable files (ET_REL) are ERROR_UNSUPPORTED.
 */
struct error *dwarf_info_create(struct elf_file *elf, bool lines,
				struct dwarf_info **ret);
void dwarf_info_destroy(struct dwarf_info *info);
DEFINE_CLEANUP(dwarf_info, struct dwarf_info *, dwarf_info_destroy);

/*
 * The functions at a vaddr, innermost first, the real one last; of more than
 * max (> 0) the outermost. *count is 0 if nothing is known. ERROR_NO_MEMORY
 * alone.
 */
struct error *dwarf_info_functions(struct dwarf_info *info, uint64_t vaddr,
				   struct dwarf_function *ret, size_t max,
				   size_t *count);
/* The source line of a vaddr; *file NULL if not known. ERROR_NO_MEMORY alone. */
struct error *dwarf_info_line(struct dwarf_info *info, uint64_t vaddr,
			      const char **file, uint32_t *line);

#endif
