/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The variables of a frame: arguments, local ones, and those of functions around it
 * that it uses. They follow each other in the frame; its code object names them.
 *
 * Sources: PyFrameObject and PyCodeObject up to 3.10 (Objects/frameobject.c); from
 * 3.11 on pycore_interpframe.h and pycore_code.h.
 */
#ifndef KAA_PYTHON_LOCALS_H
#define KAA_PYTHON_LOCALS_H

#include <stdbool.h>
#include <stdint.h>

#include "python/object_text.h"

/* Of one frame. */
#define PY_LOCALS_MAX 200

struct py_local {
	/* A str. */
	uint64_t name;
	uint64_t value;
	bool is_argument;
};

/*
 * Fills ret with those that are bound, in order; returns how many. frame and its
 * code as the walk has them.
 */
size_t py_locals_read(struct py_value_reader *v, uint64_t frame,
		      struct py_local ret[PY_LOCALS_MAX]);

#endif
