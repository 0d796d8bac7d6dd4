// SPDX-License-Identifier: GPL-2.0-only
#include "collect/self_pointer.h"

#include "base/error.h"
#include "python/states.h"
#include "sys/thread_pointer.h"

static uint64_t find_by_state(struct remote_memory *remote,
			      const struct walker_process *python, int number)
{
	const struct py_memory memory = { remote_memory_callback, remote, NULL };
	struct py_state_list states = {};
	uint64_t pointer;

	/* Without memory for the list it is not known, either. */
	error_destroy(py_states_read(&python->layout, &memory, python->runtime,
				     &states));
	pointer = py_states_thread(&states, &memory, number);
	vec_deinit(&states);
	return pointer;
}

uint64_t self_pointer_find(const char *root, struct remote_memory *memory,
			   const struct walker_process *python, pid_t tid)
{
	int number = thread_own_number(root, tid);
	uint64_t pointer = thread_pointer_find(memory, tid, number);

	return pointer ? pointer : find_by_state(memory, python, number);
}
