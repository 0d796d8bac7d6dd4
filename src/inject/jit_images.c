// SPDX-License-Identifier: GPL-2.0-only
#include "inject/jit_images.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/map.h"

/* MMAP2: the record has a build-id (headers before Linux 5.12 lack it). */
#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#endif

/* --- Names -------------------------------------------------------------- */

/* Loads that have an index in common would have one file. */
static struct error *find_doubles(struct jit_images *images)
{
	size_t count = images->dump->codes.count;
	struct map seen = {};
	bool good = vec_reserve(&images->ids, count + 1);

	if (!good)
		return error_no_memory();
	memset(images->ids.data, 0, count * sizeof(*images->ids.data));
	images->ids.count = count;
	for (size_t i = 0; good && i < count; i++) {
		const struct jit_code *code = &images->dump->codes.data[i];
		bool is_new = true;

		if (code->moved)
			continue;
		good = map_insert(&seen, code->index, 0, &is_new);
		images->ids.data[code->load].is_double = !is_new;
	}
	map_deinit(&seen);
	return good ? NULL : error_no_memory();
}

static void format_name(const struct jit_images *images,
			const struct jit_code *code, struct strbuf *out)
{
	strbuf_printf(out, "jitted-%" PRIu32 "-%" PRIu64,
		      images->dump->header.pid, code->index);
	if (images->ids.data[code->load].is_double)
		strbuf_printf(out, "-%" PRIu32, code->load);
	strbuf_puts(out, ".so");
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup("");
}

struct error *jit_images_init(struct jit_images *images,
			      const struct jit_dump *dump, uint32_t pid,
			      const bool *wanted)
{
	struct error *error;

	*images = (struct jit_images){ .dump = dump,
				       .pid = pid,
				       .folder = -1,
				       .image = STRBUF_INIT,
				       .path = STRBUF_INIT,
				       .wanted = wanted };
	images->folder_path = folder_of(dump->path);
	error = images->folder_path ? find_doubles(images) : error_no_memory();
	if (!error)
		error = jit_dump_open_folder(dump, &images->folder);
	if (error)
		jit_images_deinit(images);
	return error;
}

void jit_images_deinit(struct jit_images *images)
{
	if (images->folder >= 0)
		close(images->folder);
	images->folder = -1;
	free(images->folder_path);
	images->folder_path = NULL;
	vec_deinit(&images->ids);
	strbuf_deinit(&images->image);
	strbuf_deinit(&images->path);
}

/* --- Files -------------------------------------------------------------- */

/* A new file always: whoever has the old one open keeps it. */
static struct error *write_file(struct jit_images *images, const char *name)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_close_ int fd = -1;
	int errnum;

	if (unlinkat(images->folder, name, 0) && errno != ENOENT)
		return error_os(errno, images->path.data, "cannot replace");
	fd = openat(images->folder, name, flags, 0644);
	if (fd < 0)
		return error_os(errno, images->path.data, "cannot create");
	errnum = fd_write_all(fd, images->image.data, images->image.len);
	if (!errnum)
		return NULL;
	unlinkat(images->folder, name, 0);
	return error_os(errnum, images->path.data, "cannot write");
}

static struct error *write_image(struct jit_images *images,
				 const struct jit_code *code)
{
	struct jit_image_id *id = &images->ids.data[code->load];
	const struct jit_image image = jit_dump_image(images->dump, code);
	struct error *error;

	/* Moved code has the image of its load. */
	if (id->written)
		return NULL;
	strbuf_clear(&images->image);
	error = jit_image_write(&image, &images->image, id->bytes);
	if (!error)
		error = write_file(images, images->path.data +
						   strlen(images->folder_path));
	if (error)
		return error;
	id->written = true;
	images->written++;
	return NULL;
}

/* --- Records ------------------------------------------------------------ */

static const struct jit_code *next_code(struct jit_images *images)
{
	const struct jit_dump *dump = images->dump;

	while (images->next < dump->by_time.count) {
		uint32_t index = dump->by_time.data[images->next];

		if (!images->wanted || images->wanted[index])
			return &dump->codes.data[index];
		images->next++;
	}
	return NULL;
}

uint64_t jit_images_time(struct jit_images *images)
{
	const struct jit_code *code = next_code(images);

	return code ? code->from : UINT64_MAX;
}

/* Threads of a process in a namespace have other numbers outside. */
static uint32_t tid_of(const struct jit_images *images,
		       const struct jit_code *code)
{
	return images->dump->header.pid == images->pid ? code->tid :
							 images->pid;
}

static void fill_record(const struct jit_images *images,
			const struct jit_code *code, struct record *ret)
{
	uint32_t tid = tid_of(images, code);

	*ret = (struct record){
		.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID,
		.pid = images->pid,
		.tid = tid,
		.time = code->from,
		.mmap = { .pid = images->pid,
			  .tid = tid,
			  .start = code->start,
			  .len = jit_image_mapped(code->code.size,
						  &code->unwinding),
			  .pgoff = JIT_IMAGE_TEXT,
			  .prot = PROT_READ | PROT_EXEC,
			  .flags = MAP_SHARED,
			  .build_id_size = JIT_IMAGE_BUILD_ID_SIZE,
			  .filename = images->path.data,
			  .filename_len = (uint32_t)images->path.len },
	};
	memcpy(ret->mmap.build_id, images->ids.data[code->load].bytes,
	       JIT_IMAGE_BUILD_ID_SIZE);
}

struct error *jit_images_next(struct jit_images *images, struct record *ret)
{
	const struct jit_code *code = next_code(images);
	struct error *error;

	images->next++;
	strbuf_clear(&images->path);
	strbuf_puts(&images->path, images->folder_path);
	format_name(images, code, &images->path);
	error = strbuf_error(&images->path);
	if (!error)
		error = write_image(images, code);
	if (error)
		return error;
	fill_record(images, code, ret);
	return NULL;
}
