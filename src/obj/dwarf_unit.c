// SPDX-License-Identifier: GPL-2.0-only
#include "obj/dwarf_unit.h"

#include <stdlib.h>

#include "base/compare.h"
#include "obj/dwarf_codes.h"

enum {
	/* Attributes of one DIE; compilers write some tens. */
	SPECS_MAX = 256,
	/* Ranges of one DIE; more are no code. */
	RANGES_MAX = 1 << 20,
};

/* --- Units -------------------------------------------------------------- */

/* What stands between the version and the first DIE. */
static bool read_unit_head(struct reader *r, struct dwarf_unit *unit)
{
	struct dwarf_encoding *e = &unit->encoding;
	uint8_t type = DW_UT_compile;

	if (!reader_u16(r, &e->version) || e->version < 2 || e->version > 5)
		return false;
	if (e->version >= 5) {
		reader_u8(r, &type);
		reader_u8(r, &e->address_size);
		dwarf_read_offset(r, e->offset_size, &unit->abbrev_offset);
		if (type == DW_UT_skeleton || type == DW_UT_split_compile)
			reader_skip(r, 8);
		else if (type == DW_UT_type || type == DW_UT_split_type)
			reader_skip(r, 8u + e->offset_size);
	} else {
		dwarf_read_offset(r, e->offset_size, &unit->abbrev_offset);
		reader_u8(r, &e->address_size);
	}
	return !r->failed && (e->address_size == 4 || e->address_size == 8);
}

bool dwarf_unit_read(const struct dwarf_sections *sections, uint64_t offset,
		     struct dwarf_unit *ret, uint64_t *next)
{
	struct reader r = dwarf_reader(sections, &sections->info, offset);
	struct dwarf_unit unit = { .encoding = { .unit = offset,
						 .offset_size = 4 } };
	uint32_t length32;
	uint64_t length;

	if (!reader_u32(&r, &length32))
		return false;
	length = length32;
	if (length32 == UINT32_MAX) {
		unit.encoding.offset_size = 8;
		if (!reader_u64(&r, &length))
			return false;
	}
	if (!length || length > reader_left(&r))
		return false;
	unit.end = (uint64_t)(r.pos - sections->info.data) + length;
	*next = unit.end;
	/* A unit of another version is passed over. */
	if (read_unit_head(&r, &unit))
		unit.first_die = (uint64_t)(r.pos - sections->info.data);
	else
		unit.first_die = unit.end;
	*ret = unit;
	return true;
}

/* --- Abbreviations ------------------------------------------------------ */

static void add_size(struct dwarf_abbrev *abbrev, int32_t size)
{
	const int32_t most = 1 << 20;

	if (size < 0 || abbrev->size < 0 || abbrev->size > most)
		abbrev->size = -1;
	else
		abbrev->size += size;
}

/* The specs of one abbreviation, up to the pair of zeros. */
static struct error *read_specs(struct reader *r,
				const struct dwarf_encoding *encoding,
				struct dwarf_abbrevs *table,
				struct dwarf_abbrev *abbrev)
{
	abbrev->first_spec = (uint32_t)table->specs.count;
	abbrev->size = 0;
	for (;;) {
		uint64_t attribute, form;
		struct dwarf_spec spec = {};

		reader_uleb128(r, &attribute);
		reader_uleb128(r, &form);
		if (form == DW_FORM_implicit_const)
			reader_sleb128(r, &spec.implicit);
		r->failed |= table->specs.count - abbrev->first_spec > SPECS_MAX;
		if (r->failed || (!attribute && !form))
			break;
		/* None is that high: such a one is unknown, as 0 is. */
		spec.attribute = attribute > UINT32_MAX ? 0
							: (uint32_t)attribute;
		spec.form = form > UINT32_MAX ? 0 : (uint32_t)form;
		spec.size = dwarf_form_size(encoding, spec.form);
		add_size(abbrev, spec.size);
		if (!vec_push(&table->specs, spec))
			return error_no_memory();
	}
	abbrev->spec_count = (uint32_t)table->specs.count - abbrev->first_spec;
	return NULL;
}

