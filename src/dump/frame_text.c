// SPDX-License-Identifier: GPL-2.0-only
#include "dump/frame_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/path_name.h"
#include "view/fit.h"
#include "view/printable.h"

enum {
	/* Columns that a path has at least, and a function's name at most. */
	PATH_MIN = 24,
};

void frame_text_line(struct strbuf *out, const char *text, size_t width)
{
	fit_begin(out, text, strlen(text), width);
	strbuf_putc(out, '\n');
}

/* The names of its files say enough. */
static void put_native_place(const struct dump_frame *frame, struct strbuf *out)
{
	strbuf_puts(out, frame->is_inlined ? "inlined" : path_name(frame->file));
	if (frame->source)
		strbuf_printf(out, ", %s:%" PRIu32, path_name(frame->source),
			      frame->source_line);
}

static void put_place(const struct dump_frame *frame, struct strbuf *out)
{
	if (frame->kind == DUMP_FRAME_NATIVE)
		put_native_place(frame, out);
	else if (frame->line)
		strbuf_printf(out, "%s:%" PRIu32, frame->file, frame->line);
	else
		strbuf_puts(out, frame->file);
}

/* "    function (path:line)": where that is too wide the path loses its beginning first. */
static void put_frame(const struct dump_frame *frame, size_t width,
		      size_t indent, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf place = STRBUF_INIT;
	size_t around = indent + strlen(" ()");
	size_t name = printable_width(frame->function, strlen(frame->function));
	size_t wide, room = width > around + 2 * PATH_MIN ?
				    width - around :
				    2 * PATH_MIN;

	put_place(frame, &place);
	if (!place.len) {
		strbuf_fill(out, ' ', indent);
		frame_text_line(out, frame->function, room);
		return;
	}
	wide = printable_width(place.data, place.len);
	if (name + wide > room && name > room - PATH_MIN)
		name = room - (wide < PATH_MIN ? wide : PATH_MIN);
	if (wide > room - name)
		wide = room - name;
	strbuf_fill(out, ' ', indent);
	fit_name(out, frame->function, name);
	strbuf_puts(out, " (");
	fit_end(out, place.data, wide);
	strbuf_puts(out, ")\n");
}

static void put_source(const struct dump_frame *frame,
		       const struct dump_words *words, size_t indent,
		       struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	size_t start = out->len;

	if (!words->put_source || !frame->line)
		return;
	words->put_source(words->arg, frame->file, frame->line, &line);
	if (!line.len)
		return;
	strbuf_fill(out, ' ', indent + 2);
	strbuf_puts(out, "| ");
	fit_code(out, &line, words->width - (out->len - start));
	strbuf_putc(out, '\n');
}

void frame_text(const struct dump_frame *frame, const struct dump_words *words,
		size_t indent, struct strbuf *out)
{
	put_frame(frame, words->width, indent, out);
	put_source(frame, words, indent, out);
}

void frame_text_locals(const struct dump_locals *locals,
		       const struct dump_frame *frame, size_t width,
		       size_t indent, struct strbuf *out)
{
	for (uint32_t i = 0; i < frame->local_count; i++) {
		_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
		const struct dump_local *local =
			&locals->list.data[frame->first_local + i];

		strbuf_fill(&line, ' ', indent);
		strbuf_printf(&line, "%s%s = %s",
			      local->is_argument ? "arg " : "",
			      locals->text.data + local->name,
			      locals->text.data + local->value);
		frame_text_line(out, line.data, width);
	}
}
