/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Puts values one behind the other into memory, little-endian. The caller has
 * made sure that there is room. Allocates nothing, and calls libc's memcpy()
 * alone: the agent uses it, too.
 */
#ifndef KAA_BASE_PUT_BYTES_H
#define KAA_BASE_PUT_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Where the next byte goes. */
struct put {
	uint8_t *at;
};

/* Bytes of the longest LEB128 of 64 bits. */
#define PUT_LEB128_MAX 10

static inline void put_bytes(struct put *p, const void *data, size_t size)
{
	memcpy(p->at, data, size);
	p->at += size;
}

static inline void put_u8(struct put *p, uint8_t value)
{
	*p->at++ = value;
}

static inline void put_u16(struct put *p, uint16_t value)
{
	put_bytes(p, &value, sizeof(value));
}

static inline void put_u32(struct put *p, uint32_t value)
{
	put_bytes(p, &value, sizeof(value));
}

static inline void put_u64(struct put *p, uint64_t value)
{
	put_bytes(p, &value, sizeof(value));
}

/* With its NUL. */
static inline void put_cstr(struct put *p, const char *s)
{
	put_bytes(p, s, strlen(s) + 1);
}

static inline void put_uleb128(struct put *p, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_u8(p, (uint8_t)(value | 0x80));
	put_u8(p, (uint8_t)value);
}

static inline void put_sleb128(struct put *p, int64_t value)
{
	for (; value < -64 || value > 63; value >>= 7)
		put_u8(p, (uint8_t)((value & 0x7f) | 0x80));
	put_u8(p, value & 0x7f);
}

#endif
