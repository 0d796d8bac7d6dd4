/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Appends a DWARF line table to memory that grows: its files, then sequences of
 * rows (obj/dwarf_put.h). Zero-initialise.
 */
#ifndef KAA_OBJ_LINE_WRITER_H
#define KAA_OBJ_LINE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"

struct line_writer {
	/* Numbered from 1 in this order; borrowed. */
	VEC(const char *) files;
	/* Private: hash of a file's name -> its index in `files`. */
	struct map by_hash;
	/* Private: what was asked for last, and its number. */
	const char *latest;
	uint64_t latest_number;
	/* Private, from line_writer_begin() on. */
	struct strbuf *out;
	size_t start;
};

/*
 * The number of a file, from 1; 0 when memory runs out. The name stays as it is:
 * it is not read again where the call before had the same pointer.
 */
uint64_t line_writer_file(struct line_writer *w, const char *name);
void line_writer_deinit(struct line_writer *w);

/* The table begins at the end of out; no more files then. */
void line_writer_begin(struct line_writer *w, struct strbuf *out);
/* One sequence; its state machine starts at file 1, line 1. */
void line_writer_sequence(struct line_writer *w, uint64_t address);
void line_writer_set_file(struct line_writer *w, uint64_t number);
/* A row, so many lines and bytes after the one before. */
void line_writer_row(struct line_writer *w, int64_t line_step,
		     uint64_t pc_step);
/* pc_step: bytes that the last row covers. */
void line_writer_end_sequence(struct line_writer *w, uint64_t pc_step);
/* out may have failed: see strbuf_error(). */
void line_writer_end(struct line_writer *w);

#endif
