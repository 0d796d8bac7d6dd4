// SPDX-License-Identifier: GPL-2.0-only
#include "profile/own_diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/map.h"
#include "profile/chance.h"
#include "profile/diff_functions.h"
#include "profile/diff_lines.h"

/* What a short wait's sample stands for at least (docs/off-cpu.md). */
enum { WAIT_NS = 1000000 };

/* --- Runs --------------------------------------------------------------- */

/*
 * What a sample weighs: that whose square is what the weights' squares are on
 * average, since periods may differ.
 */
static double sample_weight(const struct profile *p, uint32_t event,
			    const struct own_weight *all)
{
	/* Of waits chance leaves out only short ones: a sample stands for 1 ms of them. */
	if (p->events.data[event].kind == EVENT_WAIT)
		return WAIT_NS;
	return all->period ? all->squares / (double)all->period : 0;
}

static struct error *add_run(struct own_diff *diff, const struct profile *p,
			     const struct own_diff_options *o, size_t i)
{
	struct own_diff_run run = { .event = o->events[i], .scale = 1 };
	struct diff_run noise = { .is_after = i >= o->before,
				  .is_share = o->by == OWN_DIFF_BY_SHARE };
	const struct own_time_options options = {
		.event = run.event, .without_libraries = o->without_libraries
	};
	struct error *error = own_time_select(p, &options, &run.own);

	if (error)
		return error;
	if (!vec_push(&diff->runs, run)) {
		own_time_destroy(run.own);
		return error_no_memory();
	}
	if (!run.own->all.period)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "recording %zu has no samples to compare",
				    i + 1);
	if (o->by == OWN_DIFF_BY_SHARE)
		run.scale = 1 / (double)run.own->all.period;
	vec_last(&diff->runs)->scale = run.scale;
	noise.all = (double)run.own->all.period * run.scale;
	noise.sample = sample_weight(p, run.event, &run.own->all) *
		       run.scale;
	noise.samples = (double)run.own->all.samples;
	return vec_push(&diff->noise, noise) ? NULL : error_no_memory();
}

/* Names of one side may be qualified while those of the other cannot be. */
static bool differ_in_names(const struct profile *p,
			    const struct own_diff *diff)
{
	bool has_qualified = false, has_plain = false;

	vec_for_each(run, &diff->runs) {
		uint32_t recording = p->events.data[run->event].recording;
		const struct metadata *metadata =
			&p->recordings.data[recording].metadata;

		vec_for_each(python, &metadata->pythons) {
			has_plain |= python->version < 0x030b0000;
			has_qualified |= python->version >= 0x030b0000;
		}
	}
	return has_plain && has_qualified;
}

static struct error *add_files(const struct own_time *own, struct map *seen,
			       struct file_list *ret)
{
	vec_for_each(entry, &own->functions) {
		bool is_new;

		if (entry->file == PROFILE_NONE)
			continue;
		if (!map_insert(seen, entry->file, 0, &is_new) ||
		    (is_new && !vec_push(ret, entry->file)))
			return error_no_memory();
	}
	return NULL;
}

static struct error *pair_files(struct own_diff *diff, const struct profile *p)
{
	struct file_list files[2] = {};
	struct map seen[2] = {};
	struct error *error = NULL;

	for (size_t i = 0; !error && i < diff->runs.count; i++) {
		bool side = diff->noise.data[i].is_after;

		error = add_files(diff->runs.data[i].own, &seen[side],
				  &files[side]);
	}
	if (!error)
		error = file_pairs_find(p, &files[0], &files[1], &diff->files);
	for (size_t side = 0; side < 2; side++) {
		vec_deinit(&files[side]);
		map_deinit(&seen[side]);
	}
	return error;
}

/* --- Which entry is whose ------------------------------------------------ */

static void number(struct own_diff_entry_vec *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		entries->data[i].number = (uint32_t)i;
}

static struct error *keep_entries(struct own_diff *diff,
				  const struct diff_functions *functions)
{
	for (size_t i = 0; i < diff->runs.count; i++) {
		struct own_diff_run *run = &diff->runs.data[i];
		const size_t *rows = functions->rows.data +
				     functions->starts.data[i];

		run->function_entries = calloc(run->own->functions.count + 1,
					       sizeof(*run->function_entries));
		if (!run->function_entries)
			return error_no_memory();
		for (size_t k = 0; k < run->own->functions.count; k++)
			run->function_entries[k] = (uint32_t)rows[k];
	}
	number(&diff->functions);
	return NULL;
}

/* --- What is real ------------------------------------------------------- */

static struct error *decide(struct own_diff_entry_vec *entries, bool total)
{
	_cleanup_free_ double *chances =
		calloc(entries->count + 1, sizeof(*chances));
	_cleanup_free_ bool *real = calloc(entries->count + 1, sizeof(*real));
	struct error *error;

