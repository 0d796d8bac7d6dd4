// SPDX-License-Identifier: GPL-2.0-only
#include "obj/elf_debug.h"

#include <lzma.h>
#include <string.h>

/* Memory that the xz decoder may use. */
#define XZ_MEMORY_MAX (128u << 20)

struct error *elf_file_debuglink(struct elf_file *file, const char **name,
				 uint32_t *crc)
{
	const struct elf_section *section;
	struct bytes bytes;
	struct reader r;
	const char *link;
	size_t len = 0;
	uint32_t sum;
	struct error *error;

	error = elf_file_section_by_name(file, ".gnu_debuglink", &section,
					 &bytes);
	if (error)
		return error;
	r = reader_init(bytes.data, bytes.size);
	r.base = section->offset;
	r.path = file->path;
	r.big_endian = file->big_endian;
	link = reader_cstr(&r, &len);
	/* The CRC is aligned to 4 bytes. */
	if (link)
		reader_skip(&r, -(len + 1) & 3);
	reader_u32(&r, &sum);
	if (r.failed || !len || strchr(link, '/'))
		return error_at(ERROR_FORMAT, file->path, section->offset,
				"broken .gnu_debuglink");
	*name = link;
	*crc = sum;
	return NULL;
}

struct error *elf_file_crc(struct elf_file *file, uint32_t *ret)
{
	enum { CHUNK = 1 << 16 };
	_cleanup_free_ uint8_t *buf = malloc(CHUNK);
	uint32_t crc = 0;
	struct error *error;

	if (!buf)
		return error_no_memory();
	for (uint64_t at = 0; at < file->size; at += CHUNK) {
		uint64_t left = file->size - at;
		size_t n = left < CHUNK ? (size_t)left : CHUNK;

		error = elf_file_read_at(file, at, buf, n);
		if (error)
			return error;
		crc = lzma_crc32(buf, n, crc);
	}
	*ret = crc;
	return NULL;
}

static struct error *grow(uint8_t **buf, size_t *capacity)
{
	size_t wanted = *capacity ? *capacity * 2 : 1u << 18;
	uint8_t *grown;

	if (wanted > ELF_MINIDEBUG_MAX)
		return error_create(ERROR_LIMIT,
				    ".gnu_debugdata is too large");
	grown = realloc(*buf, wanted);
	if (!grown)
		return error_no_memory();
	*buf = grown;
	*capacity = wanted;
	return NULL;
}

static struct error *decode(lzma_stream *stream, uint8_t **buf, size_t *size)
{
	size_t capacity = 0;
	lzma_ret status = LZMA_OK;
	struct error *error;

	while (status == LZMA_OK) {
		if (stream->total_out == capacity) {
			error = grow(buf, &capacity);
			if (error)
				return error;
			stream->next_out = *buf + stream->total_out;
			stream->avail_out = capacity - stream->total_out;
		}
		status = lzma_code(stream, LZMA_FINISH);
	}
	if (status != LZMA_STREAM_END)
		return error_create(ERROR_FORMAT, "broken .gnu_debugdata");
	*size = stream->total_out;
	return NULL;
}

static struct error *unxz(struct bytes packed, uint8_t **ret, size_t *size)
{
	_cleanup_free_ uint8_t *buf = NULL;
	lzma_stream stream = LZMA_STREAM_INIT;
	struct error *error;

	if (lzma_stream_decoder(&stream, XZ_MEMORY_MAX, 0) != LZMA_OK)
		return error_no_memory();
	stream.next_in = packed.data;
	stream.avail_in = packed.size;
	error = decode(&stream, &buf, size);
	lzma_end(&stream);
	if (!error)
		*ret = take_ptr(buf);
	return error;
}

struct error *elf_file_minidebug(struct elf_file *file, struct elf_file **ret)
{
	_cleanup_free_ uint8_t *data = NULL;
	struct bytes packed;
	size_t size = 0;
	struct error *error;

	if (file->minidebug) {
		*ret = file->minidebug;
		return NULL;
	}
	error = elf_file_section_by_name(file, ".gnu_debugdata", NULL,
					 &packed);
	if (!error)
		error = unxz(packed, &data, &size);
	if (!error)
		error = elf_file_open_memory(data, size, file->path,
					     &file->minidebug);
	if (error)
		return error;
	file->minidebug_data = take_ptr(data);
	*ret = file->minidebug;
	return NULL;
}
