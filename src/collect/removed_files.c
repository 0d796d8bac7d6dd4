// SPDX-License-Identifier: GPL-2.0-only
#include "collect/removed_files.h"

#include <string.h>

/* One file whose functions are told. */
struct telling {
	struct target_file *file;
	/* Starts of functions that were told. */
	struct map told;
	removed_sink *sink;
	void *arg;
};

static struct error *tell_function(struct telling *telling,
				   const struct symbol *symbol, uint64_t offset)
{
	const struct target_file *file = telling->file;
	const struct build_id *id = &file->module.elf->build_id;
	const struct kaa_file_symbol told = {
		.offset = offset,
		.size = symbol->end - symbol->start,
		.build_id = { (const char *)id->data, id->size },
		.path = { file->mapped->path, strlen(file->mapped->path) },
		.name = { symbol->name, strlen(symbol->name) },
	};
	bool is_new;

	if (!map_insert(&telling->told, symbol->start, 1, &is_new))
		return error_no_memory();
	return is_new ? telling->sink(telling->arg, &told) : NULL;
}

/* Its functions lie in one piece of the file. */
static struct error *tell_hit(struct telling *telling, uint64_t offset)
{
	struct target_file *file = telling->file;
	const struct symbol *symbol;
	uint64_t vaddr;

	if (!elf_file_offset_to_vaddr(file->module.elf, offset, &vaddr))
		return NULL;
	symbol = target_file_symbol(file, vaddr);
	if (!symbol || vaddr - symbol->start > offset)
		return NULL;
	return tell_function(telling, symbol, offset - (vaddr - symbol->start));
}

static struct error *tell_file(struct target_file *file, removed_sink *sink,
			       void *arg)
{
	struct telling telling = { .file = file, .sink = sink, .arg = arg };
	struct error *error = NULL;

	vec_for_each(offset, &file->hits)
		if (!error)
			error = tell_hit(&telling, *offset);
	map_deinit(&telling.told);
	return error;
}

struct error *removed_files_tell(const struct target_files *files,
				 removed_sink *sink, void *arg)
{
	struct error *error = NULL;

	vec_for_each(slot, &files->by_index) {
		struct target_file *file = *slot;

		if (!error && file && file->hits.count && file->module.elf &&
		    !file->module.is_vdso && target_file_is_removed(file))
			error = tell_file(file, sink, arg);
	}
	return error;
}
