// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_parts.h"

#include <string.h>

void poll_parts_clear(struct poll_parts *parts)
{
	vec_clear(&parts->list);
	strbuf_clear(&parts->records);
}

void poll_parts_deinit(struct poll_parts *parts)
{
	vec_deinit(&parts->list);
	strbuf_deinit(&parts->records);
}

void poll_parts_swap(struct poll_parts *a, struct poll_parts *b)
{
	struct poll_parts parts = *a;

	*a = *b;
	*b = parts;
}

static bool is_equal(const struct poll_parts *parts,
		     const struct poll_part *part,
		     const struct strbuf *records, uint64_t marker)
{
	return part->marker == marker && part->size == records->len &&
	       (!part->size || !memcmp(parts->records.data + part->at,
				       records->data, part->size));
}

bool poll_parts_add(struct poll_parts *parts, const struct strbuf *records,
		    uint64_t marker, double share)
{
	struct poll_part part = { marker, share, (uint32_t)parts->records.len,
				  (uint32_t)records->len };

	vec_for_each(other, &parts->list) {
		if (!is_equal(parts, other, records, marker))
			continue;
		other->share += share;
		return true;
	}
	strbuf_append(&parts->records, records->data, records->len);
	return !parts->records.failed && vec_push(&parts->list, part);
}
