/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the user is told while a recording goes on: one line at a time, without
 * a newline. Library code does not print, so whoever records says where the
 * lines go.
 */
#ifndef KAA_COLLECT_NOTES_H
#define KAA_COLLECT_NOTES_H

typedef void notes_sink(const char *text);

struct notes {
	/* NULL: nobody listens. */
	notes_sink *sink;
};

void notes_tell(const struct notes *notes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
