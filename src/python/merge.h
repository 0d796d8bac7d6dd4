/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The merge: a native stack and the Python stack of the same thread at the
 * same time become one chain (docs/ARCHITECTURE.md, "A stack").
 *
 * An *activation* is one running call of the evaluation function; it runs one
 * or more Python frames, the outermost of which is marked as its entry.
 * The frames of an activation stand on the caller side of the native frame of
 * that call. Which native frame that is, is decided by, in this order:
 *
 *  1. the activation's mark on the C stack (entry_addr): it lies in that
 *     native frame, between its stack pointer and its CFA. Needs no symbol.
 *  2. counting calls of the evaluation function, between two activations that
 *     have their place or the ends of the stacks. If the outer end is known,
 *     from there: the native stack may have one call more at its
 *     innermost end, whose frame is not linked yet or not any more. If a stack
 *     is incomplete, from the innermost end; whether there is such a call
 *     is then decided by evidence (eval_runs_frame), not guessed.
 *
 * What neither decides is kept together and marked. No frame is ever dropped.
 */
#ifndef KAA_PYTHON_MERGE_H
#define KAA_PYTHON_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "perfdata/kaa_stream.h"

struct merge_native {
	/* What goes into the chain. */
	uint64_t ip;
	/*
	 * Stack pointer, and the caller's; cfa 0: not known. If the leaf has sp
	 * 0, no extent is known (a chain of frame pointers).
	 */
	uint64_t sp;
	uint64_t cfa;
	/* In the evaluation function. */
	bool is_eval;
};

struct merge_python {
	/* What goes into the chain: the synthetic address. */
	uint64_t address;
	/* Address of the frame object, for eval_runs_frame. */
	uint64_t frame;
	/*
	 * Only if is_entry: the mark on the C stack, 0 if not known. Some may be
	 * known and others not.
	 */
	uint64_t entry_addr;
	/* The outermost frame of its activation. */
	bool is_entry;
};

enum merge_evidence {
	MERGE_NO = 0,
	MERGE_YES = 1,
	MERGE_UNKNOWN = 2,
};

/* All arrays innermost first. */
struct merge_input {
	const struct merge_native *natives;
	size_t native_count;
	/* The last native frame is where the thread began. */
	bool native_complete;
	/* is_eval can be relied on: the evaluation function's extent is known. */
	bool eval_known;

	const struct merge_python *frames;
	size_t frame_count;
	/* The walk reached the thread's outermost Python frame. */
	bool python_complete;

	/*
	 * Does the call of the evaluation function natives[native] run the frame
	 * object at `frame` (is its address in that call's registers or stack)?
	 * NULL: nobody knows.
	 */
	enum merge_evidence (*eval_runs_frame)(void *arg, size_t native,
					       uint64_t frame);
	void *arg;
};

enum merge_flags {
	/* The chain has KAA_MARKER_NOT_ALIGNED, _UNREADABLE, _TRUNCATED. */
	MERGE_NOT_ALIGNED = 1 << 0,
	MERGE_UNREADABLE = 1 << 1,
	MERGE_TRUNCATED = 1 << 2,
	/*
	 * The innermost call of the evaluation function has no frame: it is
	 * entering or leaving. No fault.
	 */
	MERGE_EXTRA_CALL = 1 << 3,
	/* Python frames stand beyond the end of a truncated native stack. */
	MERGE_BEYOND_NATIVE = 1 << 4,
};

/* Private: frames [first, end) of the input, and the native frame before. */
struct merge_activation {
	size_t first;
	size_t end;
	size_t place;
};

/* Zero-initialise; reused from one merge to the next. */
struct merge_chain {
	/* Leaf first. */
	VEC(uint64_t) addresses;
	/* enum merge_flags */
	uint32_t flags;
	/* Private. */
	VEC(struct merge_activation) activations;
	VEC(size_t) evals;
};

void merge_chain_deinit(struct merge_chain *chain);

/*
 * Writes the chain of in, and nothing of what was in *ret before. Fails only
 * for want of memory. Without native frames the Python frames stand alone
 * (native_complete false: with the marker for a truncated stack).
 */
struct error *merge_stacks(const struct merge_input *in,
			   struct merge_chain *ret);

#endif
