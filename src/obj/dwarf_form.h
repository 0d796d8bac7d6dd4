/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The values of DWARF attributes (DWARF 5, 7.5.6; versions 2 to 5, 32 and 64
 * bit, and GNU's forms of split files where they stand in whole ones).
 */
#ifndef KAA_OBJ_DWARF_FORM_H
#define KAA_OBJ_DWARF_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

/* The sections of one file; those it lacks are empty. */
struct dwarf_sections {
	struct bytes info;
	struct bytes abbrev;
	struct bytes str;
	struct bytes line_str;
	struct bytes str_offsets;
	struct bytes addr;
	struct bytes ranges;
	struct bytes rnglists;
	struct bytes line;
	bool big_endian;
};

/* How a unit writes its values. */
struct dwarf_encoding {
	uint16_t version;
	uint8_t address_size;
	/* 4 or 8 */
	uint8_t offset_size;
	/* Offset of the unit in .debug_info. */
	uint64_t unit;
	/* Offsets into their sections; 0 where the unit does not tell. */
	uint64_t str_offsets_base;
	uint64_t addr_base;
	uint64_t rnglists_base;
};

enum dwarf_class {
	/* Nothing that is used here: a block, another file's, a type. */
	DWARF_OTHER,
	DWARF_ADDRESS,
	/* Index into .debug_addr. */
	DWARF_ADDRESS_INDEX,
	DWARF_CONSTANT,
	/* Offset of a DIE in .debug_info. */
	DWARF_REFERENCE,
	/* Offset into another section; may be a constant before DWARF 4. */
	DWARF_OFFSET,
	/* Index into the unit's part of .debug_rnglists. */
	DWARF_RANGES_INDEX,
	/* In place; offset into .debug_str, .debug_line_str; index. */
	DWARF_STRING,
	DWARF_STRING_OFFSET,
	DWARF_LINE_STRING_OFFSET,
	DWARF_STRING_INDEX,
};

struct dwarf_value {
	enum dwarf_class class;
	uint64_t number;
	/* DWARF_STRING: borrowed from the section. */
	const char *string;
};

/* A reader of that section from offset on; failed if that is outside. */
struct reader dwarf_reader(const struct dwarf_sections *sections,
			   const struct bytes *section, uint64_t offset);
bool dwarf_read_offset(struct reader *r, uint8_t offset_size, uint64_t *ret);
bool dwarf_read_address(struct reader *r, uint8_t address_size, uint64_t *ret);

/* The bytes that values of that form take; -1 if they differ, or by the value. */
int dwarf_form_size(const struct dwarf_encoding *encoding, uint64_t form);
/* Reads a value; false (and r failed) for what cannot be read. */
bool dwarf_read_form(struct reader *r, const struct dwarf_encoding *encoding,
		     uint64_t form, int64_t implicit, struct dwarf_value *ret);

/* The text of a string; NULL if it is none. Borrowed from the sections. */
const char *dwarf_string(const struct dwarf_sections *sections,
			 const struct dwarf_encoding *encoding,
			 const struct dwarf_value *value);
/* The address; false if the value is none. */
bool dwarf_address(const struct dwarf_sections *sections,
		   const struct dwarf_encoding *encoding,
		   const struct dwarf_value *value, uint64_t *ret);

#endif
