/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The native frames of threads that are dumped: registers and stack are copied while a
 * thread stands still, unwound as the recorder unwinds samples, merged with the Python
 * frames of the same moment, and named as reports name them.
 *
 * Not thread-safe.
 */
#ifndef KAA_DUMP_NATIVE_FRAMES_H
#define KAA_DUMP_NATIVE_FRAMES_H

#include "base/arena.h"
#include "base/error.h"
#include "collect/code_spans.h"
#include "collect/python_stack.h"
#include "dump/dump.h"
#include "dump/subject.h"

struct native_frames;

/* Of a subject whose Python was found; both are borrowed. all: the interpreter's own, too. */
struct error *native_frames_create(struct subject *subject,
				   struct code_table *codes, bool all,
				   struct native_frames **ret);
void native_frames_destroy(struct native_frames *native);

/* The thread stands still; without registers there is nothing to copy. */
void native_frames_copy(struct native_frames *native,
			const struct subject_thread *thread);

/*
 * Puts the native frames of the last copy among the Python frames, which become what
 * they are merged to. python: the walk of the same
 * moment, NULL for a thread that has none. Where there was nothing to copy,
 * *frames stays as it is. Strings go to the arena.
 */
struct error *native_frames_merge(struct native_frames *native,
				  const struct subject_thread *thread,
				  const struct python_stack *python,
				  struct arena *strings,
				  struct dump_frame_list *frames);

#endif
