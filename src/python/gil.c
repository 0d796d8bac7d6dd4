// SPDX-License-Identifier: GPL-2.0-only
#include "python/gil.h"

#include "python/releases.h"

static const struct py_gil *offsets(const struct py_layout *layout)
{
	const struct py_release *release = py_release_find(layout->version);

	return release && release->gil.gil_wait_end ? &release->gil : NULL;
}

bool py_gil_find(const struct py_layout *layout, const struct py_memory *memory,
		 uint64_t runtime, uint64_t interp, struct py_gil_place *ret)
{
	const struct py_gil *at = offsets(layout);
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
	const struct py_gil *at = offsets(layout);
	uint64_t holder;
	int32_t locked;

	if (!at ||
	    !memory->read(memory->arg, place->address + at->gil_locked, &locked,
			  sizeof(locked)) ||
	    locked != 1 ||
	    !memory->read(memory->arg, place->address + at->gil_holder, &holder,
			  sizeof(holder)))
		return 0;
	return holder;
}

bool py_gil_collects(const struct py_layout *layout,
		     const struct py_memory *memory, uint64_t runtime,
		     uint64_t interp)
{
	const struct py_gil *at = offsets(layout);
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
