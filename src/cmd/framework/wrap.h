/* SPDX-License-Identifier: GPL-2.0-only */
/* Help texts in lines that fit a terminal of 80 columns. */
#ifndef KAA_CMD_FRAMEWORK_WRAP_H
#define KAA_CMD_FRAMEWORK_WRAP_H

#include <stddef.h>

#include "base/strbuf.h"

enum { WRAP_COLUMNS = 80 };

/*
 * Appends text in lines of at most WRAP_COLUMNS bytes and a newline at the end.
 * The first line continues the one that out ends with, which has `indent`
 * columns already; each further line begins with that many blanks. An empty
 * line in text stays one; any other run of white space is a place to break, but
 * not in single quotes that a line has room for. A word that is too long has a
 * line of its own.
 */
void wrap_text(struct strbuf *out, const char *text, size_t indent);

#endif
