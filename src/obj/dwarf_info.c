// SPDX-License-Identifier: GPL-2.0-only
#include "obj/dwarf_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "obj/dwarf_codes.h"
#include "obj/dwarf_lines.h"
#include "obj/dwarf_unit.h"

enum {
	/* DIEs within DIEs. */
	DEPTH_MAX = 512,
	/* Spans before an address that are looked at: few lie within each other. */
	SPANS_MAX = 10000,
	/* From an inlined function to its name. */
	ORIGINS_MAX = 16,
	/* Bytes of abbreviations that are kept while units are indexed. */
	TABLES_HELD_MAX = 128 << 20,
};

#define NO_FUNCTION UINT32_MAX

/* A subprogram or inlined subroutine with code, in the order of the file. */
struct function {
	/* The DIE that leads to the name. */
	uint64_t die;
	uint64_t call_file;
	uint64_t call_line;
	/* unit->ranges[first_range, + range_count) */
	uint32_t first_range;
	uint32_t range_count;
	/* The function behind the last one within this one. */
	uint32_t end;
	bool inlined;
	/* It was the innermost one of an address asked for. */
	bool asked;
};

struct span {
	uint64_t start;
	uint64_t end;
	uint32_t index;
	/* The highest end up to here. */
	uint64_t reach;
};

typedef VEC(struct span) span_vec;

/* A table of lines, as far as it was asked for. */
struct line_table {
	struct dwarf_lines lines;
	bool has_files;
	bool has_rows;
};

struct unit {
	struct dwarf_unit dwarf;
	bool functions_loaded;
	VEC(struct function) functions;
	dwarf_range_vec ranges;
	/* Of the subprograms, by address. */
	span_vec spans;
};

struct dwarf_info {
	struct dwarf_sections sections;
	/* Ascending by offset. */
	VEC(struct unit) units;
	/* Of units, by address. */
	span_vec spans;
	struct dwarf_tables tables;
	/* See dwarf_die_ranges(). */
	uint64_t range_room;
	/* By its offset the number of a table. Units may name the same one. */
	struct map line_offsets;
	VEC(struct line_table *) line_tables;
	/* See dwarf_lines_read(). */
	uint64_t line_room;
	struct arena arena;
};

/* --- Spans -------------------------------------------------------------- */

static int compare_spans(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static void sort_spans(span_vec *spans)
{
	uint64_t reach = 0;

	if (spans->count)
		qsort(spans->data, spans->count, sizeof(*spans->data),
		      compare_spans);
	vec_for_each(span, spans) {
		reach = span->end > reach ? span->end : reach;
		span->reach = reach;
	}
}

/* The span that holds the address and begins last, or NULL. */
static const struct span *find_span(const span_vec *spans, uint64_t address)
{
	size_t i = vec_upper_bound(spans, start, address), left = SPANS_MAX;

	for (; left && i && spans->data[i - 1].reach > address; i--, left--)
		if (spans->data[i - 1].end > address)
			return &spans->data[i - 1];
	return NULL;
}

static struct error *add_spans(span_vec *spans, const dwarf_range_vec *ranges,
			       size_t first, uint32_t index)
{
	for (size_t i = first; i < ranges->count; i++) {
		const struct span span = { .start = ranges->data[i].start,
					   .end = ranges->data[i].end,
					   .index = index };

		if (!vec_push(spans, span))
			return error_no_memory();
	}
	return NULL;
}

/* --- Units -------------------------------------------------------------- */

static void unit_deinit(struct unit *unit)
{
	vec_deinit(&unit->functions);
	vec_deinit(&unit->ranges);
	vec_deinit(&unit->spans);
}

static struct error *index_unit(struct dwarf_info *info, uint32_t index)
{
	struct unit *unit = &info->units.data[index];
	dwarf_range_vec ranges = {};
	struct dwarf_die root = {};
	struct error *error =
		dwarf_unit_root(&info->sections, &info->tables, &unit->dwarf,
				&root);

	if (!error)
		error = dwarf_die_ranges(&info->sections, &unit->dwarf, &root,
					 &info->range_room, &ranges);
	if (!error)
		error = add_spans(&info->spans, &ranges, 0, index);
	vec_deinit(&ranges);
	/* Most units are never looked into again. */
	unit->dwarf.abbrevs = NULL;
	if (info->tables.held > TABLES_HELD_MAX)
		dwarf_tables_forget(&info->tables);
	return error;
}

static struct error *index_units(struct dwarf_info *info)
{
	uint64_t offset = 0;
	struct error *error = NULL;
	struct unit unit = {};

	while (dwarf_unit_read(&info->sections, offset, &unit.dwarf, &offset))
		if (!vec_push(&info->units, unit))
			return error_no_memory();
	for (size_t i = 0; i < info->units.count && !error; i++)
		error = index_unit(info, (uint32_t)i);
	dwarf_tables_forget(&info->tables);
	sort_spans(&info->spans);
	return error;
}

/* A section that is missing or broken is empty. */
static struct error *get_section(struct elf_file *elf, const char *name,
				 struct bytes *ret)
{
	struct error *error = elf_file_section_by_name(elf, name, NULL, ret);

	if (!error || error->code == ERROR_NO_MEMORY)
		return error;
	error_destroy(error);
	*ret = (struct bytes){};
	return NULL;
}

static struct error *get_sections(struct elf_file *elf, bool lines,
				  struct dwarf_sections *ret)
{
	const struct {
		const char *name;
		struct bytes *bytes;
	} wanted[] = {
		{ ".debug_info", &ret->info },
		{ ".debug_abbrev", &ret->abbrev },
		{ ".debug_str", &ret->str },
		{ ".debug_line_str", &ret->line_str },
		{ ".debug_str_offsets", &ret->str_offsets },
		{ ".debug_addr", &ret->addr },
		{ ".debug_ranges", &ret->ranges },
		{ ".debug_rnglists", &ret->rnglists },
	};
	struct error *error = NULL;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted) && !error; i++)
		error = get_section(elf, wanted[i].name, wanted[i].bytes);
	if (lines && !error)
		error = get_section(elf, ".debug_line", &ret->line);
	ret->big_endian = elf->big_endian;
	return error;
}

