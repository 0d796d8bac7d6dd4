// SPDX-License-Identifier: GPL-2.0-only
#include "profile/diff_table.h"

#include <math.h>

void diff_table_deinit(struct diff_table *table)
{
	vec_deinit(&table->own);
	vec_deinit(&table->total);
	vec_deinit(&table->own_squares);
	vec_deinit(&table->total_squares);
	vec_deinit(&table->own_samples);
	vec_deinit(&table->total_samples);
}

struct error *diff_table_new(struct diff_table *table, size_t *ret)
{
	const struct own_diff_entry entry = { .functions = 1 };

	for (size_t i = 0; i < table->diff->runs.count; i++)
		if (!vec_push(&table->own, 0) || !vec_push(&table->total, 0) ||
		    !vec_push(&table->own_squares, 0) ||
		    !vec_push(&table->total_squares, 0))
			return error_no_memory();
	if (!vec_push(&table->own_samples, 0) ||
	    !vec_push(&table->total_samples, 0) ||
	    !vec_push(table->entries, entry))
		return error_no_memory();
	*ret = table->entries->count - 1;
	return NULL;
}

/* A sleep of which one sample tells was looked at many times. */
static uint64_t samples_of(const struct own_diff *diff,
			   const struct own_weight *weight)
{
	double period = (double)weight->period;

	if (!diff->is_wall || weight->squares <= 0)
		return weight->samples;
	return (uint64_t)(period * period / weight->squares + 0.5);
}

void diff_table_add(struct diff_table *table, size_t row, size_t run,
		    const struct own_entry *entry)
{
	const struct own_diff *diff = table->diff;
	struct own_diff_entry *to = &table->entries->data[row];
	size_t at = row * diff->runs.count + run;
	double scale = diff->runs.data[run].scale;

	if (diff->noise.data[run].is_after) {
		to->after = *entry;
		to->is_after = true;
	} else {
		to->before = *entry;
		to->is_before = true;
	}
	table->own.data[at] += (double)entry->own.period * scale;
	table->total.data[at] += (double)entry->total.period * scale;
	table->own_squares.data[at] += entry->own.squares * scale * scale;
	table->total_squares.data[at] += entry->total.squares * scale * scale;
	table->own_samples.data[row] += samples_of(diff, &entry->own);
	table->total_samples.data[row] += samples_of(diff, &entry->total);
}

void diff_table_measure(struct diff_table *table)
{
	static const struct diff_value unknown = {
		.before = NAN, .after = NAN, .half_width = NAN, .chance = NAN
	};
	const struct diff_run *runs = table->diff->noise.data;
	size_t count = table->diff->noise.count;
	bool is_wall = table->diff->is_wall;

	for (size_t i = 0; i < table->entries->count; i++) {
		struct own_diff_entry *entry = &table->entries->data[i];

		entry->own = diff_noise_measure(
			runs, count, &table->own.data[i * count],
			is_wall ? &table->own_squares.data[i * count] : NULL,
			table->own_samples.data[i]);
		/* A sample may be in several of what is one entry. */
		entry->total = entry->functions > 1 || entry->is_unpaired ?
				       unknown :
				       diff_noise_measure(
					       runs, count,
					       &table->total.data[i * count],
					       is_wall ? &table->total_squares
								  .data[i * count] :
							 NULL,
					       table->total_samples.data[i]);
	}
}
