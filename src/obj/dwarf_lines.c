// SPDX-License-Identifier: GPL-2.0-only
#include "obj/dwarf_lines.h"

#include <stdlib.h>
#include <string.h>

#include "obj/dwarf_codes.h"

enum {
	/* Folders, and files, of one table. */
	NAMES_MAX = 1 << 20,
	FORMATS_MAX = 64,
};

#define END_OF_SEQUENCE UINT32_MAX

struct line_header {
	struct dwarf_encoding encoding;
	uint8_t min_length;
	uint8_t line_range;
	int8_t line_base;
	uint8_t opcode_base;
	/* Operands of standard opcodes. */
	uint8_t operands[256];
};

void dwarf_lines_deinit(struct dwarf_lines *lines)
{
	vec_deinit(&lines->rows);
	vec_deinit(&lines->folders);
	vec_deinit(&lines->files);
}

/* --- Folders and files -------------------------------------------------- */

static struct error *read_file_v4(struct reader *r, const char *name,
				  struct dwarf_lines *lines)
{
	struct dwarf_file file = { .name = name };
	uint64_t time, size;

	reader_uleb128(r, &file.folder);
	reader_uleb128(r, &time);
	reader_uleb128(r, &size);
	if (r->failed)
		return NULL;
	return vec_push(&lines->files, file) ? NULL : error_no_memory();
}

/* Both lists end with an empty name; number 0 is the unit's own. */
static struct error *read_names_v4(struct reader *r,
				   const struct dwarf_unit *unit,
				   struct dwarf_lines *lines)
{
	struct dwarf_file own = { .name = unit->name };
	const char *name;
	struct error *error = NULL;

	if (!vec_push(&lines->folders, unit->comp_dir) ||
	    !vec_push(&lines->files, own))
		return error_no_memory();
	while ((name = reader_cstr(r, NULL)) && *name)
		if (!vec_push(&lines->folders, name))
			return error_no_memory();
	while (!error && (name = reader_cstr(r, NULL)) && *name)
		error = read_file_v4(r, name, lines);
	return error;
}

struct entry_format {
	struct {
		uint64_t content;
		uint64_t form;
	} fields[FORMATS_MAX];
	uint8_t count;
};

static bool read_entry_format(struct reader *r, struct entry_format *ret)
{
	if (!reader_u8(r, &ret->count) || ret->count > FORMATS_MAX)
		return false;
	for (int i = 0; i < ret->count; i++) {
		reader_uleb128(r, &ret->fields[i].content);
		reader_uleb128(r, &ret->fields[i].form);
	}
	return !r->failed;
}

static bool read_entry(struct reader *r, const struct dwarf_sections *sections,
		       const struct dwarf_encoding *encoding,
		       const struct entry_format *format,
		       struct dwarf_file *ret)
{
	*ret = (struct dwarf_file){};
	for (int i = 0; i < format->count; i++) {
		struct dwarf_value value;

		if (!dwarf_read_form(r, encoding, format->fields[i].form, 0,
				     &value))
			return false;
		if (format->fields[i].content == DW_LNCT_path)
			ret->name = dwarf_string(sections, encoding, &value);
		else if (format->fields[i].content == DW_LNCT_directory_index)
			ret->folder = value.number;
	}
	return true;
}

/* A list of folders (files false) or files. */
static struct error *read_list_v5(struct reader *r,
				  const struct dwarf_sections *sections,
				  const struct dwarf_encoding *encoding,
				  bool files, struct dwarf_lines *lines)
{
	struct entry_format format;
	struct dwarf_file entry;
	uint64_t count;

	if (!read_entry_format(r, &format) || !reader_uleb128(r, &count) ||
	    count > NAMES_MAX) {
		r->failed = true;
		return NULL;
	}
	for (uint64_t i = 0; i < count; i++) {
		if (!read_entry(r, sections, encoding, &format, &entry))
			return NULL;
		if (files ? !vec_push(&lines->files, entry)
			  : !vec_push(&lines->folders, entry.name))
			return error_no_memory();
	}
	return NULL;
}

static char *join(struct arena *arena, const char *folder, const char *name)
{
	size_t n = strlen(folder), m = strlen(name);
	char *path = arena_alloc(arena, n + m + 2);

	if (!path)
		return NULL;
	memcpy(path, folder, n);
	path[n] = '/';
	memcpy(path + n + 1, name, m + 1);
	return path;
}

