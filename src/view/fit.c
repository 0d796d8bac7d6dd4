// SPDX-License-Identifier: GPL-2.0-only
#include "view/fit.h"

#include <ctype.h>
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

/* Bytes at the beginning of s that fit into `width` columns. */
static size_t bytes_in(const char *s, size_t n, size_t width)
{
	size_t at = 0, used = 0, bytes;
	struct printable p;

	for (; at < n; at += bytes) {
		bytes = printable_next(s + at, n - at, &p);
		used += (size_t)p.width;
		if (used > width)
			break;
	}
	return at;
}

void fit_end(struct strbuf *out, const char *s, size_t width)
{
	size_t n = strlen(s), used = printable_width(s, n), at;

	if (used <= width) {
		put(out, s, n);
	} else {
		at = cut_beginning(s, n,
				   width > DOTS_WIDTH ? width - DOTS_WIDTH : 0);
		strbuf_puts(out, DOTS);
		put(out, s + at, n - at);
		used = DOTS_WIDTH + printable_width(s + at, n - at);
	}
	if (used < width)
		strbuf_fill(out, ' ', width - used);
}

void fit_begin(struct strbuf *out, const char *s, size_t n, size_t width)
{
	if (printable_width(s, n) <= width) {
		put(out, s, n);
		return;
	}
	put(out, s, bytes_in(s, n, width > DOTS_WIDTH ? width - DOTS_WIDTH : 0));
	strbuf_puts(out, DOTS);
}

/* --- Names of functions -------------------------------------------------- */

/* Without its middle: "get_..._querysets". Ends tell more. */
static void put_ends(struct strbuf *out, const char *s, size_t n, size_t width)
{
	size_t room = width > DOTS_WIDTH ? width - DOTS_WIDTH : 0;
	size_t end = cut_beginning(s, n, room - room / 3);

	put(out, s, bytes_in(s, n, room / 3));
	strbuf_puts(out, DOTS);
	put(out, s + end, n - end);
}

void fit_middle(struct strbuf *out, const char *s, size_t width)
{
	size_t n = strlen(s);

	if (printable_width(s, n) <= width)
		put(out, s, n);
	else
		put_ends(out, s, n, width);
}

/* "f.<locals>.g" as "f...g". */
static void put_without_locals(struct strbuf *out, const char *s)
{
	static const char locals[] = ".<locals>.";

	for (const char *at; (at = strstr(s, locals)); s = at + strlen(locals)) {
		strbuf_append(out, s, (size_t)(at - s));
		strbuf_puts(out, DOTS);
	}
	strbuf_puts(out, s);
}

/* Where the last part of s begins, of its first n bytes. */
static size_t last_part(const char *s, size_t n)
{
	const char *dot = memrchr(s, '.', n);

	return dot ? (size_t)(dot + 1 - s) : 0;
}

static size_t without_dots(const char *s, size_t n)
{
	while (n && s[n - 1] == '.')
		n--;
	return n;
}

/*
 * Where the end of a name begins that is shown first of all: its last part; of
 * "<lambda>" and its like the function around it, too, if there is room.
 */
static size_t find_end(const char *s, size_t n, size_t room)
{
	size_t last = last_part(s, n), before;

	if (!last || s[last] != '<')
		return last;
	before = last_part(s, without_dots(s, last));
	return printable_width(s + before, n - before) <= room ? before : last;
}

/* How much of the beginning fits: whole parts, unless much room is left. */
static size_t find_beginning(const char *s, size_t n, size_t room)
{
	/* Fewer letters of the first part, or of another one, tell nothing. */
	enum { LETTERS_MIN = 3, MORE_MIN = 8 };
	size_t most = bytes_in(s, n, room), whole;

	if (most == n)
		return n;
	whole = s[most] == '.' ? most : last_part(s, most);
	if (whole && most - whole < MORE_MIN)
		return without_dots(s, whole);
	return room < LETTERS_MIN ? 0 : most;
}

static void put_name(struct strbuf *out, const char *s, size_t n, size_t width)
{
	size_t room = width > DOTS_WIDTH ? width - DOTS_WIDTH : 0;
	size_t end = find_end(s, n, room);
	size_t used = printable_width(s + end, n - end);

	if (!end || used > room) {
		put_ends(out, s + end, n - end, width);
		return;
	}
	put(out, s, find_beginning(s, without_dots(s, end), room - used));
	strbuf_puts(out, DOTS);
	put(out, s + end, n - end);
}

void fit_name(struct strbuf *out, const char *s, size_t width)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	size_t n = strlen(s), begin = out->len, used;

	put_without_locals(&name, s);
	if (printable_width(s, n) <= width)
		put(out, s, n);
	else if (printable_width(name.data, name.len) <= width)
		put(out, name.data, name.len);
	else
		put_name(out, name.data, name.len, width);
	used = printable_width(out->data + begin, out->len - begin);
	if (used < width)
		strbuf_fill(out, ' ', width - used);
}

/* --- Columns and lines --------------------------------------------------- */

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

size_t fit_quotation(const char *s, size_t n)
{
	if (!n || *s != '\'')
		return 0;
	for (size_t at = 1; at < n; at++)
		if (s[at] == '\'' && (at + 1 == n ||
				      (!isalnum((unsigned char)s[at + 1]) &&
				       s[at + 1] != '_')))
			return at + 1;
	return 0;
}

/* Where the quotation that begins there ends, behind a blank or bracket; else `at`. */
static size_t quoted_end(const char *s, size_t n, size_t at)
{
	if (at && s[at - 1] != ' ' && s[at - 1] != '(')
		return at;
	return at + fit_quotation(s + at, n - at);
}

/* The word that ends there begins with a digit and ends with one: "12", "(0.5". */
static bool ends_number(const char *s, size_t at)
{
	size_t start = at;

	if (!isdigit((unsigned char)s[at - 1]))
		return false;
	while (start && s[start - 1] != ' ')
		start--;
	while (!isalnum((unsigned char)s[start]))
		start++;
	return isdigit((unsigned char)s[start]);
}

/* A blank before which a line may end: behind no number, which is one of something. */
static bool may_break(const char *s, size_t at)
{
	return at && s[at] == ' ' && s[at - 1] != ' ' && !ends_number(s, at);
}

/*
 * Bytes of a line up to where it is broken: its last blank that fits, or later. A
 * quotation is a command that is copied, or a name, and stays whole.
 */
static size_t break_at(const char *s, size_t n, size_t width)
{
	size_t at = 0, used = 0, last = 0, quoted = 0;
	struct printable p;

	while (at < n && (used <= width || !last)) {
		if (at >= quoted)
			quoted = quoted_end(s, n, at);
		if (at >= quoted && may_break(s, at))
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
