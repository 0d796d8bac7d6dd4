// SPDX-License-Identifier: GPL-2.0-only
#include "collect/frame_addresses.h"

#include <stdlib.h>

/* Each entry is one line of one function. */
enum { BITS = 12 };

void frame_addresses_deinit(struct frame_addresses *addresses)
{
	free(addresses->entries);
	*addresses = (struct frame_addresses){};
}

static struct frame_address *entry_of(const struct frame_addresses *addresses,
				      const struct walker_frame *frame)
{
	uint64_t hash = (frame->key + (uint32_t)frame->offset) *
			UINT64_C(0x9e3779b97f4a7c15);

	return &addresses->entries[hash >> (64 - BITS)];
}

static bool is_of(const struct frame_address *entry,
		  const struct code_table *codes,
		  const struct walker_frame *frame)
{
	return entry->key == frame->key && entry->offset == frame->offset &&
	       entry->changes == codes->changes && entry->file == codes->file;
}

struct error *frame_addresses_find(struct frame_addresses *addresses,
				   struct code_table *codes,
				   const struct walker_frame *frame,
				   struct strbuf *payloads,
				   const struct frame_address **ret)
{
	struct frame_address *entry, found;
	struct error *error;
	struct code *code;

	if (!addresses->entries)
		addresses->entries =
			calloc((size_t)1 << BITS, sizeof(*addresses->entries));
	if (!addresses->entries)
		return error_no_memory();
	entry = entry_of(addresses, frame);
	if (is_of(entry, codes, frame)) {
		*ret = entry;
		return NULL;
	}
	code = code_table_find(codes, frame->key);
	if (!code) {
		*ret = NULL;
		return NULL;
	}
	found = (struct frame_address){ .key = frame->key,
					.offset = frame->offset,
					.changes = codes->changes,
					.file = codes->file,
					.internal = code->internal };
	error = code_table_address(codes, code, frame->offset, payloads,
				   &found.address);
	if (error)
		return error;
	*entry = found;
	*ret = entry;
	return NULL;
}
