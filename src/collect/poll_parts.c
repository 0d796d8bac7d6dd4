// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_parts.h"

#include <string.h>

void poll_parts_clear(struct poll_parts *parts)
{
	vec_clear(&parts->list);
	vec_clear(&parts->tasks);
	strbuf_clear(&parts->records);
}

void poll_parts_deinit(struct poll_parts *parts)
{
	vec_deinit(&parts->list);
	vec_deinit(&parts->tasks);
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

bool poll_parts_find(struct poll_parts *parts, const struct strbuf *records,
		     uint64_t marker, uint32_t *number)
{
	struct poll_part part = { .marker = marker,
				  .at = (uint32_t)parts->records.len,
				  .size = (uint32_t)records->len };
	size_t i = 0;

	while (i < parts->list.count &&
	       !is_equal(parts, &parts->list.data[i], records, marker))
		i++;
	if (i == parts->list.count) {
		strbuf_append(&parts->records, records->data, records->len);
		if (parts->records.failed || !vec_push(&parts->list, part))
			return false;
	}
	*number = (uint32_t)i;
	return true;
}

bool poll_parts_add(struct poll_parts *parts, const struct strbuf *records,
		    uint64_t marker, double share)
{
	uint32_t number;

	if (!poll_parts_find(parts, records, marker, &number))
		return false;
	parts->list.data[number].share += share;
	return true;
}
