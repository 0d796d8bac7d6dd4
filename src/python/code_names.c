// SPDX-License-Identifier: GPL-2.0-only
#include "python/code_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "python/layout.h"

enum {
	FILE_MAX = 4096,
	FUNCTION_MAX = 1024,
	/* As the walker has it (docs/ARCHITECTURE.md, Limits). */
	TABLE_MAX = 512 << 10,
};

static bool read_identity(struct py_objects_reader *r, uint64_t code,
			  struct code_name *ret)
{
	const struct py_layout *l = r->layout;
	uint32_t name = l->code_qualname == PY_ABSENT ? l->code_name :
							l->code_qualname;

	return py_read_pointer(r, code + l->code_filename, &ret->filename) &&
	       py_read_pointer(r, code + name, &ret->name) &&
	       py_read_pointer(r, code + l->code_lines, &ret->table) &&
	       py_read_bytes(r, code + l->code_first_line, &ret->first_line,
			     sizeof(ret->first_line));
}

static bool is_same(const struct code_name *a, const struct code_name *b)
{
	return a->filename == b->filename && a->name == b->name &&
	       a->table == b->table && a->first_line == b->first_line;
}

static char *read_text(struct py_objects_reader *r, uint64_t object, size_t max)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	return py_text_read(r, object, max, &text) ? strbuf_take(&text) : NULL;
}

static void name_deinit(struct code_name *name)
{
	free(name->file);
	free(name->function);
	py_lines_deinit(&name->lines);
}

/* Without a table it has the line of its `def` alone. */
static void read_lines(struct py_objects_reader *r, struct code_name *ret)
{
	const struct py_layout *l = r->layout;
	_cleanup_strbuf_ struct strbuf table = STRBUF_INIT;
	struct py_lines lines = {};
	struct error *error;
	uint64_t size;

	if (!py_read_pointer(r, ret->table + l->bytes_size, &size) || !size ||
	    size > TABLE_MAX || !strbuf_reserve(&table, size) ||
	    !py_read_bytes(r, ret->table + l->bytes_data, table.data, size))
		return;
	error = py_lines_decode((enum py_lines_format)l->lines_format,
				ret->first_line,
				(struct bytes){ (const uint8_t *)table.data,
						size },
				&lines);
	if (!error)
		ret->lines = lines;
	error_destroy(error);
}

static bool read_code(struct py_objects_reader *r, struct code_name *ret)
{
	ret->file = read_text(r, ret->filename, FILE_MAX);
	ret->function = read_text(r, ret->name, FUNCTION_MAX);
	if (ret->file && ret->function)
		read_lines(r, ret);
	return ret->file && ret->function;
}

static size_t bytes_of(const struct code_name *name)
{
	return strlen(name->file) + strlen(name->function) +
	       name->lines.range_count * sizeof(*name->lines.ranges) +
	       name->lines.line_count * sizeof(*name->lines.lines);
}

/* The newest one of an address is found. */
static bool add(struct code_names *names, uint64_t code,
		const struct code_name *name)
{
	uint64_t *index;

	if (!vec_push(&names->list, *name))
		return false;
	index = map_insert(&names->by_address, code, 0, NULL);
	if (!index) {
		names->list.count--;
		return false;
	}
	*index = names->list.count - 1;
	names->bytes += bytes_of(name);
	return true;
}

const struct code_name *code_names_find(struct code_names *names,
					struct py_objects_reader *r,
					uint64_t code)
{
	struct code_name read = { .code = code };
	const uint64_t *index = map_find(&names->by_address, code);

	if (!read_identity(r, code, &read))
		return NULL;
	if (index && is_same(&names->list.data[*index], &read))
		return &names->list.data[*index];
	if (names->list.count >= CODE_NAMES_MAX ||
	    names->bytes >= CODE_NAMES_BYTES_MAX) {
		names->is_full = true;
		return NULL;
	}
	if (read_code(r, &read) && add(names, code, &read))
		return vec_last(&names->list);
	name_deinit(&read);
	return NULL;
}

/* As tracebacks have it of a frame that has not begun. */
uint32_t code_name_line(const struct code_name *name, int64_t offset)
{
	uint32_t line = py_lines_find(&name->lines, offset);

	return line || (offset >= 0 && name->lines.range_count) ?
		       line :
		       name->first_line;
}

void code_names_keep(struct code_names *names)
{
	names->kept = names->list.count;
}

void code_names_forget(struct code_names *names)
{
	if (names->kept == names->list.count)
		return;
	while (names->list.count > names->kept) {
		names->bytes -= bytes_of(vec_last(&names->list));
		name_deinit(&names->list.data[--names->list.count]);
	}
	map_clear(&names->by_address);
	for (size_t i = 0; i < names->list.count; i++) {
		uint64_t *index = map_insert(&names->by_address,
					     names->list.data[i].code, i, NULL);

		if (index)
			*index = i;
	}
}

void code_names_deinit(struct code_names *names)
{
	names->kept = 0;
	code_names_forget(names);
	vec_deinit(&names->list);
	map_deinit(&names->by_address);
}

void code_names_clear(struct code_names *names)
{
	code_names_deinit(names);
	*names = (struct code_names){};
}
