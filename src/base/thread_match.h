/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of threads that are asked for: whole names, or as a list shows many that differ
 * in their numbers alone (view/alike_name.h): "Thread-N (serve)".
 */
#ifndef KAA_BASE_THREAD_MATCH_H
#define KAA_BASE_THREAD_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/lists.h"

/* In the pattern 'N' stands for any number, too; other numbers are the same in both. */
static inline bool thread_name_fits(const char *pattern, const char *name)
{
	static const char digits[] = "0123456789";

	while (*name) {
		size_t n = strspn(name, digits);
		bool is_any = n && *pattern == 'N';
		size_t m = is_any ? 1 : n ? strspn(pattern, digits) : 1;

		n = n ? n : 1;
		if (!is_any && (m != n || memcmp(pattern, name, n) != 0))
			return false;
		pattern += m;
		name += n;
	}
	return !*pattern;
}

/* NULL is no name. */
static inline bool thread_list_passes(const struct name_list *list,
				      const char *name)
{
	for (size_t i = 0; name && i < list->count; i++)
		if (thread_name_fits(list->values[i], name))
			return true;
	return !list->count;
}

#endif
