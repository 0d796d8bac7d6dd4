/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of a C library that no symbol of a stripped file names, known by
 * all of their bytes.
 *
 * Source: musl src/thread/x86_64/clone.s, which has been so assembled since
 * musl 0.9. It is hidden in the library, and the assembly before it has
 * symbols without a size, which seem to reach over it.
 */
#ifndef KAA_SYMBOLIZE_KNOWN_CODE_H
#define KAA_SYMBOLIZE_KNOWN_CODE_H

#include <stdint.h>

#include "obj/elf_file.h"
#include "unwind/cfi.h"

/*
 * The name of the function that vaddr lies in, which is static, and where it
 * is; NULL if it is none of those, or cannot be read.
 */
const char *known_code_find(struct elf_file *elf, uint64_t vaddr,
			    struct cfi_range *ret);

#endif