struct error *dwarf_info_create(struct elf_file *elf, bool lines,
				struct dwarf_info **ret)
{
	struct dwarf_info *info;
	struct error *error;

	if (!elf_file_section(elf, ".debug_info"))
		return error_at(ERROR_NOT_FOUND, elf->path, 0,
				"has no debug information");
	if (elf->type == ET_REL)
		return error_at(ERROR_UNSUPPORTED, elf->path, 0,
				"is not linked, so its debug information is not read");
	info = calloc(1, sizeof(*info));
	if (!info)
		return error_no_memory();
	error = get_sections(elf, lines, &info->sections);
	/*
	 * More than a real file has: an entry of a list takes three bytes and more,
	 * and belongs to one DIE.
	 */
	info->range_room = info->sections.info.size +
			   info->sections.ranges.size +
			   info->sections.rnglists.size;
	/* Tables do not overlap. Of one the files may be read first, and then all. */
	info->line_room = 2 * info->sections.line.size;
	if (!error)
		error = index_units(info);
	if (error) {
		dwarf_info_destroy(info);
		return error;
	}
	*ret = info;
	return NULL;
}

void dwarf_info_destroy(struct dwarf_info *info)
{
	if (!info)
		return;
	vec_for_each(unit, &info->units)
		unit_deinit(unit);
	vec_deinit(&info->units);
	vec_deinit(&info->spans);
	vec_for_each(table, &info->line_tables) {
		dwarf_lines_deinit(&(*table)->lines);
		free(*table);
	}
	vec_deinit(&info->line_tables);
	map_deinit(&info->line_offsets);
	dwarf_tables_forget(&info->tables);
	arena_deinit(&info->arena);
	free(info);
}

/* --- The functions of a unit -------------------------------------------- */

/* Reading a unit: which function each open DIE belongs to. */
struct walk {
	struct dwarf_info *info;
	struct unit *unit;
	struct reader r;
	uint32_t open[DEPTH_MAX];
	unsigned int depth;
};

static bool is_function(const struct dwarf_die *die)
{
	return die->tag == DW_TAG_subprogram ||
	       die->tag == DW_TAG_inlined_subroutine;
}

/* *ret is NO_FUNCTION if it has no code. */
static struct error *add_function(struct walk *w, const struct dwarf_die *die,
				  uint32_t *ret)
{
	struct unit *unit = w->unit;
	struct function function = {
		.die = die->offset,
		.call_file = die->call_file,
		.call_line = die->call_line,
		.first_range = (uint32_t)unit->ranges.count,
		.inlined = die->tag == DW_TAG_inlined_subroutine,
	};
	uint32_t index = (uint32_t)unit->functions.count;
	struct error *error = dwarf_die_ranges(&w->info->sections, &unit->dwarf,
					       die, &w->info->range_room,
					       &unit->ranges);

	if (error)
		return error;
	function.range_count =
		(uint32_t)unit->ranges.count - function.first_range;
	if (!function.range_count)
		return NULL;
	function.end = index + 1;
	if (!function.inlined)
		error = add_spans(&unit->spans, &unit->ranges,
				  function.first_range, index);
	if (error)
		return error;
	*ret = index;
	return vec_push(&unit->functions, function) ? NULL : error_no_memory();
}

