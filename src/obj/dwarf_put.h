/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Puts the DWARF of an image with one unit: the unit, its ranges, its line
 * table. Into memory with room for it; nothing is allocated.
 *
 * Source: DWARF 4 sections 3.1, 6.1.2, 6.2 and 7.5; the line tables' parameters
 * are those of binutils.
 */
#ifndef KAA_OBJ_DWARF_PUT_H
#define KAA_OBJ_DWARF_PUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/put_bytes.h"

#define DWARF_LANG_PYTHON 0x14

/* Its line table is at offset 0 of .debug_line. Strings are borrowed. */
struct dwarf_put_unit {
	/* NULL: the unit does not say. */
	const char *producer;
	/* 0: the unit does not say. */
	uint16_t language;
	const char *name;
	/* NULL: the unit does not say. */
	const char *folder;
	/* What it covers. */
	uint64_t start;
	uint64_t size;
};

/* The abbreviation of the unit, for .debug_abbrev; its size. */
#define DWARF_PUT_ABBREV_MAX 32
void dwarf_put_abbrev(struct put *p, const struct dwarf_put_unit *unit);
size_t dwarf_put_abbrev_size(const struct dwarf_put_unit *unit);

/* The unit, for .debug_info; its size. */
void dwarf_put_info(struct put *p, const struct dwarf_put_unit *unit);
size_t dwarf_put_info_size(const struct dwarf_put_unit *unit);

/* What it covers, for .debug_aranges. */
#define DWARF_PUT_RANGES_SIZE 48
void dwarf_put_ranges(struct put *p, const struct dwarf_put_unit *unit);

/*
 * What a line table begins with, before the names of its files: no folders. The
 * length is that of the whole table without the length itself. Behind this
 * stand the files, each with dwarf_put_file(), and a zero byte; names_size: of
 * the files alone.
 */
#define DWARF_PUT_LINE_HEAD 29
void dwarf_put_line_head(struct put *p, uint32_t length, uint32_t names_size);
/* A file in no folder, of no time and no size. */
void dwarf_put_file(struct put *p, const char *name);
size_t dwarf_put_file_size(const char *name);

/* Bytes of each of the following, at most, beside a file's name. */
#define DWARF_PUT_LINE_MAX 24

/* A sequence begins; its state machine starts at file 1, line 1. */
void dwarf_put_line_begin(struct put *p, uint64_t address);
void dwarf_put_line_file(struct put *p, uint64_t number);
/* Defines a file within the program (DWARF 4 alone), as the next number. */
void dwarf_put_line_define(struct put *p, const char *name);
/* A row, so many lines and bytes after the one before. */
void dwarf_put_line_row(struct put *p, int64_t line_step, uint64_t pc_step);
/* The same for a row at the same address, by standard opcodes alone. */
void dwarf_put_line_plain(struct put *p, int64_t line_step);
/* pc_step: bytes that the last row covers. */
void dwarf_put_line_end(struct put *p, uint64_t pc_step);

#endif
