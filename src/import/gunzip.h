/* SPDX-License-Identifier: GPL-2.0-only */
/* A file in the format of gzip (RFC 1952), unpacked. */
#ifndef KAA_IMPORT_GUNZIP_H
#define KAA_IMPORT_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strbuf.h"

bool gunzip_is(const void *data, size_t size);
/*
 * Appends what is in it; path is for messages. ERROR_FORMAT, ERROR_TRUNCATED;
 * ERROR_LIMIT if that is more than IMPORT_BYTES_MAX.
 */
struct error *gunzip(const char *path, const void *data, size_t size,
		     struct strbuf *out);

/* The most bytes of a file, unpacked. */
#define IMPORT_BYTES_MAX (1ull << 30)

#endif
