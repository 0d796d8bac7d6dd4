/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A core file of Linux on x86-64: the memory of a process that has crashed, its
 * threads with their registers, and the files that it had mapped.
 *
 * A core may be cut off, or made by anyone: all numbers are bounded, and what is not
 * there is said not to be. Source of the format: fs/binfmt_elf.c and
 * include/uapi/linux/elfcore.h of Linux, core(5); gdb's gcore writes the same.
 *
 * Not thread-safe.
 */
#ifndef KAA_OBJ_ELF_CORE_H
#define KAA_OBJ_ELF_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "obj/elf_file.h"

/* Bytes of memory, as much of them as the core has. */
struct elf_core_segment {
	uint64_t start;
	/* Exclusive: of the memory, and of what is stored. */
	uint64_t end;
	uint64_t stored_end;
	/* In the file. */
	uint64_t offset;
	bool executable;
};

/* A mapped file. */
struct elf_core_map {
	uint64_t start;
	/* Exclusive. */
	uint64_t end;
	/* Of start in the file, in bytes. */
	uint64_t offset;
	/* Of its path in elf_core.paths. */
	size_t path;
};

/* struct user_regs_struct: sys/user.h. */
enum elf_core_register {
	CORE_R15, CORE_R14, CORE_R13, CORE_R12, CORE_RBP, CORE_RBX, CORE_R11,
	CORE_R10, CORE_R9, CORE_R8, CORE_RAX, CORE_RCX, CORE_RDX, CORE_RSI,
	CORE_RDI, CORE_ORIG_RAX, CORE_RIP, CORE_CS, CORE_EFLAGS, CORE_RSP,
	CORE_SS, CORE_FS_BASE, CORE_GS_BASE, CORE_DS, CORE_ES, CORE_FS, CORE_GS,
	CORE_REGISTERS,
};

struct elf_core_thread {
	int32_t tid;
	uint64_t registers[CORE_REGISTERS];
};

struct elf_core {
	/* Borrowed. */
	struct elf_file *file;
	int32_t pid;
	/* That ended it; 0: none. */
	int32_t signal;
	/* Its command line, as far as the kernel keeps it; of one that has none, its name. */
	char command[81];
	/* By address. */
	VEC(struct elf_core_segment) segments;
	VEC(struct elf_core_map) maps;
	struct strbuf paths;
	/* The first one is the one that crashed. */
	VEC(struct elf_core_thread) threads;
};

/*
 * ERROR_FORMAT: no core file. ERROR_UNSUPPORTED: of another machine. The file has to
 * outlive the core.
 */
struct error *elf_core_open(struct elf_file *file, struct elf_core *ret);
void elf_core_deinit(struct elf_core *core);

/* The path of a map; valid as long as the core. */
static inline const char *elf_core_path(const struct elf_core *core,
					const struct elf_core_map *map)
{
	return core->paths.data + map->path;
}

/* How many of n bytes of memory, from address on, the core has; these are in buf. */
size_t elf_core_read(const struct elf_core *core, uint64_t address, void *buf,
		     size_t n);
/* The map that an address lies in, or NULL. */
const struct elf_core_map *elf_core_map_at(const struct elf_core *core,
					   uint64_t address);
/* The segment that an address lies in, or NULL. */
const struct elf_core_segment *elf_core_segment_at(const struct elf_core *core,
						   uint64_t address);

#endif
