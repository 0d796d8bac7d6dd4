/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of a dump in words that threads and tasks have in common. */
#ifndef KAA_DUMP_FRAME_TEXT_H
#define KAA_DUMP_FRAME_TEXT_H

#include <stddef.h>

#include "base/strbuf.h"
#include "dump/dump.h"

/* "function (path:line)", and below it the text of that line, if it is wanted. */
void frame_text(const struct dump_frame *frame, const struct dump_words *words,
		size_t indent, struct strbuf *out);
/* Its variables, each on a line. */
void frame_text_locals(const struct dump_locals *locals,
		       const struct dump_frame *frame, size_t width,
		       size_t indent, struct strbuf *out);
/* A line that is too wide loses its end. */
void frame_text_line(struct strbuf *out, const char *text, size_t width);

#endif