const char *dwarf_lines_file(struct dwarf_lines *lines, uint64_t file,
			     struct arena *arena)
{
	struct dwarf_file *f;
	const char *folder = NULL;

	if (file >= lines->files.count)
		return NULL;
	f = &lines->files.data[file];
	if (f->path || !f->name)
		return f->path;
	if (f->folder < lines->folders.count)
		folder = lines->folders.data[f->folder];
	f->path = f->name;
	if (*f->name == '/' || !folder || !*folder)
		return f->path;
	f->path = join(arena, folder, f->name);
	if (f->path && *folder != '/' && lines->comp_dir && *lines->comp_dir)
		f->path = join(arena, lines->comp_dir, f->path);
	return f->path;
}

/* --- The program -------------------------------------------------------- */

struct line_state {
	uint64_t address;
	uint64_t file;
	uint64_t line;
};

static bool push_row(struct dwarf_lines *lines, const struct line_state *state,
		     bool end)
{
	struct dwarf_row row = {
		.address = state->address,
		.file = state->file > UINT32_MAX ? UINT32_MAX
						 : (uint32_t)state->file,
		.line = state->line >= END_OF_SEQUENCE ? 0
						       : (uint32_t)state->line,
	};

	if (end)
		row.line = END_OF_SEQUENCE;
	return vec_push(&lines->rows, row);
}

static struct error *run_extended(struct reader *r,
				  const struct line_header *h,
				  struct line_state *state,
				  struct dwarf_lines *lines)
{
	const struct line_state fresh = { .file = 1, .line = 1 };
	struct reader sub;
	uint64_t length;
	uint8_t opcode;

	if (!reader_uleb128(r, &length) || length > reader_left(r)) {
		r->failed = true;
		return NULL;
	}
	sub = reader_sub(r, (size_t)length);
	sub.big_endian = r->big_endian;
	if (!reader_u8(&sub, &opcode))
		return NULL;
	if (opcode == DW_LNE_set_address) {
		dwarf_read_address(&sub, h->encoding.address_size,
				   &state->address);
	} else if (opcode == DW_LNE_end_sequence) {
		if (!push_row(lines, state, true))
			return error_no_memory();
		*state = fresh;
	} else if (opcode == DW_LNE_define_file) {
		return read_file_v4(&sub, reader_cstr(&sub, NULL), lines);
	}
	return NULL;
}

static void advance(const struct line_header *h, struct line_state *state,
		    uint64_t operations)
{
	state->address += operations * h->min_length;
}

static void skip_operands(struct reader *r, uint8_t count)
{
	uint64_t operand;

	while (count--)
		reader_uleb128(r, &operand);
}

static struct error *run_standard(struct reader *r, const struct line_header *h,
				  uint8_t opcode, struct line_state *state,
				  struct dwarf_lines *lines)
{
	uint64_t number = 0;
	uint16_t fixed = 0;
	int64_t delta = 0;

	switch (opcode) {
	case DW_LNS_copy:
		return push_row(lines, state, false) ? NULL : error_no_memory();
	case DW_LNS_advance_pc:
		reader_uleb128(r, &number);
		advance(h, state, number);
		break;
	case DW_LNS_advance_line:
		reader_sleb128(r, &delta);
		state->line += (uint64_t)delta;
		break;
	case DW_LNS_set_file:
		reader_uleb128(r, &state->file);
		break;
	case DW_LNS_const_add_pc:
		advance(h, state, (255u - h->opcode_base) / h->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		reader_u16(r, &fixed);
		state->address += fixed;
		break;
	default:
		skip_operands(r, h->operands[opcode]);
		break;
	}
	return NULL;
}

static struct error *run_program(struct reader *r, const struct line_header *h,
				 struct dwarf_lines *lines)
{
	struct line_state state = { .file = 1, .line = 1 };
	struct error *error = NULL;
	uint8_t opcode;

