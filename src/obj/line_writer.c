// SPDX-License-Identifier: GPL-2.0-only
#include "obj/line_writer.h"

#include <string.h>

#include "obj/dwarf_put.h"

/* The length in front of a table. */
#define LENGTH_SIZE 4

static uint64_t find_file(struct line_writer *w, const char *name)
{
	for (uint64_t key = hash_string(name);; key++) {
		uint64_t *index = map_find(&w->by_hash, key);

		if (index && !strcmp(w->files.data[*index], name))
			return *index + 1;
		if (index)
			continue;
		if (!map_insert(&w->by_hash, key, w->files.count, NULL) ||
		    !vec_push(&w->files, name))
			return 0;
		return w->files.count;
	}
}

uint64_t line_writer_file(struct line_writer *w, const char *name)
{
	uint64_t number = w->latest == name ? w->latest_number :
					      find_file(w, name);

	if (number) {
		w->latest = name;
		w->latest_number = number;
	}
	return number;
}

void line_writer_deinit(struct line_writer *w)
{
	vec_deinit(&w->files);
	map_deinit(&w->by_hash);
}

static void append(struct line_writer *w, const uint8_t *bytes, struct put end)
{
	strbuf_append(w->out, bytes, (size_t)(end.at - bytes));
}

void line_writer_begin(struct line_writer *w, struct strbuf *out)
{
	uint8_t head[DWARF_PUT_LINE_HEAD];
	struct put p = { head };
	size_t names_size = 0;

	w->out = out;
	w->start = out->len;
	vec_for_each(name, &w->files)
		names_size += dwarf_put_file_size(*name);
	dwarf_put_line_head(&p, 0, (uint32_t)names_size);
	append(w, head, p);
	strbuf_fill(out, '\0', names_size + 1);
	if (out->failed)
		return;
	p.at = (uint8_t *)out->data + out->len - names_size - 1;
	vec_for_each(name, &w->files)
		dwarf_put_file(&p, *name);
}

void line_writer_sequence(struct line_writer *w, uint64_t address)
{
	uint8_t bytes[DWARF_PUT_LINE_MAX];
	struct put p = { bytes };

	dwarf_put_line_begin(&p, address);
	append(w, bytes, p);
}

void line_writer_set_file(struct line_writer *w, uint64_t number)
{
	uint8_t bytes[DWARF_PUT_LINE_MAX];
	struct put p = { bytes };

	dwarf_put_line_file(&p, number);
	append(w, bytes, p);
}

void line_writer_row(struct line_writer *w, int64_t line_step,
		     uint64_t pc_step)
{
	uint8_t bytes[DWARF_PUT_LINE_MAX];
	struct put p = { bytes };

	dwarf_put_line_row(&p, line_step, pc_step);
	append(w, bytes, p);
}

void line_writer_end_sequence(struct line_writer *w, uint64_t pc_step)
{
	uint8_t bytes[DWARF_PUT_LINE_MAX];
	struct put p = { bytes };

	dwarf_put_line_end(&p, pc_step);
	append(w, bytes, p);
}

void line_writer_end(struct line_writer *w)
{
	struct put p;

	if (w->out->failed)
		return;
	p.at = (uint8_t *)w->out->data + w->start;
	put_u32(&p, (uint32_t)(w->out->len - w->start - LENGTH_SIZE));
}
