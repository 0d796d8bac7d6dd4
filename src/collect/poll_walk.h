/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The walk over the Python frames of a polled thread (python/user_walk.h), into the
 * sample of a writer. Nothing here proves that the thread holds still.
 */
#ifndef KAA_COLLECT_POLL_WALK_H
#define KAA_COLLECT_POLL_WALK_H

#include <stdbool.h>

#include "base/error.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "collect/poll_tasks.h"
#include "collect/poll_writer.h"
#include "python/states.h"
#include "python/user_walk.h"

struct poll_walk {
	/* Borrowed. root goes before /proc. */
	struct poll_writer *writer;
	const char *root;
	/* Stacks are kept, too; or kept alone, and not in the sample. */
	bool keeps;
	bool defers;
	/* NULL: there was no memory for another one, and nothing is walked any more. */
	struct user_walk *walk;
	bool told_code;
	/* Of the thread that is walked. */
	enum py_states_tell tells;
	/* Of the last walk: records of the stack, each behind its size. */
	struct strbuf stack;
	/* Frames that name tasks, of which the recorder has been told. */
	struct map tasks;
};
#define POLL_WALK_INIT { .stack = STRBUF_INIT }

struct error *poll_walk_init(struct poll_walk *walk,
			     struct poll_writer *writer);
void poll_walk_deinit(struct poll_walk *walk);

/* What is kept of the last walk goes. */
void poll_walk_clear(struct poll_walk *walk);
/* Into the sample that has begun. */
void poll_walk_thread(struct poll_walk *walk, struct polled_process *process,
		      struct polled_thread *thread);
/* The last walk was torn: code that it told of may be none. False: see above. */
bool poll_walk_forget(struct poll_walk *walk);
/*
 * A code object that the last walk did not meet; the key of its frames, 0: it is none.
 * memory: of the process, at the same moment.
 */
uint64_t poll_walk_code(struct poll_walk *walk, const struct py_memory *memory,
			uint64_t code);
/* The same of the frame that names a task (task_stack.h). False: there is no room. */
bool poll_walk_tell_task(struct poll_walk *walk,
			 const struct polled_process *process, uint64_t key,
			 const char *words);
/* Records that were kept, into the sample that has begun. */
void poll_walk_again(struct poll_walk *walk, const char *records, size_t size);

/* True: the thread has the GIL, or one of its process's. */
bool poll_walk_has_gil(struct poll_walk *walk, struct polled_process *process,
		       struct polled_thread *thread);

#endif
