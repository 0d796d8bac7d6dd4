/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Foreign text in a column of a table: never wider than the column, and nothing
 * in it that moves the cursor (view/printable.h).
 */
#ifndef KAA_VIEW_FIT_H
#define KAA_VIEW_FIT_H

#include <stddef.h>

#include "base/strbuf.h"

/* Too wide a text loses its beginning: "...ders.py:37". Padded to `width`. */
void fit_end(struct strbuf *out, const char *s, size_t width);
/* Too wide a text loses its end. Not padded. */
void fit_begin(struct strbuf *out, const char *s, size_t n, size_t width);

#endif
