/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The TRACING_DATA section of perf.data: how the raw bytes of tracepoint
 * samples are laid out, as texts of tracefs. perf opens no file with
 * tracepoint events that lacks it.
 *
 * The form is that of trace-cmd's files, version 0.6, as far as perf writes
 * them (trace-cmd.dat.v6(5); perf's trace-event-info):
 *
 *	bytes 23, 8, 68, "tracing", "0.6\0"
 *	u8 1 if big-endian, u8 bytes of a long, u32 bytes of a page
 *	"header_page\0", u64 size, text
 *	"header_event\0", u64 size, text
 *	u32 number of formats of the system "ftrace", each u64 size, text
 *	u32 number of other systems, each: name with NUL,
 *		u32 number of formats, each u64 size, text
 *	u32 size, text: /proc/kallsyms; perf leaves it empty
 *	u32 size, text: printk_formats
 *	u64 size, text: saved_cmdlines; names of threads, which perf.data
 *		has in COMM records: empty
 */
#ifndef KAA_PERFDATA_TRACING_DATA_H
#define KAA_PERFDATA_TRACING_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

struct tracing_format {
	const char *system;
	struct bytes text;
};

/* All borrowed. */
struct tracing_data {
	uint32_t page_size;
	/* Texts of the files of these names. */
	struct bytes header_page;
	struct bytes header_event;
	struct bytes printk_formats;
	/* Those of one system stand together. */
	const struct tracing_format *formats;
	size_t format_count;
};

/* A section taken apart; all borrowed from it. */
struct tracing_section {
	/* Bytes of a long and of a page. */
	uint8_t long_size;
	uint32_t page_size;
	struct bytes header_page;
	/* Empty if the section ends before. */
	struct bytes printk_formats;
	VEC(struct tracing_format) formats;
};

/*
 * ERROR_FORMAT, ERROR_UNSUPPORTED (big-endian) or ERROR_TRUNCATED. Texts are
 * taken as they are.
 */
struct error *tracing_data_decode(const void *section, size_t size,
				  struct tracing_section *ret);
void tracing_section_deinit(struct tracing_section *section);

/* Appends the section, for this machine's byte order and size of long. */
struct error *tracing_data_encode(const struct tracing_data *data,
				  struct strbuf *out);

#endif
