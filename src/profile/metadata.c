// SPDX-License-Identifier: GPL-2.0-only
#include "profile/metadata.h"

#include <string.h>

void metadata_deinit(struct metadata *metadata)
{
	vec_deinit(&metadata->command);
	vec_deinit(&metadata->pythons);
	vec_deinit(&metadata->order);
	vec_deinit(&metadata->missing);
	arena_deinit(&metadata->memory);
}

struct error *metadata_copy(struct metadata *metadata, const char *s,
			    const char **ret)
{
	const char *copy =
		s ? arena_strndup(&metadata->memory, s, strlen(s)) : NULL;

	if (s && !copy)
		return error_no_memory();
	*ret = copy;
	return NULL;
}

struct error *metadata_add(struct metadata *metadata, enum metadata_what what)
{
	return metadata_add_text(metadata, what, NULL, NULL);
}

struct error *metadata_add_text(struct metadata *metadata,
				enum metadata_what what, const char *text,
				const char *value)
{
	struct metadata_item item = { .what = what };
	struct error *error = metadata_copy(metadata, text, &item.text);

	if (!error)
		error = metadata_copy(metadata, value, &item.value);
	if (error)
		return error;
	return vec_push(&metadata->order, item) ? NULL : error_no_memory();
}
