// SPDX-License-Identifier: GPL-2.0-only
#include "import/protobuf_in.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_FIXED32 = 5,
};

static void read_bytes(struct reader *message, struct protobuf_field *ret)
{
	uint64_t size = 0;

	ret->is_bytes = true;
	if (reader_uleb128(message, &size) && size > reader_left(message))
		message->failed = true;
	if (!message->failed)
		ret->bytes = reader_sub(message, size);
}

bool protobuf_in_next(struct reader *message, struct protobuf_field *ret)
{
	uint64_t key;
	uint32_t half = 0;

	*ret = (struct protobuf_field){};
	if (message->failed || !reader_left(message) ||
	    !reader_uleb128(message, &key))
		return false;
	if (key >> 3 > UINT32_MAX) {
		message->failed = true;
		return false;
	}
	ret->number = (uint32_t)(key >> 3);
	switch ((enum wire_type)(key & 7)) {
	case WIRE_VARINT:
		reader_uleb128(message, &ret->value);
		break;
	case WIRE_FIXED64:
		reader_u64(message, &ret->value);
		break;
	case WIRE_BYTES:
		read_bytes(message, ret);
		break;
	case WIRE_FIXED32:
		reader_u32(message, &half);
		ret->value = half;
		break;
	default:
		message->failed = true;
	}
	return !message->failed;
}
