/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Named address ranges of one process (or of the kernel), each of which holds
 * for a span of time. Adding and looking up may alternate: what is in order lies in a few
 * runs, each more than twice as long as the next one.
 */
#ifndef KAA_SYMBOLIZE_RANGES_H
#define KAA_SYMBOLIZE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct symbol_info;

struct range {
	/* [start, end) */
	uint64_t start;
	uint64_t end;
	/* from <= time < to */
	uint64_t from;
	uint64_t to;
	/* Order of adding: the later one wins. */
	uint64_t sequence;
	/* Whose name it has; borrowed. */
	const struct symbol_info *info;
	/* Private: the highest end up to here in its run. */
	uint64_t reach;
};

/* Zero-initialise. */
struct range_table {
	VEC(struct range) ranges;
	/* Where each run ends; the rest is new. */
	VEC(size_t) runs;
	/* Of those in runs: what is searched lies together. */
	VEC(uint64_t) starts;
};

void range_table_deinit(struct range_table *table);
/* False when memory runs out. range->reach is ignored. */
bool range_table_add(struct range_table *table, const struct range *range);
/*
 * Of the ranges that hold address at time, the one that began last, then the
 * one added last; NULL if none does. Valid until the next call. *until: the time
 * from which on it may be another one, or UINT64_MAX.
 */
struct range *range_table_find(struct range_table *table, uint64_t address,
			       uint64_t time, uint64_t *until);

#endif
