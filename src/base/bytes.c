// SPDX-License-Identifier: GPL-2.0-only
#include "base/bytes.h"

#include <endian.h>
#include <string.h>

const char *bytes_cstr(struct bytes bytes, uint64_t offset, size_t max)
{
	size_t left = offset < bytes.size ? bytes.size - (size_t)offset : 0;

	if (!left || !memchr(bytes.data + offset, '\0', left < max ? left : max))
		return NULL;
	return (const char *)bytes.data + offset;
}

const uint8_t *reader_bytes(struct reader *r, size_t n)
{
	const uint8_t *bytes = r->pos;

	if (r->failed || n > reader_left(r)) {
		r->failed = true;
		return NULL;
	}
	/* Of nothing at all, pos may be NULL. */
	if (n)
		r->pos += n;
	return bytes;
}

bool reader_skip(struct reader *r, size_t n)
{
	return reader_bytes(r, n) != NULL;
}

bool reader_u8(struct reader *r, uint8_t *ret)
{
	const uint8_t *bytes = reader_bytes(r, 1);

	*ret = bytes ? *bytes : 0;
	return bytes;
}

#define DEFINE_READER_INT(bits)                                            \
	bool reader_u##bits(struct reader *r, uint##bits##_t *ret)         \
	{                                                                  \
		const uint8_t *bytes = reader_bytes(r, sizeof(*ret));      \
		uint##bits##_t raw;                                        \
									   \
		*ret = 0;                                                  \
		if (!bytes)                                                \
			return false;                                      \
		memcpy(&raw, bytes, sizeof(raw));                          \
		*ret = r->big_endian ? be##bits##toh(raw) :                \
				       le##bits##toh(raw);                 \
		return true;                                               \
	}

DEFINE_READER_INT(16)
DEFINE_READER_INT(32)
DEFINE_READER_INT(64)

bool reader_uleb128(struct reader *r, uint64_t *ret)
{
	uint64_t value = 0;
	uint8_t byte;

	*ret = 0;
	for (unsigned int shift = 0; shift < 70; shift += 7) {
		if (!reader_u8(r, &byte))
			return false;
		if (shift == 63 && (byte & 0x7e))
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return true;
		}
	}
	r->failed = true;
	return false;
}

bool reader_sleb128(struct reader *r, int64_t *ret)
{
	uint64_t value = 0;
	uint8_t byte;

	*ret = 0;
	for (unsigned int shift = 0; shift < 70; shift += 7) {
		if (!reader_u8(r, &byte))
			return false;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (shift + 7 < 64 && (byte & 0x40))
			value |= ~(uint64_t)0 << (shift + 7);
		*ret = (int64_t)value;
		return true;
	}
	r->failed = true;
	return false;
}

const char *reader_cstr(struct reader *r, size_t *len)
{
	const uint8_t *start = r->pos;
	const uint8_t *nul =
		r->failed || start == r->end ?
			NULL :
			memchr(start, '\0', reader_left(r));

	if (!nul) {
		r->failed = true;
		return NULL;
	}
	r->pos = nul + 1;
	if (len)
		*len = (size_t)(nul - start);
	return (const char *)start;
}

struct reader reader_sub(struct reader *r, size_t n)
{
	uint64_t base = reader_offset(r);
	const uint8_t *bytes = reader_bytes(r, n);
	struct reader sub = reader_init(bytes, bytes ? n : 0);

	sub.base = base;
	sub.path = r->path;
	sub.big_endian = r->big_endian;
	sub.failed = !bytes;
	return sub;
}

struct error *reader_error(const struct reader *r, const char *what)
{
	return error_at(ERROR_TRUNCATED, r->path, reader_offset(r),
			"%s is cut short or malformed", what);
}
