/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who has the GIL: struct _gil_runtime_state (pycore_gil.h), which is in _PyRuntime
 * from 3.7 to 3.11, and from 3.12 on one for each interpreter that has its own. Up to
 * 3.6 it is in variables of their own; there who has it is the current thread state.
 */
#ifndef KAA_PYTHON_GIL_H
#define KAA_PYTHON_GIL_H

#include <stdbool.h>
#include <stdint.h>

#include "python/layout.h"
#include "python/releases.h"

/* Where things are in that version; NULL: not known. */
const struct py_gil *py_gil_offsets(const struct py_layout *layout);

/*
 * A free-threaded build whose threads do not take the GIL: all but those that were
 * told to (PYTHON_GIL=1), or that have loaded a module which needs it. address: of
 * the GIL. Its first member, an int, says so (pycore_gil.h).
 */
bool py_gil_is_off(const struct py_layout *layout, const struct py_memory *memory,
		   uint64_t address);

struct py_gil_state {
	/* The thread state that has it, or had it last. */
	uint64_t holder;
	/* 1: it is taken; -1: not made yet. */
	int32_t locked;
};

/* Where it is, up to 3.11. */
uint64_t py_gil_address(const struct py_gil *at, const struct py_layout *layout,
			uint64_t runtime);

/* Of the GIL at that address, in one read: of one moment as far as may be. */
bool py_gil_read(const struct py_gil *at, const struct py_memory *memory,
		 uint64_t address, struct py_gil_state *ret);

struct py_gil_place {
	uint64_t address;
	/* Addresses on which who wants the GIL sleeps: [start, end); empty: not known. */
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

/*
 * The garbage collector of an interpreter runs: in the thread that began it. Up to 3.6
 * that is not known: false.
 */
bool py_gil_collects(const struct py_layout *layout,
		     const struct py_memory *memory, uint64_t runtime,
		     uint64_t interp);

#endif
