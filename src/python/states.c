// SPDX-License-Identifier: GPL-2.0-only
#include "python/states.h"

#include "base/pthread_fields.h"

enum {
	INTERPRETERS_MAX = 256,
	/* Of all interpreters together. */
	STATES_MAX = 16384,
};

static bool read_word(const struct py_memory *memory, uint64_t address,
		      uint64_t *ret)
{
	return address >= 4096 &&
	       memory->read(memory->arg, address, ret, sizeof(*ret));
}

static struct error *read_interp(const struct py_layout *layout,
				 const struct py_memory *memory,
				 uint64_t interp, struct py_state_list *ret)
{
	struct py_state state = { .interp = interp };

	if (!read_word(memory, interp + layout->interp_threads, &state.address))
		return NULL;
	while (state.address && ret->count < STATES_MAX) {
		if (!read_word(memory, state.address + layout->thread_id,
			       &state.thread_id))
			return NULL;
		if (!vec_push(ret, state))
			return error_no_memory();
		if (!read_word(memory, state.address + layout->thread_next,
			       &state.address))
			return NULL;
	}
	return NULL;
}

struct error *py_states_read(const struct py_layout *layout,
			     const struct py_memory *memory, uint64_t runtime,
			     struct py_state_list *ret)
{
	struct error *error = NULL;
	uint64_t interp;

	if (!read_word(memory, runtime + layout->runtime_interpreters, &interp))
		return NULL;
	for (int i = 0; !error && interp && i < INTERPRETERS_MAX; i++) {
		error = read_interp(layout, memory, interp, ret);
		if (!read_word(memory, interp + layout->interp_next, &interp))
			break;
	}
	return error;
}

static bool is_number(const struct py_memory *memory, uint64_t address,
		      int number)
{
	int32_t tid;

	return memory->read(memory->arg, address, &tid, sizeof(tid)) &&
	       tid == number;
}

static bool is_musl_thread(const struct py_memory *memory, uint64_t pointer,
			   int number)
{
	uint64_t self;

	return read_word(memory, pointer + MUSL_PTHREAD_SELF, &self) &&
	       self == pointer &&
	       (is_number(memory, pointer + MUSL_PTHREAD_TID, number) ||
		is_number(memory, pointer + MUSL_PTHREAD_TID_1_1, number));
}

uint64_t py_states_thread(const struct py_state_list *states,
			  const struct py_memory *memory, int number)
{
	vec_for_each(state, states)
		if (is_musl_thread(memory, state->thread_id, number))
			return state->thread_id;
	return 0;
}

bool py_states_of_several(const struct py_layout *layout,
			  const struct py_memory *memory, uint64_t runtime)
{
	uint64_t interp, next;

	return read_word(memory, runtime + layout->runtime_interpreters,
			 &interp) &&
	       read_word(memory, interp + layout->interp_next, &next) && next;
}
