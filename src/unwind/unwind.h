/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walks a native stack: registers and a copy of the stack in, frames out.
 *
 * No I/O. Each frame is unwound by the first of these that applies:
 *  1. the CFI of its module (unwind/cfi.h);
 *  2. a template, if no CFI covers the address: signal return, CPython's perf
 *     trampolines, PLT stubs, the first and last instructions of a function
 *     (unwind/template.h);
 *  3. the instructions of its function, if the mapping has CFI for others
 *     (unwind/assembly.h);
 *  4. the frame pointer, if the mapping has no CFI at all (JIT code, files
 *     built without) and the saved pair is plausible: above the stack pointer,
 *     within the stack, growing, and with no return address below it that a
 *     frame without a frame pointer could have;
 *  5. what is on the stack, if that leaves one caller, an outermost frame: the
 *     first word from the stack pointer on that can be a return address is one
 *     to there. So stacks of musl end, which has no CFI for what calls main()
 *     and the functions of threads.
 * A return address counts only if it lies in an executable mapping; those of 2
 * to 5 only if, as far as code can be read, they follow a call.
 *
 * Callers are looked up at their return address - 1, which belongs to the
 * call; the interrupted frame and the one that a signal interrupted as they
 * are. frame.ip is always the raw address.
 *
 * x86-64. Not thread-safe: one unwinder a thread.
 */
#ifndef KAA_UNWIND_UNWIND_H
#define KAA_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "unwind/cfi.h"
#include "unwind/regs.h"

/* vaddrs, end exclusive. */
struct unwind_range {
	uint64_t start;
	uint64_t end;
};

#define UNWIND_SWITCH_RANGES 4

/*
 * Code that moves a thread from one stack to another without a stack of its own
 * for each, as greenlet does. What lies beyond a root is no caller: in the
 * same memory are the stacks of others. Without a root no frame of the code
 * that has called others is left.
 */
struct unwind_switches {
	/* The functions with which a stack begins. */
	struct unwind_range roots[UNWIND_SWITCH_RANGES];
	size_t root_count;
	/*
	 * Here the stack pointer is the new stack's, and its memory may still be
	 * the old one's.
	 */
	struct unwind_range moving[UNWIND_SWITCH_RANGES];
	size_t moving_count;
	/*
	 * The function that calls the one that moves; empty: it was not found.
	 * From `settling` on the memory is the new stack's, and what Python knows
	 * of the thread may still be the old one's.
	 */
	struct unwind_range caller;
	uint64_t settling;
	/*
	 * The word of the file that will hold the number of its variables of each
	 * thread; 0: none is known. In them, the pointer to what greenlet knows of the
	 * thread. The pointer to the greenlet that is switched to.
	 */
	uint64_t module_number;
	uint64_t thread_state;
	uint64_t switching;
};

/* An executable mapping of the target. */
struct unwind_map {
	/* Addresses in the target, end exclusive. */
	uint64_t start;
	uint64_t end;
	/* Rows of the mapped file; NULL for anonymous memory, or without CFI. */
	struct cfi_table *cfi;
	/* address - bias = vaddr in the file. */
	uint64_t bias;
	/* The file's ELF entry point as a vaddr; 0 if there is none. */
	uint64_t entry;
	/* NULL: none of its code switches stacks. */
	const struct unwind_switches *switches;
	/*
	 * Code that no file has; its rows were read later than the stack, so
	 * what they lead to has to follow a call.
	 */
	bool is_made;
};

/* One target process at one time. */
struct unwind_target {
	/*
	 * Names the set of executable mappings: whoever has equal numbers has
	 * equal mappings (a forked child may keep its parent's), and the number
	 * changes whenever an executable mapping comes, goes or is replaced.
	 * Keys the cache. Never 0.
	 */
	uint64_t space;
	/* The executable mapping that address lies in; false if none does. */
	bool (*find_map)(void *arg, uint64_t address, struct unwind_map *ret);
	/*
	 * Reads exactly size bytes; false if that cannot be. Asked for code
	 * where no CFI covers an address (may be answered from the mapped
	 * file), and for data outside the copied stack (rare: behind its end,
	 * signal frames on another stack, expressions). What it gives must be
	 * as it was when the stack was copied: for a target that runs on, refuse
	 * everything but code, else the stack is completed with later bytes.
	 * NULL is legal: then templates do not apply.
	 */
	bool (*read)(void *arg, uint64_t address, void *buf, size_t size);
	/*
	 * Where the function that the address lies in begins, as a symbol says;
	 * 0: not known. NULL is legal: then code is not read for what it does.
	 */
	uint64_t (*find_function)(void *arg, uint64_t address);
	void *arg;
};

/*
 * A copy of the stack from `start` (the stack pointer or below) upward; may be
 * of any size, empty too.
 */
struct unwind_stack {
	uint64_t start;
	struct bytes bytes;
	/*
	 * The word at an address that is not in `bytes`, as it was at that moment;
	 * false: nobody has it. NULL is legal.
	 */
	bool (*read_more)(const void *more, uint64_t address, uint64_t *ret);
	const void *more;
};

/* The word at an address of the copy; false if that is not all of it. */
static inline bool unwind_stack_word(const struct unwind_stack *stack,
				     uint64_t address, uint64_t *ret)
{
	uint64_t offset = address - stack->start;

	if (stack->bytes.size < 8 || offset > stack->bytes.size - 8)
		return false;
	memcpy(ret, stack->bytes.data + offset, 8);
	return true;
}

