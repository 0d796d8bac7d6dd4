/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pthread_self() of another process's thread, without stopping it: the kernel
 * tells where glibc's list of robust locks is, which is at a fixed place of struct
 * pthread (nptl/descr.h, x86-64). Believed only if that structure points to itself
 * and has the thread's number.
 */
#ifndef KAA_SYS_THREAD_POINTER_H
#define KAA_SYS_THREAD_POINTER_H

#include <stdint.h>
#include <sys/types.h>

#include "sys/remote_memory.h"

/* 0: not known. number: thread_own_number(). */
uint64_t thread_pointer_find(struct remote_memory *memory, pid_t tid,
			     int number);

/*
 * The number that the thread has for itself, in its own pid namespace; -1: not
 * known. root: see sys/file.h.
 */
int thread_own_number(const char *root, pid_t tid);

#endif
