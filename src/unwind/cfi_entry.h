/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The entries of .eh_frame and .debug_frame: CIEs and FDEs (DWARF 5 section
 * 6.4.1; LSB 5.0 core, "The .eh_frame section"). Internal to unwind/.
 */
#ifndef KAA_UNWIND_CFI_ENTRY_H
#define KAA_UNWIND_CFI_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct cfi_section {
	struct bytes bytes;
	/* Offset in the section at which the bytes begin: they may be a part of it. */
	uint64_t base;
	/* .eh_frame, as opposed to .debug_frame. */
	bool eh;
	uint64_t vaddr;
	uint64_t text_vaddr;
	uint64_t got_vaddr;
};

enum cfi_entry_kind {
	CFI_ENTRY_CIE,
	CFI_ENTRY_FDE,
	/* A length of zero. */
	CFI_ENTRY_TERMINATOR,
};

struct cfi_entry {
	enum cfi_entry_kind kind;
	/* Offset of the entry behind this one. */
	uint64_t next;
	/* FDE: offset of its CIE. */
	uint64_t cie;
	/* What follows the id; reader.start is the start of the bytes. */
	struct reader body;
};

struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_reg;
	/* Encoding of the addresses in its FDEs. */
	uint8_t fde_encoding;
	bool has_augmentation_data;
	bool signal_frame;
	struct reader instructions;
};

struct cfi_fde {
	uint64_t start;
	uint64_t size;
	struct reader instructions;
};

/*
 * Reads the entry at an offset. false if not even its length makes sense;
 * an entry of a sane length whose id does not is given as a TERMINATOR.
 */
bool cfi_entry_read(const struct cfi_section *section, uint64_t offset,
		    struct cfi_entry *ret);
/* Reads the CIE at an offset; false if it is damaged or not understood. */
bool cfi_cie_read(const struct cfi_section *section, uint64_t offset,
		  struct cfi_cie *ret);
/* Reads the FDE in an entry that is one, given its CIE. */
bool cfi_fde_read(const struct cfi_section *section,
		  const struct cfi_entry *entry, const struct cfi_cie *cie,
		  struct cfi_fde *ret);

#endif
