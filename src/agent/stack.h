/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The C stacks of this process's threads: how much is left, and what is on one.
 */
#ifndef KAA_AGENT_STACK_H
#define KAA_AGENT_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stack addresses at which a Python call may be made without looking closer. */
struct agent_stack_room {
	uintptr_t low;
	uintptr_t size;
};

/* That of the thread that asked last. The GIL guards it. */
extern struct agent_stack_room agent_stack_room;

/* Finds the room of the thread with this stack pointer. */
bool agent_stack_look(uintptr_t sp);

/*
 * Whether the calling thread has so little stack left that no further Python function
 * should be called. On a stack that cannot be found: never. Needs the GIL of a
 * CPython up to 3.11.
 */
static inline bool agent_stack_is_low(void)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);

	return __builtin_expect(sp - agent_stack_room.low >=
					agent_stack_room.size, 0) &&
	       agent_stack_look(sp);
}

/*
 * Calls back with each word of the calling thread's stack, from the caller's
 * frame to its outermost end.
 */
void agent_stack_words(void (*callback)(uintptr_t word, void *arg), void *arg);

#endif
