/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The native frames of one sample. Where they cannot be unwound, as in code
 * made at run time, the walk goes on at the next call of the evaluation
 * function that Python has a mark of (docs/made-code.md): the frames between
 * are missing, and one of address KAA_MARKER_MISSING_NATIVE stands for them.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_NATIVE_STACK_H
#define KAA_COLLECT_NATIVE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "collect/last_walks.h"
#include "collect/python_stack.h"
#include "collect/target.h"
#include "unwind/stack_search.h"
#include "unwind/unwind.h"

/* How the evaluation function's frame lies around Python's marks. */
struct native_habit {
	const struct py_binary *binary;
	struct stack_habit habit;
};

struct native_stack {
	struct unwinder *unwinder;
	VEC(struct native_habit) habits;
	/* What each thread's last sample was unwound to, and this one's. */
	struct last_walks walks;
	const struct unwind_trace *walk;
	/* Leaf first; those of walk, or, if frames are missing, all[]. */
	const struct unwind_frame *frames;
	size_t count;
	/* Frames before this one are the walk's. */
	size_t walked;
	/* Private: saved[i] has the registers in all[i], from `walked` on. */
	struct unwind_frame *all;
	struct unwind_regs *saved;
	/* How the walk of the outermost frames ended. */
	enum unwind_end end;
	/* Places where frames are missing between others. */
	size_t gaps;
};

struct error *native_stack_init(struct native_stack *native);
void native_stack_deinit(struct native_stack *native);

/*
 * Unwinds a copied stack of the target at target_at()'s time. tid: whose it is;
 * python: the Python frames beside it, or NULL.
 */
void native_stack_unwind(struct native_stack *native, struct target *target,
			 uint32_t tid, const struct unwind_regs *regs,
			 const struct unwind_stack *stack,
			 const struct python_stack *python);

/* The frames of another stack, from one that waits for its callee. */
struct native_branch {
	struct unwind_regs regs;
	const struct unwind_stack *stack;
	/* Where the frame that called it has to be; what is seen from there. */
	uint64_t second;
	/* How many of its frames are left out. */
	size_t skipped;
};

/*
 * The frames beyond frame i become those of another stack, if that leads to where it
 * begins. False: nothing has changed.
 */
bool native_stack_branch(struct native_stack *native, struct target *target,
			 size_t i, const struct native_branch *branch);

/* Back to the frames that the walk found. */
void native_stack_leave_branch(struct native_stack *native);

/* Call frame information is about to be freed, or has to be asked for anew. */
void native_stack_forget(struct native_stack *native);

/* True if in frame i a register that callees preserve has that value. */
bool native_stack_holds(const struct native_stack *native, size_t i,
			uint64_t value);

#endif
