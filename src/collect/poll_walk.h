/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The walk over the Python frames of a polled thread (python/user_walk.h), into the
 * sample of a writer. Nothing here proves that the thread holds still.
 */
#ifndef KAA_COLLECT_POLL_WALK_H
#define KAA_COLLECT_POLL_WALK_H

#include <stdbool.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "collect/poll_tasks.h"
#include "collect/poll_writer.h"
#include "python/user_walk.h"

struct poll_walk {
	/* Borrowed. root goes before /proc. */
	struct poll_writer *writer;
	const char *root;
	/* Stacks are kept, too. */
	bool keeps;
	/* NULL: there was no memory for another one, and nothing is walked any more. */
	struct user_walk *walk;
	bool told_code;
	/* Of the last walk: records of the stack, each behind its size. */
	struct strbuf stack;
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
/* A stack that was kept, into the sample that has begun. */
void poll_walk_again(struct poll_walk *walk, const struct strbuf *stack);

/* True: the thread has the GIL, or one of its process's. */
bool poll_walk_has_gil(struct poll_walk *walk, struct polled_process *process,
		       struct polled_thread *thread);

#endif
