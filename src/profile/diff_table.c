// SPDX-License-Identifier: GPL-2.0-only
#include "profile/diff_table.h"

#include <math.h>

void diff_table_deinit(struct diff_table *table)
{
	vec_deinit(&table->own);
	vec_deinit(&table->total);
	vec_deinit(&table->own_samples);
	vec_deinit(&table->total_samples);
}

struct error *diff_table_new(struct diff_table *table, size_t *ret)
{
	const struct own_diff_entry entry = { .functions = 1 };

	for (size_t i = 0; i < table->diff->runs.count; i++)
		if (!vec_push(&table->own, 0) || !vec_push(&table->total, 0))
			return error_no_memory();
	if (!vec_push(&table->own_samples, 0) ||
	    !vec_push(&table->total_samples, 0) ||
	    !vec_push(table->entries, entry))
		return error_no_memory();
	*ret = table->entries->count - 1;
	return NULL;
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
	table->own_samples.data[row] += entry->own.samples;
	table->total_samples.data[row] += entry->total.samples;
}

void diff_table_measure(struct diff_table *table)
{
	static const struct diff_value unknown = {
		.before = NAN, .after = NAN, .half_width = NAN, .chance = NAN
	};
	const struct diff_run *runs = table->diff->noise.data;
	size_t count = table->diff->noise.count;

	for (size_t i = 0; i < table->entries->count; i++) {
		struct own_diff_entry *entry = &table->entries->data[i];

		entry->own = diff_noise_measure(runs, count,
						&table->own.data[i * count],
						table->own_samples.data[i]);
		/* A sample may be in several of what is one entry. */
		entry->total = entry->functions > 1 || entry->is_unpaired ?
				       unknown :
				       diff_noise_measure(
					       runs, count,
					       &table->total.data[i * count],
					       table->total_samples.data[i]);
	}
}