	if (!chances || !real)
		return error_no_memory();
	for (size_t i = 0; i < entries->count; i++)
		chances[i] = total ? entries->data[i].total.chance :
				     entries->data[i].own.chance;
	error = chance_find_real(chances, entries->count, OWN_DIFF_LEVEL, real);
	for (size_t i = 0; !error && i < entries->count; i++)
		*(total ? &entries->data[i].total.is_real :
			  &entries->data[i].own.is_real) = real[i];
	return error;
}

static double change_of(const struct diff_value *value)
{
	return isnan(value->after) ? 0 : fabs(value->after - value->before);
}

static int compare_changes(const struct diff_value *a,
			   const struct diff_value *b)
{
	double x = change_of(a), y = change_of(b);

	return (x < y) - (x > y);
}

static int compare_names(const struct own_diff_entry *a,
			 const struct own_diff_entry *b)
{
	const struct own_entry *one = a->is_after ? &a->after : &a->before;
	const struct own_entry *other = b->is_after ? &b->after : &b->before;
	int order = compare_u64(one->name, other->name);

	return order ? order : compare_u64(one->line, other->line);
}

static int compare_own(const void *x, const void *y)
{
	const struct own_diff_entry *a = x, *b = y;
	int order = compare_changes(&a->own, &b->own);

	if (!order)
		order = compare_changes(&a->total, &b->total);
	return order ? order : compare_names(a, b);
}

static int compare_total(const void *x, const void *y)
{
	const struct own_diff_entry *a = x, *b = y;
	int order = compare_changes(&a->total, &b->total);

	return order ? order : compare_own(a, b);
}

static void sort(struct own_diff_entry_vec *entries, bool by_total)
{
	if (entries->count)
		qsort(entries->data, entries->count, sizeof(*entries->data),
		      by_total ? compare_total : compare_own);
}

void own_diff_sort(struct own_diff *diff, bool by_total)
{
	sort(&diff->functions, by_total);
	sort(&diff->lines, by_total);
}

/* All samples: whose number is no chance, but differs from run to run. */
static struct error *measure_all(struct own_diff *diff)
{
	_cleanup_free_ double *all =
		calloc(diff->noise.count, sizeof(*all));

	if (!all)
		return error_no_memory();
	for (size_t i = 0; i < diff->noise.count; i++)
		all[i] = diff->noise.data[i].all;
	diff->all = diff_noise_measure(diff->noise.data, diff->noise.count, all,
				       NULL, UINT64_MAX);
	if (diff->noise.count == 2 && diff->noise.data[0].is_share)
		diff->all.half_width = diff->all.chance = NAN;
	diff->all.is_real = diff->all.chance <= OWN_DIFF_LEVEL;
	return NULL;
}

static struct error *build(struct own_diff *diff, const struct profile *p,
			   const struct own_diff_options *o)
{
	struct diff_functions functions = {};
	struct error *error = NULL;

	for (size_t i = 0; !error && i < o->before + o->after; i++)
		error = add_run(diff, p, o, i);
	if (!error)
		error = measure_all(diff);
	for (size_t i = 0; !error && i < diff->runs.count; i++)
		diff->is_wall |= event_kind_is_wall(
			p->events.data[diff->runs.data[i].event].kind);
	diff->by_last_name = differ_in_names(p, diff);
	if (!error)
		error = pair_files(diff, p);
	if (!error)
		error = diff_functions_pair(p, diff, &functions);
	if (!error)
		error = keep_entries(diff, &functions);
	if (!error)
		error = diff_lines_pair(p, &functions, o, diff);
	number(&diff->lines);
	if (!error)
		error = decide(&diff->functions, false);
	if (!error)
		error = decide(&diff->functions, true);
	if (!error)
		error = decide(&diff->lines, false);
	if (!error)
		error = decide(&diff->lines, true);
	own_diff_sort(diff, false);
	diff_functions_deinit(&functions);
	return error;
}

struct error *own_diff_create(const struct profile *profile,
			      const struct own_diff_options *options,
			      struct own_diff **ret)
{
	_cleanup_own_diff_ struct own_diff *diff = calloc(1, sizeof(*diff));
	struct error *error =
		diff ? build(diff, profile, options) : error_no_memory();

	if (!error)
		*ret = take_ptr(diff);
	return error;
}

void own_diff_destroy(struct own_diff *diff)
{
	if (!diff)
		return;
	vec_for_each(run, &diff->runs) {
		own_time_destroy(run->own);
		free(run->function_entries);
		free(run->line_entries);
	}
	vec_deinit(&diff->runs);
	vec_deinit(&diff->noise);
	vec_deinit(&diff->functions);
	vec_deinit(&diff->lines);
	file_pairs_deinit(&diff->files);
	free(diff);
}
