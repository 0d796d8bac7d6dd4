// SPDX-License-Identifier: GPL-2.0-only
#include "profile/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

static bool text_equal(const void *column, uint32_t handle, const void *key)
{
	return !strcmp(((char *const *)column)[handle], key);
}

struct error *texts_intern(struct texts *texts, const char *text,
			   uint32_t *ret)
{
	uint64_t hash = hash_string(text);
	uint32_t number = index_find(&texts->index, hash, text_equal,
				     texts->all.data, text);

	if (number == UINT32_MAX) {
		char *copy = strdup(text);

		number = (uint32_t)texts->all.count;
		if (!copy || !vec_push(&texts->all, copy)) {
			free(copy);
			return error_no_memory();
		}
		if (!index_add(&texts->index, hash, number))
			return error_no_memory();
	}
	*ret = number;
	return NULL;
}

void texts_deinit(struct texts *texts)
{
	vec_for_each(text, &texts->all)
		free(*text);
	vec_deinit(&texts->all);
	index_deinit(&texts->index);
}
