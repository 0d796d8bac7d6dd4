/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of the loop of asyncio that a polled thread runs. */
#ifndef KAA_COLLECT_POLLED_LOOP_H
#define KAA_COLLECT_POLLED_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "python/code_names.h"
#include "python/tasks.h"

struct polled_loop {
	/* Of the process's Python: another one has other objects (walker_process). */
	uint64_t era;
	/* The thread's state, and its interpreter; 0: not looked for yet. */
	uint64_t state;
	uint64_t interp;
	struct code_names names;
	struct py_task_hints hints;
	/* Its tasks, and those of others, when they were listed; in an order by chance. */
	struct py_task_list tasks;
	/* The place in that order of the one that was read last. */
	uint64_t turn;
	/* When that was, and how long it took, in ns of CLOCK_MONOTONIC. */
	uint64_t listed_at;
	uint64_t listing_ns;
	/* There are more tasks than in the list before. */
	bool grows;
	/* The last list that was read was not whole. */
	bool is_cut;
	/* How long one task takes to be read; 0: none was yet. */
	uint64_t task_ns;
};

/* NULL: there is no memory. */
struct polled_loop *polled_loop_create(uint64_t era);
void polled_loop_destroy(struct polled_loop *loop);

#endif
