// SPDX-License-Identifier: GPL-2.0-only
#include "obj/dwarf_form.h"

#include <string.h>

#include "obj/dwarf_codes.h"

/* Longer names are none: those of C++ and Rust have several KiB at most. */
#define STRING_MAX (64u << 10)

struct reader dwarf_reader(const struct dwarf_sections *sections,
			   const struct bytes *section, uint64_t offset)
{
	struct reader r = reader_init(section->data, section->size);

	r.big_endian = sections->big_endian;
	if (offset > section->size)
		r.failed = true;
	else
		reader_skip(&r, (size_t)offset);
	return r;
}

static bool read_fixed(struct reader *r, unsigned int size, uint64_t *ret)
{
	const uint8_t *bytes = reader_bytes(r, size);
	uint64_t value = 0;

	for (unsigned int i = 0; bytes && i < size; i++) {
		unsigned int at = r->big_endian ? i : size - 1 - i;

		value = value << 8 | bytes[at];
	}
	*ret = value;
	return bytes;
}

bool dwarf_read_offset(struct reader *r, uint8_t offset_size, uint64_t *ret)
{
	return read_fixed(r, offset_size == 8 ? 8 : 4, ret);
}

bool dwarf_read_address(struct reader *r, uint8_t address_size, uint64_t *ret)
{
	return read_fixed(r, address_size == 4 ? 4 : 8, ret);
}

/* Of forms that are a number of `size` bytes; 0: an unsigned LEB128. */
static bool read_number(struct reader *r, unsigned int size,
			enum dwarf_class class, struct dwarf_value *ret)
{
	ret->class = class;
	return size ? read_fixed(r, size, &ret->number)
		    : reader_uleb128(r, &ret->number);
}

static bool read_reference(struct reader *r,
			   const struct dwarf_encoding *encoding,
			   unsigned int size, struct dwarf_value *ret)
{
	bool ok = read_number(r, size, DWARF_REFERENCE, ret);

	ret->number += encoding->unit;
	return ok;
}

/* `size` bytes tell how long the block is; 0: an unsigned LEB128. */
static bool skip_block(struct reader *r, unsigned int size,
		       struct dwarf_value *ret)
{
	return read_number(r, size, DWARF_OTHER, ret) &&
	       ret->number <= reader_left(r) &&
	       reader_skip(r, (size_t)ret->number);
}

static bool read_string(struct reader *r, struct dwarf_value *ret)
{
	ret->class = DWARF_STRING;
	ret->string = reader_cstr(r, NULL);
	return ret->string;
}

static bool read_signed(struct reader *r, struct dwarf_value *ret)
{
	int64_t value;
	bool ok = reader_sleb128(r, &value);

	ret->class = DWARF_CONSTANT;
	ret->number = (uint64_t)value;
	return ok;
}

static bool read_plain(struct reader *r, const struct dwarf_encoding *encoding,
		       uint64_t form, struct dwarf_value *ret)
{
	unsigned int offset = encoding->offset_size;

	switch (form) {
	case DW_FORM_addr:
		return read_number(r, encoding->address_size == 4 ? 4 : 8,
				   DWARF_ADDRESS, ret);
	case DW_FORM_data1:
	case DW_FORM_flag:
		return read_number(r, 1, DWARF_CONSTANT, ret);
	case DW_FORM_data2:
		return read_number(r, 2, DWARF_CONSTANT, ret);
	case DW_FORM_data4:
		return read_number(r, 4, DWARF_CONSTANT, ret);
	case DW_FORM_data8:
		return read_number(r, 8, DWARF_CONSTANT, ret);
	case DW_FORM_udata:
		return read_number(r, 0, DWARF_CONSTANT, ret);
	case DW_FORM_sdata:
		return read_signed(r, ret);
	case DW_FORM_flag_present:
		*ret = (struct dwarf_value){ DWARF_CONSTANT, 1, NULL };
		return true;
	case DW_FORM_sec_offset:
		return read_number(r, offset, DWARF_OFFSET, ret);
	case DW_FORM_string:
		return read_string(r, ret);
	case DW_FORM_strp:
		return read_number(r, offset, DWARF_STRING_OFFSET, ret);
	case DW_FORM_line_strp:
		return read_number(r, offset, DWARF_LINE_STRING_OFFSET, ret);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_GNU_ref_alt:
		return read_number(r, offset, DWARF_OTHER, ret);
	case DW_FORM_data16:
		ret->class = DWARF_OTHER;
		return reader_skip(r, 16);
	case DW_FORM_loclistx:
		return read_number(r, 0, DWARF_OTHER, ret);
	case DW_FORM_rnglistx:
		return read_number(r, 0, DWARF_RANGES_INDEX, ret);
	}
	r->failed = true;
	return false;
}

static bool read_block(struct reader *r, uint64_t form, struct dwarf_value *ret)
{
	switch (form) {
	case DW_FORM_block1:
		return skip_block(r, 1, ret);
	case DW_FORM_block2:
		return skip_block(r, 2, ret);
	case DW_FORM_block4:
		return skip_block(r, 4, ret);
	default:
		return skip_block(r, 0, ret);
	}
}

