// SPDX-License-Identifier: GPL-2.0-only
#include "explore/own_states.h"

#include <stdlib.h>

void own_states_deinit(struct own_states *states)
{
	vec_deinit(&states->threads);
}

static int compare_threads(const void *x, const void *y)
{
	const struct own_thread *a = x, *b = y;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->task > b->task) - (a->task < b->task);
}

void own_states_sort(struct own_states *states)
{
	size_t kept = 0;

	if (!states->threads.count)
		return;
	qsort(states->threads.data, states->threads.count,
	      sizeof(*states->threads.data), compare_threads);
	vec_for_each(thread, &states->threads)
		if (!kept ||
		    states->threads.data[kept - 1].tid != thread->tid)
			states->threads.data[kept++] = *thread;
	states->threads.count = kept;
}

static int compare_tid(const void *x, const void *y)
{
	const int32_t *tid = x;
	const struct own_thread *thread = y;

	return (*tid > thread->tid) - (*tid < thread->tid);
}

/* fs/proc/array.c of Linux, task_state_array. */
static const char *word_of(char state)
{
	switch (state) {
	case 'R':
		return "runs";
	case 'S':
		return "sleeps";
	case 'D':
		return "waits";
	case 'T':
		return "stopped";
	case 't':
		return "traced";
	case 'I':
		return "idle";
	default:
		return "ended";
	}
}

const char *own_states_word(const struct own_states *states, int32_t tid)
{
	const struct own_thread *thread =
		states->threads.count ?
			bsearch(&tid, states->threads.data,
				states->threads.count,
				sizeof(*states->threads.data), compare_tid) :
			NULL;

	return word_of(thread ? thread->state : 0);
}
