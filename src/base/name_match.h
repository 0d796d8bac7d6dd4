/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether a name is one of those that are looked for. */
#ifndef KAA_BASE_NAME_MATCH_H
#define KAA_BASE_NAME_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * The first n bytes of name fit the pattern: a name, or the beginning of names
 * and '*'.
 */
static inline bool name_pattern_fits(const char *pattern, const char *name,
				     size_t n)
{
	size_t fixed = strcspn(pattern, "*");

	if (pattern[fixed])
		return n >= fixed && !memcmp(name, pattern, fixed);
	return n == fixed && !memcmp(name, pattern, n);
}

static inline bool name_begins_with(const char *name, const char *start)
{
	return !strncmp(name, start, strlen(start));
}

static inline bool name_ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && !strcmp(name + n - m, end);
}

/* Of "list.sort" what is behind the last dot; all of a name without one. */
static inline const char *name_last_part(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

#endif
