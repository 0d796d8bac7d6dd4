// SPDX-License-Identifier: GPL-2.0-only
#include "obj/build_id.h"

#include <elf.h>
#include <string.h>

#include "base/bytes.h"

struct build_id build_id_from_bytes(const void *data, size_t size)
{
	struct build_id id = {};

	if (size > BUILD_ID_MAX)
		size = BUILD_ID_MAX;
	id.size = (uint8_t)size;
	if (size)
		memcpy(id.data, data, size);
	return id;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->size && b->size &&
	       !memcmp(a->data, b->data, sizeof(a->data));
}

void build_id_format(const struct build_id *id, char ret[BUILD_ID_TEXT_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	char *p = ret;

	for (size_t i = 0; i < id->size; i++) {
		*p++ = digits[id->data[i] >> 4];
		*p++ = digits[id->data[i] & 15];
	}
	*p = '\0';
}

/* Skips n bytes and the padding to a multiple of 4. */
static const uint8_t *read_padded(struct reader *r, uint32_t n)
{
	const uint8_t *data = reader_bytes(r, n);
	size_t padding = -(size_t)n & 3;

	/* The padding of the last note may be missing. */
	if (data)
		reader_skip(r, padding < reader_left(r) ? padding :
							  reader_left(r));
	return data;
}

bool build_id_from_notes(const void *data, size_t size, bool big_endian,
			 struct build_id *ret)
{
	struct reader r = reader_init(data, size);
	uint32_t name_size, desc_size, type;
	const uint8_t *name, *desc;

	r.big_endian = big_endian;
	while (reader_u32(&r, &name_size) && reader_u32(&r, &desc_size) &&
	       reader_u32(&r, &type)) {
		name = read_padded(&r, name_size);
		desc = read_padded(&r, desc_size);
		if (!name || !desc)
			return false;
		if (type != NT_GNU_BUILD_ID || name_size != 4 ||
		    memcmp(name, "GNU", 4) || !desc_size)
			continue;
		*ret = build_id_from_bytes(desc, desc_size);
		return true;
	}
	return false;
}
