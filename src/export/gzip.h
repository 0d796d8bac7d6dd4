/* SPDX-License-Identifier: GPL-2.0-only */
/* A stream in the format of gzip (RFC 1952), without a name and a time. */
#ifndef KAA_EXPORT_GZIP_H
#define KAA_EXPORT_GZIP_H

#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

#include "base/error.h"

struct gzip {
	FILE *out;
	/* Private. */
	z_stream stream;
};

/* A failed write is the stream's to remember (ferror()). */
struct error *gzip_begin(struct gzip *gzip, FILE *out);
void gzip_write(struct gzip *gzip, const void *data, size_t n);
/* Writes what is left, and frees. */
void gzip_end(struct gzip *gzip);

#endif
