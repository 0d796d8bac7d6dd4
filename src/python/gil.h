/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who has the GIL: struct _gil_runtime_state (pycore_gil.h), which is in _PyRuntime
 * up to 3.11, and from 3.12 on one for each interpreter that has its own.
 */
#ifndef KAA_PYTHON_GIL_H
#define KAA_PYTHON_GIL_H

#include <stdbool.h>
#include <stdint.h>

#include "python/layout.h"

struct py_gil_place {
	uint64_t address;
	/* Addresses on which who wants the GIL sleeps: [start, end). */
	uint64_t wait_start;
	uint64_t wait_end;
};

/* Of an interpreter; false if it cannot be read. */
bool py_gil_find(const struct py_layout *layout, const struct py_memory *memory,
		 uint64_t runtime, uint64_t interp, struct py_gil_place *ret);

/* The thread state that holds it; 0: none does, or it cannot be read. */
uint64_t py_gil_holder(const struct py_layout *layout,
		       const struct py_memory *memory,
		       const struct py_gil_place *place);

/* The garbage collector of an interpreter runs: in the thread that began it. */
bool py_gil_collects(const struct py_layout *layout,
		     const struct py_memory *memory, uint64_t runtime,
		     uint64_t interp);

#endif
