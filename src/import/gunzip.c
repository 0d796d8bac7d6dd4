// SPDX-License-Identifier: GPL-2.0-only
#include "import/gunzip.h"

#include <string.h>
#include <zlib.h>

/* The window of deflate (15), and 16 for a header of gzip: zlib.h. */
enum { WINDOW_BITS = 15 + 16, STEP = 1 << 16 };

bool gunzip_is(const void *data, size_t size)
{
	return size > 2 && !memcmp(data, "\x1f\x8b", 2);
}

static struct error *broken(const char *path, const z_stream *stream, int status)
{
	if (status == Z_MEM_ERROR)
		return error_no_memory();
	return error_at(status == Z_BUF_ERROR ? ERROR_TRUNCATED : ERROR_FORMAT,
			path, stream->total_in,
			status == Z_BUF_ERROR ? "the gzipped file ends too soon" :
						"the gzipped file is damaged");
}

/* zlib counts in 32 bits. */
static void feed(z_stream *stream, const unsigned char *data, size_t size)
{
	size_t left = size - (size_t)(stream->next_in - data);

	if (!stream->avail_in)
		stream->avail_in = (unsigned int)(left < STEP ? left : STEP);
}

static struct error *unpack(const char *path, z_stream *stream,
			    const unsigned char *data, size_t size,
			    struct strbuf *out)
{
	int status;

	do {
		feed(stream, data, size);
		if (!strbuf_reserve(out, STEP))
			return error_no_memory();
		stream->next_out = (unsigned char *)out->data + out->len;
		stream->avail_out = STEP;
		status = inflate(stream, Z_NO_FLUSH);
		out->len += STEP - stream->avail_out;
		out->data[out->len] = '\0';
		if (out->len > IMPORT_BYTES_MAX)
			return error_create(ERROR_LIMIT,
					    "'%s' holds more than 1 GiB",
					    path);
	} while (status == Z_OK);
	return status == Z_STREAM_END ? NULL : broken(path, stream, status);
}

struct error *gunzip(const char *path, const void *data, size_t size,
		     struct strbuf *out)
{
	z_stream stream = { .next_in = (unsigned char *)data };
	struct error *error;

	if (inflateInit2(&stream, WINDOW_BITS) != Z_OK)
		return error_no_memory();
	error = unpack(path, &stream, data, size, out);
	inflateEnd(&stream);
	return error;
}
