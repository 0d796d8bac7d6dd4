// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/doctor_fact.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "cmd/framework/terminal.h"
#include "view/fit.h"
#include "view/own_command.h"

/* Of what goes to no terminal. */
enum { FILE_COLUMNS = 120 };

static size_t find_columns(void)
{
	size_t columns = terminal_columns(STDOUT_FILENO);

	return columns ? columns : FILE_COLUMNS;
}

void doctor_verdict(const char *text)
{
	_cleanup_strbuf_ struct strbuf said = STRBUF_INIT, lines = STRBUF_INIT;

	own_command_puts(&said, text);
	strbuf_putc(&said, '\n');
	fit_lines(&lines, said.data, find_columns());
	fputs(lines.data, stdout);
}

void doctor_section(const char *format, ...)
{
	va_list args;

	putchar('\n');
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* Foreign text must not steer the terminal. */
static void clean(struct strbuf *text)
{
	for (size_t i = 0; i < text->len; i++)
		if ((unsigned char)text->data[i] < ' ' || text->data[i] == 0x7f)
			text->data[i] = '?';
}

/* Lines that fit stand below each other, behind the mark. */
static void print_text(const struct strbuf *text)
{
	enum { MARK_COLUMNS = 8, INDENT = 2 };
	_cleanup_strbuf_ struct strbuf lines = STRBUF_INIT;
	size_t columns = find_columns(), n;

	if (!text->len || columns <= 2 * MARK_COLUMNS) {
		puts(text->data);
		return;
	}
	fit_lines(&lines, text->data, columns - MARK_COLUMNS);
	for (const char *line = lines.data; *line; line += n) {
		n = strcspn(line, "\n") + 1;
		printf("%*s%.*s", line == lines.data ? 0 : MARK_COLUMNS - INDENT,
		       "", (int)n, line);
	}
}

void doctor_fact(enum mark mark, const char *format, ...)
{
	static const char *const marks[] = {
		[MARK_OK] = "ok",
		[MARK_NO] = "no",
		[MARK_WARN] = "warn",
		[MARK_NOTE] = "-",
	};
	_cleanup_strbuf_ struct strbuf said = STRBUF_INIT, text = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&said, format, args);
	va_end(args);
	own_command_puts(&text, said.failed ? format : said.data);
	clean(&text);
	printf("  %-5s ", marks[mark]);
	print_text(&text);
}
