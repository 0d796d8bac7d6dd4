// SPDX-License-Identifier: GPL-2.0-only
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK = 64 * 1024 };

struct arena_block {
	struct arena_block *next;
	size_t used;
	size_t size;
	alignas(max_align_t) unsigned char data[];
};

static struct arena_block *arena_add_block(struct arena *arena, size_t n)
{
	size_t size = n > ARENA_BLOCK / 4 ? n : ARENA_BLOCK;
	struct arena_block *block = malloc(sizeof(*block) + size);

	if (!block)
		return NULL;
	block->used = 0;
	block->size = size;
	arena->held += size;
	/* An oversized piece goes behind the block still being filled. */
	if (size != ARENA_BLOCK && arena->blocks) {
		block->next = arena->blocks->next;
		arena->blocks->next = block;
	} else {
		block->next = arena->blocks;
		arena->blocks = block;
	}
	return block;
}

static size_t aligned(size_t n)
{
	size_t align = alignof(max_align_t);

	return (n + align - 1) / align * align;
}

void *arena_alloc(struct arena *arena, size_t n)
{
	struct arena_block *block = arena->blocks;
	void *piece;

	if (n > SIZE_MAX / 2)
		return NULL;
	n = aligned(n);
	if (!block || block->size - block->used < n)
		block = arena_add_block(arena, n);
	if (!block)
		return NULL;
	piece = block->data + block->used;
	block->used += n;
	arena->used += n;
	return piece;
}

void arena_shrink(struct arena *arena, const void *piece, size_t size, size_t n)
{
	struct arena_block *block = arena->blocks;
	size_t less = aligned(size) - aligned(n);

	if (!block || (const unsigned char *)piece + aligned(size) !=
			      block->data + block->used)
		return;
	block->used -= less;
	arena->used -= less;
}

char *arena_strndup(struct arena *arena, const char *s, size_t n)
{
	char *copy = arena_alloc(arena, n + 1);

	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

void arena_deinit(struct arena *arena)
{
	for (struct arena_block *block = arena->blocks, *next; block;
	     block = next) {
		next = block->next;
		free(block);
	}
	*arena = (struct arena){};
}
