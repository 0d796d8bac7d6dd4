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
/* What the states of a thread tell of the frames that it runs. */
enum py_states_tell {
	/* All of them: those of one state, which it alone can run. */
	PY_STATES_ALL,
	/* The innermost of them: it runs code of one interpreter inside another. */
	PY_STATES_INNER,
	/* Nothing: it may run a state that another thread has made, or another one its. */
	PY_STATES_NOTHING,
};

/*
 * thread_pointer: pthread_self() of a thread that holds still. From 3.10 on marks on
 * the stack tell whose a state is (bpf/walk_thread.h), and this is PY_STATES_ALL.
 */
enum py_states_tell py_states_tell(const struct py_layout *layout,
				   const struct py_memory *memory,
				   uint64_t runtime, uint64_t thread_pointer);
/* More than one interpreter has such a list. */
bool py_states_of_several(const struct py_layout *layout,
			  const struct py_memory *memory, uint64_t runtime);

#endif
