// SPDX-License-Identifier: GPL-2.0-only
/* A core file, and the files that the process had mapped. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/map.h"
#include "dump/subject.h"
#include "obj/elf_core.h"
#include "python/code_name.h"
#include "sys/mapped_file.h"

enum {
	COMMAND_SHOWN_MAX = 4096,
	/* Folders of a layer's path that are left out. */
	LAYER_FOLDERS_MAX = 32,
};

/* A mapped file that memory is read from. */
struct backing {
	/* -1: there is none to be read. */
	int fd;
};

struct core_subject {
	struct subject subject;
	struct elf_file *file;
	struct elf_core core;
	bool has_core;
	/* By the start of their maps. */
	struct map by_map;
	VEC(struct backing) backings;
};

static struct core_subject *core_of(struct subject *subject)
{
	return (struct core_subject *)subject;
}

/* --- memory --- */

/*
 * Where the file is another one by now, its ELF header is the least to differ: the
 * core has the first page of each ELF file (coredump_filter), and so its build-id.
 */
static bool is_same_file(const struct core_subject *core, int fd,
			 const struct elf_core_map *map)
{
	uint8_t there[4096], here[sizeof(there)];
	size_t stored, got;

	if (map->offset)
		return true;
	stored = elf_core_read(&core->core, map->start, there, sizeof(there));
	return !fd_read_at(fd, here, stored, 0, &got) && got == stored &&
	       !memcmp(there, here, stored);
}

/* The first map of the same file, which has its header. */
static const struct elf_core_map *first_map(const struct core_subject *core,
					    const struct elf_core_map *map)
{
	const char *path = elf_core_path(&core->core, map);

	while (map > core->core.maps.data && map->offset &&
	       !strcmp(elf_core_path(&core->core, map - 1), path))
		map--;
	return map;
}

static int open_at(const struct core_subject *core, const char *path,
		   const struct elf_core_map *map)
{
	int fd = mapped_file_open_path(0, path);

	if (fd < 0 || is_same_file(core, fd, first_map(core, map)))
		return fd;
	close(fd);
	return -1;
}

static bool has_header(const struct core_subject *core,
		       const struct elf_core_map *map)
{
	const struct elf_core_map *first = first_map(core, map);
	uint8_t byte;

	return !first->offset &&
	       elf_core_read(&core->core, first->start, &byte, 1) == 1;
}

/*
 * Of a file on an overlay Linux notes the path within its layer. Of a program in a
 * chroot there the end of that is its path; the header proves that it is the file.
 * *path: by which it was opened; borrowed from the core.
 */
static int open_backing(const struct core_subject *core,
			const struct elf_core_map *map, const char **path)
{
	const char *end = elf_core_path(&core->core, map);
	int fd = open_at(core, end, map);

	*path = end;
	if (fd >= 0 || *end != '/' || !has_header(core, map))
		return fd;
	for (int i = 0; fd < 0 && i < LAYER_FOLDERS_MAX; i++) {
		end = strchr(end + 1, '/');
		if (!end)
			break;
		fd = open_at(core, end, map);
		*path = end;
	}
	return fd;
}

/* -1: none. */
static int find_backing(struct core_subject *core,
			const struct elf_core_map *map)
{
	struct backing backing = { .fd = -1 };
	const char *path;
	bool is_new;
	uint64_t *place = map_insert(&core->by_map, map->start,
				     core->backings.count, &is_new);

	if (!place)
		return -1;
	if (!is_new)
		return *place < core->backings.count ?
			       core->backings.data[*place].fd :
			       -1;
	backing.fd = open_backing(core, map, &path);
	if (vec_push(&core->backings, backing))
		return backing.fd;
	if (backing.fd >= 0)
		close(backing.fd);
	return -1;
}

/* What was not written to is in the file alone. */
static bool read_backing(struct core_subject *core, uint64_t address, void *buf,
			 size_t size)
{
	const struct elf_core_map *map =
		elf_core_map_at(&core->core, address);
	int fd = map && size <= map->end - address ? find_backing(core, map) :
						     -1;
	size_t got;

	return fd >= 0 &&
	       !fd_read_at(fd, buf, size, map->offset + (address - map->start),
			   &got) &&
	       got == size;
}

static bool read_memory(void *arg, uint64_t address, void *buf, size_t size)
{
	struct core_subject *core = arg;
	size_t done = elf_core_read(&core->core, address, buf, size);

	return done == size || read_backing(core, address + done,
					    (uint8_t *)buf + done, size - done);
}

/* --- what is in it --- */

