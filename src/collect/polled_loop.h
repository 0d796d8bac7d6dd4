/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of the loop of asyncio that a polled thread runs. */
#ifndef KAA_COLLECT_POLLED_LOOP_H
#define KAA_COLLECT_POLLED_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/task_times.h"
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
	/* When that was, in ns of CLOCK_MONOTONIC, and the CPU time that it took. */
	uint64_t listed_at;
	uint64_t listing_ns;
	/* For so long the list is much the same, by how it has changed of late. */
	uint64_t lasts_ns;
	/* The last list that was read was not whole. */
	bool is_cut;
	/* How long one task takes to be read; 0: none was yet. */
	uint64_t task_ns;
	/* What samples may say of each. */
	struct task_times times;
};

/* NULL: there is no memory. */
struct polled_loop *polled_loop_create(uint64_t era);
void polled_loop_destroy(struct polled_loop *loop);

/* Lists are in order of this. */
uint64_t polled_loop_place(uint64_t task);
/* A list that was read then, each task once; *tasks gets the one before, to be filled again. */
void polled_loop_take(struct polled_loop *loop, struct py_task_list *tasks,
		      uint64_t now);
/* The list need not be read again yet. asleep: reading keeps nobody from running. */
bool polled_loop_is_listed(const struct polled_loop *loop, uint64_t now,
			   bool asleep);

#endif
