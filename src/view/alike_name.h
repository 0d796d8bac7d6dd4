/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that differ in their numbers alone: "Thread-33 (serve)" and "Thread-4 (serve)"
 * are "Thread-N (serve)".
 */
#ifndef KAA_VIEW_ALIKE_NAME_H
#define KAA_VIEW_ALIKE_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* The same for names that are alike. A name has n bytes, and need not be terminated. */
uint64_t alike_name_hash(const char *name, size_t n);
/* Which numbers differ in two such names, a bit each; the last bit is of all further ones. */
uint64_t alike_name_differing(const char *a, size_t m, const char *b, size_t n);
/* Appends the name with those numbers as "N"; control characters as '?'. */
void alike_name_put(const char *name, size_t n, uint64_t differing,
		    struct strbuf *out);

#endif
