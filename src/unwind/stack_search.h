/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds a frame on a stack whose inner frames cannot be unwound: that of a
 * function that is known to keep something at a known address of its frame.
 *
 * The word below a frame is a return address into its function, and by CFI at
 * that address the frame's extent follows from the place of the word. So a word
 * is taken for it if
 *  - it lies in the function, behind a call;
 *  - CFI gives the CFA as stack pointer + offset there, and the known address
 *    lies between the two;
 *  - the word below the CFA is executable and behind a call.
 * The frame is there, and its own word meets all this. So if exactly one word
 * does, that is the one. If several do, or if a word may be the one but CFI
 * tells its frame's extent in another way, none is taken.
 *
 * No I/O but what the target reads. x86-64.
 */
#ifndef KAA_UNWIND_STACK_SEARCH_H
#define KAA_UNWIND_STACK_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/unwind.h"

struct stack_search {
	const struct unwind_target *target;
	const struct unwind_stack *stack;
	/* True if an address lies in the function. */
	bool (*is_function)(void *arg, uint64_t address);
	void *arg;
};

/*
 * Searches from the stack address `from` for the frame that has `address`
 * in it; the frame lies in the copy as a whole. *ret gets the registers for
 * unwind_callers(): all that is known of them is rip and rsp.
 */
bool stack_search_frame(const struct stack_search *search, uint64_t from,
			uint64_t address, struct unwind_regs *ret);

/*
 * A compiler puts what a function keeps at one place of its frame. So where whole
 * stacks have been unwound, they tell how the frame lies around such an address, also
 * where its extent follows from the frame pointer. Zero-initialise.
 */
struct stack_habit {
	/* From the stack pointer, at a call, to the address, and on to the CFA. */
	uint64_t below;
	uint64_t above;
	/* Frames that tell it. */
	uint32_t seen;
	/* Not all do: nothing is known. */
	bool differs;
};

enum {
	/* So many tell enough; more than the latter need not be asked. */
	STACK_HABIT_ENOUGH = 8,
	STACK_HABIT_MOST = 64,
};

/* A frame of the function that waits for its callee, from sp to cfa, has it at address. */
void stack_habit_learn(struct stack_habit *habit, uint64_t sp, uint64_t cfa,
		       uint64_t address);

/*
 * As stack_search_frame(), for a frame that lies as all others did: its own return
 * address and its caller's have to be where that says. ret has rbp, too, where the CFA
 * follows from it.
 */
bool stack_search_habit(const struct stack_search *search,
			const struct stack_habit *habit, uint64_t from,
			uint64_t address, struct unwind_regs *ret);

#endif
