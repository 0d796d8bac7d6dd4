// SPDX-License-Identifier: GPL-2.0-only
#include "view/script.h"

#include <inttypes.h>
#include <string.h>

/* Width of an address. */
enum { ADDRESS_WIDTH = 16 };

/* Lower-case hexadecimal, padded on the left; printf is too slow here. */
static void put_hex(struct strbuf *out, uint64_t value, size_t width)
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

/* A name from the recording must not command the terminal. */
static void put_name(struct strbuf *out, const char *name)
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
	put_name(out, name);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_srcline(struct strbuf *out, const struct script_frame *frame)
{
	if (!frame->dso && !frame->file)
		return;
	strbuf_puts(out, "\n  ");
	if (frame->file) {
		put_name(out, last_part(frame->file));
		strbuf_printf(out, ":%" PRIu32, frame->line);
		return;
	}
	put_name(out, last_part(frame->dso));
	strbuf_printf(out, "[%" PRIx64 "]", frame->rel);
}

static void put_frame(struct strbuf *out, const struct script_frame *frame,
		      unsigned int fields)
{
	put_hex(out, frame->address, ADDRESS_WIDTH);
	strbuf_putc(out, ' ');
	if (frame->name) {
		put_name(out, frame->name);
		strbuf_append(out, "+0x", 3);
		put_hex(out, frame->offset, 0);
	} else {
		strbuf_puts(out, "[unknown]");
	}
	strbuf_append(out, " (", 2);
	put_name(out, frame->dso ? frame->dso : "[unknown]");
	strbuf_putc(out, ')');
	if (fields & SCRIPT_SRCLINE)
		put_srcline(out, frame);
}

static void put_time(struct strbuf *out, const struct script_sample *sample)
{
	uint64_t seconds = sample->time / 1000000000;
	uint64_t ns = sample->time % 1000000000;

	if (sample->fields & SCRIPT_NS)
		strbuf_printf(out, "%5" PRIu64 ".%09" PRIu64 ": ", seconds, ns);
	else
		strbuf_printf(out, "%5" PRIu64 ".%06" PRIu64 ": ", seconds,
			      ns / 1000);
}

static void put_head(struct strbuf *out, const struct script_sample *s)
{
	put_padded(out, s->comm, s->has_chain ? 0 : 16);
	strbuf_putc(out, ' ');
	if (s->fields & SCRIPT_PID)
		strbuf_printf(out, "%7" PRId32 "/%-7" PRId32 " ", s->pid,
			      s->tid);
	else if (s->fields & SCRIPT_TID)
		strbuf_printf(out, "%7" PRId32 " ", s->tid);
	if (s->fields & SCRIPT_CPU)
		strbuf_printf(out, "[%03" PRId32 "] ", s->cpu);
	if (s->fields & SCRIPT_TIME)
		put_time(out, s);
	if (s->fields & SCRIPT_PERIOD)
		strbuf_printf(out, "%10" PRIu64 " ", s->period);
	put_padded(out, s->event, (size_t)s->event_width);
	strbuf_append(out, ": ", 2);
}

void script_format(const struct script_sample *sample, struct strbuf *out)
{
	put_head(out, sample);
	if (!(sample->fields & SCRIPT_IP)) {
		strbuf_putc(out, '\n');
		return;
	}
	if (!sample->has_chain) {
		strbuf_putc(out, ' ');
		if (sample->count)
			put_frame(out, sample->frames, sample->fields);
		strbuf_putc(out, '\n');
		return;
	}
	strbuf_putc(out, '\n');
	for (size_t i = 0; i < sample->count; i++) {
		strbuf_putc(out, '\t');
		put_frame(out, &sample->frames[i], sample->fields);
		strbuf_putc(out, '\n');
	}
	strbuf_putc(out, '\n');
}
