/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The instructions of a span of a file, or of bytes that are in no file, by
 * objdump of binutils, with the source lines that debug information gives
 * (objdump -S).
 *
 * objdump is run without a shell, for a bounded time, with bounded output, and
 * under sudo as the user behind it. Of the output format only this is relied
 * on: an instruction's line is "<blanks><hex address>:<tab>...".
 */
#ifndef KAA_EXPLORE_DISASSEMBLY_H
#define KAA_EXPLORE_DISASSEMBLY_H

#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/watch.h"
#include "obj/jit_image.h"
#include "symbolize/dso.h"

/* ERROR_UNSUPPORTED: [start, end) is nothing, or more than is disassembled. */
struct error *disassembly_check_span(uint64_t start, uint64_t end);

/*
 * Appends the lines of [start, end), in vaddrs of the dso's file. The file has
 * to be the one that was recorded, as far as build-ids tell. *has_source: source
 * lines are wanted; false then: it is without, because that took too long.
 * ERROR_NOT_FOUND (no file, no objdump), ERROR_UNSUPPORTED (no file to
 * disassemble), ERROR_LIMIT, ERROR_INTERRUPTED. watch may be NULL.
 */
struct error *disassembly_read(struct dso *dso, uint64_t start, uint64_t end,
			       struct watch *watch, struct strbuf *out,
			       bool *has_source);

/*
 * The same of the code of an image, which runs at `address`. objdump reads it out
 * of memory.
 */
struct error *disassembly_code(const struct jit_image *image, uint64_t address,
			       struct watch *watch, struct strbuf *out,
			       bool *has_source);

/* A line of the output that belongs to the function. */
struct disassembly_line {
	/* An instruction at that address; else a line of its source. */
	bool is_instruction;
	uint64_t address;
	/* Borrowed from the output; not terminated. */
	const char *text;
	size_t length;
};

/* How far the output was read; text is what is left of it. */
struct disassembly_lines {
	const char *text;
	bool begun;
};

/* False: there is no further line. */
bool disassembly_next(struct disassembly_lines *lines,
		      struct disassembly_line *ret);

/*
 * True if a line (n bytes) is an instruction; *ret is its address, *text where
 * what is behind the address begins.
 */
bool disassembly_address(const char *line, size_t n, uint64_t *ret,
			 size_t *text);

#endif
