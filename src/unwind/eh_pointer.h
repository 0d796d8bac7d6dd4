/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Encoded pointers of .eh_frame and .eh_frame_hdr (LSB 5.0 core, "DWARF
 * Exception Header Encoding": the low 4 bits are the format, the next 3 what it
 * is relative to, the top bit means indirect).
 */
#ifndef KAA_UNWIND_EH_POINTER_H
#define KAA_UNWIND_EH_POINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum {
	EH_PE_ABSPTR = 0x00,
	EH_PE_PCREL = 0x10,
	EH_PE_TEXTREL = 0x20,
	EH_PE_DATAREL = 0x30,
	EH_PE_FUNCREL = 0x40,
	EH_PE_ALIGNED = 0x50,
	EH_PE_INDIRECT = 0x80,
	EH_PE_OMIT = 0xff,
};

struct eh_pointer_bases {
	/* Address of reader.start. */
	uint64_t section;
	uint64_t text;
	uint64_t data;
	uint64_t function;
};

/*
 * Reads a pointer. false (and a failed reader) if it is cut off, omitted,
 * indirect or of an unknown form.
 */
bool eh_pointer_read(struct reader *r, uint8_t encoding,
		     const struct eh_pointer_bases *bases, uint64_t *ret);

/* Skips a pointer of any kind, indirect and omitted ones too. */
bool eh_pointer_skip(struct reader *r, uint8_t encoding);

#endif
