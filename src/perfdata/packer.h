/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packs records as `perf record -z` does: COMPRESSED records, whose payloads are
 * one zstd stream. Each is flushed, so that the stream can be unpacked up to any of
 * them; what repeats earlier records, as the callers of deep recursion do, takes
 * next to nothing.
 *
 * Source of the format: Linux tools/perf/util/zstd.c, builtin-record.c and
 * session.c. perf since 5.2 reads it; its newer form, COMPRESSED2, only perf 6.16.
 *
 * Not thread-safe.
 */
#ifndef KAA_PERFDATA_PACKER_H
#define KAA_PERFDATA_PACKER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

enum {
	PACKER_LEVEL_MIN = 1,
	PACKER_LEVEL_MAX = 22,
	/*
	 * No record unpacks to more: what the section COMPRESSED says of it. perf
	 * maps that much memory for each.
	 */
	PACKER_UNPACKED_MAX = 48 << 10,
};

struct packer;

struct error *packer_create(int level, struct packer **ret);
void packer_destroy(struct packer *packer);

/* Appends records that hold the bytes. */
struct error *packer_add(struct packer *packer, const void *data, size_t size,
			 struct strbuf *out);

/* The section COMPRESSED of the file as it is now. */
void packer_section(const struct packer *packer, struct strbuf *out);

#endif
