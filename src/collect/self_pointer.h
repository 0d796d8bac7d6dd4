/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pthread_self() of a thread of a Python process, without stopping it: as the kernel
 * tells (sys/thread_pointer.h), or, with musl, as Python's thread states do.
 */
#ifndef KAA_COLLECT_SELF_POINTER_H
#define KAA_COLLECT_SELF_POINTER_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/walker_shared.h"
#include "sys/remote_memory.h"

/* 0: not known. root: see sys/file.h. */
uint64_t self_pointer_find(const char *root, struct remote_memory *memory,
			   const struct walker_process *python, pid_t tid);

#endif
