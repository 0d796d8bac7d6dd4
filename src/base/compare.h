/* SPDX-License-Identifier: GPL-2.0-only */
/* Order of numbers, for functions that compare: below 0, 0 or above 0. */
#ifndef KAA_BASE_COMPARE_H
#define KAA_BASE_COMPARE_H

#include <stdint.h>

/* Their difference may not fit into an int. */
static inline int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Of uint64_t, for qsort() and bsearch(). */
static inline int compare_u64_items(const void *a, const void *b)
{
	return compare_u64(*(const uint64_t *)a, *(const uint64_t *)b);
}

#endif
