// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/framework/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "cmd/framework/terminal.h"
#include "view/fit.h"
#include "view/own_command.h"

static const char *prefix = "kaa";
static bool quiet;

void message_set_prefix(const char *name)
{
	prefix = name;
}

void message_set_quiet(bool value)
{
	quiet = value;
}

/* A terminal breaks words. In a file a line is what was said at once. */
static void fit_terminal(struct strbuf *line)
{
	size_t columns = terminal_columns(STDERR_FILENO);
	struct strbuf lines = STRBUF_INIT;

	if (!columns)
		return;
	fit_lines(&lines, line->data, columns);
	strbuf_deinit(line);
	*line = lines;
}

/* One write, so that lines of several processes do not mix. */
static void put_line(const struct strbuf *line)
{
	/* Results before remarks where both go to one terminal. */
	fflush(stdout);
	fwrite(line->data, 1, line->len, stderr);
}

static void print_line(const char *kind, const char *format, va_list args)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, line = STRBUF_INIT;

	strbuf_vprintf(&text, format, args);
	strbuf_printf(&line, "%s: %s", prefix, kind);
	own_command_puts(&line, text.failed ? format : text.data);
	strbuf_putc(&line, '\n');
	fit_terminal(&line);
	put_line(&line);
}

void message_lines(const char *text)
{
	_cleanup_strbuf_ struct strbuf lines = STRBUF_INIT;

	strbuf_puts(&lines, text);
	fit_terminal(&lines);
	put_line(&lines);
}

void message_commands(const char *text)
{
	_cleanup_strbuf_ struct strbuf lines = STRBUF_INIT;

	strbuf_puts(&lines, text);
	put_line(&lines);
}

void message_note(const char *format, ...)
{
	va_list args;

	if (quiet)
		return;
	va_start(args, format);
	print_line("", format, args);
	va_end(args);
}

void message_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line("warning: ", format, args);
	va_end(args);
}

static void __attribute__((format(printf, 2, 3)))
print_kind(const char *kind, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(kind, format, args);
	va_end(args);
}

static void print_error(const char *kind, const struct error *error)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	error_format(error, &text);
	print_kind(kind, "%s", text.failed ? error->message : text.data);
}

void message_error(const struct error *error)
{
	print_error("", error);
}

void message_warn_error(const struct error *error)
{
	print_error("warning: ", error);
}
