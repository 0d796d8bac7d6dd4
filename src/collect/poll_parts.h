/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one look at a thread gives: stacks, each of which stands for some part of the
 * time that the look does. Of a thread that runs no tasks of asyncio it is its own
 * stack alone (docs/async.md).
 */
#ifndef KAA_COLLECT_POLL_PARTS_H
#define KAA_COLLECT_POLL_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "base/vec.h"

struct poll_part {
	/* The marker that its samples begin with; 0: the thread's own state. */
	uint64_t marker;
	/* How often the time counts: several tasks may be at one place. */
	double share;
	/* Where its records are in `records`, and their bytes. */
	uint32_t at;
	uint32_t size;
};

struct poll_parts {
	VEC(struct poll_part) list;
	/* The walker's, each behind its size. */
	struct strbuf records;
};
#define POLL_PARTS_INIT { .records = STRBUF_INIT }

void poll_parts_clear(struct poll_parts *parts);
void poll_parts_deinit(struct poll_parts *parts);
void poll_parts_swap(struct poll_parts *a, struct poll_parts *b);
/* Equal ones become one. False: there is no memory. */
bool poll_parts_add(struct poll_parts *parts, const struct strbuf *records,
		    uint64_t marker, double share);

#endif