static struct error *read_table(struct reader *r,
				const struct dwarf_encoding *encoding,
				struct dwarf_abbrevs *table)
{
	for (;;) {
		struct dwarf_abbrev abbrev = {};
		struct error *error;
		uint64_t tag;
		uint8_t children;

		if (!reader_uleb128(r, &abbrev.code) || !abbrev.code)
			return NULL;
		reader_uleb128(r, &tag);
		reader_u8(r, &children);
		abbrev.number = (uint32_t)table->list.count;
		abbrev.tag = tag > UINT32_MAX ? UINT32_MAX : (uint32_t)tag;
		abbrev.has_children = children;
		error = read_specs(r, encoding, table, &abbrev);
		if (error || r->failed)
			return error;
		if (!vec_push(&table->list, abbrev))
			return error_no_memory();
	}
}

static int compare_codes(const void *left, const void *right)
{
	const struct dwarf_abbrev *a = left, *b = right;
	int order = compare_u64(a->code, b->code);

	return order ? order : compare_u64(a->number, b->number);
}

static void sort_table(struct dwarf_abbrevs *table)
{
	for (size_t i = 1; i < table->list.count; i++) {
		if (table->list.data[i - 1].code < table->list.data[i].code)
			continue;
		qsort(table->list.data, table->list.count,
		      sizeof(*table->list.data), compare_codes);
		return;
	}
}

static void free_table(struct dwarf_abbrevs *table)
{
	vec_deinit(&table->list);
	vec_deinit(&table->specs);
	free(table);
}

void dwarf_tables_forget(struct dwarf_tables *tables)
{
	vec_for_each(table, &tables->list)
		free_table(*table);
	vec_deinit(&tables->list);
	map_deinit(&tables->by_key);
	tables->held = 0;
}

static struct error *add_table(const struct dwarf_sections *sections,
			       const struct dwarf_unit *unit,
			       struct dwarf_tables *tables)
{
	struct reader r = dwarf_reader(sections, &sections->abbrev,
				       unit->abbrev_offset);
	struct dwarf_abbrevs *table = calloc(1, sizeof(*table));
	const uint8_t *start = r.pos;
	struct error *error;

	if (!table || !vec_push(&tables->list, table)) {
		free(table);
		return error_no_memory();
	}
	if (tables->read / DWARF_TABLES_FACTOR > sections->abbrev.size)
		return NULL;
	error = read_table(&r, &unit->encoding, table);
	sort_table(table);
	tables->read += (uint64_t)(r.pos - start);
	tables->held += sizeof(*table) +
			table->list.capacity * sizeof(*table->list.data) +
			table->specs.capacity * sizeof(*table->specs.data);
	return error;
}

struct error *dwarf_unit_abbrevs(const struct dwarf_sections *sections,
				 struct dwarf_tables *tables,
				 struct dwarf_unit *unit)
{
	const struct dwarf_encoding *e = &unit->encoding;
	/* What dwarf_form_size() depends on. */
	uint64_t key = unit->abbrev_offset << 2 | (e->address_size == 8) << 1 |
		       (e->offset_size == 8);
	struct error *error = NULL;
	uint64_t *index;

	if (unit->abbrevs)
		return NULL;
	index = map_insert(&tables->by_key, key, tables->list.count, NULL);
	if (!index)
		return error_no_memory();
	/* Also where memory ran out before. */
	if (*index == tables->list.count)
		error = add_table(sections, unit, tables);
	if (!error)
		unit->abbrevs = tables->list.data[*index];
	return error;
}

/* Compilers number them from 1 on, without gaps. */
static const struct dwarf_abbrev *find_abbrev(const struct dwarf_unit *unit,
					      uint64_t code)
{
	const struct dwarf_abbrevs *table = unit->abbrevs;
	size_t at;

	if (code - 1 < table->list.count &&
	    table->list.data[code - 1].code == code &&
	    (code == 1 || table->list.data[code - 2].code < code))
		return &table->list.data[code - 1];
	at = vec_lower_bound(&table->list, code, code);
	if (at == table->list.count || table->list.data[at].code != code)
		return NULL;
	return &table->list.data[at];
}

