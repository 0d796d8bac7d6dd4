/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One ELF file: headers, sections, segments, build-id, bytes.
 *
 * The bytes come from a file descriptor that the caller opened (a regular
 * file; it is read with pread(), never mapped, so that a file that shrinks
 * under us is an error and not a signal) or from memory. Sections are read on
 * first use and kept until elf_file_destroy().
 *
 * Three kinds of address:
 *   offset    in the file
 *   vaddr     as the file's program headers number it
 *   address   in a process: vaddr + bias, the bias being that of one mapping
 *             (elf_file_bias())
 *
 * Source of the format: System V gABI chapters 4 and 5. Both classes and byte
 * orders are read. Symbols: obj/elf_symbols.h; debug files: obj/elf_debug.h.
 *
 * Not thread-safe.
 */
#ifndef KAA_OBJ_ELF_FILE_H
#define KAA_OBJ_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "obj/build_id.h"

/* A file beyond this is refused. */
#define ELF_FILE_SIZE_MAX (16ull << 30)
/* A section that is, or decompresses to, more than this is not read. */
#define ELF_FILE_SECTION_MAX (2ull << 30)
/*
 * Sections do not overlap in real files. Of one whose headers tell of the same
 * bytes over and over, so many times its size is read; what is compressed may
 * become so many times its size, and a little where the file is small.
 */
#define ELF_FILE_READ_FACTOR 2
#define ELF_FILE_DECOMPRESS_FACTOR 64
#define ELF_FILE_DECOMPRESS_MIN (64ull << 20)
/* Notes beyond so many sections, and segments, of them are not looked at for a build-id. */
#define ELF_FILE_NOTES_MAX 64

/* Bytes of a section's name with its NUL: nobody looks for longer ones. */
#define ELF_FILE_SECTION_NAME_MAX 256

/* One program header. */
struct elf_segment {
	uint32_t type;
	uint32_t flags;
	uint64_t offset;
	uint64_t vaddr;
	uint64_t filesz;
	uint64_t memsz;
};

/* One section header. */
struct elf_section {
	/* Never NULL; "" if ELF_FILE_SECTION_NAME_MAX is too short; owned by the elf_file. */
	const char *name;
	uint32_t index;
	uint32_t type;
	uint64_t flags;
	uint64_t addr;
	uint64_t offset;
	uint64_t size;
	uint64_t entsize;
	uint32_t link;
	uint32_t info;
	/* Private: its bytes were read, and counted. */
	bool counted;
};

struct elf_file_bytes;

/* Read only for users. */
struct elf_file {
	/* For messages; never NULL. */
	char *path;
	uint64_t size;
	/* st_dev and st_ino of the file; 0 in memory. */
	uint64_t device;
	uint64_t inode;
	/* ET_*, EM_* */
	uint16_t type;
	uint16_t machine;
	bool is_64;
	bool big_endian;
	uint64_t entry;
	/* size 0 if the file has none. */
	struct build_id build_id;
	struct elf_segment *segments;
	size_t segment_count;
	struct elf_section *sections;
	size_t section_count;
	/* Private: where bytes come from, and what was read. */
	struct elf_file_bytes *bytes;
	/* Private to obj/elf_debug.c. */
	struct elf_file *minidebug;
	void *minidebug_data;
};

/*
 * Opens the ELF file behind fd, which must be a regular file. Takes fd over
 * in any case (closes it on failure). path is for messages.
 */
struct error *elf_file_open_fd(int fd, const char *path,
			       struct elf_file **ret);
/* The same, opening path read-only (following symbolic links). */
struct error *elf_file_open(const char *path, struct elf_file **ret);
/* From memory that must outlive the file; path is for messages. */
struct error *elf_file_open_memory(const void *data, size_t size,
				   const char *path, struct elf_file **ret);
void elf_file_destroy(struct elf_file *file);
DEFINE_CLEANUP(elf_file, struct elf_file *, elf_file_destroy);

/*
 * Closes the descriptor, keeping what was read so far; sections and image
 * bytes not yet read are ERROR_FAULT from then on. For those who keep many.
 */
void elf_file_close_fd(struct elf_file *file);

/*
 * Gives back the memory of all sections that were read; they are read anew when
 * they are asked for. Nobody may hold bytes of them. Does nothing where the file
 * is in memory, was closed, or has other sections by now.
 */
void elf_file_drop_sections(struct elf_file *file);

/* ERROR_UNSUPPORTED unless the file is for this machine (64-bit x86-64). */
struct error *elf_file_check_native(const struct elf_file *file);

/* The first section of that name, or NULL. */
const struct elf_section *elf_file_section(const struct elf_file *file,
					   const char *name);
/* The section of code that holds vaddr, or NULL. */
const struct elf_section *elf_file_exec_section(const struct elf_file *file,
						uint64_t vaddr);
/*
 * The section's bytes, decompressed if SHF_COMPRESSED; borrowed from the file.
 * SHT_NOBITS gives zero bytes. ERROR_FORMAT also beyond ELF_FILE_READ_FACTOR.
 */
struct error *elf_file_section_bytes(struct elf_file *file,
				     const struct elf_section *section,
				     struct bytes *ret);
/*
 * By name; ERROR_NOT_FOUND if there is none (or it is SHT_NOBITS, as in debug
 * files). section may be NULL, and is NULL on failure.
 */
struct error *elf_file_section_by_name(struct elf_file *file, const char *name,
				       const struct elf_section **section,
				       struct bytes *ret);

/* The first PT_LOAD that holds the address, or NULL. */
const struct elf_segment *elf_file_load_at(const struct elf_file *file,
					   uint64_t vaddr);
/*
 * Copies size bytes of the file's image at vaddr: file contents, and zeros
 * between filesz and memsz. ERROR_FAULT if [vaddr, vaddr + size) is not within
 * one PT_LOAD.
 */
struct error *elf_file_read_image(struct elf_file *file, uint64_t vaddr,
				  void *buf, size_t size);
/* Copies size bytes at a file offset; ERROR_TRUNCATED beyond the end. */
struct error *elf_file_read_at(struct elf_file *file, uint64_t offset,
			       void *buf, size_t size);

/*
 * Between file offsets and vaddrs by the PT_LOAD that holds them, an
 * executable one first (the page at the edge of two segments is in both).
 * False if none does.
 */
bool elf_file_offset_to_vaddr(const struct elf_file *file, uint64_t offset,
			      uint64_t *ret);
bool elf_file_vaddr_to_offset(const struct elf_file *file, uint64_t vaddr,
			      uint64_t *ret);
/*
 * The bias of an executable mapping of this file at [start, start + len) with
 * file offset pgoff: address = vaddr + bias (modulo 2^64). False if no PT_LOAD
 * lies in the mapping.
 */
bool elf_file_bias(const struct elf_file *file, uint64_t start, uint64_t len,
		   uint64_t pgoff, uint64_t *ret);
/* True if vaddr lies in a PT_LOAD with PF_X. */
bool elf_file_is_exec(const struct elf_file *file, uint64_t vaddr);
/* The first segment of that PT_* type, or NULL. */
const struct elf_segment *elf_file_segment(const struct elf_file *file,
					   uint32_t type);

#endif
