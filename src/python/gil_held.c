// SPDX-License-Identifier: GPL-2.0-only
#include "python/gil_held.h"

#include "python/gil.h"

enum {
	INTERPRETERS_MAX = 1024,
	THREADS_MAX = 65536,
	/* The process changes what is being read: so many tries. */
	TRIES = 8,
};

struct look {
	const struct walker_process *process;
	const struct py_memory *memory;
	const struct py_gil *at;
	/* False: it goes on. */
	bool (*found)(struct look *look, const struct py_gil_state *gil);
	/* What is looked for, and whether it was found. */
	uint64_t thread_pointer;
	bool held;
	/* Whoever has it is told to this. */
	void (*tell)(void *arg, uint64_t thread_pointer);
	void *arg;
	/* What is wrong with what was read. */
	const char *misfit;
};

static bool read_word(const struct look *look, uint64_t address, uint64_t *ret)
{
	return look->memory->read(look->memory->arg, address, ret,
				  sizeof(*ret));
}

static bool read_gil(const struct look *look, uint64_t address,
		     struct py_gil_state *ret)
{
	return py_gil_read(look->at, look->memory, address, ret);
}

/* From 3.12 on. Those that interpreters share are looked at once, mostly. */
static bool look_at_interpreters(struct look *look)
{
	const struct py_layout *l = &look->process->layout;
	uint64_t interp, address, last = 0;
	struct py_gil_state gil;

	if (!read_word(look, look->process->runtime + l->runtime_interpreters,
		       &interp))
		return false;
	for (int i = 0; interp; i++) {
		if (i == INTERPRETERS_MAX ||
		    !read_word(look, interp + look->at->interp_gil, &address))
			return false;
		/* One that is being made has none yet. */
		if (address && address != last) {
			if (!read_gil(look, address, &gil))
				return false;
			if (look->found(look, &gil))
				return true;
			last = address;
		}
		if (!read_word(look, interp + l->interp_next, &interp))
			return false;
	}
	return true;
}

static bool look_at_gils(struct look *look)
{
	struct py_gil_state gil;

	look->at = py_gil_offsets(&look->process->layout);
	if (!look->at)
		return false;
	if (look->at->interp_gil != PY_ABSENT)
		return look_at_interpreters(look);
	if (!read_gil(look,
		      py_gil_address(look->at, &look->process->layout,
				     look->process->runtime),
		      &gil))
		return false;
	look->found(look, &gil);
	return true;
}

/* The thread that has it; 0: none. The state of one that has ended may be gone. */
static uint64_t holder_of(const struct look *look,
			  const struct py_gil_state *gil)
{
	uint64_t thread;

	return gil->locked == 1 && gil->holder &&
			       read_word(look,
					 gil->holder +
						 look->process->layout.thread_id,
					 &thread) ?
		       thread :
		       0;
}

static bool is_held_by(struct look *look, const struct py_gil_state *gil)
{
	look->held = holder_of(look, gil) == look->thread_pointer;
	return look->held;
}

bool py_gil_is_held(const struct walker_process *process,
		    const struct py_memory *memory, uint64_t thread_pointer,
		    bool *ret)
{
	struct look look = { .process = process,
			     .memory = memory,
			     .found = is_held_by,
			     .thread_pointer = thread_pointer };

	if (!thread_pointer || !look_at_gils(&look))
		return false;
	*ret = look.held;
	return true;
}

static bool tell_holder(struct look *look, const struct py_gil_state *gil)
{
	uint64_t thread = holder_of(look, gil);

	if (thread)
		look->tell(look->arg, thread);
	return false;
}

void py_gil_holders(const struct walker_process *process,
		    const struct py_memory *memory,
		    void (*found)(void *arg, uint64_t thread_pointer), void *arg)
{
	struct look look = { .process = process,
			     .memory = memory,
			     .found = tell_holder,
			     .tell = found,
			     .arg = arg };

	(void)look_at_gils(&look);
}

/* --- is it one? --- */

static bool is_in_list(const struct look *look, uint64_t interp,
		       uint64_t thread)
{
	const struct py_layout *l = &look->process->layout;
	uint64_t other;

	if (!read_word(look, interp + l->interp_threads, &other))
		return false;
	for (int i = 0; other && i < THREADS_MAX; i++) {
		if (other == thread)
			return true;
		if (!read_word(look, other + l->thread_next, &other))
			return false;
	}
	return false;
}

static bool is_thread_state(const struct look *look, uint64_t thread)
{
	const struct py_layout *l = &look->process->layout;
	uint64_t interp;

	if (!read_word(look, look->process->runtime + l->runtime_interpreters,
		       &interp))
		return false;
	for (int i = 0; interp && i < INTERPRETERS_MAX; i++) {
		if (is_in_list(look, interp, thread))
			return true;
		if (!read_word(look, interp + l->interp_next, &interp))
			return false;
	}
	return false;
}

/* Of the main interpreter, which is the last of the list. */
static bool is_off(const struct walker_process *process,
		   const struct py_memory *memory)
{
	const struct py_layout *l = &process->layout;
	struct py_gil_place place;
	uint64_t interp, next;

	if (!(l->flags & PY_FREE_THREADED) ||
	    !memory->read(memory->arg, process->runtime + l->runtime_interpreters,
			  &interp, sizeof(interp)))
		return false;
	for (int i = 0; interp && i < INTERPRETERS_MAX; i++, interp = next) {
		if (!memory->read(memory->arg, interp + l->interp_next, &next,
				  sizeof(next)))
			return false;
		if (!next)
			return py_gil_find(l, memory, process->runtime, interp,
					   &place) &&
			       py_gil_is_off(l, memory, place.address);
	}
	return false;
}

/* -1: not made yet. */
static bool is_wrong(struct look *look, const struct py_gil_state *gil)
{
	if (gil->locked < -1 || gil->locked > 1)
		look->misfit = "the lock of a GIL that is none";
	else if (gil->locked == 1 && !is_thread_state(look, gil->holder))
		look->misfit = "a GIL that no thread holds";
	return look->misfit != NULL;
}

struct error *py_gil_validate(const struct walker_process *process,
			      const struct py_memory *memory)
{
	const struct py_layout *l = &process->layout;
	struct look look = { .process = process,
			     .memory = memory,
			     .found = is_wrong };

	if (is_off(process, memory))
		return error_create(ERROR_UNSUPPORTED,
				    "Python %u.%u.%u is a free-threaded build: there is no GIL that a thread could have; --mode wall and --mode cpu record it",
				    l->version >> 24, PY_MINOR(l->version),
				    l->version >> 8 & 255);
	for (int i = 0; i < TRIES; i++) {
		look.misfit = NULL;
		if (!look_at_gils(&look))
			return error_create(ERROR_FAULT,
					    "cannot read the GIL of Python %u.%u",
					    l->version >> 24,
					    PY_MINOR(l->version));
		if (!look.misfit)
			return NULL;
	}
	return error_create(ERROR_FORMAT,
			    "the layout of Python %u.%u.%u does not fit the process: %s",
			    l->version >> 24, PY_MINOR(l->version),
			    l->version >> 8 & 255, look.misfit);
}
