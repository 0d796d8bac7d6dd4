/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Patterns for names in tables: a name, or the beginning of names and '*'.
 */
#ifndef KAA_BASE_NAME_PATTERN_H
#define KAA_BASE_NAME_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The first n bytes of name fit the pattern. */
static inline bool name_pattern_fits(const char *pattern, const char *name,
				     size_t n)
{
	size_t fixed = strcspn(pattern, "*");

	if (pattern[fixed])
		return n >= fixed && !memcmp(name, pattern, fixed);
	return n == fixed && !memcmp(name, pattern, n);
}

#endif
