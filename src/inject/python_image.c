// SPDX-License-Identifier: GPL-2.0-only
#include "inject/python_image.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "perfdata/image_file.h"
#include "perfdata/kaa_stream.h"

struct error *python_image_init(struct python_image *image,
				const char *recording)
{
	*image = (struct python_image){};
	return image_file_path(recording, &image->path);
}

void python_image_deinit(struct python_image *image)
{
	free(image->path);
	python_code_deinit(&image->code);
	map_deinit(&image->mapped);
}

/* --- What the recording says -------------------------------------------- */

/* A payload that breaks its format is left out, as everywhere. */
static struct error *survive(struct error *error)
{
	if (!error || error->code == ERROR_NO_MEMORY)
		return error;
	error_destroy(error);
	return NULL;
}

struct error *python_image_see(struct python_image *image,
			       const struct record *record, bool *map)
{
	struct kaa_payload payload;
	struct error *error;

	*map = false;
	if (!(record->has & PERF_SAMPLE_RAW))
		return NULL;
	error = kaa_stream_decode(record->sample.raw, record->sample.raw_size,
				  &payload);
	if (error)
		return survive(error);
	if (payload.type == KAA_CODE)
		return survive(python_code_add(&image->code, &payload.code));
	*map = payload.type == KAA_PYTHON &&
	       !map_find(&image->mapped, payload.python.pid);
	return NULL;
}

bool python_image_is_map(const struct record *record)
{
	return (record->type == PERF_RECORD_MMAP2 ||
		record->type == PERF_RECORD_MMAP) &&
	       record->mmap.start == KAA_BASE;
}

/* --- Records ------------------------------------------------------------ */

/* That of the image that was lost, so that either file fits. */
static void choose_id(struct python_image *image, const struct record_mmap *old)
{
	if (image->has_id)
		return;
	if (old && old->build_id_size == sizeof(image->id))
		memcpy(image->id, old->build_id, sizeof(image->id));
	else if (getrandom(image->id, sizeof(image->id), 0) < 0)
		memset(image->id, 0x6b, sizeof(image->id));
	image->has_id = true;
}

static struct error *fill(struct python_image *image, uint32_t pid,
			  uint32_t tid, struct record *ret)
{
	if (!map_insert(&image->mapped, pid, 0, NULL))
		return error_no_memory();
	ret->mmap = (struct record_mmap){
		.pid = pid,
		.tid = tid,
		.start = KAA_BASE,
		.len = KAA_RANGE_SIZE,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.build_id_size = sizeof(image->id),
		.filename = image->path,
		.filename_len = (uint32_t)strlen(image->path),
	};
	memcpy(ret->mmap.build_id, image->id, sizeof(image->id));
	return NULL;
}

struct error *python_image_move(struct python_image *image,
				const struct record *record,
				struct record *ret)
{
	choose_id(image, &record->mmap);
	*ret = *record;
	ret->type = PERF_RECORD_MMAP2;
	return fill(image, record->mmap.pid, record->mmap.tid, ret);
}

struct error *python_image_map(struct python_image *image,
			       const struct record *record,
			       struct record *ret)
{
	struct kaa_payload payload;
	struct error *error;

	error = kaa_stream_decode(record->sample.raw, record->sample.raw_size,
				  &payload);
	if (error)
		return error;
	choose_id(image, NULL);
	*ret = (struct record){ .type = PERF_RECORD_MMAP2,
				.misc = PERF_RECORD_MISC_USER,
				.pid = payload.python.pid,
				.tid = payload.python.pid,
				.time = record->time,
				.cpu = record->cpu };
	return fill(image, payload.python.pid, payload.python.pid, ret);
}

/* --- The file ----------------------------------------------------------- */

typedef VEC(struct elf_image_span) span_vec;

static int compare_spans(const void *a, const void *b)
{
	const struct elf_image_span *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool add_markers(const struct python_image *image, span_vec *spans)
{
	for (size_t i = 0; i < KAA_MARKER_COUNT; i++) {
		uint64_t address = kaa_markers[i].address;
		struct elf_image_span span = {
			.start = address - 1,
			.slots = 1,
			.symbol = kaa_markers[i].name,
		};

		if (!python_code_find(&image->code, address) &&
		    !vec_push(spans, span))
			return false;
	}
	return true;
}

static bool collect_spans(const struct python_image *image, span_vec *spans)
{
	if (!add_markers(image, spans))
		return false;
	vec_for_each(code, &image->code.spans) {
		struct elf_image_span span = {
			.start = code->start,
			.slots = (uint32_t)((code->end - code->start) /
					    KAA_SLOT_SIZE),
			.symbol = code->name,
			.filename = code->is_marker ? NULL : code->filename,
			.lines = code->is_marker ? NULL : code->lines,
		};

		if (!vec_push(spans, span))
			return false;
	}
	qsort(spans->data, spans->count, sizeof(*spans->data), compare_spans);
	return true;
}

struct error *python_image_write(struct python_image *image)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	struct elf_image elf = { .base = KAA_BASE, .slot_size = KAA_SLOT_SIZE };
	span_vec spans = {};
	struct error *error;

	image_file_clean(image->path);
	if (!image->mapped.count)
		return NULL;
	memcpy(elf.build_id, image->id, sizeof(elf.build_id));
	error = collect_spans(image, &spans) ? NULL : error_no_memory();
	if (!error) {
		elf.spans = spans.data;
		elf.count = spans.count;
		error = elf_image_write(&elf, &bytes);
	}
	vec_deinit(&spans);
	if (!error)
		error = image_file_write(image->path, -1, -1, &bytes);
	image->written = !error;
	return error;
}
