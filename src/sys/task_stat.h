/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the scheduler says about one thread: /proc/PID/task/TID/stat, schedstat and
 * sched, read again and again through descriptors that stay open.
 *
 * The texts are the kernel's, but the name in `stat` and `sched` is the thread's own. A file
 * that does not parse, or whose thread has ended, gives false. Format source:
 * proc(5), and fs/proc/array.c, fs/proc/base.c and kernel/sched/debug.c of Linux.
 */
#ifndef KAA_SYS_TASK_STAT_H
#define KAA_SYS_TASK_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct task_stat {
	/* 'R': it runs, or waits for a CPU. 'Z', 'X': it has ended. */
	char state;
	/* The CPU that it runs on, or ran on last. */
	int cpu;
	/* CPU time of the thread, or of a process: of all it has had. Clock ticks. */
	uint64_t ran;
	/* Clock ticks after boot. */
	uint64_t start_time;
	/* Where the program's stack begins: another one after exec. 0: not told. */
	uint64_t start_stack;
};

struct task_run {
	/* CPU time in ns; of a thread that runs, up to the kernel's last look. */
	uint64_t ran;
	/* For how long it could have run, and had no CPU. */
	uint64_t kept_off;
	/* How often it has got a CPU. */
	uint64_t slices;
};

bool task_stat_parse(const char *text, struct task_stat *ret);
/* Without CONFIG_SCHED_INFO the kernel says "0 0 0". */
bool task_run_parse(const char *text, struct task_run *ret);

struct task_sched {
	/*
	 * `se.exec_start` in ns of its CPU's clock: when the kernel last looked how
	 * long the thread had run. That is when it lost its CPU, or, if it runs,
	 * when it got it or later.
	 */
	uint64_t looked;
	/* How often it has lost a CPU: as often as it got one, if it has none. */
	uint64_t switches;
	/* How often of these it went to sleep; UINT64_MAX: that is not told. */
	uint64_t sleeps;
};

/* Up to 6.14 it is there with CONFIG_SCHED_DEBUG alone. */
bool task_sched_parse(const char *text, struct task_sched *ret);

/*
 * CPU time of all threads that a process has had, in ns, as exactly as the kernel's
 * clock ticks. False: it is gone, or another one has its number, that did not begin at
 * start_time (0: any will do).
 */
bool process_ran(const char *root, pid_t pid, uint64_t start_time,
		 uint64_t *ret);

/* It is there, and is no zombie. A thread can be asked for as well. */
bool process_lives(const char *root, pid_t pid);

struct task_files {
	int stat_fd;
	int run_fd;
	int sched_fd;
};
#define TASK_FILES_INIT { .stat_fd = -1, .run_fd = -1, .sched_fd = -1 }

/* root: see sys/file.h. False: the thread has ended, or what errno says. */
bool task_files_open(const char *root, pid_t pid, pid_t tid,
		     struct task_files *ret);
void task_files_close(struct task_files *files);
bool task_files_stat(const struct task_files *files, struct task_stat *ret);
bool task_files_run(const struct task_files *files, struct task_run *ret);
bool task_files_sched(const struct task_files *files, struct task_sched *ret);

#endif
