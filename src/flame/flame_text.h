/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Foreign texts in pages and pictures. What is no printable character of
 * Unicode (controls, marks that turn the direction of writing, separators of
 * lines, bytes that are no UTF-8) becomes U+FFFD; nothing else changes what is
 * read, and nothing ends the text or begins an element.
 */
#ifndef KAA_FLAME_FLAME_TEXT_H
#define KAA_FLAME_FLAME_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* As text or attribute of HTML and XML. A newline stays one. */
void flame_text_xml(struct strbuf *out, const char *text);
/* At most `max` characters of it, the last one "…" if it was longer, as XML. */
void flame_text_xml_max(struct strbuf *out, const char *text, size_t max);
/* Bytes as base64. */
void flame_text_base64(struct strbuf *out, const uint8_t *data, size_t n);
/* A number in seven bits a byte, the lowest first; all but the last with bit 7. */
void flame_text_number(struct strbuf *out, uint64_t value);

#endif
