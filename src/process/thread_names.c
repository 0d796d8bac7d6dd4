// SPDX-License-Identifier: GPL-2.0-only
#include "process/thread_names.h"

#include <string.h>

/* Number of names that hold from that time or before. */
static size_t count_until(const struct thread_names *names, uint64_t time)
{
	size_t n = names->count;

	/* Nearly always the last one. */
	while (n && names->data[n - 1].from > time)
		n--;
	return n;
}

static void drop_first(struct thread_names *names, size_t n)
{
	names->count -= n;
	memmove(names->data, names->data + n,
		names->count * sizeof(*names->data));
}

bool thread_names_set(struct thread_names *names, uint64_t from,
		      const char *comm)
{
	size_t at;

	if (names->count >= THREAD_NAMES_MAX)
		drop_first(names, THREAD_NAMES_MAX / 2);
	at = count_until(names, from);
	if (at && names->data[at - 1].comm == comm)
		return true;
	if (at && names->data[at - 1].from == from) {
		names->data[at - 1].comm = comm;
		return true;
	}
	if (!vec_reserve(names, 1))
		return false;
	memmove(names->data + at + 1, names->data + at,
		(names->count - at) * sizeof(*names->data));
	names->data[at] = (struct thread_name){ from, comm };
	names->count++;
	return true;
}

bool thread_names_end(struct thread_names *names, uint64_t time)
{
	size_t n = count_until(names, time);

	if (!n || names->data[n - 1].from == time)
		return true;
	return thread_names_set(names, time, NULL);
}

const char *thread_names_at(const struct thread_names *names, uint64_t time)
{
	size_t n = count_until(names, time);

	if (!names->count)
		return NULL;
	return names->data[n ? n - 1 : 0].comm;
}

bool thread_names_forget(struct thread_names *names, uint64_t before)
{
	size_t n = count_until(names, before);

	if (n > 1)
		drop_first(names, n - 1);
	return names->count > 1;
}
