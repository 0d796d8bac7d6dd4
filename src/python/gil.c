// SPDX-License-Identifier: GPL-2.0-only
#include "python/gil.h"

#include <string.h>

/* From last_holder to the end of `locked`. */
enum { SPAN_MAX = 64 };

const struct py_gil *py_gil_offsets(const struct py_layout *layout)
{
	const struct py_release *release = py_release_find(layout->version);

	return release && release->gil.gil_wait_end ? &release->gil : NULL;
}

bool py_gil_read(const struct py_gil *at, const struct py_memory *memory,
		 uint64_t address, struct py_gil_state *ret)
{
	uint32_t to_locked = at->gil_locked - at->gil_holder;
	size_t size = (size_t)to_locked + sizeof(ret->locked);
	char bytes[SPAN_MAX];

	if (to_locked < sizeof(ret->holder) || size > sizeof(bytes) ||
	    !memory->read(memory->arg, address + at->gil_holder, bytes, size))
		return false;
	memcpy(&ret->holder, bytes, sizeof(ret->holder));
	memcpy(&ret->locked, bytes + to_locked, sizeof(ret->locked));
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
		address = runtime + at->runtime_gil;
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
	return true;
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

	if (!at)
		return false;
	address = at->interp_collecting == PY_ABSENT ?
			  runtime + at->runtime_collecting :
			  interp + at->interp_collecting;
	return memory->read(memory->arg, address, &collecting,
			    sizeof(collecting)) &&
	       collecting == 1;
}
