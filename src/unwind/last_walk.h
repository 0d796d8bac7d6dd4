/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The walk that a struct unwind_trace remembers: what each of its frames was
 * left with, and how much of it still holds (docs/unwind-reuse.md). Internal to
 * unwind/.
 */
#ifndef KAA_UNWIND_LAST_WALK_H
#define KAA_UNWIND_LAST_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/unwind.h"

/* Words directly below a CFA that a link can remember: most rules need fewer. */
enum { UNWIND_LINK_WORDS = 8 };

/* The rule by which nearly all frames are left. */
struct unwind_rule {
	/* CFA = register + offset; the return address is below it. */
	int32_t cfa_offset;
	uint8_t cfa_reg;
	/* Words below the CFA that are read, at most. */
	uint8_t depth;
	/* Preserved registers are at CFA + 8 * this; 0: they are unchanged. */
	int8_t saved[UNWIND_PRESERVED];
};

/* What is known of a frame beside its struct unwind_frame. */
struct unwind_link {
	/* Preserved registers in it, as far as known. */
	uint64_t preserved[UNWIND_PRESERVED];
	/* The words below the CFA from which its caller was found. */
	uint64_t words[UNWIND_LINK_WORDS];
	/* As in struct unwind_regs. */
	uint32_t known;
	/* Its caller was found by this rule; depth 0: in another way. */
	struct unwind_rule rule;
};

/* As much of a stack as was copied. */
struct unwind_copy {
	uint64_t start;
	struct bytes bytes;
};

/* Adds a frame that has these registers; NULL when memory runs out. */
struct unwind_frame *unwind_trace_add(struct unwind_trace *trace,
				      const struct unwind_regs *regs);

/* The caller of the last frame was found by that rule, at that CFA. */
void unwind_trace_link(struct unwind_trace *trace,
		       const struct unwind_copy *copy, uint64_t cfa,
		       const struct unwind_rule *rule);

/*
 * Adds to `next` what the walk `last` found from the frame with these registers
 * on, as far as it would find the same again: the registers that it had then may
 * have been others. At most room frames. *regs gets the registers in the first
 * frame that is not added. *at, 0 before the first call, is where the next one
 * looks on. Returns how many frames were added.
 */
size_t unwind_trace_follow(struct unwind_trace *next,
			   const struct unwind_trace *last, size_t *at,
			   const struct unwind_copy *copy, size_t room,
			   struct unwind_regs *regs);

#endif
