/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The native stack of a thread that is polled: its registers, and a copy of its
 * stack's memory, as the kernel has them in its samples. Both are taken while the
 * thread is stopped (sys/task_stop.h), or sleeps. Not thread-safe.
 */
#ifndef KAA_COLLECT_POLL_NATIVE_H
#define KAA_COLLECT_POLL_NATIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

#include "base/strbuf.h"
#include "perfdata/record.h"
#include "sys/remote_memory.h"

/* As many as UNWIND_PERF_REGS_MASK has bits. */
enum {
	POLL_NATIVE_REGISTERS = 17,
	/* A record has 65,535 bytes, and more in it than the stack. */
	POLL_NATIVE_STACK_MAX = 60000,
};

struct poll_native {
	bool known;
	/* Those of this mask are known, low bit first: enum perf_event_x86_regs. */
	uint64_t mask;
	uint64_t registers[POLL_NATIVE_REGISTERS];
	/* From the stack pointer on. */
	struct strbuf stack;
};
#define POLL_NATIVE_INIT { .stack = STRBUF_INIT }

void poll_native_deinit(struct poll_native *native);
/* Nothing is known any more. */
void poll_native_clear(struct poll_native *native);
/* The registers; there is nothing of the stack so far. */
void poll_native_take(struct poll_native *native,
		      const struct user_regs_struct *registers);
/* Of a thread that nobody has stopped: where it called the kernel. */
void poll_native_take_call(struct poll_native *native, uint64_t stack_pointer,
			   uint64_t instruction);
/* At most `most` bytes of the stack, as many as there are. */
void poll_native_copy(struct poll_native *native, uint64_t stack_pointer,
		      struct remote_memory *memory, size_t most);
void poll_native_swap(struct poll_native *a, struct poll_native *b);
/* The same in *ret, with no more memory than it takes. */
void poll_native_keep(const struct poll_native *native, struct poll_native *ret);
/* Borrows what it has; without it the sample has no registers. */
void poll_native_put(const struct poll_native *native,
		     struct record_sample *sample);

#endif
