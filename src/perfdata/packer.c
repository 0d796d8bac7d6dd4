// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/packer.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <zstd.h>

#include "perfdata/record.h"

enum {
	/* PERF_COMP_ZSTD, and the version of the section. */
	TYPE_ZSTD = 1,
	VERSION = 1,
};

struct packer {
	ZSTD_CCtx *stream;
	int level;
	uint64_t unpacked;
	uint64_t packed;
};

static struct error *zstd_error(size_t code)
{
	return error_create(ERROR_UNSUPPORTED, "cannot compress records: %s",
			    ZSTD_getErrorName(code));
}

struct error *packer_create(int level, struct packer **ret)
{
	struct packer *packer = calloc(1, sizeof(*packer));
	size_t code;

	if (!packer)
		return error_no_memory();
	packer->level = level;
	packer->stream = ZSTD_createCCtx();
	if (!packer->stream) {
		packer_destroy(packer);
		return error_no_memory();
	}
	code = ZSTD_CCtx_setParameter(packer->stream, ZSTD_c_compressionLevel,
				      level);
	if (ZSTD_isError(code)) {
		packer_destroy(packer);
		return zstd_error(code);
	}
	*ret = packer;
	return NULL;
}

void packer_destroy(struct packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->stream);
	free(packer);
}

/* One record; size is at most PACKER_UNPACKED_MAX. */
static struct error *add_record(struct packer *packer, const void *data,
				size_t size, struct strbuf *out)
{
	uint8_t bytes[RECORD_MAX_SIZE];
	ZSTD_inBuffer in = { data, size, 0 };
	ZSTD_outBuffer packed = { bytes,
				  sizeof(bytes) - sizeof(struct perf_event_header),
				  0 };
	struct perf_event_header header = { .type = PERFDATA_COMPRESSED };
	size_t left = ZSTD_compressStream2(packer->stream, &packed, &in,
					   ZSTD_e_flush);

	if (ZSTD_isError(left))
		return zstd_error(left);
	/* There was room for the worst case. */
	if (left || in.pos != size)
		return error_create(ERROR_LIMIT, "cannot compress a record");
	header.size = (uint16_t)(sizeof(header) + packed.pos);
	strbuf_append(out, &header, sizeof(header));
	strbuf_append(out, bytes, packed.pos);
	packer->unpacked += size;
	packer->packed += header.size;
	return strbuf_error(out);
}

struct error *packer_add(struct packer *packer, const void *data, size_t size,
			 struct strbuf *out)
{
	const uint8_t *at = data;
	struct error *error = NULL;

	while (!error && size) {
		size_t piece = size < PACKER_UNPACKED_MAX ? size :
							    PACKER_UNPACKED_MAX;

		error = add_record(packer, at, piece, out);
		at += piece;
		size -= piece;
	}
	return error;
}

void packer_section(const struct packer *packer, struct strbuf *out)
{
	uint64_t ratio = packer->packed ? packer->unpacked / packer->packed : 0;
	const uint32_t values[] = { VERSION, TYPE_ZSTD, (uint32_t)packer->level,
				    (uint32_t)ratio, PACKER_UNPACKED_MAX };

	strbuf_append(out, values, sizeof(values));
}
