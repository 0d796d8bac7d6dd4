/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading another process's memory without stopping it: process_vm_readv, or
 * /proc/PID/mem where that is refused. Needs ptrace access to the process
 * (own children, same user subject to kernel.yama.ptrace_scope, or
 * CAP_SYS_PTRACE).
 */
#ifndef KAA_SYS_REMOTE_MEMORY_H
#define KAA_SYS_REMOTE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum { REMOTE_MEMORY_WORDS_MAX = 64 };

struct remote_memory {
	pid_t pid;
	/* /proc/PID/mem once it was needed, else -1. */
	int mem_fd;
};

static inline struct remote_memory remote_memory_init(pid_t pid)
{
	return (struct remote_memory){ .pid = pid, .mem_fd = -1 };
}

void remote_memory_deinit(struct remote_memory *memory);

/*
 * Reads up to n bytes. Returns how many were readable from address on (fewer
 * than n where a page is not mapped), or a negative errno if none was:
 * -EFAULT not mapped, -EPERM no access, -ESRCH gone.
 */
ssize_t remote_memory_read(struct remote_memory *memory, uint64_t address,
			   void *buf, size_t n);

/* All n bytes were readable; what buf holds if not is not defined. */
static inline bool remote_memory_read_all(struct remote_memory *memory,
					  uint64_t address, void *buf, size_t n)
{
	return remote_memory_read(memory, address, buf, n) == (ssize_t)n;
}

/* The same for who takes a callback; memory: a struct remote_memory. */
static inline bool remote_memory_callback(void *memory, uint64_t address,
					  void *buf, size_t n)
{
	return remote_memory_read_all(memory, address, buf, n);
}

/*
 * Reads words of 8 bytes that lie anywhere, with one system call, as many as can be
 * read, from the first on. Returns how many; 0 also where each has to be read by
 * itself. n: REMOTE_MEMORY_WORDS_MAX at most.
 */
size_t remote_memory_read_words(const struct remote_memory *memory,
				const uint64_t *addresses, size_t n,
				uint64_t *words);

/*
 * Reads exactly n bytes: ERROR_FAULT names the address, ERROR_PERMISSION what
 * forbids it and the way out, ERROR_NOT_FOUND a process that is gone. What buf
 * holds after an error is not defined.
 */
struct error *remote_memory_read_exact(struct remote_memory *memory,
				       uint64_t address, void *buf, size_t n);

/* What is said to root, whom no sudo helps. */
struct error *remote_memory_not_for_root(pid_t pid);

#endif