	while (!error && lines->rows.count < DWARF_LINES_MAX &&
	       reader_left(r) && reader_u8(r, &opcode)) {
		if (opcode >= h->opcode_base) {
			unsigned int special = opcode - h->opcode_base;

			advance(h, &state, special / h->line_range);
			state.line += (uint64_t)(h->line_base +
						 (int)(special %
						       h->line_range));
			if (!push_row(lines, &state, false))
				return error_no_memory();
		} else if (opcode) {
			error = run_standard(r, h, opcode, &state, lines);
		} else {
			error = run_extended(r, h, &state, lines);
		}
		if (r->failed)
			break;
	}
	return error;
}

/* What precedes folders and files; *program is what follows them. */
static bool read_header(struct reader *r, const struct dwarf_unit *unit,
			struct line_header *h, struct reader *program)
{
	struct dwarf_encoding *e = &h->encoding;
	uint64_t length, header_length;
	uint8_t byte;

	*e = unit->encoding;
	if (!dwarf_read_offset(r, 4, &length))
		return false;
	e->offset_size = length == UINT32_MAX ? 8 : 4;
	if (e->offset_size == 8)
		reader_u64(r, &length);
	if (r->failed || length > reader_left(r))
		return false;
	r->end = r->pos + length;
	if (!reader_u16(r, &e->version) || e->version < 2 || e->version > 5)
		return false;
	if (e->version >= 5) {
		reader_u8(r, &e->address_size);
		reader_u8(r, &byte);
	}
	dwarf_read_offset(r, e->offset_size, &header_length);
	if (r->failed || header_length > reader_left(r))
		return false;
	*program = *r;
	reader_skip(program, (size_t)header_length);
	reader_u8(r, &h->min_length);
	if (e->version >= 4)
		reader_u8(r, &byte);
	reader_u8(r, &byte);
	reader_u8(r, &byte);
	h->line_base = (int8_t)byte;
	reader_u8(r, &h->line_range);
	reader_u8(r, &h->opcode_base);
	for (int i = 1; i < h->opcode_base; i++)
		reader_u8(r, &h->operands[i]);
	return !r->failed && h->line_range && h->opcode_base;
}

struct sort_row {
	struct dwarf_row row;
	size_t order;
};

/* An end of a sequence stands before what begins there. */
static int compare_rows(const void *left, const void *right)
{
	const struct sort_row *a = left, *b = right;
	bool a_ends = a->row.line == END_OF_SEQUENCE;
	bool b_ends = b->row.line == END_OF_SEQUENCE;

	if (a->row.address != b->row.address)
		return a->row.address < b->row.address ? -1 : 1;
	if (a_ends != b_ends)
		return b_ends - a_ends;
	return (a->order > b->order) - (a->order < b->order);
}

static struct error *sort_rows(struct dwarf_lines *lines)
{
	size_t count = lines->rows.count;
	_cleanup_free_ struct sort_row *rows = calloc(count + 1, sizeof(*rows));

	if (!rows)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct sort_row){ lines->rows.data[i], i };
	qsort(rows, count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < count; i++)
		lines->rows.data[i] = rows[i].row;
	return NULL;
}

struct error *dwarf_lines_read(const struct dwarf_sections *sections,
			       const struct dwarf_unit *unit, bool rows,
			       uint64_t *room, struct dwarf_lines *ret)
{
	struct reader r =
		dwarf_reader(sections, &sections->line, unit->line_offset);
	struct reader program;
	struct line_header h = {};
	struct error *error;

	*ret = (struct dwarf_lines){ .comp_dir = unit->comp_dir };
	if (!unit->has_lines || r.failed || !read_header(&r, unit, &h, &program))
		return NULL;
	if (reader_left(&r) > *room)
		return NULL;
	*room -= reader_left(&r);
	ret->version = h.encoding.version;
	if (h.encoding.version >= 5) {
		error = read_list_v5(&r, sections, &h.encoding, false, ret);
		if (!error && !r.failed)
			error = read_list_v5(&r, sections, &h.encoding, true,
					     ret);
	} else {
		error = read_names_v4(&r, unit, ret);
	}
	if (!error && rows)
		error = run_program(&program, &h, ret);
	if (!error && rows)
		error = sort_rows(ret);
	if (error)
		dwarf_lines_deinit(ret);
	return error;
}

const struct dwarf_row *dwarf_lines_find(const struct dwarf_lines *lines,
					 uint64_t address)
{
	const struct dwarf_row *row = vec_floor(&lines->rows, address, address);

	return row && row->line != END_OF_SEQUENCE ? row : NULL;
}
