/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that is handed out in small pieces and freed as a whole.
 * Zero-initialise a struct arena to start; pieces never move.
 */
#ifndef KAA_BASE_ARENA_H
#define KAA_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks;
	/* Bytes handed out, and bytes held in blocks. */
	size_t used;
	size_t held;
};

/* n bytes, aligned for any type, uninitialised; NULL when memory runs out. */
void *arena_alloc(struct arena *arena, size_t n);
/* A copy of n bytes plus a NUL; NULL when memory runs out. */
char *arena_strndup(struct arena *arena, const char *s, size_t n);
/*
 * Takes back all but the first `n` of a piece's `size` bytes, if the piece was
 * handed out last; else they stay in use.
 */
void arena_shrink(struct arena *arena, const void *piece, size_t size,
		  size_t n);
void arena_deinit(struct arena *arena);

#endif