/* Leaves a list of siblings. */
static void close_die(struct walk *w)
{
	uint32_t function;

	if (!w->depth)
		return;
	function = w->open[--w->depth];
	if (function != NO_FUNCTION)
		w->unit->functions.data[function].end =
			(uint32_t)w->unit->functions.count;
}

static struct error *visit(struct walk *w, const struct dwarf_die *die)
{
	uint32_t function = NO_FUNCTION;
	struct error *error = NULL;

	if (!die->tag) {
		close_die(w);
		return NULL;
	}
	if (is_function(die))
		error = add_function(w, die, &function);
	if (error || !die->has_children)
		return error;
	/* A function without code has none inlined that has. */
	if (die->tag == DW_TAG_subprogram && function == NO_FUNCTION &&
	    die->sibling >= (uint64_t)(w->r.pos - w->r.start) &&
	    die->sibling < w->unit->dwarf.end && !die->origin) {
		w->r = dwarf_reader(&w->info->sections, &w->info->sections.info,
				    die->sibling);
		return NULL;
	}
	if (w->depth == DEPTH_MAX)
		w->r.failed = true;
	else
		w->open[w->depth++] = function;
	return NULL;
}

static struct error *load_functions(struct dwarf_info *info, struct unit *unit)
{
	struct walk w = { .info = info, .unit = unit };
	struct dwarf_die die = {};
	struct error *error;

	if (unit->functions_loaded)
		return NULL;
	unit->functions_loaded = true;
	error = dwarf_unit_abbrevs(&info->sections, &info->tables,
				   &unit->dwarf);
	w.r = dwarf_reader(&info->sections, &info->sections.info,
			   unit->dwarf.first_die);
	while (!error && !w.r.failed &&
	       dwarf_die_read_function(&w.r, &unit->dwarf, &die))
		error = visit(&w, &die);
	/* Of a unit that breaks off, what was read holds. */
	while (w.depth)
		close_die(&w);
	sort_spans(&unit->spans);
	return error;
}

/* --- Names -------------------------------------------------------------- */

static struct unit *unit_of_die(struct dwarf_info *info, uint64_t offset)
{
	struct unit *unit =
		vec_floor(&info->units, dwarf.encoding.unit, offset);

	if (!unit || offset < unit->dwarf.first_die || offset >= unit->dwarf.end)
		return NULL;
	return unit;
}

/* Follows the DIE to where it was declared, for the first name of each kind. */
static struct error *name_of(struct dwarf_info *info, uint64_t offset,
			     const char **ret, bool *is_linkage)
{
	const struct dwarf_sections *s = &info->sections;
	const char *name = NULL;

	for (int i = 0; i < ORIGINS_MAX && offset; i++) {
		struct unit *unit = unit_of_die(info, offset);
		struct dwarf_die die;
		struct reader r;
		struct error *error;

		if (!unit)
			break;
		error = dwarf_unit_abbrevs(s, &info->tables, &unit->dwarf);
		if (error)
			return error;
		r = dwarf_reader(s, &s->info, offset);
		if (!dwarf_die_read(&r, &unit->dwarf, &die))
			break;
		*ret = dwarf_string(s, &unit->dwarf.encoding,
				    &die.linkage_name);
		*is_linkage = *ret;
		if (*ret)
			return NULL;
		if (!name)
			name = dwarf_string(s, &unit->dwarf.encoding,
					    &die.name);
		offset = die.origin;
	}
	*ret = name;
	return NULL;
}

/* NULL without memory. */
static struct line_table *line_table_at(struct dwarf_info *info,
					uint64_t offset)
{
	const uint64_t *number = map_find(&info->line_offsets, offset);
	struct line_table *table;

	if (number)
		return info->line_tables.data[*number];
	table = calloc(1, sizeof(*table));
	if (!table || !vec_push(&info->line_tables, table)) {
		free(table);
		return NULL;
	}
	return map_insert(&info->line_offsets, offset,
			  info->line_tables.count - 1, NULL) ?
		       table :
		       NULL;
}

