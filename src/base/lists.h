/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of what may pass a filter. They are borrowed; an empty one passes all. */
#ifndef KAA_BASE_LISTS_H
#define KAA_BASE_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct id_list {
	const int64_t *values;
	size_t count;
};

struct name_list {
	const char *const *values;
	size_t count;
};

static inline bool id_list_passes(const struct id_list *list, int64_t id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->values[i] == id)
			return true;
	return !list->count;
}

/* NULL is no name. */
static inline bool name_list_passes(const struct name_list *list,
				    const char *name)
{
	for (size_t i = 0; name && i < list->count; i++)
		if (!strcmp(list->values[i], name))
			return true;
	return !list->count;
}

#endif
