// SPDX-License-Identifier: GPL-2.0-only
#include "python/gil.h"

#include <string.h>

/* From last_holder to the end of `locked`. */
enum { SPAN_MAX = 64 };
/* sizeof(sem_t), which is 2.7's lock. */
enum { LOCK_SIZE = 32 };

const struct py_gil *py_gil_offsets(const struct py_layout *layout)
{
	const struct py_release *release = py_release_of(layout);

	return release && release->gil.gil_wait_end ? &release->gil : NULL;
}

/* Up to 3.6 who has it is the current thread state, and nobody else is that. */
static bool read_current(const struct py_memory *memory, uint64_t address,
			 struct py_gil_state *ret)
{
	if (!memory->read(memory->arg, address, &ret->holder,
			  sizeof(ret->holder)))
		return false;
	ret->locked = ret->holder != 0;
	return true;
}

bool py_gil_is_off(const struct py_layout *layout, const struct py_memory *memory,
		   uint64_t address)
{
	int32_t enabled;

	return (layout->flags & PY_FREE_THREADED) &&
	       memory->read(memory->arg, address, &enabled, sizeof(enabled)) &&
	       !enabled;
}

bool py_gil_read(const struct py_gil *at, const struct py_memory *memory,
		 uint64_t address, struct py_gil_state *ret)
{
	uint32_t to_locked = at->gil_locked - at->gil_holder;
	size_t size = (size_t)to_locked + sizeof(ret->locked);
	char bytes[SPAN_MAX];

	if (at->gil_locked == PY_ABSENT)
		return read_current(memory, address, ret);
	if (to_locked < sizeof(ret->holder) || size > sizeof(bytes) ||
	    !memory->read(memory->arg, address + at->gil_holder, bytes, size))
		return false;
	memcpy(&ret->holder, bytes, sizeof(ret->holder));
	memcpy(&ret->locked, bytes + to_locked, sizeof(ret->locked));
	return true;
}

uint64_t py_gil_address(const struct py_gil *at, const struct py_layout *layout,
			uint64_t runtime)
{
	return runtime + (at->runtime_gil == PY_ABSENT ?
				  layout->runtime_current :
				  at->runtime_gil);
}

/* Up to 3.6 the lock stands for itself; where it is may not be known. */
static bool find_lock(const struct py_layout *layout,
		      const struct py_memory *memory, uint64_t runtime,
		      struct py_gil_place *ret)
{
	uint64_t lock = runtime + layout->runtime_lock;

	ret->wait_start = ret->wait_end = 0;
	if (layout->runtime_lock == PY_ABSENT)
		return true;
	ret->wait_start = lock;
	if (!(layout->flags & PY_LOCK_IS_POINTER))
		ret->wait_end = runtime + layout->runtime_lock_end;
	else if (!memory->read(memory->arg, lock, &ret->wait_start,
			       sizeof(ret->wait_start)))
		return false;
	else
		ret->wait_end = ret->wait_start + LOCK_SIZE;
	return true;
}

bool py_gil_find(const struct py_layout *layout, const struct py_memory *memory,
		 uint64_t runtime, uint64_t interp, struct py_gil_place *ret)
{
	const struct py_gil *at = py_gil_offsets(layout);
	uint64_t address;

	if (!at)
		return false;
	if (at->interp_gil == PY_ABSENT)
		address = py_gil_address(at, layout, runtime);
	else if (!memory->read(memory->arg, interp + at->interp_gil, &address,
			       sizeof(address)))
		return false;
	if (address < 4096 || address >= 1ull << 47)
		return false;
	*ret = (struct py_gil_place){
		.address = address,
		.wait_start = address + at->gil_wait_start,
		.wait_end = address + at->gil_wait_end,
	};
	return at->gil_locked != PY_ABSENT ||
	       find_lock(layout, memory, runtime, ret);
}

uint64_t py_gil_holder(const struct py_layout *layout,
		       const struct py_memory *memory,
		       const struct py_gil_place *place)
{
	const struct py_gil *at = py_gil_offsets(layout);
	struct py_gil_state gil;

	return at && py_gil_read(at, memory, place->address, &gil) &&
			       gil.locked == 1 ?
		       gil.holder :
		       0;
}

bool py_gil_collects(const struct py_layout *layout,
		     const struct py_memory *memory, uint64_t runtime,
		     uint64_t interp)
{
	const struct py_gil *at = py_gil_offsets(layout);
	uint64_t address;
	int32_t collecting;

	if (!at || (at->interp_collecting == PY_ABSENT &&
		    at->runtime_collecting == PY_ABSENT))
		return false;
	address = at->interp_collecting == PY_ABSENT ?
			  runtime + at->runtime_collecting :
			  interp + at->interp_collecting;
	return memory->read(memory->arg, address, &collecting,
			    sizeof(collecting)) &&
	       collecting == 1;
}
