/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The walk over Python frames (bpf/walk_frames.h) in user space: memory and
 * registers of a thread in, the walker's records out (bpf/walker_shared.h), the
 * same as the kernel's walker writes where the thread is at the same place.
 *
 * Nothing is trusted that is read: a walk ends, and has at most WALKER_MAX_FRAMES
 * frames, whatever the memory holds. The thread should hold still; of one that
 * runs on, what is torn is flagged as the walker flags it.
 *
 * One user_walk is not thread-safe; different ones may be used in different
 * threads.
 */
#ifndef KAA_PYTHON_USER_WALK_H
#define KAA_PYTHON_USER_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/walker_shared.h"
#include "python/layout.h"

struct user_walk;

/* rbx, rbp, r12, r13, r14, r15, rax, rdx */
#define USER_WALK_REGISTERS 8

/* The thread to be walked. */
struct user_walk_thread {
	struct walker_process process;
	/* Its pthread_self(): the thread pointer, FS base on x86-64. */
	uint64_t thread_pointer;
	/* As the records are to name it; the thread states are kept by tid. */
	uint32_t pid;
	uint32_t tid;
	/* Of user code; all 0 if they are not known. */
	uint64_t registers[USER_WALK_REGISTERS];
	uint64_t stack_pointer;
};

struct user_walk_output {
	/* Takes a record, which begins with struct walker_header; false: no room. */
	bool (*emit)(void *arg, const void *record, size_t size);
	void *arg;
};

enum user_walk_result {
	/* The thread has Python frames, and their STACK records are written. */
	USER_WALK_STACK,
	/* It has none: no thread state, or no frame. */
	USER_WALK_NO_FRAMES,
	/* A STACK record found no room. */
	USER_WALK_LOST,
};

struct error *user_walk_create(struct user_walk **ret);
void user_walk_destroy(struct user_walk *walk);

/*
 * The caller has found the thread's state: it need not be looked for in the lists.
 * Believed only if it is one of the thread that runs.
 */
void user_walk_hint(struct user_walk *walk, uint32_t tid, uint64_t state);

/*
 * Walks a thread. A code object's records are written before the stack that names
 * it first, and not again by this user_walk for the process: those of one pid are
 * told apart by `birth` and `era`, which the caller may leave 0. If the thread
 * had a stack the last time and has none now, a STACK record with WALKER_NO_FRAMES
 * says so.
 */
enum user_walk_result user_walk_thread(struct user_walk *walk,
				       const struct user_walk_thread *thread,
				       const struct py_memory *memory,
				       const struct user_walk_output *output);

/* The thread state that the last walk began in; 0: there was none. */
uint64_t user_walk_state(const struct user_walk *walk);
/*
 * The key of a code object that no walk has met, in the process of the last walk and at
 * the same moment; its records are written as a walk does. 0: it is none.
 */
uint64_t user_walk_code(struct user_walk *walk, uint64_t code,
			const struct py_memory *memory,
			const struct user_walk_output *output);

#endif
