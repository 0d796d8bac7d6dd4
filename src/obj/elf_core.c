// SPDX-License-Identifier: GPL-2.0-only
#include "obj/elf_core.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

enum {
	/* Bytes of all notes: some 3 KiB a thread with large vector registers. */
	NOTES_MAX = 512 << 20,
	MAPS_MAX = 1 << 20,
	THREADS_MAX = 1 << 16,
	PATH_MAX_BYTES = 4096,
	/* struct elf_prstatus */
	STATUS_SIGNAL = 12,
	STATUS_PID = 32,
	STATUS_REGISTERS = 112,
	/* struct elf_prpsinfo */
	INFO_PID = 24,
	INFO_NAME = 40,
	INFO_NAME_SIZE = 16,
	INFO_ARGUMENTS = 56,
	INFO_ARGUMENTS_SIZE = 80,
};

void elf_core_deinit(struct elf_core *core)
{
	vec_deinit(&core->segments);
	vec_deinit(&core->maps);
	vec_deinit(&core->threads);
	strbuf_deinit(&core->paths);
}

/* --- notes --- */

static bool take_i32(struct bytes desc, size_t offset, int32_t *ret)
{
	struct reader r;
	uint32_t value;

	if (!desc.size)
		return false;
	r = reader_init(desc.data, desc.size);
	if (!reader_skip(&r, offset) || !reader_u32(&r, &value))
		return false;
	*ret = (int32_t)value;
	return true;
}

static struct error *take_status(struct elf_core *core, struct bytes desc)
{
	struct elf_core_thread thread = {};
	struct reader r = reader_init(desc.data, desc.size);
	int32_t signal = 0;

	reader_skip(&r, STATUS_REGISTERS);
	for (int i = 0; i < CORE_REGISTERS; i++)
		reader_u64(&r, &thread.registers[i]);
	if (r.failed || !take_i32(desc, STATUS_PID, &thread.tid) ||
	    !take_i32(desc, STATUS_SIGNAL, &signal) ||
	    core->threads.count >= THREADS_MAX)
		return NULL;
	if (!core->threads.count)
		core->signal = signal & 0xffff;
	return vec_push(&core->threads, thread) ? NULL : error_no_memory();
}

static bool is_blank(const char *text)
{
	return !text[strspn(text, " ")];
}

/*
 * Of a program that has cleared its arguments, or written a shorter title over them, the
 * kernel has blanks; its name is there all the same.
 */
static void take_info(struct elf_core *core, struct bytes desc)
{
	if (desc.size < INFO_ARGUMENTS + INFO_ARGUMENTS_SIZE ||
	    !take_i32(desc, INFO_PID, &core->pid))
		return;
	memcpy(core->command, desc.data + INFO_ARGUMENTS, INFO_ARGUMENTS_SIZE);
	if (!is_blank(core->command))
		return;
	memset(core->command, 0, sizeof(core->command));
	memcpy(core->command, desc.data + INFO_NAME, INFO_NAME_SIZE);
}

/* Numbers and then the paths, in the same order. */
static struct error *take_maps(struct elf_core *core, struct bytes desc)
{
	struct reader r = reader_init(desc.data, desc.size), paths;
	uint64_t count = 0, page = 0;

	reader_u64(&r, &count);
	reader_u64(&r, &page);
	if (r.failed || count > MAPS_MAX || count > reader_left(&r) / 24)
		return NULL;
	paths = r;
	reader_skip(&paths, count * 24);
	for (uint64_t i = 0; i < count; i++) {
		struct elf_core_map map = { .path = core->paths.len };
		const char *path;
		uint64_t pages = 0;
		size_t n;

		reader_u64(&r, &map.start);
		reader_u64(&r, &map.end);
		reader_u64(&r, &pages);
		path = reader_cstr(&paths, &n);
		if (r.failed || !path || n > PATH_MAX_BYTES)
			return NULL;
		if (map.start >= map.end || (page && pages > UINT64_MAX / page))
			continue;
		map.offset = pages * page;
		strbuf_append(&core->paths, path, n + 1);
		if (!vec_push(&core->maps, map))
			return error_no_memory();
	}
	return strbuf_error(&core->paths);
}

static struct error *take_note(struct elf_core *core, uint32_t type,
			       struct bytes desc)
{
	switch (type) {
	case NT_PRSTATUS:
		return take_status(core, desc);
	case NT_PRPSINFO:
		take_info(core, desc);
		return NULL;
	case NT_FILE:
		return core->maps.count ? NULL : take_maps(core, desc);
	default:
		return NULL;
	}
}

static size_t padded(uint32_t size)
{
	return ((size_t)size + 3) & ~(size_t)3;
}

static struct error *take_notes(struct elf_core *core, struct bytes notes)
{
	struct reader r = reader_init(notes.data, notes.size);
	uint32_t name_size, size, type;
	struct error *error = NULL;

