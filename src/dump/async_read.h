/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the tasks of asyncio: the lists, then one task after the other, each while
 * the thread that runs its loop holds still. What awaits what is told by the objects
 * of each task at its own moment. docs/dump.md says more.
 */
#ifndef KAA_DUMP_ASYNC_READ_H
#define KAA_DUMP_ASYNC_READ_H

#include "base/error.h"
#include "dump/dump.h"
#include "dump/subject.h"
#include "python/states.h"

/* The Python stack of a thread, which a task that runs is part of. */
struct async_walk {
	/* While the thread holds still. locals: for variables of it, or NULL. */
	void (*walk)(void *arg, const struct subject_thread *thread,
		     const struct py_state *state, struct dump_locals *locals);
	/* It did not: the walk counts for nothing. */
	void (*forget)(void *arg);
	/*
	 * Once it is proven: the frames from the innermost one to the one at that
	 * address are appended, with their variables in what was walked with; none if
	 * it is not among them.
	 */
	struct error *(*take)(void *arg, uint64_t outermost,
			      struct dump_frame_list *ret);
	void *arg;
	/* How many tasks of all have been read; or NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t size);
};

/* Into dump->tasks. Texts are the dump's. */
struct error *async_read(struct subject *subject,
			 const struct py_state_list *states,
			 const struct async_walk *walk, struct dump *dump);

#endif
