// SPDX-License-Identifier: GPL-2.0-only
#include "process/string_pool.h"

#include <string.h>

struct name {
	struct name *next;
	char text[];
};

uint64_t string_pool_hash(const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t h = n;

	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		h = hash_combine(h, word);
	}
	if (n) {
		uint64_t word = 0;

		memcpy(&word, p, n);
		h = hash_combine(h, word);
	}
	return h;
}

const char *string_pool_intern(struct string_pool *pool, const char *s)
{
	size_t n = strlen(s);
	uint64_t *first = map_insert(&pool->by_hash, string_pool_hash(s, n), 0, NULL);
	struct name *name;

	if (!first)
		return NULL;
	for (name = (struct name *)(uintptr_t)*first; name; name = name->next)
		if (!strcmp(name->text, s))
			return name->text;
	name = arena_alloc(&pool->arena, sizeof(*name) + n + 1);
	if (!name)
		return NULL;
	memcpy(name->text, s, n + 1);
	name->next = (struct name *)(uintptr_t)*first;
	*first = (uintptr_t)name;
	return name->text;
}

void string_pool_deinit(struct string_pool *pool)
{
	map_deinit(&pool->by_hash);
	arena_deinit(&pool->arena);
}
