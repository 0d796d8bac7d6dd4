/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names that Python programs give their threads (python/threads.h), for
 * the threads that samples were taken of.
 *
 * A name is read at the end of the round that brings a thread's first sample with
 * Python frames, and again from time to time where samples came since; or, where threads
 * are looked for from their beginning, soon after that. It costs the recorder at most
 * a hundredth of a processor: what is beyond that waits. A thread that ends before has
 * no name.
 *
 * Functions return an error only if the recording cannot go on. Not thread-safe.
 */
#ifndef KAA_COLLECT_PYTHON_THREADS_H
#define KAA_COLLECT_PYTHON_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "collect/output.h"
#include "collect/target.h"
#include "perfdata/record.h"
#include "process/process.h"

struct python_thread {
	/* NULL: the place is free. */
	struct target *target;
	uint32_t tid;
	/* The same as the process's own pid namespace numbers it; 0: not asked for yet. */
	int64_t native_id;
	/* pthread_self(); 0: not known. */
	uint64_t ident;
	/* The first sample; but for a first thread the name holds from there. */
	uint64_t since;
	/* As the file has it; NULL: it has none. */
	char *name;
	/* What a look at the process brought; else NULL. */
	char *found;
	/* In ms of CLOCK_MONOTONIC: no look before. */
	int64_t next_look;
	/* Since the last look; there may be no more, so that it is worth another. */
	bool sampled;
	/* Looks in vain, one after the other. */
	unsigned int in_vain;
	/* In python_threads.wanted. */
	bool wanted;
};

struct python_threads {
	/* Borrowed. */
	struct output *output;
	struct process_table *processes;
	/* Goes before /proc. */
	const char *root;
	/*
	 * Threads are looked for from their beginning: they may wait until their end,
	 * and their only sample come with that.
	 */
	bool from_beginning;

	VEC(struct python_thread) list;
	VEC(uint32_t) free;
	/* tid to index in list, plus 1; 0: none. */
	struct map by_tid;
	/* Indexes of threads to be looked for. */
	VEC(uint32_t) wanted;
	/* Of the look at hand: pthread_self(), native_id to index. */
	struct map by_ident;
	struct map by_native_id;
	/* In ms of CLOCK_MONOTONIC: those that are due are looked up again. */
	int64_t next_due;
	/* The last round's time in ms, and what looks may cost by now in us. */
	int64_t now;
	int64_t credit;
};

void python_threads_deinit(struct python_threads *threads);

/* A sample has Python frames. ident: its pthread_self(), 0 if that is not known. */
struct error *python_threads_sampled(struct python_threads *threads,
				     struct target *target,
				     const struct record *sample,
				     uint64_t ident);

/* A thread began, or was there before; nothing unless from_beginning is set. */
struct error *python_threads_began(struct python_threads *threads,
				   struct target *target, uint32_t tid,
				   uint64_t time);

/* What the process ran has been replaced (exec): its first thread's name holds no more. */
struct error *python_threads_replaced(struct python_threads *threads,
				      uint32_t pid, uint64_t time);

/* The thread has ended. Its name holds for what is still sampled of it. */
void python_threads_forget_one(struct python_threads *threads, uint32_t pid,
			       uint32_t tid);

/* The target will be no more: nor are threads whose end was lost. */
void python_threads_forget(struct python_threads *threads,
			   const struct target *target);

/* Once the samples of a round are handled: looks, and writes what is new. */
struct error *python_threads_end_round(struct python_threads *threads);

#endif
