/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The initialised data of an ELF file as words, with pointers into the file
 * itself as they are once it is loaded where its vaddrs say (R_X86_64_RELATIVE,
 * and R_X86_64_64 of its own symbols, applied).
 */
#ifndef KAA_PYTHON_DATA_IMAGE_H
#define KAA_PYTHON_DATA_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "obj/elf_file.h"

struct py_data_part {
	uint64_t vaddr;
	uint64_t size;
	uint8_t *bytes;
};

/* Zero-initialise. */
struct py_data_image {
	VEC(struct py_data_part) parts;
};

/* Writable segments, as far as the file holds them. ERROR_LIMIT beyond 64 MiB, or 16 segments. */
struct error *py_data_image_load(struct elf_file *file,
				 struct py_data_image *ret);
void py_data_image_deinit(struct py_data_image *image);

/* The word at vaddr; 0 if it is not in the data. */
uint64_t py_data_word(const struct py_data_image *image, uint64_t vaddr);
/* There is a word at vaddr. */
bool py_data_has(const struct py_data_image *image, uint64_t vaddr);

#endif
