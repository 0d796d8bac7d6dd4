/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text of str objects: names and file names of code objects.
 */
#ifndef KAA_PYTHON_CODE_NAME_H
#define KAA_PYTHON_CODE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/strbuf.h"

/*
 * Appends text as UTF-8. kind is the number of bytes a character: 1 (Latin-1),
 * 2 or 4 (code points, little-endian); bytes after the last whole character
 * are left out. Another kind appends nothing.
 *
 * Control characters (below 0x20, 0x7f to 0x9f) become \xNN, surrogates
 * \uNNNN, what is no code point \UNNNNNNNN: one name is always one line of
 * valid UTF-8 that a terminal shows as it is. The result has at most
 * 10 bytes a character.
 */
void py_text_append(struct strbuf *out, struct bytes text, unsigned int kind);

/*
 * Appends at most max bytes of UTF-8, cut between characters, and "..." in
 * place of the rest.
 */
void py_text_append_max(struct strbuf *out, struct bytes text,
			unsigned int kind, size_t max);

/*
 * The same for text that is UTF-8 already, or claims to be: a byte that belongs to
 * no character becomes \xNN.
 */
void py_text_append_utf8(struct strbuf *out, struct bytes text, size_t max);

/*
 * True for the code object that the interpreter runs under `__init__` when a
 * class is called (3.12 on): its frame is no frame of any source, and
 * tracebacks leave it out.
 */
bool py_code_is_internal(const char *filename, const char *qualname);

#endif
