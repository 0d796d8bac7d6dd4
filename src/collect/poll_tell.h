/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel would say of polled tasks, at the time of the look at them
 * (collect/poll_look.h): records for the ring of tasks.
 */
#ifndef KAA_COLLECT_POLL_TELL_H
#define KAA_COLLECT_POLL_TELL_H

#include <stdint.h>
#include <sys/types.h>

#include "collect/poll_tasks.h"

/* A new thread, with its name. */
void poll_tell_thread(struct poll_tasks *tasks, pid_t pid, pid_t tid);
/* A process by fork. */
void poll_tell_child(struct poll_tasks *tasks, pid_t ppid, pid_t pid,
		     uint64_t time);
/* Of a thread; what is left to be said of it goes before. */
void poll_tell_end(struct poll_tasks *tasks,
		   const struct polled_process *process,
		   struct polled_thread *thread);
/* The process called exec at process->since. */
void poll_tell_exec(struct poll_tasks *tasks, struct polled_process *process);
/*
 * Maps that it was not told of, until the recorder has found a Python: looks are
 * left out more and more.
 */
void poll_tell_maps(struct poll_tasks *tasks, struct polled_process *process);

/*
 * What has been mapped since, whether its Python is known or not: as soon as the size of
 * its memory says that something was, and as often as it is cheap.
 */
void poll_tell_new_maps(struct poll_tasks *tasks,
			struct polled_process *process);

#endif
