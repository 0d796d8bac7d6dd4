/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unique strings: equal content gives an equal pointer, valid until
 * string_pool_deinit(). Zero-initialise to start. Not thread-safe.
 *
 * Somebody can make many strings that have one hash. Only the latest of them are
 * compared: an older one is stored again, at another pointer.
 */
#ifndef KAA_PROCESS_STRING_POOL_H
#define KAA_PROCESS_STRING_POOL_H

#include "base/arena.h"
#include "base/map.h"

enum {
	/* So many of one hash are compared. Two are so rare that nobody meets them. */
	STRING_POOL_CHAIN_MAX = 16,
};

struct string_pool {
	struct arena arena;
	/* Hash to the first struct name of a chain. */
	struct map by_hash;
};

/* NULL when memory runs out. */
const char *string_pool_intern(struct string_pool *pool, const char *s);
void string_pool_deinit(struct string_pool *pool);

#endif
