/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build-ids: the identity of a linked file.
 *
 * Sources: ELF gABI "Note Section"; NT_GNU_BUILD_ID (3), owner "GNU", of
 * elf.h. Linux perf keeps at most 20 bytes, and so does this.
 */
#ifndef KAA_OBJ_BUILD_ID_H
#define KAA_OBJ_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX 20
/* Hex digits and the NUL. */
#define BUILD_ID_TEXT_SIZE (2 * BUILD_ID_MAX + 1)

struct build_id {
	/* 0: none known. */
	uint8_t size;
	uint8_t data[BUILD_ID_MAX];
};

/* Cut to BUILD_ID_MAX bytes. */
struct build_id build_id_from_bytes(const void *data, size_t size);
/* False if one of them is unknown; trailing zero bytes do not count, since
 * perf pads short ones with zeros to 20 bytes. */
bool build_id_equal(const struct build_id *a, const struct build_id *b);
/* Lower-case hex. */
void build_id_format(const struct build_id *id, char ret[BUILD_ID_TEXT_SIZE]);
/*
 * Finds NT_GNU_BUILD_ID in the bytes of a note section, a PT_NOTE segment or
 * /sys/kernel/notes; false if it is not there.
 */
bool build_id_from_notes(const void *data, size_t size, bool big_endian,
			 struct build_id *ret);

#endif
