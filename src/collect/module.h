/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that a target maps: their CFI, and whether they hold a CPython.
 *
 * One module for each struct process_file; kept in its `user` slot. Loading
 * reads the file once, through the target's mount namespace if that is another.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_MODULE_H
#define KAA_COLLECT_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "obj/elf_file.h"
#include "obj/symtab.h"
#include "process/process.h"
#include "python/detect.h"
#include "unwind/cfi.h"

struct module {
	/* NULL: no ELF file, or unreadable (failure says why). */
	struct elf_file *elf;
	struct cfi_table *cfi;
	/* Holds a CPython that kaa can read. */
	bool is_python;
	struct py_binary python;
	/* Why a CPython in this file cannot be read, or NULL. */
	struct error *refused;
	/* Why the file could not be opened, or NULL. */
	struct error *failure;
	unsigned int tries;
	/* Loaded by module_function(). */
	struct symtab symtab;
	bool has_symtab;
};

/*
 * The module of a map's file, loaded on first use. pid: a process that maps it
 * there (its root folder is looked in first), 0 for none. Where the path leads
 * to no file or to another one by now, after an upgrade, the map itself may
 * still lead to it, with CAP_CHECKPOINT_RESTORE. Fails only for want of
 * memory.
 */
struct error *module_get(const struct process_map *map, uint32_t pid,
			 struct module **ret);
/*
 * Another process maps a file that could not be opened before: the process that
 * mapped it first may have been gone, or its root another one. A few times.
 */
struct error *module_retry(const struct process_map *map, uint32_t pid);
/* The vaddr of the function that vaddr lies in, by the file's symbols; or 0. */
uint64_t module_function(struct module *module, uint64_t vaddr);
/* Frees the module of a file, if it has one. */
void module_put(struct process_file *file);

/*
 * address - bias = vaddr for a mapping of the module; false if the mapping
 * fits none of its segments.
 */
bool module_bias(const struct module *module, const struct process_map *map,
		 uint64_t *ret);

#endif
