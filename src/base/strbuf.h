/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A growing string of bytes, always terminated by a NUL that len does not
 * count.
 *
 * Appending never returns an error: when memory runs out the buffer turns
 * `failed`, keeps what it has and ignores what follows. Check strbuf_error()
 * once, at the end.
 */
#ifndef KAA_BASE_STRBUF_H
#define KAA_BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct strbuf {
	char *data;
	size_t len;
	size_t capacity;
	bool failed;
};

#define STRBUF_INIT { .data = (char *)"" }

/* Frees the memory and makes the buffer empty again. */
void strbuf_deinit(struct strbuf *buf);
/* Empties the buffer, keeps its memory. */
void strbuf_clear(struct strbuf *buf);
/* Makes room for n more bytes (and the NUL). */
bool strbuf_reserve(struct strbuf *buf, size_t n);
void strbuf_putc(struct strbuf *buf, char c);
void strbuf_puts(struct strbuf *buf, const char *s);
void strbuf_append(struct strbuf *buf, const void *data, size_t n);
/*
 * Appends what fd has up to its end, which nothing need tell beforehand. 0, or an
 * errno, never EINTR: ENOMEM, EFBIG if that is more than limit bytes, or read()'s;
 * some of it may then be appended.
 */
int strbuf_read(struct strbuf *buf, int fd, size_t limit);
/* Appends c n times. */
void strbuf_fill(struct strbuf *buf, char c, size_t n);
void strbuf_printf(struct strbuf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void strbuf_vprintf(struct strbuf *buf, const char *format, va_list args);
/*
 * n of `of` as a percentage with its sign, as it is read: "81 %", "5.2 %",
 * "0.03 %", "<0.01 %". Only all is 100 %, and only none is 0 %.
 */
void strbuf_percent(struct strbuf *buf, uint64_t n, uint64_t of);
/* A size in bytes: "29.4 KiB". */
void strbuf_size(struct strbuf *buf, uint64_t size);
/* Cuts the buffer to n bytes, if it is longer. */
void strbuf_truncate(struct strbuf *buf, size_t n);
/* Cuts off the blanks at its end. */
void strbuf_trim_end(struct strbuf *buf);
/*
 * Returns the string, to be freed by the caller, and empties the buffer.
 * NULL if the buffer failed.
 */
char *strbuf_take(struct strbuf *buf);
/* NULL, or ERROR_NO_MEMORY if an append failed. */
struct error *strbuf_error(const struct strbuf *buf);
/* Appends "'path' at offset 0x10: message: strerror", as far as present. */
void error_format(const struct error *error, struct strbuf *out);

#define _cleanup_strbuf_ _cleanup_(strbuf_deinit)

#endif
