// SPDX-License-Identifier: GPL-2.0-only
#include "symbolize/ranges.h"

#include <stdlib.h>

/* So many new ranges are searched one by one before they are sorted in. */
#define UNSORTED_MAX 256
/* So many ranges that begin before the address are looked at. */
#define OVERLAP_MAX 10000

void range_table_deinit(struct range_table *table)
{
	vec_deinit(&table->ranges);
	vec_deinit(&table->starts);
	vec_deinit(&table->runs);
}

bool range_table_add(struct range_table *table, const struct range *range)
{
	size_t missing = table->ranges.count + 1 - table->starts.count;

	return vec_reserve(&table->starts, missing) &&
	       vec_reserve(&table->runs, 1) &&
	       vec_push(&table->ranges, *range);
}

static int compare_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static size_t run_begin(const struct range_table *table, size_t run)
{
	return run ? table->runs.data[run - 1] : 0;
}

/* How many are in runs. */
static size_t in_order(const struct range_table *table)
{
	return run_begin(table, table->runs.count);
}

static void sort(struct range_table *table, size_t begin)
{
	uint64_t reach = 0;

	qsort(table->ranges.data + begin, table->ranges.count - begin,
	      sizeof(*table->ranges.data), compare_start);
	table->starts.count = table->ranges.count;
	for (size_t i = begin; i < table->ranges.count; i++) {
		struct range *range = &table->ranges.data[i];

		if (range->end > reach)
			reach = range->end;
		range->reach = reach;
		table->starts.data[i] = range->start;
	}
}

/* The new ones become a run, together with runs before that are not much longer. */
static void take_new(struct range_table *table)
{
	size_t begin = in_order(table), end = table->ranges.count;

	while (table->runs.count &&
	       begin - run_begin(table, table->runs.count - 1) <=
		       2 * (end - begin)) {
		table->runs.count--;
		begin = in_order(table);
	}
	sort(table, begin);
	/* There is room, here and for the starts: range_table_add() has seen to it. */
	(void)vec_push(&table->runs, end);
}

/* The better of best and range, if range holds at all; *until: if it does later. */
static struct range *better(struct range *best, struct range *range,
			    uint64_t address, uint64_t time, uint64_t *until)
{
	if (address < range->start || address >= range->end ||
	    range->from >= range->to || time >= range->to)
		return best;
	if (time < range->from) {
		if (range->from < *until)
			*until = range->from;
		return best;
	}
	if (!best || range->from > best->from ||
	    (range->from == best->from && range->sequence > best->sequence))
		return range;
	return best;
}

/* Behind the last one of a run that begins at or before address. */
static size_t end_before(const struct range_table *table, size_t run,
			 uint64_t address)
{
	size_t low = run_begin(table, run), high = table->runs.data[run];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->starts.data[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct range *range_table_find(struct range_table *table, uint64_t address,
			       uint64_t time, uint64_t *until)
{
	struct range *ranges, *best = NULL;
	size_t left = OVERLAP_MAX;

	*until = UINT64_MAX;
	if (table->ranges.count - in_order(table) > UNSORTED_MAX)
		take_new(table);
	ranges = table->ranges.data;
	for (size_t run = 0; run < table->runs.count; run++) {
		size_t begin = run_begin(table, run);
		size_t at = end_before(table, run, address);

		for (; left && at > begin && ranges[at - 1].reach > address;
		     left--)
			best = better(best, &ranges[--at], address, time, until);
	}
	for (size_t i = in_order(table); i < table->ranges.count; i++)
		best = better(best, &ranges[i], address, time, until);
	if (best && best->to < *until)
		*until = best->to;
	return best;
}
