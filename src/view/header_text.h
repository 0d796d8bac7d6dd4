/* SPDX-License-Identifier: GPL-2.0-only */
/* What a recording says of itself, worded as perf words it. */
#ifndef KAA_VIEW_HEADER_TEXT_H
#define KAA_VIEW_HEADER_TEXT_H

#include "base/strbuf.h"
#include "profile/metadata.h"

/* Appends all lines, each with the prefix in front. */
void header_text(const struct metadata *metadata, const char *prefix,
		 struct strbuf *out);
/* The same as a comment, between lines that set it off. */
void header_comment(const struct metadata *metadata, struct strbuf *out);

#endif
