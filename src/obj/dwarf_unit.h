/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The units of .debug_info: headers, abbreviations, DIEs one after the other,
 * ranges of addresses (DWARF 5, 7.5 and 2.17).
 */
#ifndef KAA_OBJ_DWARF_UNIT_H
#define KAA_OBJ_DWARF_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "obj/dwarf_form.h"

struct dwarf_abbrev {
	uint64_t code;
	uint32_t tag;
	bool has_children;
	/* Its place in the table. */
	uint32_t number;
	/* specs[first_spec, + spec_count) of the table */
	uint32_t first_spec;
	uint32_t spec_count;
	/* The bytes of all attributes; -1 if they differ. */
	int32_t size;
};

struct dwarf_spec {
	uint32_t attribute;
	uint32_t form;
	int64_t implicit;
	/* As dwarf_form_size() has it. */
	int32_t size;
};

/* A table of abbreviations. */
struct dwarf_abbrevs {
	/* By code, of equal ones the first in the file first. */
	VEC(struct dwarf_abbrev) list;
	VEC(struct dwarf_spec) specs;
};

/*
 * All tables that were read: units may share one, by the thousands where dwz or a
 * linker wrote them. Zero-initialise.
 */
struct dwarf_tables {
	VEC(struct dwarf_abbrevs *) list;
	/* Offset and sizes to index in list. */
	struct map by_key;
	/* Bytes of .debug_abbrev that were read, also of tables forgotten since. */
	uint64_t read;
	/* Bytes of memory. */
	size_t held;
};

/*
 * Tables of real files do not overlap, so all units together read .debug_abbrev
 * once, or once more after tables were forgotten. Where so many times its size was
 * read, units that ask for other tables have no DIEs.
 */
#define DWARF_TABLES_FACTOR 8

struct dwarf_range {
	uint64_t start;
	/* Exclusive. */
	uint64_t end;
};

typedef VEC(struct dwarf_range) dwarf_range_vec;

struct dwarf_unit {
	struct dwarf_encoding encoding;
	/* In .debug_info; the first DIE, and what follows the unit. */
	uint64_t first_die;
	uint64_t end;
	uint64_t abbrev_offset;
	/* Of the first DIE. */
	uint64_t low_pc;
	const char *name;
	const char *comp_dir;
	/* DW_LANG_* */
	uint64_t language;
	bool has_lines;
	uint64_t line_offset;
	/* Of dwarf_unit_abbrevs(); NULL before. */
	const struct dwarf_abbrevs *abbrevs;
};

/* One DIE, with what is used of its attributes. */
struct dwarf_die {
	uint64_t offset;
	/* 0: end of a list of siblings. */
	uint32_t tag;
	bool has_children;
	/* DWARF_OTHER if not there. */
	struct dwarf_value name;
	struct dwarf_value linkage_name;
	struct dwarf_value low_pc;
	struct dwarf_value high_pc;
	struct dwarf_value ranges;
	struct dwarf_value comp_dir;
	struct dwarf_value stmt_list;
	/* Offset of a DIE, 0: none. */
	uint64_t origin;
	uint64_t sibling;
	uint64_t call_file;
	uint64_t call_line;
	uint64_t language;
};

/* False if no unit begins there; *next is where the one behind it does. */
bool dwarf_unit_read(const struct dwarf_sections *sections, uint64_t offset,
		     struct dwarf_unit *ret, uint64_t *next);

/* Sets the unit's abbreviations, which are the tables'; ERROR_NO_MEMORY alone. */
struct error *dwarf_unit_abbrevs(const struct dwarf_sections *sections,
				 struct dwarf_tables *tables,
				 struct dwarf_unit *unit);
/* Frees all tables. No unit may have one any more. */
void dwarf_tables_forget(struct dwarf_tables *tables);
/* Takes over what the first DIE says of the whole unit. */
struct error *dwarf_unit_root(const struct dwarf_sections *sections,
			      struct dwarf_tables *tables,
			      struct dwarf_unit *unit, struct dwarf_die *ret);
/* The next DIE; false at the end, or if r fails. r reads from .debug_info. */
bool dwarf_die_read(struct reader *r, const struct dwarf_unit *unit,
		    struct dwarf_die *ret);
/*
 * The same for who looks for functions: of others the offset, the tag and
 * has_children are filled in, and nothing else of *ret is changed. They are
 * most of all, and passing over attributes is cheaper than reading them.
 */
bool dwarf_die_read_function(struct reader *r, const struct dwarf_unit *unit,
			     struct dwarf_die *ret);

/*
 * Appends the ranges of a DIE; ERROR_NO_MEMORY alone. *room: entries of lists that
 * are still read; what is beyond is as if it were not there.
 */
struct error *dwarf_die_ranges(const struct dwarf_sections *sections,
			       const struct dwarf_unit *unit,
			       const struct dwarf_die *die, uint64_t *room,
			       dwarf_range_vec *ret);

#endif
