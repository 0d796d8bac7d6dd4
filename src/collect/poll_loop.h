/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the tasks of asyncio whose loop a polled thread runs, while it holds still: the
 * one that runs, cut out of the thread's stack, and some of those that wait, by chance,
 * so that each counts as often as it should (docs/async.md). Of the poller's thread.
 */
#ifndef KAA_COLLECT_POLL_LOOP_H
#define KAA_COLLECT_POLL_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "collect/held_memory.h"
#include "collect/poll_parts.h"
#include "collect/poll_tasks.h"
#include "collect/poll_walk.h"
#include "collect/python_stack.h"
#include "python/tasks.h"

struct poll_loops {
	/* NULL: tasks are not read. */
	struct held_memory *memory;
	/* Borrowed. */
	struct poll_walk *walk;
	/* Of the last look: what a sample of it is made of. */
	struct poll_parts parts;
	/* Looks at a thread that runs a loop; tasks of a build that is not known. */
	uint64_t looks;
	uint64_t unknown;

	/* Of the look at hand. */
	struct python_stack stack;
	struct walker_copy copy;
	struct strbuf records;
	struct strbuf words;
	struct map seen;
	struct py_task_list found;
};
#define POLL_LOOPS_INIT \
	{ .parts = POLL_PARTS_INIT, .records = STRBUF_INIT, .words = STRBUF_INIT }

/* False: there is no memory. */
bool poll_loops_begin(struct poll_loops *loops, struct poll_walk *walk);
void poll_loops_deinit(struct poll_loops *loops);

/* Of the tasks that wait so many are read, or as many as take so long. */
struct poll_effort {
	size_t least;
	uint64_t ns;
};
/*
 * tried: earlier tries of the look. ticks: as many have passed since the look before,
 * for which this one stands.
 */
struct poll_effort poll_loops_effort(bool asleep, int tried, uint64_t ticks);

/*
 * A thread that is held and was walked: loops->parts is what it does. asleep: it
 * sleeps.
 */
void poll_loops_read(struct poll_loops *loops, struct polled_process *process,
		     struct polled_thread *thread, bool asleep,
		     const struct poll_effort *effort);
/* It held still, or it did not: then what was read counts for nothing. */
void poll_loops_settle(const struct polled_thread *thread, bool held);

#endif
