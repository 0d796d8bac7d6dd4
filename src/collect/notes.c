// SPDX-License-Identifier: GPL-2.0-only
#include "collect/notes.h"

#include <stdarg.h>

#include "base/strbuf.h"

void notes_tell(const struct notes *notes, const char *format, ...)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	va_list args;

	if (!notes->sink)
		return;
	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	notes->sink(text.data);
}
