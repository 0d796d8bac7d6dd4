/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the ELF image that names Python addresses for stock tools.
 *
 * An MMAP2 record maps the image at a base address, with pgoff 0; the image's
 * virtual address v then stands at base + v. It has a FUNC symbol for each
 * span, a line table, and no code: .text takes no room in the file.
 *
 * Source of the formats: System V ABI (gABI) chapter 4 and 5; DWARF 4 sections
 * 3.1 and 6.2; .note.gnu.build-id as GNU ld writes it.
 */
#ifndef KAA_OBJ_ELF_IMAGE_H
#define KAA_OBJ_ELF_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

#define ELF_IMAGE_BUILD_ID_SIZE 20

struct elf_image_span {
	/* Address in the mapping, at or above elf_image.base. */
	uint64_t start;
	uint32_t slots;
	/* Symbol, as it shall be shown; borrowed. */
	const char *symbol;
	/* NULL: no lines. */
	const char *filename;
	/* Line of each slot, `slots` of them; NULL: no lines. */
	const uint32_t *lines;
};

struct elf_image {
	uint64_t base;
	/* Bytes of a slot. */
	uint32_t slot_size;
	/* In ascending order of start, not overlapping. */
	const struct elf_image_span *spans;
	size_t count;
	uint8_t build_id[ELF_IMAGE_BUILD_ID_SIZE];
};

/*
 * Appends the image's bytes to out. Spans out of order, overlapping, or more
 * than 4 GiB above base are ERROR_INVALID_ARGUMENT.
 */
struct error *elf_image_write(const struct elf_image *image,
			      struct strbuf *out);

#endif