static bool read_indexed(struct reader *r, uint64_t form,
			 struct dwarf_value *ret)
{
	if (form == DW_FORM_strx)
		return read_number(r, 0, DWARF_STRING_INDEX, ret);
	if (form == DW_FORM_addrx)
		return read_number(r, 0, DWARF_ADDRESS_INDEX, ret);
	if (form >= DW_FORM_addrx1)
		return read_number(r, (unsigned int)(form - DW_FORM_addrx1 + 1),
				   DWARF_ADDRESS_INDEX, ret);
	return read_number(r, (unsigned int)(form - DW_FORM_strx1 + 1),
			   DWARF_STRING_INDEX, ret);
}

static bool read_link(struct reader *r, const struct dwarf_encoding *encoding,
		      uint64_t form, struct dwarf_value *ret)
{
	switch (form) {
	case DW_FORM_ref_addr:
		/* DWARF 2 writes an address. */
		return read_number(r,
				   encoding->version <= 2
					   ? encoding->address_size == 4 ? 4 : 8
					   : encoding->offset_size,
				   DWARF_REFERENCE, ret);
	case DW_FORM_ref1:
		return read_reference(r, encoding, 1, ret);
	case DW_FORM_ref2:
		return read_reference(r, encoding, 2, ret);
	case DW_FORM_ref4:
		return read_reference(r, encoding, 4, ret);
	case DW_FORM_ref8:
		return read_reference(r, encoding, 8, ret);
	case DW_FORM_ref_udata:
		return read_reference(r, encoding, 0, ret);
	case DW_FORM_ref_sup4:
		return read_number(r, 4, DWARF_OTHER, ret);
	default:
		/* ref_sig8, ref_sup8 */
		return read_number(r, 8, DWARF_OTHER, ret);
	}
}

int dwarf_form_size(const struct dwarf_encoding *encoding, uint64_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
		return 2;
	case DW_FORM_data4:
	case DW_FORM_ref4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
		return 8;
	case DW_FORM_addr:
		return encoding->address_size == 4 ? 4 : 8;
	case DW_FORM_sec_offset:
	case DW_FORM_strp:
	case DW_FORM_line_strp:
		return encoding->offset_size == 8 ? 8 : 4;
	default:
		return -1;
	}
}

bool dwarf_read_form(struct reader *r, const struct dwarf_encoding *encoding,
		     uint64_t form, int64_t implicit, struct dwarf_value *ret)
{
	*ret = (struct dwarf_value){};
	/* An indirect form names no indirect one. */
	if (form == DW_FORM_indirect &&
	    (!reader_uleb128(r, &form) || form == DW_FORM_indirect)) {
		r->failed = true;
		return false;
	}
	switch (form) {
	case DW_FORM_implicit_const:
		ret->class = DWARF_CONSTANT;
		ret->number = (uint64_t)implicit;
		return true;
	case DW_FORM_block:
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
	case DW_FORM_exprloc:
		return read_block(r, form, ret);
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_strx1 ... DW_FORM_addrx4:
		return read_indexed(r, form, ret);
	case DW_FORM_ref_addr ... DW_FORM_ref_udata:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return read_link(r, encoding, form, ret);
	default:
		return read_plain(r, encoding, form, ret);
	}
}

static const char *string_at(const struct bytes *section, uint64_t offset)
{
	return bytes_cstr(*section, offset, STRING_MAX);
}

/* Entry `index` of a table of numbers that begins at base. */
static bool table_entry(const struct dwarf_sections *sections,
			const struct bytes *table, uint64_t base,
			uint64_t index, unsigned int size, uint64_t *ret)
{
	struct reader r;

	if (index > table->size / size || base > table->size)
		return false;
	r = dwarf_reader(sections, table, base + index * size);
	return !r.failed && read_fixed(&r, size, ret);
}

const char *dwarf_string(const struct dwarf_sections *sections,
			 const struct dwarf_encoding *encoding,
			 const struct dwarf_value *value)
{
	uint64_t offset;

	switch (value->class) {
	case DWARF_STRING:
		return value->string;
	case DWARF_STRING_OFFSET:
		return string_at(&sections->str, value->number);
	case DWARF_LINE_STRING_OFFSET:
		return string_at(&sections->line_str, value->number);
	case DWARF_STRING_INDEX:
		if (!table_entry(sections, &sections->str_offsets,
				 encoding->str_offsets_base, value->number,
				 encoding->offset_size, &offset))
			return NULL;
		return string_at(&sections->str, offset);
	default:
		return NULL;
	}
}

bool dwarf_address(const struct dwarf_sections *sections,
		   const struct dwarf_encoding *encoding,
		   const struct dwarf_value *value, uint64_t *ret)
{
	if (value->class == DWARF_ADDRESS_INDEX)
		return table_entry(sections, &sections->addr,
				   encoding->addr_base, value->number,
				   encoding->address_size == 4 ? 4 : 8, ret);
	*ret = value->number;
	return value->class == DWARF_ADDRESS;
}
