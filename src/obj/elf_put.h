/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Appends the pieces that ELF images and their DWARF are made of, little-endian
 * (internal to obj).
 *
 * Line tables: DWARF 4 section 6.2, with the parameters that binutils uses.
 */
#ifndef KAA_OBJ_ELF_PUT_H
#define KAA_OBJ_ELF_PUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

void put_u8(struct strbuf *out, uint8_t value);
void put_u16(struct strbuf *out, uint16_t value);
void put_u32(struct strbuf *out, uint32_t value);
void put_u64(struct strbuf *out, uint64_t value);
void put_uleb128(struct strbuf *out, uint64_t value);
void put_sleb128(struct strbuf *out, int64_t value);
/* With its NUL. */
void put_cstr(struct strbuf *out, const char *s);

/* Reserves a u32 length; patch_length() sets it to what follows it. */
size_t begin_length(struct strbuf *out);
void patch_length(struct strbuf *out, size_t begin);

/* Of the one unit at offset 0, which covers size bytes from start (DWARF 4 section 6.1.2). */
void put_address_ranges(struct strbuf *out, uint64_t start, uint64_t size);

/* Behind the unit's length: no directories, then the files, counted from 1. */
size_t line_table_begin_header(struct strbuf *out);
void line_table_put_file(struct strbuf *out, const char *name);
void line_table_end_header(struct strbuf *out, size_t begin);

/* One sequence; its state machine starts at file 1, line 1. */
void line_table_begin(struct strbuf *out, uint64_t address);
void line_table_set_file(struct strbuf *out, uint64_t number);
/* A row, so many lines and bytes after the one before. */
void line_table_row(struct strbuf *out, int64_t line_step, uint64_t pc_step);
/* pc_step: bytes that the last row covers. */
void line_table_end(struct strbuf *out, uint64_t pc_step);

#endif
