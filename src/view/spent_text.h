/* SPDX-License-Identifier: GPL-2.0-only */
/* What own time consists of, in words. */
#ifndef KAA_VIEW_SPENT_TEXT_H
#define KAA_VIEW_SPENT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "profile/own_time.h"

/* Behind the parts that have room, where there are others, each with less. */
#define SPENT_TEXT_MORE " +"

/*
 * "list_contains 77, interpreter 2": the heaviest parts of a function's own time
 * as percentages of all samples, as many as fit in that many columns.
 * Without the file that spent_text_library() names.
 */
void spent_text_parts(const struct profile *profile, const struct own_time *own,
		      const struct own_entry *function, size_t columns,
		      struct strbuf *out);

/*
 * Of samples without Python code the file that three quarters of their time and more
 * are native code of: "libscipy_openblas64_-32a4b2a6.so". Nothing if there is none, or it is CPython's.
 */
void spent_text_library(const struct profile *profile,
			const struct own_time *own,
			const struct own_entry *function, struct strbuf *out);

/* What is said of a kind: the frame of what it was spent in, too. */
static inline bool spent_has_subject(enum spent_kind kind)
{
	return kind == SPENT_NATIVE || kind == SPENT_KERNEL ||
	       kind == SPENT_LIBRARY;
}

/* "native" */
const char *spent_kind_text(enum spent_kind kind);
/*
 * "list_contains", "deflate (libz)"; of a kind without a subject, "garbage
 * collection".
 */
void spent_text_part(const struct profile *profile, enum spent_kind kind,
		     uint32_t subject, struct strbuf *out);

/* The two parts of that: "deflate"; and "libz.so.1", or nothing. */
void spent_text_function(const struct profile *profile, enum spent_kind kind,
			 uint32_t subject, struct strbuf *out);
void spent_text_file(const struct profile *profile, enum spent_kind kind,
		     uint32_t subject, struct strbuf *out);

/* The same of count parts, as percentages of `all`. */
void spent_text_some(const struct profile *profile,
		     const struct own_part *parts, size_t count, uint64_t all,
		     size_t columns, struct strbuf *out);

/* All of own_time.nameless; 0 if it is less than one percent. */
uint64_t spent_nameless(const struct own_time *own);

/*
 * "interpreter 61 %, native 30 % (12 % without names), garbage collection 9 %": all
 * samples, with spent_nameless() behind native. Nothing where there are no native
 * frames, and all that is known is that threads ran. Of waits the heaviest system calls
 * stand for the kernel: "clock_nanosleep() 54 %, futex() 37 %, kernel 2 %".
 */
void spent_text_kinds(const struct profile *profile, uint32_t event,
		      const struct own_time *own, struct strbuf *out);

#endif
