/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which threads a recording has samples of, whatever filters leave of them: for
 * who names one that has none.
 */
#ifndef KAA_CONVERT_SEEN_TASKS_H
#define KAA_CONVERT_SEEN_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "profile/index.h"

/* A thread, or a task of asyncio of it. */
struct seen_task {
	int32_t pid;
	int32_t tid;
	/* NULL: not known. */
	const char *comm;
	/* NULL: the program gave none. */
	const char *name;
	uint64_t samples;
	/* It is a task, and `name` is the task's. */
	bool is_asyncio;
};

/* Zero-initialise. */
struct seen_tasks {
	VEC(struct seen_task) all;
	struct index index;
	/* Of the names. */
	struct arena names;
};

/* Counts a sample of the task, whose names are copied. */
struct error *seen_tasks_add(struct seen_tasks *tasks,
			     const struct seen_task *task);
void seen_tasks_deinit(struct seen_tasks *tasks);

#endif
