// SPDX-License-Identifier: GPL-2.0-only
#include "dump/async_awaits.h"

/* The index of the first one whose waiter is not less. */
static size_t lower_bound(const struct dump_tasks *tasks, uint64_t waiter)
{
	return vec_lower_bound(&tasks->awaits, waiter, waiter);
}

const struct dump_await *async_awaits_of(const struct dump_tasks *tasks,
					 uint32_t waiter, size_t *count)
{
	size_t first = lower_bound(tasks, waiter);

	*count = lower_bound(tasks, (uint64_t)waiter + 1) - first;
	return *count ? &tasks->awaits.data[first] : NULL;
}
