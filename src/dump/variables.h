/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The variables of a stack's frames, or of those of suspended coroutines, read while
 * the thread holds still.
 */
#ifndef KAA_DUMP_VARIABLES_H
#define KAA_DUMP_VARIABLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "collect/python_stack.h"
#include "dump/dump.h"
#include "dump/subject.h"

/* Of one frame: dump_locals.list[first] and those behind it. */
struct variables_of {
	uint32_t first;
	uint32_t count;
};

/* Of the frames of the walk, in their order. */
struct variables {
	VEC(struct variables_of) frames;
};

/* Adds them to ret. What cannot be read, or kept, is not there. */
void variables_read(struct variables *variables, struct subject *subject,
		    const struct python_stack *stack, struct dump_locals *ret);
/*
 * The same of frames that coroutines have kept, by their addresses, outermost first;
 * each frame is told which are its own. The last ones are read first.
 */
void variables_read_awaits(struct subject *subject,
			   const struct py_memory *memory,
			   struct dump_frame_list *frames,
			   struct dump_locals *ret);
/* Those of a list behind those of another; false: there was no memory. */
bool variables_append(const struct dump_locals *from, struct dump_locals *ret);
/* Of frame i. */
const struct variables_of *variables_at(const struct variables *variables,
					size_t i);
void variables_deinit(struct variables *variables);

#endif
