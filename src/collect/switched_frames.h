/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Python frames of a thread that exchanges one greenlet for another
 * (docs/greenlets.md). There Python's frames and the native ones need not be of
 * the same greenlet, and marks of activations may be missing. Nothing is
 * believed but what the C stack itself says.
 */
#ifndef KAA_COLLECT_SWITCHED_FRAMES_H
#define KAA_COLLECT_SWITCHED_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/py_layout.h"
#include "python/merge.h"
#include "unwind/unwind.h"

enum switch_state {
	/* The thread does not switch. */
	SWITCH_NONE,
	/* Its stack and its Python frames are of the greenlet that it leaves. */
	SWITCH_LEAVING,
	/* The outermost frame that is known is on the new stack, whose memory may not be. */
	SWITCH_MOVING,
	/* Its stack is the new greenlet's; its Python frames may not yet be. */
	SWITCH_SETTLING,
};

/* The stacks beside each other, innermost frames first. */
struct switched_frames {
	const struct py_layout *layout;
	/* A word of the stack; false: nobody has it. */
	bool (*read)(void *arg, uint64_t address, uint64_t *ret);
	void *arg;
	/* Those of a stack that was unwound to where it begins. */
	const struct merge_native *natives;
	size_t native_count;
	struct merge_python *frames;
	size_t frame_count;
};

/*
 * What a native stack says. *at: the frame that switches, if there is one. *map: that of
 * greenlet's code, if it is met; its `switches` is NULL if not. Only frames further in
 * than Python's innermost are asked.
 */
enum switch_state switch_state_of(const struct unwind_target *target,
				  const struct merge_native *natives,
				  size_t count, size_t *at,
				  struct unwind_map *map);

/*
 * Gives frames the marks that they lack, by the shims on the C stack (3.12 on). A
 * shim names the frame that was the innermost when the evaluation function was
 * called: that is the innermost of the next activation. Nothing is changed if one
 * shim is not found, or more than one might be it.
 */
void switched_frames_mark(const struct switched_frames *s);

/* How many calls of the evaluation function there are. */
size_t switched_frames_calls(const struct switched_frames *s);

/* True if each call of the evaluation function has one activation's mark. */
bool switched_frames_fit(const struct switched_frames *s);

#endif
