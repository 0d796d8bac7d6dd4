// SPDX-License-Identifier: GPL-2.0-only
/* Core files: notes, memory, maps. */
#include <stdlib.h>
#include <string.h>

#include "obj/elf_core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No more is there than what the segment has, and all of it is from the file. */
static void read_segment(const struct elf_core *core,
			 const struct elf_core_segment *segment, size_t size)
{
	uint8_t bytes[256];
	size_t n = elf_core_read(core, segment->start, bytes, sizeof(bytes));

	if (n > sizeof(bytes) || segment->stored_end < segment->start ||
	    segment->stored_end > segment->end ||
	    segment->stored_end - segment->start > size)
		abort();
	elf_core_read(core, segment->stored_end - 1, bytes, sizeof(bytes));
	elf_core_read(core, segment->end - 1, bytes, sizeof(bytes));
}

static void look_at_map(const struct elf_core *core,
			const struct elf_core_map *map)
{
	if (map->start >= map->end ||
	    strlen(elf_core_path(core, map)) + map->path >= core->paths.len)
		abort();
	elf_core_map_at(core, map->start);
	elf_core_map_at(core, map->end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_file *file = NULL;
	struct elf_core core;
	struct error *error = elf_file_open_memory(data, size, "core", &file);

	if (!error)
		error = elf_core_open(file, &core);
	if (!error) {
		vec_for_each(segment, &core.segments)
			read_segment(&core, segment, size);
		vec_for_each(map, &core.maps)
			look_at_map(&core, map);
		if (memchr(core.command, 0, sizeof(core.command)) == NULL)
			abort();
		elf_core_deinit(&core);
	}
	error_destroy(error);
	elf_file_destroy(file);
	return 0;
}
