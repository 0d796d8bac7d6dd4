/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages of protocol buffers (https://protobuf.dev/programming-guides/encoding). */
#ifndef KAA_IMPORT_PROTOBUF_IN_H
#define KAA_IMPORT_PROTOBUF_IN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct protobuf_field {
	uint32_t number;
	/* A text, a message or a packed list: `bytes`; else a number: `value`. */
	bool is_bytes;
	uint64_t value;
	struct reader bytes;
};

/* The next field. False at the end, and if it is damaged: message->failed. */
bool protobuf_in_next(struct reader *message, struct protobuf_field *ret);

#endif
