/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Foreign texts as strings of JSON. What is no printable character of Unicode
 * (controls, marks that turn the direction of writing, separators of lines,
 * bytes that are no UTF-8) becomes U+FFFD; a newline stays one. What it makes may
 * stand in a script element of HTML: nothing ends the string or the element.
 */
#ifndef KAA_VIEW_JSON_TEXT_H
#define KAA_VIEW_JSON_TEXT_H

#include "base/strbuf.h"

/* With its quotes. */
void json_text(struct strbuf *out, const char *text);

#endif