/* The unit's table, with its rows, or at least with its files. */
static struct error *load_lines(struct dwarf_info *info,
				const struct unit *unit, bool rows,
				struct dwarf_lines **ret)
{
	/* Units without a table share an empty one. */
	uint64_t offset = unit->dwarf.has_lines ? unit->dwarf.line_offset :
						  UINT64_MAX;
	struct line_table *table = line_table_at(info, offset);

	if (!table)
		return error_no_memory();
	*ret = &table->lines;
	if (table->has_rows || (table->has_files && !rows))
		return NULL;
	/* Paths made before stay valid: they are the arena's. */
	dwarf_lines_deinit(&table->lines);
	table->has_files = true;
	table->has_rows = rows;
	return dwarf_lines_read(&info->sections, &unit->dwarf, rows,
				&info->line_room, &table->lines);
}

/* --- Addresses ---------------------------------------------------------- */

static bool holds(const struct unit *unit, const struct function *function,
		  uint64_t vaddr)
{
	for (uint32_t i = 0; i < function->range_count; i++) {
		const struct dwarf_range *range =
			&unit->ranges.data[function->first_range + i];

		if (vaddr >= range->start && vaddr < range->end)
			return true;
	}
	return false;
}

/* Languages whose linkers know functions by their names; DWARF 5, 7.12. */
static bool is_plain_language(uint64_t language)
{
	enum { C89 = 0x01, C = 0x02, C99 = 0x0c, C11 = 0x1d, C17 = 0x2c };

	return language == C89 || language == C || language == C99 ||
	       language == C11 || language == C17;
}

static struct error *fill(struct dwarf_info *info, struct unit *unit,
			  const struct function *function,
			  struct dwarf_function *ret)
{
	struct dwarf_lines *lines;
	struct error *error;

	*ret = (struct dwarf_function){
		.inlined = function->inlined,
		.was_innermost = function->asked,
		.start = unit->ranges.data[function->first_range].start,
	};
	error = name_of(info, function->die, &ret->name, &ret->is_linkage_name);
	ret->is_linkage_name |= is_plain_language(unit->dwarf.language);
	if (error || !function->inlined || !info->sections.line.size)
		return error;
	error = load_lines(info, unit, false, &lines);
	if (error)
		return error;
	ret->call_file = dwarf_lines_file(lines, function->call_file,
					  &info->arena);
	ret->call_line = function->call_line > UINT32_MAX
				 ? 0
				 : (uint32_t)function->call_line;
	return NULL;
}

struct error *dwarf_info_functions(struct dwarf_info *info, uint64_t vaddr,
				   struct dwarf_function *ret, size_t max,
				   size_t *count)
{
	const struct span *span = find_span(&info->spans, vaddr);
	struct unit *unit = span ? &info->units.data[span->index] : NULL;
	struct error *error;
	struct function *innermost = NULL;
	uint32_t i, end;
	size_t n = 0;

	*count = 0;
	if (!unit)
		return NULL;
	error = load_functions(info, unit);
	if (error)
		return error;
	span = find_span(&unit->spans, vaddr);
	if (!span)
		return NULL;
	/* Outermost first: from each function into the one within it. */
	for (i = span->index, end = unit->functions.data[i].end;
	     i < end && n < max;) {
		struct function *function = &unit->functions.data[i];

		if (n && !(function->inlined && holds(unit, function, vaddr))) {
			i = function->end;
			continue;
		}
		error = fill(info, unit, function, &ret[n]);
		if (error)
			return error;
		n++;
		innermost = function;
		end = function->end;
		i++;
	}
	if (n) {
		ret[n - 1].is_new = !innermost->asked;
		ret[n - 1].was_innermost = true;
		innermost->asked = true;
	}
	for (size_t j = 0; j < n / 2; j++) {
		struct dwarf_function swap = ret[j];

		ret[j] = ret[n - 1 - j];
		ret[n - 1 - j] = swap;
	}
	*count = n;
	return NULL;
}

struct error *dwarf_info_line(struct dwarf_info *info, uint64_t vaddr,
			      const char **file, uint32_t *line)
{
	const struct span *span = find_span(&info->spans, vaddr);
	struct unit *unit = span ? &info->units.data[span->index] : NULL;
	const struct dwarf_row *row;
	struct dwarf_lines *lines;
	struct error *error;

	*file = NULL;
	*line = 0;
	if (!unit)
		return NULL;
	error = load_lines(info, unit, true, &lines);
	if (error)
		return error;
	row = dwarf_lines_find(lines, vaddr);
	if (!row)
		return NULL;
	*file = dwarf_lines_file(lines, row->file, &info->arena);
	*line = *file ? row->line : 0;
	return NULL;
}
