/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes and threads that are polled, and what they have run. Who has come,
 * called exec, or ended is found by collect/poll_look.h.
 *
 * What cannot be read, for want of memory or of files, is not there. One thread.
 */
#ifndef KAA_COLLECT_POLL_TASKS_H
#define KAA_COLLECT_POLL_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "bpf/walker_shared.h"
#include "collect/poll_account.h"
#include "collect/poll_native.h"
#include "collect/poll_parts.h"
#include "collect/poll_share.h"
#include "collect/poll_writer.h"
#include "sys/proc.h"
#include "sys/remote_memory.h"
#include "sys/task_stat.h"

struct polled_loop;

struct polled_thread {
	pid_t tid;
	struct task_files files;
	/* CPU time in ns: at the last look, and that which samples stand for. */
	uint64_t ran;
	uint64_t given;
	/* The same of what it had to wait for a CPU; and how often it got one. */
	uint64_t kept_off;
	uint64_t slices;
	/* Looks in a row at which it had not run, and looks to be left out. */
	uint32_t quiet;
	uint32_t skip;
	/* It was awake at the last look. */
	bool awake;
	/* What its samples of CPU time stand for. */
	struct poll_share share;
	/* Where it ran last when it was read. */
	int cpu;
	/* pthread_self(); 0: not known yet. */
	uint64_t pointer;
	/* Its stack is above; of a Python that has to be told (poll_walk.c), else 0. */
	uint64_t stack_start;
	/* Of the last look. */
	bool seen;
	/* Its children were read when it had run so much, and so often. */
	bool has_children_read;
	uint64_t ran_before_children;
	uint64_t slices_before_children;
	/* As poll_hold_asleep() wants it. */
	int64_t least;
	/*
	 * It came while nobody looked, for so many ns. That is what its first sample
	 * stands for: others that came and went then have none. 0: it has had one.
	 */
	uint64_t unseen;
	/* Of a first thread, as long ago its program may have begun when that was found. */
	uint64_t since_exec;
	/* Found by the look at hand. */
	bool is_new;

	/* CPU time up to its last sample. */
	uint64_t ran_told;
	struct poll_account account;
	/* Wall time, by the clock of records: up to when samples stand for it. */
	uint64_t told;
	/* poll_wall.late when it was looked at last, or need not be. */
	uint64_t late_told;
	bool was_read;
	/* The walker's records of the stack in which it sleeps; empty: it does not. */
	struct strbuf stack;
	struct poll_native native;
	/* Where tasks are asked for, these in place of that stack; and its loop, or NULL. */
	struct poll_parts parts;
	struct polled_loop *loop;
	/* There were tasks at its last sample. */
	bool had_tasks;
	/*
	 * It sleeps, with the GIL if that is asked for, still does at that time, and
	 * what it had run before.
	 */
	bool sleeps;
	bool slept_with_gil;
	uint64_t slept_until;
	struct task_run slept;
	/* And how often it had gone to sleep. */
	uint64_t sleeps_before;
};

struct polled_process {
	pid_t pid;
	/* When its program began, as its records say; 0: before the recording. */
	uint64_t since;
	uint64_t start_time;
	uint64_t start_stack;
	VEC(struct polled_thread) threads;
	/* Maps told of: what tells one from others. */
	VEC(uint64_t) maps;
	/*
	 * For native stacks: pages of memory at the last look for new maps, and the ns
	 * of CLOCK_MONOTONIC before which there is none.
	 */
	uint64_t memory_size;
	int64_t new_maps_at;
	struct remote_memory memory;
	/* Sampled only once it has called exec. */
	bool waits;
	/* Its Python, as the recorder found it. */
	bool has_python;
	struct walker_process python;
	/* process_ran(), when it was asked last and when time began to count. */
	uint64_t total;
	uint64_t total_before;
	/* What its samples of CPU time stand for. */
	uint64_t given;
	/* In ms of CLOCK_MONOTONIC: the next look at its maps, and then how long. */
	int64_t maps_at;
	int64_t maps_wait;
	/* Threads that the last look found, and the looks that are due. */
	size_t listed;
	unsigned int looks;
	/* In ns of CLOCK_MONOTONIC: the last one, and for how long there was none. */
	int64_t looked;
	uint64_t unseen;
	/* The same clock: so many threads were there, and none had ended. */
	int64_t alive;
	/* The next one: not before that; and then in any case. */
	int64_t look_at;
	int64_t again_at;
	bool ended;
};

struct poll_tasks {
	/* Borrowed. Goes before /proc. */
	const char *root;
	struct poll_writer *writer;
	/* New threads and children, too. */
	bool inherit;
	/* A thread ends: what is left to be said of it. Or NULL. */
	void (*ending)(void *arg, const struct polled_process *process,
		       struct polled_thread *thread);
	void *arg;

	VEC(struct polled_process *) processes;
	/* Some thread is_new. */
	bool has_new;
	/* The number that the kernel had given last, and when it was asked. */
	pid_t newest;
	struct proc_newest newest_file;
	int64_t asked;
	/* Of threads that have ended: what they ran, in ns. */
	uint64_t ended_ran;
	uint64_t ended_given;
	uint64_t ended_kept_off;
	/* Of processes that have ended. */
	uint64_t ended_total;
	/* Looks at threads for which there was no descriptor, and at those beyond a limit. */
	uint64_t missed;
	uint64_t too_many;
};

void poll_tasks_deinit(struct poll_tasks *tasks);
/* A process from the start; waits: see above. False: it has ended. */
bool poll_tasks_add(struct poll_tasks *tasks, pid_t pid, bool waits);
struct polled_process *poll_tasks_find(const struct poll_tasks *tasks,
				       pid_t pid);
/* A process with its first thread; NULL: it has ended, or there is no room. */
struct polled_process *poll_tasks_make(struct poll_tasks *tasks, pid_t pid);
bool poll_tasks_add_thread(struct poll_tasks *tasks,
			   struct polled_process *process, pid_t tid);
/* What it ran is kept; the caller takes it out. */
void poll_tasks_end_thread(struct poll_tasks *tasks,
			   struct polled_thread *thread);
/* Those with `ended`. */
void poll_tasks_drop_ended(struct poll_tasks *tasks);
bool poll_tasks_has_ended(const struct task_stat *stat);
/* From here on CPU time counts. */
void poll_tasks_begin(struct poll_tasks *tasks);
/* The program that the process was since that time is a Python; NULL: no more. */
void poll_tasks_set_python(struct poll_tasks *tasks, pid_t pid, uint64_t since,
			   const struct walker_process *python);
/* CPU time of all threads, and that which samples stand for, in ns. */
void poll_tasks_time(const struct poll_tasks *tasks, uint64_t *ran,
		     uint64_t *given);
/* Asks how much CPU time all threads of a process have had. */
void poll_tasks_note_total(const struct poll_tasks *tasks,
			   struct polled_process *process);
/* The same of all processes, in ns: threads that nobody has seen are in it. */
uint64_t poll_tasks_total(const struct poll_tasks *tasks);
/* For how long threads that could run had no CPU, in ns. */
uint64_t poll_tasks_kept_off(const struct poll_tasks *tasks);

#endif
