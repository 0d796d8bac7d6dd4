// SPDX-License-Identifier: GPL-2.0-only
#include "collect/switched_frames.h"

/* Calls of the evaluation function that are looked at. */
enum { CALLS_MAX = 256 };

static bool is_in(const struct unwind_range *ranges, size_t count,
		  uint64_t vaddr)
{
	for (size_t i = 0; i < count; i++)
		if (vaddr >= ranges[i].start && vaddr < ranges[i].end)
			return true;
	return false;
}

enum switch_state switch_state_of(const struct unwind_target *target,
				  const struct merge_native *natives,
				  size_t count, size_t *at,
				  struct unwind_map *map)
{
	struct unwind_map found;

	map->switches = NULL;
	for (size_t i = 0; i < count && !natives[i].is_eval; i++) {
		uint64_t address = natives[i].ip - (i > 0), vaddr;

		if (!target->find_map(target->arg, address, &found) ||
		    !found.switches)
			continue;
		*map = found;
		*at = i;
		/* Where the function was called, not where that returns to. */
		vaddr = address - map->bias;
		if (is_in(map->switches->moving, map->switches->moving_count,
			  vaddr))
			return SWITCH_MOVING;
		if (is_in(&map->switches->caller, 1, vaddr))
			return vaddr < map->switches->settling ?
				       SWITCH_LEAVING :
				       SWITCH_SETTLING;
	}
	return SWITCH_NONE;
}

/* --- marks --- */

/* A shim that was found. */
struct shim {
	uint64_t address;
	uint64_t code;
	/* The frame that it names. */
	size_t named;
};

static bool find_frame(const struct switched_frames *s, size_t from,
		       uint64_t address, size_t *ret)
{
	for (size_t i = from; i < s->frame_count; i++) {
		if (s->frames[i].frame != address)
			continue;
		*ret = i;
		return true;
	}
	return false;
}

static bool is_shim(const struct switched_frames *s, uint64_t address,
		    uint64_t *code)
{
	const struct py_layout *l = s->layout;
	uint64_t word;
	uint8_t owner;

	if (!s->read(s->arg, address + (l->frame_owner & ~7u), &word))
		return false;
	/* 3.14 has two owners of such frames. */
	owner = word >> 8 * (l->frame_owner & 7);
	if (owner != l->shim_owner && owner != l->shim_owner + 1)
		return false;
	return s->read(s->arg, address + l->frame_code, code) && *code;
}

/* The one shim in a native frame that names a frame from `from` on. */
static bool shim_in(const struct switched_frames *s,
		    const struct merge_native *native, size_t from,
		    struct shim *ret)
{
	const struct py_layout *l = s->layout;
	uint64_t end = native->cfa - (l->frame_owner & ~7u);
	struct shim shim;
	uint64_t word;
	size_t found = 0;

	for (uint64_t at = native->sp; at < end; at += 8) {
		if (!s->read(s->arg, at + l->frame_previous, &word))
			return false;
		if (!word || !find_frame(s, from, word, &shim.named) ||
		    !is_shim(s, at, &shim.code))
			continue;
		shim.address = at;
		*ret = shim;
		found++;
	}
	return found == 1;
}

static size_t next_eval(const struct switched_frames *s, size_t i)
{
	while (i < s->native_count && !s->natives[i].is_eval)
		i++;
	return i;
}

size_t switched_frames_calls(const struct switched_frames *s)
{
	size_t count = 0;

	for (size_t i = next_eval(s, 0); i < s->native_count;
	     i = next_eval(s, i + 1))
		count++;
	return count;
}

/*
 * The shims of all calls but the outermost, whose frames are those that are left.
 * Its mark is a place in its native frame.
 */
static size_t find_shims(const struct switched_frames *s, struct shim *shims)
{
	size_t native = next_eval(s, 0), from = 1, count = 0;

	while (count < CALLS_MAX && native < s->native_count) {
		const struct merge_native *call = &s->natives[native];
		struct shim *shim = &shims[count++];

		native = next_eval(s, native + 1);
		if (!call->sp || call->cfa <= call->sp)
			return 0;
		if (native == s->native_count) {
			*shim = (struct shim){ .address = call->sp,
					       .named = s->frame_count };
			return count;
		}
		if (!shim_in(s, call, from, shim) ||
		    shim->code != shims[0].code)
			return 0;
		from = shim->named + 1;
	}
	return 0;
}

void switched_frames_mark(const struct switched_frames *s)
{
	struct shim shims[CALLS_MAX];
	size_t count = 0, first = 0;

	if ((s->layout->flags & PY_SHIM_FRAMES) && s->frame_count)
		count = find_shims(s, shims);
	for (size_t i = 0; i < count; i++) {
		for (size_t at = first; at < shims[i].named; at++)
			s->frames[at].is_entry = false;
		s->frames[shims[i].named - 1].is_entry = true;
		s->frames[shims[i].named - 1].entry_addr = shims[i].address;
		first = shims[i].named;
	}
}

bool switched_frames_fit(const struct switched_frames *s)
{
	size_t native = next_eval(s, 0);

	for (size_t i = 0; i < s->frame_count; i++) {
		const struct merge_python *frame = &s->frames[i];

		if (!frame->is_entry)
			continue;
		if (native == s->native_count ||
		    frame->entry_addr < s->natives[native].sp ||
		    frame->entry_addr >= s->natives[native].cfa)
			return false;
		native = next_eval(s, native + 1);
	}
	return native == s->native_count && s->frame_count &&
	       s->frames[s->frame_count - 1].is_entry;
}
