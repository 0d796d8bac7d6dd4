// SPDX-License-Identifier: GPL-2.0-only
#include "export/protobuf.h"

#include <endian.h>
#include <string.h>

#include "base/put_bytes.h"
#include "view/printable.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static void put_varint(struct strbuf *out, uint64_t value)
{
	uint8_t bytes[PUT_LEB128_MAX];
	struct put put = { bytes };

	put_uleb128(&put, value);
	strbuf_append(out, bytes, (size_t)(put.at - bytes));
}

static void put_key(struct strbuf *out, uint32_t field, enum wire_type type)
{
	put_varint(out, (uint64_t)field << 3 | type);
}

void protobuf_u64(struct strbuf *out, uint32_t field, uint64_t value)
{
	if (!value)
		return;
	put_key(out, field, WIRE_VARINT);
	put_varint(out, value);
}

void protobuf_fixed64(struct strbuf *out, uint32_t field, uint64_t value)
{
	if (!value)
		return;
	put_key(out, field, WIRE_FIXED64);
	protobuf_packed_fixed64(out, value);
}

static size_t printable_length(const char *text)
{
	size_t left = strlen(text), length = 0, n;
	const char *s;

	while (left) {
		size_t taken = printable_character(text, left, &s, &n);

		length += n;
		text += taken;
		left -= taken;
	}
	return length;
}

void protobuf_text(struct strbuf *out, uint32_t field, const char *text)
{
	size_t left = strlen(text), n;
	const char *s;

	put_key(out, field, WIRE_BYTES);
	put_varint(out, printable_length(text));
	while (left) {
		size_t taken = printable_character(text, left, &s, &n);

		strbuf_append(out, s, n);
		text += taken;
		left -= taken;
	}
}

void protobuf_message(struct strbuf *out, uint32_t field,
		      const struct strbuf *message)
{
	put_key(out, field, WIRE_BYTES);
	put_varint(out, message->len);
	strbuf_append(out, message->data, message->len);
	out->failed |= message->failed;
}

void protobuf_packed(struct strbuf *list, uint64_t value)
{
	put_varint(list, value);
}

void protobuf_packed_fixed64(struct strbuf *list, uint64_t value)
{
	uint64_t bytes = htole64(value);

	strbuf_append(list, &bytes, sizeof(bytes));
}