/* --- DIEs --------------------------------------------------------------- */

static uint64_t number_of(const struct dwarf_value *value,
			  enum dwarf_class class)
{
	return value->class == class ? value->number : 0;
}

static void take_attribute(struct dwarf_die *die, uint32_t attribute,
			   const struct dwarf_value *value)
{
	switch (attribute) {
	case DW_AT_sibling:
		die->sibling = number_of(value, DWARF_REFERENCE);
		break;
	case DW_AT_name:
		die->name = *value;
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		die->linkage_name = *value;
		break;
	case DW_AT_low_pc:
		die->low_pc = *value;
		break;
	case DW_AT_high_pc:
		die->high_pc = *value;
		break;
	case DW_AT_ranges:
		die->ranges = *value;
		break;
	case DW_AT_comp_dir:
		die->comp_dir = *value;
		break;
	case DW_AT_stmt_list:
		die->stmt_list = *value;
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		die->origin = number_of(value, DWARF_REFERENCE);
		break;
	case DW_AT_call_file:
		die->call_file = number_of(value, DWARF_CONSTANT);
		break;
	case DW_AT_language:
		die->language = number_of(value, DWARF_CONSTANT);
		break;
	case DW_AT_call_line:
		die->call_line = number_of(value, DWARF_CONSTANT);
		break;
	}
}

/* What a DIE begins with; *ret is NULL for the end of a list of siblings. */
static bool read_code(struct reader *r, const struct dwarf_unit *unit,
		      const struct dwarf_abbrev **ret)
{
	uint64_t code;

	if ((uint64_t)(r->pos - r->start) >= unit->end ||
	    !reader_uleb128(r, &code))
		return false;
	*ret = code ? find_abbrev(unit, code) : NULL;
	r->failed |= code && !*ret;
	return !r->failed;
}

static bool skip_attributes(struct reader *r, const struct dwarf_unit *unit,
			    const struct dwarf_abbrev *abbrev)
{
	struct dwarf_value value;

	if (abbrev->size >= 0)
		return reader_skip(r, (size_t)abbrev->size);
	for (uint32_t i = 0; i < abbrev->spec_count; i++) {
		const struct dwarf_spec *spec =
			&unit->abbrevs->specs.data[abbrev->first_spec + i];

		if (spec->size >= 0 ?
			    !reader_skip(r, (size_t)spec->size) :
			    !dwarf_read_form(r, &unit->encoding, spec->form,
					     spec->implicit, &value))
			return false;
	}
	return true;
}

static bool read_attributes(struct reader *r, const struct dwarf_unit *unit,
			    const struct dwarf_abbrev *abbrev,
			    struct dwarf_die *die)
{
	for (uint32_t i = 0; i < abbrev->spec_count; i++) {
		const struct dwarf_spec *spec =
			&unit->abbrevs->specs.data[abbrev->first_spec + i];
		struct dwarf_value value;

		if (!dwarf_read_form(r, &unit->encoding, spec->form,
				     spec->implicit, &value))
			return false;
		take_attribute(die, spec->attribute, &value);
	}
	return true;
}

bool dwarf_die_read(struct reader *r, const struct dwarf_unit *unit,
		    struct dwarf_die *ret)
{
	struct dwarf_die die = { .offset = (uint64_t)(r->pos - r->start) };
	const struct dwarf_abbrev *abbrev;

	if (!read_code(r, unit, &abbrev))
		return false;
	if (abbrev) {
		die.tag = abbrev->tag;
		die.has_children = abbrev->has_children;
		if (!read_attributes(r, unit, abbrev, &die))
			return false;
	}
	*ret = die;
	return true;
}

bool dwarf_die_read_function(struct reader *r, const struct dwarf_unit *unit,
			     struct dwarf_die *ret)
{
	struct reader start = *r;
	const struct dwarf_abbrev *abbrev;

