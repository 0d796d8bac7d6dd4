// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/eh_pointer.h"

static bool read_signed(struct reader *r, unsigned int format, uint64_t *ret)
{
	uint16_t u16 = 0;
	uint32_t u32 = 0;
	int64_t s64 = 0;
	bool ok;

	switch (format) {
	case 0x9:
		ok = reader_sleb128(r, &s64);
		*ret = (uint64_t)s64;
		return ok;
	case 0xa:
		ok = reader_u16(r, &u16);
		*ret = (uint64_t)(int64_t)(int16_t)u16;
		return ok;
	case 0xb:
		ok = reader_u32(r, &u32);
		*ret = (uint64_t)(int64_t)(int32_t)u32;
		return ok;
	default:
		return reader_u64(r, ret);
	}
}

static bool read_format(struct reader *r, unsigned int format, uint64_t *ret)
{
	uint16_t u16 = 0;
	uint32_t u32 = 0;
	bool ok;

	switch (format) {
	case 0x0:
	case 0x4:
		return reader_u64(r, ret);
	case 0x1:
		return reader_uleb128(r, ret);
	case 0x2:
		ok = reader_u16(r, &u16);
		*ret = u16;
		return ok;
	case 0x3:
		ok = reader_u32(r, &u32);
		*ret = u32;
		return ok;
	case 0x8:
	case 0x9:
	case 0xa:
	case 0xb:
	case 0xc:
		return read_signed(r, format, ret);
	default:
		r->failed = true;
		return false;
	}
}

static bool align_to_word(struct reader *r, uint64_t section)
{
	uint64_t at = section + (uint64_t)(r->pos - r->start);

	return reader_skip(r, (size_t)(-at & 7));
}

static bool find_base(const struct eh_pointer_bases *bases, uint8_t encoding,
		      uint64_t at, uint64_t *ret)
{
	switch (encoding & 0x70) {
	case EH_PE_ABSPTR:
	case EH_PE_ALIGNED:
		*ret = 0;
		return true;
	case EH_PE_PCREL:
		*ret = at;
		return true;
	case EH_PE_TEXTREL:
		*ret = bases->text;
		return true;
	case EH_PE_DATAREL:
		*ret = bases->data;
		return true;
	case EH_PE_FUNCREL:
		*ret = bases->function;
		return true;
	default:
		return false;
	}
}

bool eh_pointer_read(struct reader *r, uint8_t encoding,
		     const struct eh_pointer_bases *bases, uint64_t *ret)
{
	uint64_t value = 0, base = 0, at;

	if (encoding == EH_PE_OMIT || (encoding & EH_PE_INDIRECT)) {
		r->failed = true;
		return false;
	}
	if ((encoding & 0x70) == EH_PE_ALIGNED &&
	    !align_to_word(r, bases->section))
		return false;
	at = bases->section + (uint64_t)(r->pos - r->start);
	if (!find_base(bases, encoding, at, &base) ||
	    !read_format(r, encoding & 0xf, &value)) {
		r->failed = true;
		return false;
	}
	*ret = value + base;
	return true;
}

bool eh_pointer_skip(struct reader *r, uint8_t encoding)
{
	struct eh_pointer_bases none = {};
	uint64_t value;

	if (encoding == EH_PE_OMIT)
		return true;
	return eh_pointer_read(r, encoding & ~EH_PE_INDIRECT, &none, &value);
}
