/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one look at a thread gives: stacks, each of which stands for some part of the
 * time that the look does. Of a thread that runs no tasks of asyncio it is its own
 * stack alone (docs/async.md).
 */
#ifndef KAA_COLLECT_POLL_PARTS_H
#define KAA_COLLECT_POLL_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "base/vec.h"

struct poll_part {
	/* The marker that its samples begin with; 0: the thread's own state. */
	uint64_t marker;
	/* How often the time counts. */
	double share;
	/* Where its records are in `records`, and their bytes. */
	uint32_t at;
	uint32_t size;
	/* And so much time of tasks at that place, in ns (collect/task_times.h). */
	double tasks_ns;
};

/* One that the look has read. */
struct poll_part_task {
	/* Who it is, and what it is called (collect/task_times.h). */
	uint64_t key;
	uint64_t name;
	/* It stands for so many. */
	double share;
	/* The numbers of two parts: its own, and that of those for which it stands. */
	uint32_t own;
	uint32_t others;
	/* Those that wait stand for each other, not for the one that runs. */
	bool runs;
	/* Scratch of task_times_divide(). */
	double unspent;
};

struct poll_parts {
	VEC(struct poll_part) list;
	VEC(struct poll_part_task) tasks;
	/* Those are known to be there up to then, in ns of the clock of records. */
	uint64_t until;
	/* The walker's, each behind its size. */
	struct strbuf records;
};
#define POLL_PARTS_INIT { .records = STRBUF_INIT }

void poll_parts_clear(struct poll_parts *parts);
void poll_parts_deinit(struct poll_parts *parts);
void poll_parts_swap(struct poll_parts *a, struct poll_parts *b);
/* Equal ones become one; *number is its number. False: there is no memory. */
bool poll_parts_find(struct poll_parts *parts, const struct strbuf *records,
		     uint64_t marker, uint32_t *number);
/* The same, and it counts so much more often. */
bool poll_parts_add(struct poll_parts *parts, const struct strbuf *records,
		    uint64_t marker, double share);

#endif
