// SPDX-License-Identifier: GPL-2.0-only
#include "base/strbuf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"

void strbuf_deinit(struct strbuf *buf)
{
	if (buf->capacity)
		free(buf->data);
	*buf = (struct strbuf)STRBUF_INIT;
}

void strbuf_clear(struct strbuf *buf)
{
	strbuf_truncate(buf, 0);
}

void strbuf_percent(struct strbuf *buf, uint64_t n, uint64_t of)
{
	double percent = of ? 100.0 * (double)n / (double)of : 0.0;

	if (n >= of || !n)
		strbuf_puts(buf, n && of ? "100 %" : "0 %");
	else if (percent > 99)
		strbuf_puts(buf, ">99 %");
	else if (percent < 0.01)
		strbuf_puts(buf, "<0.01 %");
	else
		strbuf_printf(buf, "%.*f %%",
			      percent < 0.995 ? 2 : percent < 9.95, percent);
}

void strbuf_size(struct strbuf *buf, uint64_t size)
{
	if (size < 1024 * 1024)
		strbuf_printf(buf, "%.1f KiB", (double)size / 1024);
	else
		strbuf_printf(buf, "%.1f MiB", (double)size / (1024 * 1024));
}

void strbuf_truncate(struct strbuf *buf, size_t n)
{
	if (n >= buf->len)
		return;
	buf->len = n;
	buf->data[n] = '\0';
}

void strbuf_trim_end(struct strbuf *buf)
{
	size_t n = buf->len;

	while (n && buf->data[n - 1] == ' ')
		n--;
	strbuf_truncate(buf, n);
}

bool strbuf_reserve(struct strbuf *buf, size_t n)
{
	size_t capacity = buf->capacity ? buf->capacity : 64;
	char *data;

	if (buf->failed)
		return false;
	if (n >= SIZE_MAX / 2 - buf->len)
		goto fail;
	if (buf->len + n + 1 <= buf->capacity)
		return true;
	while (capacity < buf->len + n + 1)
		capacity *= 2;
	data = realloc(buf->capacity ? buf->data : NULL, capacity);
	if (!data)
		goto fail;
	if (!buf->capacity)
		data[0] = '\0';
	buf->data = data;
	buf->capacity = capacity;
	return true;
fail:
	buf->failed = true;
	return false;
}

void strbuf_append(struct strbuf *buf, const void *data, size_t n)
{
	if (!n || !strbuf_reserve(buf, n))
		return;
	memcpy(buf->data + buf->len, data, n);
	buf->len += n;
	buf->data[buf->len] = '\0';
}

void strbuf_putc(struct strbuf *buf, char c)
{
	strbuf_append(buf, &c, 1);
}

void strbuf_puts(struct strbuf *buf, const char *s)
{
	strbuf_append(buf, s, strlen(s));
}

int strbuf_read(struct strbuf *buf, int fd, size_t limit)
{
	/* The kernel gives a page at a time of most files in /proc. */
	enum { CHUNK_SIZE = 8192 };
	size_t before = buf->len, got;

	do {
		int errnum;

		if (!strbuf_reserve(buf, CHUNK_SIZE))
			return ENOMEM;
		errnum = fd_read_some(fd, buf->data + buf->len, CHUNK_SIZE,
				      &got);
		if (errnum)
			return errnum;
		buf->len += got;
		buf->data[buf->len] = '\0';
		if (buf->len - before > limit)
			return EFBIG;
	} while (got);
	return 0;
}

void strbuf_fill(struct strbuf *buf, char c, size_t n)
{
	if (!n || !strbuf_reserve(buf, n))
		return;
	memset(buf->data + buf->len, c, n);
	buf->len += n;
	buf->data[buf->len] = '\0';
}

void strbuf_vprintf(struct strbuf *buf, const char *format, va_list args)
{
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	if (n < 0)
		buf->failed = true;
	else if (strbuf_reserve(buf, (size_t)n)) {
		vsnprintf(buf->data + buf->len, (size_t)n + 1, format, again);
		buf->len += (size_t)n;
	}
	va_end(again);
}

void strbuf_printf(struct strbuf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	strbuf_vprintf(buf, format, args);
	va_end(args);
}

char *strbuf_take(struct strbuf *buf)
{
	char *data;

	if (!strbuf_reserve(buf, 0))
		return NULL;
	data = buf->data;
	*buf = (struct strbuf)STRBUF_INIT;
	return data;
}

struct error *strbuf_error(const struct strbuf *buf)
{
	return buf->failed ? error_no_memory() : NULL;
}

void error_format(const struct error *error, struct strbuf *out)
{
	if (error->path)
		strbuf_printf(out, "'%s'", error->path);
	if (error->has_offset)
		strbuf_printf(out, "%sat offset 0x%" PRIx64,
			      error->path ? " " : "", error->offset);
	if (error->path || error->has_offset)
		strbuf_puts(out, ": ");
	strbuf_puts(out, error->message);
	if (error->errnum)
		strbuf_printf(out, ": %s", strerror(error->errnum));
}