	while (!error && reader_u32(&r, &name_size) && reader_u32(&r, &size) &&
	       reader_u32(&r, &type)) {
		const uint8_t *name = reader_bytes(&r, padded(name_size));
		const uint8_t *desc = name ? reader_bytes(&r, padded(size)) :
					     NULL;

		if (!desc)
			break;
		if (size && name_size == 5 && !memcmp(name, "CORE", 5))
			error = take_note(core, type,
					  (struct bytes){ desc, size });
	}
	return error;
}

static struct error *read_notes(struct elf_core *core,
				const struct elf_segment *segment)
{
	struct elf_file *file = core->file;
	_cleanup_free_ uint8_t *notes = NULL;
	struct error *error;

	if (segment->filesz > NOTES_MAX || !segment->filesz)
		return NULL;
	if (segment->offset > file->size ||
	    segment->filesz > file->size - segment->offset)
		return error_create(ERROR_TRUNCATED,
				    "'%s' ends before its notes: it was cut off",
				    file->path);
	notes = malloc(segment->filesz);
	if (!notes)
		return error_no_memory();
	error = elf_file_read_at(file, segment->offset, notes, segment->filesz);
	return error ? error :
		       take_notes(core, (struct bytes){ notes, segment->filesz });
}

/* --- memory --- */

static struct error *add_segment(struct elf_core *core,
				 const struct elf_segment *from)
{
	uint64_t size = core->file->size;
	uint64_t stored = from->filesz < from->memsz ? from->filesz :
						       from->memsz;
	struct elf_core_segment segment = {
		.start = from->vaddr,
		.offset = from->offset,
		.executable = from->flags & PF_X,
	};

	if (!from->memsz || from->memsz > UINT64_MAX - from->vaddr)
		return NULL;
	if (from->offset >= size)
		stored = 0;
	else if (stored > size - from->offset)
		stored = size - from->offset;
	segment.end = from->vaddr + from->memsz;
	segment.stored_end = from->vaddr + stored;
	return vec_push(&core->segments, segment) ? NULL : error_no_memory();
}

static int compare_segments(const void *a, const void *b)
{
	const struct elf_core_segment *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int compare_maps(const void *a, const void *b)
{
	const struct elf_core_map *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

const struct elf_core_segment *elf_core_segment_at(const struct elf_core *core,
						   uint64_t address)
{
	const struct elf_core_segment *segment =
		vec_floor(&core->segments, start, address);

	return segment && address < segment->end ? segment : NULL;
}

const struct elf_core_map *elf_core_map_at(const struct elf_core *core,
					   uint64_t address)
{
	const struct elf_core_map *map = vec_floor(&core->maps, start, address);

	return map && address < map->end ? map : NULL;
}

size_t elf_core_read(const struct elf_core *core, uint64_t address, void *buf,
		     size_t n)
{
	size_t done = 0;

	while (done < n) {
		const struct elf_core_segment *segment =
			elf_core_segment_at(core, address + done);
		struct error *error;
		uint64_t left;

		if (!segment || address + done >= segment->stored_end)
			break;
		left = segment->stored_end - (address + done);
		if (left > n - done)
			left = n - done;
		error = elf_file_read_at(core->file,
					 segment->offset + (address + done -
							    segment->start),
					 (uint8_t *)buf + done, left);
		error_destroy(error);
		if (error)
			break;
		done += left;
	}
	return done;
}

/* --- opening --- */

static struct error *check(const struct elf_file *file)
{
	if (file->type != ET_CORE)
		return error_create(ERROR_FORMAT, "'%s' is not a core file",
				    file->path);
	if (file->machine != EM_X86_64 || !file->is_64 || file->big_endian)
		return error_create(ERROR_UNSUPPORTED,
				    "'%s' is a core of another machine, only x86-64 is supported",
				    file->path);
	return NULL;
}

static struct error *fill(struct elf_core *core)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < core->file->segment_count; i++) {
		const struct elf_segment *segment = &core->file->segments[i];

		if (segment->type == PT_NOTE)
			error = read_notes(core, segment);
		else if (segment->type == PT_LOAD)
			error = add_segment(core, segment);
	}
	if (core->segments.count)
		qsort(core->segments.data, core->segments.count,
		      sizeof(core->segments.data[0]), compare_segments);
	if (core->maps.count)
		qsort(core->maps.data, core->maps.count,
		      sizeof(core->maps.data[0]), compare_maps);
	return error;
}

struct error *elf_core_open(struct elf_file *file, struct elf_core *ret)
{
	struct elf_core core = { .file = file, .paths = STRBUF_INIT };
	struct error *error = check(file);

	if (!error)
		error = fill(&core);
	if (error) {
		elf_core_deinit(&core);
		return error;
	}
	*ret = core;
	return NULL;
}
