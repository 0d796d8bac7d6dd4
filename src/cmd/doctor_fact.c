// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/doctor_fact.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/strbuf.h"

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
static void print_clean(const char *text)
{
	for (; *text; text++)
		putchar((unsigned char)*text < ' ' || *text == 0x7f ? '?' :
								      *text);
}

void doctor_fact(enum mark mark, const char *format, ...)
{
	static const char *const marks[] = {
		[MARK_OK] = "ok",
		[MARK_NO] = "no",
		[MARK_WARN] = "warn",
		[MARK_NOTE] = "-",
	};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	printf("  %-5s ", marks[mark]);
	print_clean(text.data);
	putchar('\n');
}