static struct error *take_maps(struct core_subject *core)
{
	vec_for_each(map, &core->core.maps) {
		const struct elf_core_segment *segment =
			elf_core_segment_at(&core->core, map->start);

		if (!vec_push(&core->subject.maps,
			      (struct subject_map){
				      .start = map->start,
				      .end = map->end,
				      .offset = map->offset,
				      /* gcore leaves out what is in the file. */
				      .executable = !segment ||
						    segment->executable,
				      .path = elf_core_path(&core->core,
							    map) }))
			return error_no_memory();
	}
	return NULL;
}

static void take_registers(const struct elf_core_thread *from,
			   struct subject_thread *ret)
{
	struct user_regs_struct registers;

	_Static_assert(sizeof(from->registers) == sizeof(registers),
		       "struct user_regs_struct");
	memcpy(&registers, from->registers, sizeof(registers));
	subject_take_registers(ret, &registers);
	ret->stack_pointer = from->registers[CORE_RSP];
	ret->pointer = from->registers[CORE_FS_BASE];
	ret->call.number = (int64_t)from->registers[CORE_ORIG_RAX];
	ret->call.first = from->registers[CORE_RDI];
	ret->has_call = ret->call.number >= 0;
}

static struct error *take_threads(struct core_subject *core)
{
	vec_for_each(thread, &core->core.threads) {
		struct subject_thread taken = { .tid = thread->tid,
						.number = thread->tid,
						.files = TASK_FILES_INIT };

		if (core->subject.threads.count == SUBJECT_THREADS_MAX)
			break;
		take_registers(thread, &taken);
		if (!vec_push(&core->subject.threads, taken))
			return error_no_memory();
	}
	if (core->subject.threads.count)
		return NULL;
	return error_create(ERROR_FORMAT, "'%s' has no threads",
			    core->subject.core);
}

static struct error *take_command(struct core_subject *core)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *command = core->core.command;

	py_text_append_utf8(&text,
			    (struct bytes){ (const uint8_t *)command,
					    strlen(command) },
			    COMMAND_SHOWN_MAX);
	strbuf_trim_end(&text);
	core->subject.command = strdup(text.failed ? "" : text.data);
	return core->subject.command ? NULL : error_no_memory();
}

/* --- life --- */

static int open_map(struct subject *subject, struct subject_map *map)
{
	struct core_subject *core = core_of(subject);
	const struct elf_core_map *of =
		elf_core_map_at(&core->core, map->start);
	const char *path;
	int fd = of ? open_backing(core, of, &path) : -1;

	if (fd >= 0)
		map->path = path;
	return fd;
}

static enum subject_read begin(struct subject *subject,
			       struct subject_thread *thread)
{
	(void)subject;
	(void)thread;
	return SUBJECT_STILL;
}

static bool end(struct subject *subject, struct subject_thread *thread)
{
	(void)subject;
	(void)thread;
	return true;
}

static void release(struct subject *subject, struct subject_thread *thread)
{
	(void)subject;
	(void)thread;
}

static bool has_ended(struct subject *subject)
{
	(void)subject;
	return false;
}

static void destroy(struct subject *subject)
{
	struct core_subject *core = core_of(subject);

	vec_for_each(backing, &core->backings)
		if (backing->fd >= 0)
			close(backing->fd);
	vec_deinit(&core->backings);
	map_deinit(&core->by_map);
	if (core->has_core)
		elf_core_deinit(&core->core);
	elf_file_destroy(core->file);
	subject_deinit(subject);
	free(core);
}

static const struct subject_kind kind = {
	.open_map = open_map,
	.begin = begin,
	.end = end,
	.release = release,
	.has_ended = has_ended,
	.destroy = destroy,
};

static struct error *fill(struct core_subject *core, const char *path)
{
	struct error *error = elf_file_open(path, &core->file);

	if (!error)
		error = elf_core_open(core->file, &core->core);
	if (error)
		return error;
	core->has_core = true;
	core->subject.pid = core->core.pid;
	core->subject.signal = core->core.signal;
	/* It stands first in a core. */
	if (core->core.signal && core->core.threads.count)
		core->subject.signalled = core->core.threads.data[0].tid;
	core->subject.core = strdup(path);
	if (!core->subject.core)
		return error_no_memory();
	error = take_command(core);
	if (!error)
		error = take_maps(core);
	return error ? error : take_threads(core);
}

struct error *subject_open_core(const char *path, struct subject **ret)
{
	struct core_subject *core = calloc(1, sizeof(*core));
	struct error *error;

	if (!core)
		return error_no_memory();
	core->subject.kind = &kind;
	core->subject.memory = (struct py_memory){ read_memory, core, NULL };
	error = fill(core, path);
	if (error) {
		destroy(&core->subject);
		return error;
	}
	*ret = &core->subject;
	return NULL;
}
