/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names on a terminal. A name may come from a hostile file and hold control
 * sequences; nothing but its printable bytes gets out.
 */
#ifndef KAA_VIEW_TEXT_H
#define KAA_VIEW_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "profile/profile.h"

/* Where perf cuts the name of a step, and a title with its blanks. */
#define TEXT_PERF_MAX 1023

/* Appends n bytes, each control character (C0, DEL, C1 in UTF-8) as '?'. */
void text_append(struct strbuf *out, const char *s, size_t n);
/* The same for an interned string; `none` for PROFILE_NONE. */
void text_string(struct strbuf *out, const struct profile *profile,
		 uint32_t string, const char *none);
/* "12.34%" */
void text_percent(struct strbuf *out, uint64_t part, uint64_t total);

#endif
