/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the ELF image of one piece of code that a jitdump tells of, as
 * `perf inject --jit` does: an MMAP2 record maps it, with pgoff JIT_IMAGE_TEXT, at
 * the code's address.
 *
 * Virtual addresses are file offsets. The code stands at JIT_IMAGE_TEXT with one
 * FUNC symbol, its unwind information (made by the writer of the dump for this
 * place) behind it, at the first multiple of eight. The build-id is a hash of all
 * that the image holds and of where and as which code it ran: code alone is the
 * same for all trampolines (cpython#139544).
 *
 * Source: System V ABI (gABI) chapter 4 and 5; DWARF 4; the layout is that of
 * files of perf 7.2.
 */
#ifndef KAA_OBJ_JIT_IMAGE_H
#define KAA_OBJ_JIT_IMAGE_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "obj/jitdump.h"

/* File offset and virtual address of the code. */
#define JIT_IMAGE_TEXT 0x80
#define JIT_IMAGE_BUILD_ID_SIZE 20
/* Larger code is ERROR_LIMIT. */
#define JIT_IMAGE_CODE_MAX (1ull << 30)

/* All borrowed. */
struct jit_image {
	const char *name;
	struct bytes code;
	/* Where the code runs; lines are told by it. */
	uint64_t address;
	/* Of the load. */
	uint64_t index;
	/* ELF e_machine; 0: x86-64, which is all that kaa runs on. */
	uint16_t machine;
	struct jitdump_lines lines;
	struct jitdump_unwinding unwinding;
	/*
	 * What the symbol says instead of JIT_IMAGE_TEXT, for `objdump
	 * --adjust-vma`, which moves sections, but not symbols; 0: nothing.
	 */
	uint64_t symbol_address;
};

/* Where .eh_frame stands, in the image's addresses. */
static inline uint64_t jit_image_eh_frame(uint64_t code_size)
{
	return (JIT_IMAGE_TEXT + code_size + 7) & ~7ull;
}

/* Bytes that the image covers in memory, from the code on. */
uint64_t jit_image_mapped(uint64_t code_size,
			  const struct jitdump_unwinding *unwinding);

/* Appends the image's bytes to out. */
struct error *jit_image_write(const struct jit_image *image, struct strbuf *out,
			      uint8_t build_id[JIT_IMAGE_BUILD_ID_SIZE]);

#endif
