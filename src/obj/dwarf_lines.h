/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The line table of one unit (DWARF 5, 6.2; versions 2 to 5).
 */
#ifndef KAA_OBJ_DWARF_LINES_H
#define KAA_OBJ_DWARF_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "obj/dwarf_unit.h"

/* Rows of one table; a larger one is not read further. */
#define DWARF_LINES_MAX (64u << 20)

struct dwarf_row {
	uint64_t address;
	/* Of the version's own counting: from 0 in DWARF 5, else from 1. */
	uint32_t file;
	uint32_t line;
};

struct dwarf_file {
	const char *name;
	uint64_t folder;
	/* Name with its folders, once it was asked for. */
	const char *path;
};

struct dwarf_lines {
	/* By address. A row of line UINT32_MAX ends a sequence. */
	VEC(struct dwarf_row) rows;
	VEC(const char *) folders;
	VEC(struct dwarf_file) files;
	uint16_t version;
	const char *comp_dir;
};

/*
 * Reads the unit's table, as far as it can be read; empty if it has none.
 * rows false: its files alone. *room: how many bytes of tables may be read, of which this
 * one takes its own; it is empty if they are too few, since many tables that overlap would
 * take as good as for ever. ERROR_NO_MEMORY alone.
 */
struct error *dwarf_lines_read(const struct dwarf_sections *sections,
			       const struct dwarf_unit *unit, bool rows,
			       uint64_t *room, struct dwarf_lines *ret);
void dwarf_lines_deinit(struct dwarf_lines *lines);

/* The row that holds an address, or NULL: the last one at or below it. */
const struct dwarf_row *dwarf_lines_find(const struct dwarf_lines *lines,
					 uint64_t address);
/*
 * The file's path, as absolute as the table says; NULL if there is no such
 * file or memory runs out. Made in arena.
 */
const char *dwarf_lines_file(struct dwarf_lines *lines, uint64_t file,
			     struct arena *arena);

#endif
