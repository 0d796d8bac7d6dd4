/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits that last are read from outside while they do: when one ends Python may have
 * taken the thread's frames away, as at the end of a program (docs/off-cpu.md). What was
 * read is for a sample of that very wait, and for no other.
 *
 * Functions return an error only if the recording cannot go on. Not thread-safe.
 */
#ifndef KAA_COLLECT_LONG_WAITS_H
#define KAA_COLLECT_LONG_WAITS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "collect/tracking.h"
#include "collect/waiting_thread.h"

struct long_wait {
	uint32_t tid;
	/* As in struct walker_wait. */
	uint64_t since;
	/* Without a frame: the thread has none. */
	struct python_stack python;
	/* The sweep that met it last. */
	uint64_t sweep;
};

/* A thread that a sweep will look at. */
struct long_waits_thread {
	uint32_t pid;
	pid_t tid;
};

struct long_waits {
	/* Borrowed; NULL: no waits are recorded. */
	const struct tracking *tracking;
	/* Its root, source and codes are borrowed; the other fields are zero. */
	struct waiting_thread thread;

	VEC(struct long_wait) list;
	/* tid to index in list. */
	struct map by_tid;
	/* One after the other, a few at a time; `next` is the index of the next one. */
	VEC(struct long_waits_thread) threads;
	size_t next;
	uint64_t sweep;
	/* When it goes on, in ns of CLOCK_MONOTONIC. */
	int64_t due;
};

void long_waits_deinit(struct long_waits *waits);

/*
 * Reads waits that have become long, if it is time: at least as often as each tenth of a
 * second. Takes a hundredth of the CPU at the most, and 2 ms at a time.
 */
struct error *long_waits_look(struct long_waits *waits);

/*
 * What was read of this wait, or NULL. Valid until the next look. since: as in struct
 * walker_wait.
 */
const struct python_stack *long_waits_find(const struct long_waits *waits,
					   uint32_t pid, uint32_t tid,
					   uint64_t since);

#endif
