// SPDX-License-Identifier: GPL-2.0-only
#include "profile/own_index.h"

void own_index_deinit(struct own_index *index)
{
	map_deinit(&index->functions);
	map_deinit(&index->lines);
	map_deinit(&index->names);
}

/* As own_time.h tells functions apart. */
static uint64_t function_key(const struct own_entry *function)
{
	uint32_t def = function->name == PROFILE_NONE ? function->is_python :
							function->line;

	return (uint64_t)function->name << 32 | def;
}

static bool has_place(const struct own_entry *line)
{
	return line->line && line->file != PROFILE_NONE;
}

static uint64_t line_key(const struct own_entry *line)
{
	return has_place(line) ? (uint64_t)line->file << 32 | line->line :
				 line->name;
}

static struct error *add_line(struct own_index *index,
			      const struct own_entry *line, uint64_t at)
{
	if (!line->is_python)
		return NULL;
	return map_insert(has_place(line) ? &index->lines : &index->names,
			  line_key(line), at, NULL) ?
		       NULL :
		       error_no_memory();
}

struct error *own_index_fill(struct own_index *index,
			     const struct own_time *own)
{
	struct error *error = NULL;

	for (size_t i = 0; i < own->functions.count; i++)
		if (!map_insert(&index->functions,
				function_key(&own->functions.data[i]), i, NULL))
			return error_no_memory();
	for (size_t i = 0; !error && i < own->lines.count; i++)
		error = add_line(index, &own->lines.data[i], i);
	return error;
}

uint32_t own_index_function(const struct own_index *index,
			    const struct profile *profile,
			    const struct profile_frame *frame)
{
	const struct own_entry entry = own_entry_of(profile, frame);
	const uint64_t *at = map_find(&index->functions, function_key(&entry));

	return at ? (uint32_t)*at : PROFILE_NONE;
}

uint32_t own_index_line(const struct own_index *index,
			const struct profile *profile,
			const struct profile_frame *frame)
{
	struct own_entry entry = own_entry_of(profile, frame);
	const uint64_t *at;

	if (frame->line)
		entry.line = frame->line;
	at = map_find(has_place(&entry) ? &index->lines : &index->names,
		      line_key(&entry));
	return at ? (uint32_t)*at : PROFILE_NONE;
}
