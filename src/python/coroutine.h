/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a coroutine is in: its own frame, that of the coroutine that it awaits, and
 * so on to the object at the end, read from memory as data.
 *
 * The way leads through coroutines, generators, asynchronous generators and the
 * objects between these. Of others (those of Cython, say) no frame is known: they
 * are the end. Each step is bounded; the process may change meanwhile, so who needs
 * to be sure reads while it holds still.
 *
 * Sources: _PyGen_yf() in Objects/genobject.c of each version; pycore_frame.h and
 * pycore_interpframe.h.
 */
#ifndef KAA_PYTHON_COROUTINE_H
#define KAA_PYTHON_COROUTINE_H

#include <stdbool.h>
#include <stdint.h>

#include "python/object.h"

enum {
	/* Frames of one coroutine that are read. */
	PY_AWAITS_MAX = 512,
};

struct py_await {
	/* The code object, the frame, and the offset of its instruction; -1: not begun. */
	uint64_t code;
	uint64_t frame;
	int64_t offset;
};

enum py_awaits_end {
	/* The innermost frame awaits an object that is no coroutine. */
	PY_AWAITS_OBJECT,
	/* The coroutine has not begun, has ended, or has yielded something. */
	PY_AWAITS_NOTHING,
	/* It runs now: the thread's own stack has its frames. */
	PY_AWAITS_RUNS,
	PY_AWAITS_UNREADABLE,
	PY_AWAITS_TOO_DEEP,
};

struct py_awaits {
	/* Outermost first. */
	struct py_await frames[PY_AWAITS_MAX];
	size_t count;
	enum py_awaits_end end;
	/* The object at the end, if that is what it is. */
	uint64_t object;
};

/* code_type: address of PyCode_Type. */
void py_awaits_read(struct py_objects_reader *r, uint64_t code_type,
		    uint64_t coroutine, struct py_awaits *ret);

/* The code object of a frame; false: it is none. */
bool py_frame_code(struct py_objects_reader *r, uint64_t code_type,
		   uint64_t frame, uint64_t *ret);

#endif
