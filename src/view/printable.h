/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Foreign bytes as characters that may be put on a terminal.
 *
 * A name can hold anything. What comes out of here has a width, moves no
 * cursor, starts no escape sequence and turns no direction of writing: controls
 * (C0, DEL, C1), format characters (U+200B and its like, bidirectional
 * marks), unassigned ones, and bytes that are no UTF-8 become '?'.
 *
 * What has a width is said by the locale (LC_CTYPE, wcwidth(3)); in the locale
 * "C" only ASCII has one.
 */
#ifndef KAA_VIEW_PRINTABLE_H
#define KAA_VIEW_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

struct printable {
	wchar_t ch;
	/* Columns: 1 or 2; 0 for a mark on the character before. */
	int width;
};

/* Takes the next character from n (> 0) bytes; returns the bytes taken. */
size_t printable_next(const char *s, size_t n, struct printable *ret);

/*
 * The same for what is no terminal and shows all of Unicode, whatever the
 * locale: *ret says whether the next character of n (> 0) bytes may be shown as
 * it is. Returns its bytes.
 */
size_t printable_unicode(const char *s, size_t n, bool *ret);

/*
 * The same, as it is written: *ret has *size bytes, which are the character, or
 * U+FFFD for one that must not be shown. Returns the bytes taken.
 */
size_t printable_character(const char *s, size_t n, const char **ret,
			   size_t *size);

/* Columns of n bytes. */
size_t printable_width(const char *s, size_t n);

#endif
