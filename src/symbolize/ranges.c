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
	table->sorted = 0;
}

bool range_table_add(struct range_table *table, const struct range *range)
{
	size_t missing = table->ranges.count + 1 - table->starts.count;

	return vec_reserve(&table->starts, missing) &&
	       vec_push(&table->ranges, *range);
}

static int compare_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static void sort(struct range_table *table)
{
	uint64_t reach = 0;

	qsort(table->ranges.data, table->ranges.count,
	      sizeof(*table->ranges.data), compare_start);
	vec_clear(&table->starts);
	vec_for_each(range, &table->ranges) {
		if (range->end > reach)
			reach = range->end;
		range->reach = reach;
		/* There is room: range_table_add() has seen to it. */
		(void)vec_push(&table->starts, range->start);
	}
	table->sorted = table->ranges.count;
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

/* How many sorted ranges begin at or before address. */
static size_t count_before(const struct range_table *table, uint64_t address)
{
	size_t low = 0, high = table->sorted;

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
	size_t at;

	*until = UINT64_MAX;
	if (table->ranges.count - table->sorted > UNSORTED_MAX)
		sort(table);
	ranges = table->ranges.data;
	at = count_before(table, address);
	for (size_t i = 0; i < OVERLAP_MAX && at; i++) {
		if (ranges[--at].reach <= address)
			break;
		best = better(best, &ranges[at], address, time, until);
	}
	for (size_t i = table->sorted; i < table->ranges.count; i++)
		best = better(best, &ranges[i], address, time, until);
	if (best && best->to < *until)
		*until = best->to;
	return best;
}