	if (!read_code(r, unit, &abbrev))
		return false;
	if (abbrev && (abbrev->tag == DW_TAG_subprogram ||
		       abbrev->tag == DW_TAG_inlined_subroutine)) {
		*r = start;
		return dwarf_die_read(r, unit, ret);
	}
	ret->offset = (uint64_t)(start.pos - start.start);
	ret->tag = abbrev ? abbrev->tag : 0;
	ret->has_children = abbrev && abbrev->has_children;
	return !abbrev || skip_attributes(r, unit, abbrev);
}

/* The bases stand in the first DIE itself, behind what may need them. */
static void take_bases(const struct dwarf_sections *sections,
		       struct dwarf_unit *unit)
{
	struct reader r =
		dwarf_reader(sections, &sections->info, unit->first_die);
	struct dwarf_encoding *e = &unit->encoding;
	const struct dwarf_abbrev *abbrev;
	uint64_t code;

	if (!reader_uleb128(&r, &code) || !(abbrev = find_abbrev(unit, code)))
		return;
	for (uint32_t i = 0; i < abbrev->spec_count; i++) {
		const struct dwarf_spec *spec =
			&unit->abbrevs->specs.data[abbrev->first_spec + i];
		struct dwarf_value value;

		if (!dwarf_read_form(&r, e, spec->form, spec->implicit,
				     &value))
			return;
		if (spec->attribute == DW_AT_str_offsets_base)
			e->str_offsets_base = value.number;
		else if (spec->attribute == DW_AT_addr_base)
			e->addr_base = value.number;
		else if (spec->attribute == DW_AT_rnglists_base)
			e->rnglists_base = value.number;
	}
}

struct error *dwarf_unit_root(const struct dwarf_sections *sections,
			      struct dwarf_tables *tables,
			      struct dwarf_unit *unit, struct dwarf_die *ret)
{
	struct reader r =
		dwarf_reader(sections, &sections->info, unit->first_die);
	struct error *error = dwarf_unit_abbrevs(sections, tables, unit);
	struct dwarf_die die = {};

	if (error)
		return error;
	take_bases(sections, unit);
	if (dwarf_die_read(&r, unit, &die)) {
		if (!dwarf_address(sections, &unit->encoding, &die.low_pc,
				   &unit->low_pc))
			unit->low_pc = 0;
		unit->name = dwarf_string(sections, &unit->encoding, &die.name);
		unit->comp_dir = dwarf_string(sections, &unit->encoding,
					      &die.comp_dir);
		unit->language = die.language;
		unit->has_lines = die.stmt_list.class == DWARF_OFFSET ||
				  die.stmt_list.class == DWARF_CONSTANT;
		unit->line_offset = die.stmt_list.number;
	}
	*ret = die;
	return NULL;
}

/* --- Ranges ------------------------------------------------------------- */

static bool push_range(dwarf_range_vec *ranges, uint64_t start, uint64_t end)
{
	/* Linkers leave 0 or -1 where they dropped the code. */
	if (!start || start >= end)
		return true;
	return vec_push(ranges, (struct dwarf_range){ start, end });
}

/* .debug_ranges, up to DWARF 4. */
static struct error *read_ranges(struct reader *r, uint8_t size, uint64_t base,
				 uint64_t *room, dwarf_range_vec *ret)
{
	uint64_t largest = size == 4 ? UINT32_MAX : UINT64_MAX;

	for (int i = 0; i < RANGES_MAX && *room; i++, (*room)--) {
		uint64_t start, end;

		dwarf_read_address(r, size, &start);
		dwarf_read_address(r, size, &end);
		if (r->failed || (!start && !end))
			break;
		if (start == largest)
			base = end;
		/* Of code that was dropped, both are the same. */
		else if (start != end &&
			 !push_range(ret, base + start, base + end))
			return error_no_memory();
	}
	return NULL;
}

struct rnglist {
	const struct dwarf_sections *sections;
	const struct dwarf_encoding *encoding;
	struct reader r;
	uint64_t base;
};

