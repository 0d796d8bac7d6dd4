// SPDX-License-Identifier: GPL-2.0-only
#include "view/fit.h"

#include <string.h>

#include "view/printable.h"

/* What has no place on a terminal is '?'. */
static void put(struct strbuf *out, const char *s, size_t n)
{
	struct printable p;

	for (size_t at = 0, bytes; at < n; at += bytes) {
		bytes = printable_next(s + at, n - at, &p);
		if (p.ch == L'?')
			strbuf_putc(out, '?');
		else
			strbuf_append(out, s + at, bytes);
	}
}

#define DOTS "..."
enum { DOTS_WIDTH = 3 };

/* Bytes at the beginning of s that are left out to have `width` columns. */
static size_t cut_beginning(const char *s, size_t n, size_t width)
{
	size_t left = printable_width(s, n), at = 0;
	struct printable p;

	while (at < n && left > width) {
		at += printable_next(s + at, n - at, &p);
		left -= (size_t)p.width;
	}
	return at;
}

/* "outer.<locals>.inner" loses all in front of "inner", if any of it. */
static size_t behind_locals(const char *s, size_t at)
{
	const char *const mark = "<locals>.";
	const char *last = NULL;

	for (const char *p = s; (p = strstr(p, mark)); p += strlen(mark))
		last = p + strlen(mark);
	return last && last > s + at ? (size_t)(last - s) : at;
}

void fit_end(struct strbuf *out, const char *s, size_t width)
{
	size_t n = strlen(s), used = printable_width(s, n), at;

	if (used <= width) {
		put(out, s, n);
	} else {
		at = cut_beginning(s, n,
				   width > DOTS_WIDTH ? width - DOTS_WIDTH : 0);
		at = behind_locals(s, at);
		strbuf_puts(out, DOTS);
		put(out, s + at, n - at);
		used = DOTS_WIDTH + printable_width(s + at, n - at);
	}
	if (used < width)
		strbuf_fill(out, ' ', width - used);
}

void fit_begin(struct strbuf *out, const char *s, size_t n, size_t width)
{
	size_t at = 0, used = 0, room;
	struct printable p;

	if (printable_width(s, n) <= width) {
		put(out, s, n);
		return;
	}
	room = width > DOTS_WIDTH ? width - DOTS_WIDTH : 0;
	while (at < n) {
		size_t bytes = printable_next(s + at, n - at, &p);

		if (used + (size_t)p.width > room)
			break;
		used += (size_t)p.width;
		at += bytes;
	}
	put(out, s, at);
	strbuf_puts(out, DOTS);
}

void fit_code(struct strbuf *out, struct strbuf *line, size_t width)
{
	size_t indent = strspn(line->data, " \t\f");

	for (char *c = line->data + indent; *c; c++)
		if (*c == '\t')
			*c = ' ';
	fit_begin(out, line->data + indent, line->len - indent, width);
}

void fit_share(size_t room, size_t *a, size_t *b)
{
	if (*a + *b <= room)
		return;
	if (*a <= room / 2) {
		*b = room - *a;
	} else if (*b <= room / 2) {
		*a = room - *b;
	} else {
		*a = room / 2;
		*b = room - *a;
	}
}

/* Bytes of a line up to where it is broken: its last blank that fits, or later. */
static size_t break_at(const char *s, size_t n, size_t width)
{
	size_t at = 0, used = 0, last = 0;
	struct printable p;

	while (at < n && (used <= width || !last)) {
		if (at && s[at] == ' ' && s[at - 1] != ' ')
			last = at;
		at += printable_next(s + at, n - at, &p);
		used += (size_t)p.width;
	}
	return used <= width || !last ? n : last;
}

void fit_lines(struct strbuf *out, const char *text, size_t width)
{
	static const char indent[] = "  ";

	while (*text) {
		size_t n = strcspn(text, "\n"), room = width;

		for (size_t at; (at = break_at(text, n, room)) < n;) {
			strbuf_append(out, text, at);
			strbuf_printf(out, "\n%s", indent);
			at += strspn(text + at, " ");
			text += at;
			n -= at;
			room = width > strlen(indent) ? width - strlen(indent) : 0;
		}
		strbuf_append(out, text, n);
		strbuf_putc(out, '\n');
		text += n + (text[n] == '\n');
	}
}
