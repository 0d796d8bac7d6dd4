// SPDX-License-Identifier: GPL-2.0-only
#include "process/string_pool.h"

#include <string.h>

struct name {
	struct name *next;
	char text[];
};

const char *string_pool_intern(struct string_pool *pool, const char *s)
{
	size_t n = strlen(s);
	uint64_t *first = map_insert(&pool->by_hash, hash_bytes(s, n), 0, NULL);
	struct name *name;
	int compared = 0;

	if (!first)
		return NULL;
	for (name = (struct name *)(uintptr_t)*first;
	     name && compared < STRING_POOL_CHAIN_MAX;
	     name = name->next, compared++)
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
