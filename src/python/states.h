/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The thread states of a process: the lists of its interpreters, the newest first.
 * The process may run on; what is read is bounded, and may be torn.
 */
#ifndef KAA_PYTHON_STATES_H
#define KAA_PYTHON_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "python/layout.h"

struct py_state {
	uint64_t address;
	/* PyInterpreterState that it belongs to. */
	uint64_t interp;
	/* pthread_self() of the thread that made it. */
	uint64_t thread_id;
};

struct py_state_list VEC_BODY(struct py_state);

/* Appends; a list that cannot be read further ends there. */
struct error *py_states_read(const struct py_layout *layout,
			     const struct py_memory *memory, uint64_t runtime,
			     struct py_state_list *ret);
/*
 * pthread_self() of the thread that calls itself that number, if it has a state and its C
 * library is musl; 0: there is none.
 */
uint64_t py_states_thread(const struct py_state_list *states,
			  const struct py_memory *memory, int number);
/* More than one interpreter has such a list. */
bool py_states_of_several(const struct py_layout *layout,
			  const struct py_memory *memory, uint64_t runtime);

#endif
