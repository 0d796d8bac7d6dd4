/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that stands still for a moment, by ptrace(2), so that its registers can be
 * read. Nothing of it is changed. A system call in which it sleeps goes on afterwards;
 * some end with EINTR, which a stop is allowed to cause (signal(7)): epoll_wait(),
 * sigtimedwait(), those of sockets with a timeout, and those of System V.
 *
 * Between two stops it has no tracer, but where it did not stop in time: then it has one
 * until task_stop_settle() has seen it stop. What may become of it meanwhile:
 *
 * - It ends, or another thread ends the process or calls exec. It is then a zombie that
 *   is waited for, and that its tracer has to see.
 * - It calls exec itself, and has its process's number from then on.
 *
 * Who seizes a thread waits for an exec of its process, and that for the end of all its
 * threads. So while one is not settled, no other thread of its process is stopped.
 *
 * All functions but task_stop_deinit() are for one thread: Linux knows who has stopped
 * whom by threads. A stop of a child of the own process is news for whoever waits for
 * that child, too, and must not be taken by others (waitid() with WNOWAIT shows what it
 * is). That a child has ended is left to its parent.
 */
#ifndef KAA_SYS_TASK_STOP_H
#define KAA_SYS_TASK_STOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/vec.h"

enum task_stop_result {
	/* It stands still, until task_stop_end(). */
	TASK_STOP_DONE,
	/* It has ended, or has another number by now. */
	TASK_STOP_GONE,
	/* It may not be stopped: it has a tracer already, or rights that we lack. */
	TASK_STOP_DENIED,
	/* It did not stop in time, as one that waits for a disk; or another of its process. */
	TASK_STOP_LATE,
};

struct task_number {
	pid_t pid;
	pid_t tid;
};

/* Zero-initialise. */
struct task_stop {
	struct task_number task;
	/* To be delivered when it goes on; 0: none. */
	int signal;
	struct user_regs_struct registers;
	/* Those that are not settled. */
	VEC(struct task_number) late;
};

/* SIGCHLD tells of children that end, and not of each stop. */
void task_stop_quiet(void);
enum task_stop_result task_stop_begin(struct task_stop *stop, pid_t pid,
				      pid_t tid);
/* The thread of TASK_STOP_DONE goes on. */
void task_stop_end(struct task_stop *stop);
/* Lets go who has stopped too late; to be called often while there may be some. */
void task_stop_settle(struct task_stop *stop);
/*
 * Frees what it holds. Those that are not settled are let go when the thread that has
 * stopped them ends.
 */
void task_stop_deinit(struct task_stop *stop);

#endif
