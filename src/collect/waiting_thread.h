/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that sleeps, read from outside while it sleeps on: where it called the
 * kernel, and Python's frames (docs/off-cpu.md).
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_WAITING_THREAD_H
#define KAA_COLLECT_WAITING_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "collect/code_spans.h"
#include "collect/python_source.h"
#include "collect/python_stack.h"
#include "collect/target.h"
#include "python/user_walk.h"
#include "sys/task_syscall.h"

struct waiting_thread {
	/* Borrowed. root: see sys/file.h. */
	const char *root;
	struct source_state *source;
	struct code_table *codes;
	struct user_walk *walk;
	struct target *target;
	pid_t tid;

	/* As of the last look: struct walker_wait has it; and how long, in ns. */
	uint64_t since;
	uint64_t waited;
	/* What was read. */
	struct task_syscall call;
	struct python_stack python;
	struct error *error;
};

void waiting_thread_deinit(struct waiting_thread *thread);

/* Since when, and for how long, it is off the CPU by now; 0: it is not. */
void waiting_thread_look(struct waiting_thread *thread);
/* False: it runs, or the kernel does not tell. Whether it slept on is for the caller to ask. */
bool waiting_thread_read(struct waiting_thread *thread);
/* What went wrong meanwhile, for want of memory; the caller's from then on. */
struct error *waiting_thread_error(struct waiting_thread *thread);

#endif
