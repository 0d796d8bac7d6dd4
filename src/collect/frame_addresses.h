/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The addresses of Python frames, as samples had them: a frame that was seen
 * before is one look-up.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_FRAME_ADDRESSES_H
#define KAA_COLLECT_FRAME_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "bpf/walker_shared.h"
#include "collect/code_spans.h"

struct frame_address {
	/* What it is of. */
	uint64_t key;
	int32_t offset;
	/* The code table was like that; file 0: the entry is free. */
	uint32_t changes;
	uint32_t file;
	/* A frame of the interpreter's own that no traceback shows. */
	bool internal;
	/* In a callchain. */
	uint64_t address;
};

/* Zero-initialise. */
struct frame_addresses {
	struct frame_address *entries;
};

void frame_addresses_deinit(struct frame_addresses *addresses);

/*
 * *ret is what is known of a frame, valid until the next call; NULL if its code
 * object is not known. payloads: see code_table_address().
 */
struct error *frame_addresses_find(struct frame_addresses *addresses,
				   struct code_table *codes,
				   const struct walker_frame *frame,
				   struct strbuf *payloads,
				   const struct frame_address **ret);

#endif
