/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an ELF file says about symbols kept elsewhere.
 *
 * Source: the GDB manual, "Separate Debug Files" and "MiniDebugInfo".
 */
#ifndef KAA_OBJ_ELF_DEBUG_H
#define KAA_OBJ_ELF_DEBUG_H

#include <stdint.h>

#include "base/error.h"
#include "obj/elf_file.h"

/* .gnu_debugdata that unpacks to more is refused. */
#define ELF_MINIDEBUG_MAX (256u << 20)

/*
 * .gnu_debuglink: file name without folder (borrowed) and its CRC-32.
 * ERROR_NOT_FOUND if there is none; a name with a slash is ERROR_FORMAT.
 */
struct error *elf_file_debuglink(struct elf_file *file, const char **name,
				 uint32_t *crc);
/* CRC-32 over the whole file, as .gnu_debuglink has it. */
struct error *elf_file_crc(struct elf_file *file, uint32_t *ret);

/*
 * The ELF file inside .gnu_debugdata (xz), unpacked on first use and owned by
 * `file`. ERROR_NOT_FOUND if there is none.
 */
struct error *elf_file_minidebug(struct elf_file *file, struct elf_file **ret);

#endif
