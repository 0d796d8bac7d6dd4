/* SPDX-License-Identifier: GPL-2.0-only */
/* The entries of a comparison (profile/own_diff.h) while they are added up. */
#ifndef KAA_PROFILE_DIFF_TABLE_H
#define KAA_PROFILE_DIFF_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "profile/own_diff.h"

/* Zero-initialise the rest; diff_table_deinit() frees. */
struct diff_table {
	/* Borrowed. */
	const struct own_diff *diff;
	struct own_diff_entry_vec *entries;
	/* One for each entry and run. */
	VEC(double) own;
	VEC(double) total;
	/* Of wall time: as diff_noise_measure() wants them. */
	VEC(double) own_squares;
	VEC(double) total_squares;
	/* One for each entry. */
	VEC(uint64_t) own_samples;
	VEC(uint64_t) total_samples;
};

void diff_table_deinit(struct diff_table *table);
/* A new entry, to which nothing was added. */
struct error *diff_table_new(struct diff_table *table, size_t *ret);
/* Adds what a run has of it. */
void diff_table_add(struct diff_table *table, size_t row, size_t run,
		    const struct own_entry *entry);
/* Once all is added. */
void diff_table_measure(struct diff_table *table);

#endif
