/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Python code of a recording by address: what the CODE records of the kaa
 * stream say (docs/formats/kaa-stream.md), and the markers.
 *
 * Zero-initialise to start. Strings live as long as the table.
 */
#ifndef KAA_CONVERT_PYTHON_CODE_H
#define KAA_CONVERT_PYTHON_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "perfdata/kaa_stream.h"

struct python_span {
	uint64_t start;
	/* Exclusive. */
	uint64_t end;
	/* "py::<qualname>:<filename>"; a marker's bare name. */
	const char *name;
	const char *filename;
	/* Of the def, or of its first decorator (3.8 and later). */
	uint32_t first_line;
	/* Lines from that to the first line of code behind it; 0: there is none. */
	uint16_t header_lines;
	/* One for each slot; slot 0 has first_line. */
	const uint32_t *lines;
	bool is_marker;
};

struct python_code {
	/* Ascending, no overlaps. */
	VEC(struct python_span) spans;
	struct arena arena;
};

/*
 * Adds a span. One that an earlier span already has is left out if it is the
 * same, else ERROR_FORMAT, as are lines that do not decode.
 */
struct error *python_code_add(struct python_code *table,
			      const struct kaa_code *code);
/* The span that holds the address, or NULL. */
const struct python_span *python_code_find(const struct python_code *table,
					   uint64_t address);
/* The line at an address of the span. */
uint32_t python_span_line(const struct python_span *span, uint64_t address);
void python_code_deinit(struct python_code *table);

#endif