enum unwind_frame_flags {
	/* A frame that the kernel made to run a signal handler. */
	UNWIND_FRAME_SIGNAL = 1 << 0,
	/* The caller of this frame was found by frame pointer, no CFI. */
	UNWIND_FRAME_BY_FP = 1 << 1,
	/* This frame is a CPython perf trampoline. */
	UNWIND_FRAME_TRAMPOLINE = 1 << 2,
	/* ip is a return address: what it stands for is at ip - 1. */
	UNWIND_FRAME_CALLER = 1 << 3,
	/* This frame's code is of no file: unwind_map.is_made. */
	UNWIND_FRAME_MADE = 1 << 4,
};

struct unwind_frame {
	uint64_t ip;
	/* The stack pointer while this frame runs (or waits for its callee). */
	uint64_t sp;
	/* The caller's sp; 0 in the last frame if it is not known. */
	uint64_t cfa;
	uint32_t flags;
};

enum unwind_end {
	/* Reached the start of the thread, or of a stack within it. */
	UNWIND_COMPLETE,
	/* Ran past the copied stack. */
	UNWIND_TRUNCATED,
	/* Nothing tells how to unwind the last frame. */
	UNWIND_NO_CFI,
	/* The next return address is in no executable mapping. */
	UNWIND_BAD_ADDRESS,
	/* The next CFA is unaligned, not above this one, or far off. */
	UNWIND_BAD_CFA,
	/* The frame array is full. */
	UNWIND_LIMIT,
	/* The thread changes its stack: that of the last frame is not in place. */
	UNWIND_SWITCHING,
};

struct unwinder;

struct error *unwinder_create(struct unwinder **ret);
void unwinder_destroy(struct unwinder *unwinder);

/*
 * Forgets all cached rules. Needed before a cfi_table is destroyed; a struct
 * unwind_trace has its own, for unwind_trace_clear().
 */
void unwinder_forget(struct unwinder *unwinder);

/*
 * Walks a stack. regs must know rsp and rip; the more of the others it knows
 * the better (rbp and rbx, r12 to r15 are needed by much code).
 *
 * Writes up to `max` frames, leaf first, and their number to *count; the leaf
 * is always there if max > 0. If saved is not NULL, saved[i] gets the
 * registers as they are in frames[i]: all that is known of them (for callers
 * rbx, rbp, r12 to r15, as far as their callees preserved them).
 *
 * Returns why the walk ended. Cannot fail: if memory runs out while rows are
 * built, it ends with UNWIND_NO_CFI.
 */
enum unwind_end unwind_stack(struct unwinder *unwinder,
			     const struct unwind_target *target,
			     const struct unwind_regs *regs,
			     const struct unwind_stack *stack,
			     struct unwind_frame *frames,
			     struct unwind_regs *saved, size_t max,
			     size_t *count);

/*
 * The same from a frame that waits for its callee: rip is a return address. For
 * who knows where a frame is, but not its callees (unwind/stack_search.h).
 */
enum unwind_end unwind_callers(struct unwinder *unwinder,
			       const struct unwind_target *target,
			       const struct unwind_regs *regs,
			       const struct unwind_stack *stack,
			       struct unwind_frame *frames,
			       struct unwind_regs *saved, size_t max,
			       size_t *count);

/*
 * A walk, remembered so that the next walk of the same thread need not do again
 * what did not change (docs/unwind-reuse.md). What is taken from it does not
 * depend on whose walk it was: another thread's is of no use, and does no harm.
 * Zero-initialise.
 */
struct unwind_trace {
	/* Read only: what the walk found, leaf first. */
	struct unwind_frame *frames;
	size_t count;
	/* Private. */
	struct unwind_link *links;
	size_t capacity;
	/* Of the target that was walked; 0: none. */
	uint64_t space;
};

void unwind_trace_deinit(struct unwind_trace *trace);
/* Forgets the walk: the next one takes nothing from it. */
void unwind_trace_clear(struct unwind_trace *trace);

/*
 * unwind_stack() of at most max frames, with the same result, which is in *trace
 * afterwards. What *trace had before saves work. Where the target's space does
 * not tell its mappings, the caller has to clear the trace. If memory runs
 * out, the walk ends with UNWIND_LIMIT, maybe before the leaf.
 */
enum unwind_end unwind_stack_again(struct unwinder *unwinder,
				   const struct unwind_target *target,
				   const struct unwind_regs *regs,
				   const struct unwind_stack *stack,
				   struct unwind_trace *trace, size_t max);

/* True if in frame i a register that callees preserve has that value. */
bool unwind_trace_holds(const struct unwind_trace *trace, size_t i,
			uint64_t value);

/*
 * The code of a CPython perf trampoline that is that long, as a perf map says
 * it: for who cannot read it any more. False if there is none of that size.
 */
#define UNWIND_TRAMPOLINE_MAX 16
bool unwind_trampoline_code(size_t size, uint8_t ret[UNWIND_TRAMPOLINE_MAX]);

/* "complete", "truncated", ... */
const char *unwind_end_name(enum unwind_end end);

struct unwind_stats {
	uint64_t stacks;
	uint64_t frames;
	uint64_t cache_misses;
	/* Of the frames: taken from the walk before. */
	uint64_t reused;
};

void unwinder_stats(const struct unwinder *unwinder, struct unwind_stats *ret);

DEFINE_CLEANUP(unwinder, struct unwinder *, unwinder_destroy);
#define _cleanup_unwinder_ _cleanup_(cleanup_unwinder_)

#endif
