/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that targets map: found and opened once, through the target's mount
 * namespace if that is another. Each has a descriptor as long as it is open: of very
 * many those are closed that nobody asks for (target_files_shed()).
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_TARGET_FILE_H
#define KAA_COLLECT_TARGET_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "module/module.h"
#include "obj/symtab.h"
#include "process/process.h"

struct target_file {
	/* Without an ELF file if that could not be opened (failure says why). */
	struct module module;
	/* The CPython in it that kaa can read, or NULL. */
	const struct py_binary *python;
	/* Why the file could not be opened, or NULL. */
	struct error *failure;
	unsigned int tries;
	/* There was no descriptor for it; there may be in another turn. */
	bool lacked_descriptor;
	/* The vaddr that target_file_descriptor() gives. */
	uint64_t descriptor;
	bool has_descriptor;
	/* Loaded by target_file_symbol(). */
	struct symtab symtab;
	bool has_symtab;
	/* target_files.turn when it was asked for last. */
	uint32_t used;
	/* Which file it is; lives as long as the table of processes. */
	const struct process_file *mapped;
	/* Offsets of code that stacks led through, each once, and the same as a set. */
	VEC(uint64_t) hits;
	struct map hit;
};

/* Zero-initialise. */
struct target_files {
	/* By process_file.index; NULL: not asked for yet. */
	VEC(struct target_file *) by_index;
	/* Files that nobody has mapped yet; those that were taken from here have no ELF file. */
	VEC(struct module) prepared;
	/* The last number given to a set of registered code (made_look.h). */
	uint32_t code_versions;
	/* Counts calls of target_files_shed() that had to do something. */
	uint32_t turn;
	/* Files for which there was no descriptor, if only for a time. */
	uint32_t unopened;
	/* Images of registered code that were not read (struct made_code). */
	uint32_t left_out_code;
};

void target_files_deinit(struct target_files *files);

/*
 * The file of a map, opened on first use. pid: a process that maps it there (its
 * root folder is looked in first), 0 for none. Where the path leads to no file
 * or to another one by now, after an upgrade, the map itself may still lead to
 * it, with CAP_CHECKPOINT_RESTORE. Fails only for want of memory.
 */
struct error *target_file_get(struct target_files *files,
			      const struct process_map *map, uint32_t pid,
			      struct target_file **ret);
/* The file of a map if target_file_get() was called for it, else NULL. */
struct target_file *target_file_find(const struct target_files *files,
				     const struct process_map *map);
/*
 * Looks into the file behind a path, as we see it, so that the first process that
 * maps it is known at once; a second call for it does so twice. *ret: what is in it, or
 * NULL if it is no ELF file of this machine; valid until the next call for these files.
 * Fails only for want of memory.
 */
struct error *target_files_prepare(struct target_files *files, const char *path,
				   const struct module **ret);
/*
 * Keeps within bounds what files take for unwinding, and descriptors: beyond them,
 * those that nobody has asked for since the last call give it back, and read it again
 * when they are needed. Files with a Python, and those whose functions may have to be
 * named at the end (target_file_hit()), stay open. True: the owner's
 * unwinder_forget() is due, so that files in use are asked for again. To be called
 * now and then.
 */
bool target_files_shed(struct target_files *files);

/*
 * Another process maps a file that could not be opened before: the process that
 * mapped it first may have been gone, or its root another one. A few times.
 */
struct error *target_file_retry(struct target_files *files,
				const struct process_map *map, uint32_t pid);
/*
 * Notes that a stack leads through the code at an offset in the file: it may have to
 * be named when the file is gone. Without memory it has no name then.
 */
void target_file_hit(struct target_file *file, uint64_t offset);
/* Its path leads to no file, or to another one, for whoever reads with our rights. */
bool target_file_is_removed(const struct target_file *file);
/* What the file's symbols say of a vaddr, or NULL. */
const struct symbol *target_file_symbol(struct target_file *file,
					uint64_t vaddr);
/* The vaddr of the function that vaddr lies in, by the file's symbols; or 0. */
uint64_t target_file_function(struct target_file *file, uint64_t vaddr);
/*
 * The vaddr of MADE_CODE_DESCRIPTOR, or 0; map and pid as for target_file_get().
 * The file is opened for it anew, so that symbol tables of large compilers do not
 * stay in memory.
 */
uint64_t target_file_descriptor(struct target_file *file,
				const struct process_map *map, uint32_t pid);

#endif
