/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The system call that a thread sleeps in: /proc/PID/task/TID/syscall (proc(5)).
 * Needs the same access as its memory.
 */
#ifndef KAA_SYS_TASK_SYSCALL_H
#define KAA_SYS_TASK_SYSCALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/strbuf.h"

struct task_syscall {
	/* -1: it sleeps in none, as at a page fault. */
	int64_t number;
	/* Its first argument. */
	uint64_t first;
	/* Of the code that called it; 0: not told. */
	uint64_t stack_pointer;
	uint64_t instruction;
};

bool task_syscall_parse(const char *text, struct task_syscall *ret);
/* False: it runs, has ended, or the kernel does not tell. root: see sys/file.h. */
bool task_syscall_read(const char *root, pid_t pid, pid_t tid,
		       struct task_syscall *ret);

/*
 * Of a thread that stands still with these registers: it is in that call still. A stop
 * or a signal wakes it up, and the kernel has it call again as soon as it has a CPU
 * (restart_syscall(2), signal(7)).
 */
bool task_syscall_is_in(const struct task_syscall *call,
			const struct user_regs_struct *registers);

/* Appends the name of one that may wait, else "system call 123". x86-64. */
void task_syscall_name(int64_t number, struct strbuf *out);

#endif
