// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of the threads of a process: "IDENT NATIVE_ID NAME" for each, as the
 * process runs on.
 *
 * KAA_PROBE_IMAGE names a file that gets what was read (tests/unit/memory_image.h),
 * and behind it the same lines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "memory_image.h"
#include "probe.h"
#include "probe_target.h"
#include "python/releases.h"
#include "python/threads.h"

struct looked {
	struct probe_target target;
	struct walker_process process;
	VEC(struct memory_image_piece) pieces;
	struct strbuf text;
};

static bool read_memory(void *arg, uint64_t address, void *buf, size_t size)
{
	struct looked *l = arg;

	if (!probe_target_read(&l->target, address, buf, size))
		return false;
	vec_for_each(piece, &l->pieces)
		if (piece->address <= address &&
		    address + size <= piece->address + piece->size)
			return true;
	return vec_push(&l->pieces,
			(struct memory_image_piece){ address, size });
}

static bool want(void *arg, uint64_t ident)
{
	(void)arg;
	(void)ident;
	return true;
}

static void put_thread(void *arg, const struct py_thread *thread)
{
	struct looked *l = arg;

	strbuf_printf(&l->text, "%" PRIu64 " %" PRId64 " ", thread->ident,
		      thread->native_id);
	strbuf_append(&l->text, thread->name, thread->size);
	strbuf_putc(&l->text, '\n');
}

static struct error *look(struct looked *l)
{
	struct py_memory memory = { read_memory, l };
	struct py_threads_visit visit = { want, put_thread, l };
	struct py_threads_hints hints = {};
	struct error *error = probe_target_process(&l->target, &l->process);
	const struct py_layout *layout = &l->process.layout;
	struct py_objects_reader reader =
		PY_OBJECTS_INIT(layout, NULL, &memory);
	uint8_t offsets[PY_DEBUG_OFFSETS_MAX];

	if (error)
		return error;
	/* An image has them, too. */
	if (PY_SERIES(layout->version) >= PY_SERIES_DEBUG_OFFSETS)
		read_memory(l, l->process.runtime, offsets, sizeof(offsets));
	reader.at = &py_release_of(layout)->objects;
	py_threads_each(&reader, l->process.runtime, &hints, &visit);
	return NULL;
}

static struct error *write_image(struct looked *l, const char *path)
{
	struct memory_image_head head = {
		.magic = MEMORY_IMAGE_MAGIC,
		.version = l->process.layout.version,
		.pieces = (uint32_t)l->pieces.count,
		.runtime = l->process.runtime,
		.code_type = l->process.code_type,
	};
	FILE *file = fopen(path, "we");

	if (!file)
		return error_create(ERROR_OS, "cannot write %s", path);
	fwrite(&head, sizeof(head), 1, file);
	vec_for_each(piece, &l->pieces) {
		uint8_t *bytes = malloc(piece->size);

		probe_target_read(&l->target, piece->address, bytes,
				  piece->size);
		fwrite(piece, sizeof(*piece), 1, file);
		fwrite(bytes, 1, piece->size, file);
		free(bytes);
	}
	fwrite(l->text.data, 1, l->text.len, file);
	return fclose(file) ? error_create(ERROR_OS, "cannot write %s", path) :
			      NULL;
}

struct error *probe_threads(const char *pid)
{
	const char *image = getenv("KAA_PROBE_IMAGE");
	struct looked l = { .text = STRBUF_INIT };
	struct error *error = probe_target_init(&l.target, pid);

	if (error)
		return error;
	error = look(&l);
	printf("%s", l.text.data);
	if (!error && image)
		error = write_image(&l, image);
	probe_target_deinit(&l.target);
	vec_deinit(&l.pieces);
	strbuf_deinit(&l.text);
	return error;
}