static uint64_t rnglist_index(struct rnglist *list)
{
	struct dwarf_value value = { .class = DWARF_ADDRESS_INDEX };
	uint64_t address;

	if (!reader_uleb128(&list->r, &value.number) ||
	    !dwarf_address(list->sections, list->encoding, &value, &address))
		return 0;
	return address;
}

static uint64_t rnglist_address(struct rnglist *list)
{
	uint64_t address;

	dwarf_read_address(&list->r, list->encoding->address_size, &address);
	return address;
}

static uint64_t rnglist_number(struct rnglist *list)
{
	uint64_t number;

	reader_uleb128(&list->r, &number);
	return number;
}

/* One entry; false at the end. A change of the base leaves *range empty. */
static bool rnglist_next(struct rnglist *list, struct dwarf_range *range)
{
	uint8_t kind;

	*range = (struct dwarf_range){};
	if (!reader_u8(&list->r, &kind))
		return false;
	switch (kind) {
	case DW_RLE_base_addressx:
		list->base = rnglist_index(list);
		break;
	case DW_RLE_base_address:
		list->base = rnglist_address(list);
		break;
	case DW_RLE_startx_endx:
		range->start = rnglist_index(list);
		range->end = rnglist_index(list);
		break;
	case DW_RLE_startx_length:
		range->start = rnglist_index(list);
		range->end = range->start + rnglist_number(list);
		break;
	case DW_RLE_offset_pair:
		range->start = list->base + rnglist_number(list);
		range->end = list->base + rnglist_number(list);
		break;
	case DW_RLE_start_end:
		range->start = rnglist_address(list);
		range->end = rnglist_address(list);
		break;
	case DW_RLE_start_length:
		range->start = rnglist_address(list);
		range->end = range->start + rnglist_number(list);
		break;
	default:
		return false;
	}
	return !list->r.failed;
}

/* .debug_rnglists, DWARF 5. */
static struct error *read_rnglist(const struct dwarf_sections *sections,
				  const struct dwarf_unit *unit,
				  const struct dwarf_value *value,
				  uint64_t *room, dwarf_range_vec *ret)
{
	const struct dwarf_encoding *e = &unit->encoding;
	struct rnglist list = { .sections = sections,
				.encoding = e,
				.base = unit->low_pc };
	uint64_t offset = value->number;
	struct dwarf_range range;

	if (value->class == DWARF_RANGES_INDEX) {
		struct reader table;

		if (value->number > sections->rnglists.size / 4)
			return NULL;
		table = dwarf_reader(sections, &sections->rnglists,
				     e->rnglists_base +
					     value->number * e->offset_size);
		if (table.failed ||
		    !dwarf_read_offset(&table, e->offset_size, &offset))
			return NULL;
		offset += e->rnglists_base;
	}
	list.r = dwarf_reader(sections, &sections->rnglists, offset);
	for (int i = 0; i < RANGES_MAX && *room && rnglist_next(&list, &range);
	     i++, (*room)--)
		if (!push_range(ret, range.start, range.end))
			return error_no_memory();
	return NULL;
}

struct error *dwarf_die_ranges(const struct dwarf_sections *sections,
			       const struct dwarf_unit *unit,
			       const struct dwarf_die *die, uint64_t *room,
			       dwarf_range_vec *ret)
{
	const struct dwarf_encoding *e = &unit->encoding;
	struct reader r;
	uint64_t low, high;

	if (die->ranges.class == DWARF_OFFSET ||
	    die->ranges.class == DWARF_CONSTANT ||
	    die->ranges.class == DWARF_RANGES_INDEX) {
		if (e->version >= 5)
			return read_rnglist(sections, unit, &die->ranges, room,
					    ret);
		r = dwarf_reader(sections, &sections->ranges,
				 die->ranges.number);
		return read_ranges(&r, e->address_size, unit->low_pc, room, ret);
	}
	if (!dwarf_address(sections, e, &die->low_pc, &low))
		return NULL;
	if (die->high_pc.class == DWARF_CONSTANT)
		high = low + die->high_pc.number;
	else if (!dwarf_address(sections, e, &die->high_pc, &high))
		return NULL;
	return push_range(ret, low, high) ? NULL : error_no_memory();
}
