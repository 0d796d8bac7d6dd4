// SPDX-License-Identifier: GPL-2.0-only
#include "export/gzip.h"

/* The window of deflate (15), and 16 for a header of gzip: zlib.h. */
enum { WINDOW_BITS = 15 + 16, MEMORY_LEVEL = 8, STEP = 1 << 16 };

struct error *gzip_begin(struct gzip *gzip, FILE *out)
{
	*gzip = (struct gzip){ .out = out };
	return deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			    WINDOW_BITS, MEMORY_LEVEL,
			    Z_DEFAULT_STRATEGY) == Z_OK ?
		       NULL :
		       error_no_memory();
}

/* Takes all that is in the stream. */
static void squeeze(struct gzip *gzip, int flush)
{
	unsigned char made[STEP];

	do {
		gzip->stream.next_out = made;
		gzip->stream.avail_out = sizeof(made);
		deflate(&gzip->stream, flush);
		fwrite(made, 1, sizeof(made) - gzip->stream.avail_out,
		       gzip->out);
	} while (!gzip->stream.avail_out);
}

void gzip_write(struct gzip *gzip, const void *data, size_t n)
{
	/* zlib counts in 32 bits. */
	for (size_t at = 0; at < n; at += STEP) {
		gzip->stream.next_in = (unsigned char *)data + at;
		gzip->stream.avail_in =
			(unsigned int)(n - at < STEP ? n - at : STEP);
		squeeze(gzip, Z_NO_FLUSH);
	}
}

void gzip_end(struct gzip *gzip)
{
	gzip->stream.avail_in = 0;
	squeeze(gzip, Z_FINISH);
	deflateEnd(&gzip->stream);
}
