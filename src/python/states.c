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

/* States with frames, which some thread runs; the main interpreter is the oldest. */
struct running {
	size_t own;
	size_t own_guests;
	size_t others;
	size_t others_guests;
	/* The thread has the GIL, and runs its state of the main interpreter. */
	bool is_current;
};

static void count_running(const struct py_layout *layout,
			  const struct py_memory *memory,
			  const struct py_state_list *states,
			  uint64_t thread_pointer, uint64_t current,
			  struct running *ret)
{
	uint64_t main = vec_last(states)->interp, frame;

	vec_for_each(state, states) {
		bool is_guest = state->interp != main;

		if (!read_word(memory, state->address + layout->thread_frame,
			       &frame) ||
		    !frame)
			continue;
		if (state->thread_id != thread_pointer) {
			ret->others++;
			ret->others_guests += is_guest;
			continue;
		}
		ret->own++;
		ret->own_guests += is_guest;
		ret->is_current |= !is_guest && state->address == current;
	}
}

/*
 * Who runs code in an interpreter does so with the state that was made with it, and
 * has a state of its own that runs, of the interpreter that it comes from.
 */
static enum py_states_tell tell(const struct running *running)
{
	if (running->is_current)
		return PY_STATES_ALL;
	if (running->others_guests || (running->own_guests && running->others))
		return PY_STATES_NOTHING;
	return running->own > 1 ? PY_STATES_INNER : PY_STATES_ALL;
}

enum py_states_tell py_states_tell(const struct py_layout *layout,
				   const struct py_memory *memory,
				   uint64_t runtime, uint64_t thread_pointer)
{
	struct py_state_list states = {};
	struct running running = {};
	struct error *error;
	uint64_t current = 0;

	if ((layout->flags & (PY_CFRAMES | PY_SHIM_FRAMES)) ||
	    !py_states_of_several(layout, memory, runtime))
		return PY_STATES_ALL;
	error = py_states_read(layout, memory, runtime, &states);
	if (layout->runtime_current != PY_ABSENT)
		read_word(memory, runtime + layout->runtime_current, &current);
	if (!error && states.count)
		count_running(layout, memory, &states, thread_pointer, current,
			      &running);
	vec_deinit(&states);
	if (!error)
		return tell(&running);
	error_destroy(error);
	return PY_STATES_NOTHING;
}
