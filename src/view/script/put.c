// SPDX-License-Identifier: GPL-2.0-only
#include "view/script/put.h"

#include <inttypes.h>
#include <string.h>

/* Width of an address, and digits of the largest decimal number. */
enum { ADDRESS_WIDTH = 16, DECIMAL_MAX = 20 };

/* printf is too slow for the numbers that every sample has. */
void script_put_hex(struct strbuf *out, uint64_t value, size_t width)
{
	char text[ADDRESS_WIDTH];
	size_t n = 0;

	do {
		text[ADDRESS_WIDTH - ++n] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	if (n < width)
		strbuf_fill(out, ' ', width - n);
	strbuf_append(out, text + ADDRESS_WIDTH - n, n);
}

static void put_decimal(struct strbuf *out, uint64_t value, size_t width,
			char pad)
{
	char text[DECIMAL_MAX];
	size_t n = 0;

	do {
		text[DECIMAL_MAX - ++n] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	if (n < width)
		strbuf_fill(out, pad, width - n);
	strbuf_append(out, text + DECIMAL_MAX - n, n);
}

void script_put_name(struct strbuf *out, const char *name)
{
	size_t from = out->len;

	strbuf_puts(out, name);
	for (size_t i = from; i < out->len; i++) {
		unsigned char c = (unsigned char)out->data[i];

		if (c < 0x20 || c == 0x7f)
			out->data[i] = '?';
	}
}

static void put_padded(struct strbuf *out, const char *name, size_t width)
{
	size_t n = strlen(name);

	if (n < width)
		strbuf_fill(out, ' ', width - n);
	script_put_name(out, name);
}

/* --- The start ---------------------------------------------------------- */

static void put_comm(struct strbuf *out, const struct script_start *s)
{
	if (s->latency) {
		char cut[9];

		strncpy(cut, s->comm, sizeof(cut) - 1);
		cut[sizeof(cut) - 1] = '\0';
		put_padded(out, cut, 8);
	} else {
		bool chain = s->has_chain && (s->fields & SCRIPT_IP);

		put_padded(out, s->comm, chain ? 0 : 16);
	}
	strbuf_putc(out, ' ');
}

static void put_id(struct strbuf *out, int32_t id)
{
	if (id < 0)
		strbuf_printf(out, "%7" PRId32, id);
	else
		put_decimal(out, (uint64_t)id, 7, ' ');
}

static void put_ids(struct strbuf *out, const struct script_start *s)
{
	bool both = (s->fields & SCRIPT_PID) && (s->fields & SCRIPT_TID);

	if (both) {
		strbuf_printf(out, "%7" PRId32 "/%-7" PRId32 " ", s->pid,
			      s->tid);
	} else if (s->fields & (SCRIPT_PID | SCRIPT_TID)) {
		put_id(out, s->fields & SCRIPT_PID ? s->pid : s->tid);
		strbuf_putc(out, ' ');
	}
}

static void put_time(struct strbuf *out, const struct script_start *s)
{
	uint64_t ns = s->time % 1000000000;

	put_decimal(out, s->time / 1000000000, 5, ' ');
	strbuf_putc(out, '.');
	if (s->ns)
		put_decimal(out, ns, 9, '0');
	else
		put_decimal(out, ns / 1000, 6, '0');
	strbuf_append(out, ": ", 2);
}

static void put_misc(struct strbuf *out, const char *letters)
{
	size_t n = strlen(letters);

	strbuf_append(out, letters, n);
	strbuf_fill(out, ' ', n < 6 ? 6 - n : 1);
}

void script_put_start(struct strbuf *out, const struct script_start *s)
{
	if (s->fields & SCRIPT_COMM)
		put_comm(out, s);
	put_ids(out, s);
	if (s->fields & SCRIPT_CPU)
		strbuf_printf(out, s->latency ? "%3" PRId32 " " :
						"[%03" PRId32 "] ",
			      s->cpu);
	if (s->fields & SCRIPT_MISC)
		put_misc(out, s->misc);
	if (s->fields & SCRIPT_TOD)
		strbuf_printf(out, "%s ", s->tod ? s->tod : "disabled");
	if (s->fields & SCRIPT_TIME)
		put_time(out, s);
}

void script_put_event(struct strbuf *out, uint64_t fields, uint64_t period,
		      const char *name, int name_width)
{
	if (fields & SCRIPT_PERIOD) {
		put_decimal(out, period, 10, ' ');
		strbuf_putc(out, ' ');
	}
	if (fields & SCRIPT_EVENT) {
		put_padded(out, name, (size_t)name_width);
		strbuf_append(out, ": ", 2);
	}
	/* What a processor's trace would say of a branch. */
	if (fields & SCRIPT_FLAGS)
		strbuf_fill(out, ' ', 24);
}

/* --- Places in code ----------------------------------------------------- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_srcline(struct strbuf *out, const struct script_frame *frame)
{
	if (!frame->dso_name && !frame->file)
		return;
	strbuf_puts(out, "\n  ");
	if (frame->file) {
		script_put_name(out, frame->full_path ? frame->file :
							last_part(frame->file));
		strbuf_printf(out, ":%" PRIu32, frame->line);
		return;
	}
	script_put_name(out, frame->dso_name);
	strbuf_printf(out, "[%" PRIx64 "]", frame->rel);
}

static void put_dso(struct strbuf *out, uint64_t fields,
		    const struct script_frame *frame)
{
	strbuf_append(out, " (", 2);
	script_put_name(out, frame->dso ? frame->dso : "[unknown]");
	if ((fields & SCRIPT_DSOFF) && frame->dso && frame->is_file) {
		strbuf_append(out, "+0x", 3);
		script_put_hex(out, frame->file_offset, 0);
	}
	strbuf_putc(out, ')');
}

void script_put_symbol(struct strbuf *out, uint64_t fields,
		       const struct script_frame *frame)
{
	if (fields & SCRIPT_SYM) {
		strbuf_putc(out, ' ');
		script_put_name(out, frame->name ? frame->name : "[unknown]");
		if (frame->name && (fields & SCRIPT_SYMOFF)) {
			strbuf_append(out, "+0x", 3);
			script_put_hex(out, frame->offset, 0);
		}
	}
	if ((fields & SCRIPT_DSO) && !frame->is_inlined)
		put_dso(out, fields, frame);
}

void script_put_place(struct strbuf *out, uint64_t fields,
		      const struct script_frame *frame)
{
	script_put_hex(out, frame->address, ADDRESS_WIDTH);
	script_put_symbol(out, fields, frame);
	if (fields & SCRIPT_SRCLINE)
		put_srcline(out, frame);
}

void script_put_chain(struct strbuf *out, uint64_t fields,
		      const struct script_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		strbuf_putc(out, '\t');
		script_put_place(out, fields, &frames[i]);
		if (frames[i].is_inlined)
			strbuf_puts(out, " (inlined)");
		strbuf_putc(out, '\n');
	}
}
