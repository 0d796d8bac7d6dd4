/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the native stack of each thread was unwound to at its last sample, for
 * the next one (docs/unwind-reuse.md). Some threads share a place, and the
 * memory has a limit: then a stack is unwound as a whole, with the same result.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_LAST_WALKS_H
#define KAA_COLLECT_LAST_WALKS_H

#include <stddef.h>
#include <stdint.h>

#include "unwind/unwind.h"

enum { LAST_WALKS = 256 };

/* Zero-initialise. */
struct last_walks {
	struct unwind_trace places[LAST_WALKS];
	/* Frames for which there is room in all, without the last walk's change. */
	size_t room;
	/* The place asked for last, and its room then. */
	struct unwind_trace *given;
	size_t given_capacity;
};

void last_walks_deinit(struct last_walks *walks);

/* The place of a thread; it is valid until the next call. */
struct unwind_trace *last_walks_of(struct last_walks *walks, uint32_t tid);

#endif
