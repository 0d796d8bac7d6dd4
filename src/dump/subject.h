/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is dumped: a process that runs, or one that was. Its memory, its threads,
 * and the Python in it.
 *
 * Not thread-safe. One kind of subject binds the calling thread to CPUs while it
 * reads (collect/poll_hold.h).
 */
#ifndef KAA_DUMP_SUBJECT_H
#define KAA_DUMP_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/error.h"
#include "base/vec.h"
#include "bpf/walker_shared.h"
#include "python/layout.h"
#include "python/user_walk.h"
#include "python/object_text.h"
#include "sys/task_stat.h"
#include "sys/task_syscall.h"

enum {
	SUBJECT_THREADS_MAX = 16384,
	SUBJECT_COMM_MAX = 64,
};

/* A mapping, in order of address. */
struct subject_map {
	uint64_t start;
	/* Exclusive. */
	uint64_t end;
	/* Of start in the file. */
	uint64_t offset;
	bool executable;
	/* Owned by the subject; "": none. */
	const char *path;
};

struct subject_map_list VEC_BODY(struct subject_map);

struct subject_thread {
	pid_t tid;
	/* As its own pid namespace numbers it; -1: not known. */
	int number;
	/* pthread_self(); 0: not known. */
	uint64_t pointer;
	char comm[SUBJECT_COMM_MAX];
	/* Of a core; 0 else. */
	uint64_t registers[USER_WALK_REGISTERS];
	/* Of a process that runs it is where the stack's memory begins; 0: not known. */
	uint64_t stack_pointer;
	/* Tries at which it did not stop in time. */
	unsigned int late_stops;
	/* Of a core, and of a thread that was stopped. */
	bool has_all_registers;
	struct user_regs_struct all_registers;
	/* Of a process that runs. */
	struct task_files files;

	/* Of the last read: 'R', 'S', ... as in /proc/PID/stat; 0: not known. */
	char state;
	/* The system call in which it was last seen asleep, and that it is in it. */
	struct task_syscall call;
	bool has_call;
};

enum subject_read {
	/* The thread holds still, from now on: see subject_end(). */
	SUBJECT_STILL,
	/* It does not. */
	SUBJECT_RUNS,
	SUBJECT_GONE,
};

struct subject;

struct subject_kind {
	/*
	 * A descriptor for a mapped file, or -1. The map's path becomes the one by which
	 * the file is found here: of a core's that may be the end of what it notes.
	 */
	int (*open_map)(struct subject *subject, struct subject_map *map);
	enum subject_read (*begin)(struct subject *subject,
				   struct subject_thread *thread);
	/* The thread has held still since. */
	bool (*end)(struct subject *subject, struct subject_thread *thread);
	/* It is not read again. */
	void (*release)(struct subject *subject, struct subject_thread *thread);
	/* It is not there any more; never of a core. */
	bool (*has_ended)(struct subject *subject);
	void (*destroy)(struct subject *subject);
};

struct subject {
	const struct subject_kind *kind;
	pid_t pid;
	/* Owned; "" where it is not known. The core is NULL of a process. */
	char *command;
	char *core;
	/* That ended it, and the thread that it hit; 0: none. */
	int signal;
	pid_t signalled;
	struct py_memory memory;
	/*
	 * Threads of a process that runs are to be stopped while they are read, so that
	 * there are all registers. One that cannot be has none.
	 */
	bool stops;
	struct subject_map_list maps;
	VEC(struct subject_thread) threads;

	/* By subject_find_python(). */
	char *interpreter;
	struct walker_process python;
	struct py_builtins builtins;
};

/*
 * ERROR_NOT_FOUND: no such process; ERROR_PERMISSION: it may not be read, and what
 * forbids it; ERROR_UNSUPPORTED: the kernel does not say what is needed.
 */
struct error *subject_open_live(pid_t pid, struct subject **ret);
/*
 * ERROR_FORMAT, ERROR_TRUNCATED: no core file, or one that was cut off;
 * ERROR_UNSUPPORTED: of another machine.
 */
struct error *subject_open_core(const char *path, struct subject **ret);
void subject_destroy(struct subject *subject);

/* ERROR_FAULT */
struct error *subject_ended(const struct subject *subject);
/*
 * Finds the CPython in its maps. ERROR_UNSUPPORTED: there is none that kaa can
 * read, and why; ERROR_NOT_FOUND: nothing in a process that runs looks like one;
 * ERROR_FAULT: it has ended meanwhile.
 */
struct error *subject_find_python(struct subject *subject);

static inline enum subject_read subject_begin(struct subject *subject,
					      struct subject_thread *thread)
{
	return subject->kind->begin(subject, thread);
}

static inline bool subject_end(struct subject *subject,
			       struct subject_thread *thread)
{
	return subject->kind->end(subject, thread);
}

static inline void subject_release(struct subject *subject,
				   struct subject_thread *thread)
{
	subject->kind->release(subject, thread);
}

/* For the kinds: the thread's registers, all of them and those that are walked with. */
void subject_take_registers(struct subject_thread *thread,
			    const struct user_regs_struct *registers);
/* For the kinds: frees what all have. */
void subject_deinit(struct subject *subject);

#endif
