// SPDX-License-Identifier: GPL-2.0-only
#include "python/coroutine.h"

#include <string.h>

#include "python/releases.h"

enum {
	/* Objects between two coroutines that are passed. */
	BETWEEN_MAX = 8,
	/* Up to 3.10: opcode YIELD_FROM. */
	OPCODE_YIELD_FROM = 72,
	/* 3.11 on: the argument of RESUME; from here on it is behind an await. */
	RESUME_AWAITS = 2,
	RESUME_MASK = 3,
	/* An end of a frame's stack, counted from its start. */
	STACK_MAX = 1 << 16,
};

struct way {
	struct py_objects_reader *r;
	const struct py_tasks_at *at;
	uint64_t code_type;
	unsigned int minor;
	struct py_awaits *ret;
};

/* --- what an object is --- */

enum kind { KIND_OTHER, KIND_GENERATOR, KIND_BETWEEN };

/*
 * By its name, of types that are no heap types: of those no other has that name.
 * From 3.12 on asyncio's iterator is a heap type.
 */
static enum kind kind_of(struct way *way, uint64_t object)
{
	static const struct {
		const char *name;
		enum kind kind;
		bool heap;
	} kinds[] = {
		{ "coroutine", KIND_GENERATOR, false },
		{ "generator", KIND_GENERATOR, false },
		{ "async_generator", KIND_GENERATOR, false },
		{ "async_generator_asend", KIND_BETWEEN, false },
		{ "async_generator_athrow", KIND_BETWEEN, false },
		{ "anext_awaitable", KIND_BETWEEN, false },
		{ "coroutine_wrapper", KIND_BETWEEN, false },
		{ "_asyncio.FutureIter", KIND_BETWEEN, false },
		{ "_asyncio.FutureIter", KIND_BETWEEN, true },
	};
	char name[PY_TYPE_NAME_MAX];
	struct py_type type;

	if (!py_type_of(way->r, object, &type) ||
	    !py_type_name(way->r, type.address, name))
		return KIND_OTHER;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(name, kinds[i].name) &&
		    kinds[i].heap == !!(type.flags & PY_TYPE_HEAP))
			return kinds[i].kind;
	return KIND_OTHER;
}

/* --- one frame --- */

bool py_frame_code(struct py_objects_reader *r, uint64_t code_type,
		   uint64_t frame, uint64_t *ret)
{
	const struct py_layout *l = r->layout;
	struct py_type type;

	if (!py_read_pointer(r, frame + l->frame_code, ret))
		return false;
	*ret &= ~(uint64_t)l->code_tag_mask;
	return py_type_of(r, *ret, &type) && type.address == code_type;
}

/*
 * Where each thread has a copy of the instructions: the offset in the copy that the
 * instruction is in. -1: it is in none.
 */
static bool offset_in_copies(struct way *way, uint64_t code,
			     uint64_t instruction, int64_t *ret)
{
	const struct py_layout *l = way->r->layout;
	uint64_t starts[PY_COPIES_MAX], units, copies, count;

	if (!py_read_pointer(way->r, code + l->code_units, &units) ||
	    !py_read_pointer(way->r, code + l->code_copies, &copies) ||
	    !py_read_pointer(way->r, copies + PY_COPIES_COUNT, &count))
		return false;
	if (count > PY_COPIES_MAX)
		count = PY_COPIES_MAX;
	if (!py_read_bytes(way->r, copies + PY_COPIES_FIRST, starts, count * 8))
		return false;
	*ret = -1;
	for (uint64_t i = 0; i < count; i++)
		if (starts[i] && instruction - starts[i] < 2 * units)
			*ret = (int64_t)(instruction - starts[i]);
	return true;
}

static bool read_offset(struct way *way, uint64_t frame, uint64_t code,
			int64_t *ret)
{
	const struct py_layout *l = way->r->layout;
	uint64_t instruction;
	int32_t last;

	if (!(l->flags & PY_LASTI)) {
		if (!py_read_pointer(way->r, frame + l->frame_instruction,
				     &instruction))
			return false;
		*ret = (int64_t)(instruction - code - l->code_adaptive);
		if (l->code_copies &&
		    !offset_in_copies(way, code, instruction, ret))
			return false;
	} else {
		if (!py_read_bytes(way->r, frame + l->frame_instruction, &last,
				   sizeof(last)))
			return false;
		*ret = (int64_t)last * (int64_t)l->lasti_unit;
	}
	if (*ret < 0 || *ret > INT32_MAX)
		*ret = -1;
	return true;
}

/* False: there is no room, or it cannot be read; and what of it is said. */
static bool add_frame(struct way *way, uint64_t frame)
{
	struct py_awaits *ret = way->ret;
	struct py_await *added = &ret->frames[ret->count];

	if (ret->count == PY_AWAITS_MAX) {
		ret->end = PY_AWAITS_TOO_DEEP;
		return false;
	}
	*added = (struct py_await){ .frame = frame };
	if (!py_frame_code(way->r, way->code_type, frame, &added->code) ||
	    !read_offset(way, frame, added->code, &added->offset))
		return false;
	ret->count++;
	return true;
}

/* --- what a frame awaits --- */

/* The state of a generator: PY_AWAITS_OBJECT may be one that has yielded. */
static bool read_state(struct way *way, uint64_t generator, uint64_t frame,
		       enum py_awaits_end *ret)
{
	const struct py_tasks_at *at = way->at;
	uint64_t place = at->generator_state == PY_ABSENT ?
				 frame + at->frame_state :
				 generator + at->generator_state;
	uint64_t top;
	uint8_t state;

	if (way->minor < 10) {
		/* While it runs, its stack has no end. */
		if (!py_read_pointer(way->r, frame + at->frame_stack_top, &top))
			return false;
		*ret = top ? PY_AWAITS_OBJECT : PY_AWAITS_RUNS;
		return true;
	}
	if (!py_read_bytes(way->r, place, &state, sizeof(state)))
		return false;
	*ret = state == at->state_runs	 ? PY_AWAITS_RUNS :
	       state == at->state_awaits ? PY_AWAITS_OBJECT :
					   PY_AWAITS_NOTHING;
	return true;
}

/* The instruction that it goes on with. */
static bool read_next(struct way *way, const struct py_await *at,
		      uint8_t unit[2])
{
	const struct py_layout *l = way->r->layout;
	uint64_t start = at->code + l->code_adaptive;

	if (at->offset < 0)
		return false;
	if (l->code_bytes != PY_ABSENT) {
		if (!py_read_pointer(way->r, at->code + l->code_bytes, &start))
			return false;
		start += l->bytes_data;
	}
	return py_read_bytes(way->r, start + (uint64_t)at->offset + 2, unit, 2);
}

/* From 3.13 on the state says it. */
static bool is_in_await(struct way *way, const struct py_await *at)
{
	uint8_t unit[2];

	if (way->minor >= 13)
		return true;
	if (!read_next(way, at, unit))
		return false;
	return way->minor < 11 ? unit[0] == OPCODE_YIELD_FROM :
				 (unit[1] & RESUME_MASK) >= RESUME_AWAITS;
}

/* Where the word behind the frame's stack is; 0: unreadable. */
static uint64_t stack_end(struct way *way, uint64_t frame)
{
	const struct py_tasks_at *at = way->at;
	const struct py_release *release =
		py_release_of(way->r->layout);
	uint64_t start = frame + release->values.frame_locals, end;
	int32_t count;

	if (way->minor < 10 || way->minor >= 14)
		return py_read_pointer(way->r, frame + at->frame_stack_top,
				       &end) ?
			       end :
			       0;
	if (at->frame_stack != PY_ABSENT &&
	    !py_read_pointer(way->r, frame + at->frame_stack, &start))
		return 0;
	if (!py_read_bytes(way->r, frame + at->frame_stack_top, &count,
			   sizeof(count)) ||
	    count <= 0 || count > STACK_MAX)
		return 0;
	return start + (uint64_t)count * 8;
}

/*
 * What stands on top of the stack. From 3.15 on an index may stand above an
 * iterator (Python/bytecodes.c: GET_ITER): that is no pointer.
 */
static bool read_awaited(struct way *way, uint64_t frame, uint64_t *ret)
{
	uint64_t end = stack_end(way, frame);

	if (end < 4096 || !py_read_pointer(way->r, end - 8, ret))
		return false;
	if (way->minor >= 14)
		*ret &= ~(uint64_t)3;
	if (way->minor >= 15 && *ret < 4096 &&
	    py_read_pointer(way->r, end - 16, ret))
		*ret &= ~(uint64_t)3;
	return *ret >= 4096;
}

/* --- the way --- */

static bool find_frame(struct way *way, uint64_t generator, uint64_t *ret)
{
	*ret = generator + way->at->generator_frame;
	return way->at->generator_state != PY_ABSENT ||
	       py_read_pointer(way->r, *ret, ret);
}

static bool is_over(struct way *way, uint64_t generator, uint64_t frame)
{
	const struct py_tasks_at *at = way->at;
	uint8_t state;

	if (at->generator_state == PY_ABSENT)
		return !frame;
	if (!py_read_bytes(way->r, generator + at->generator_state, &state,
			   sizeof(state)))
		return true;
	return (int8_t)state > (int8_t)at->state_runs;
}

/* True: *object is what it awaits. Else ret->end says how it ends. */
static bool step(struct way *way, uint64_t *object)
{
	struct py_awaits *ret = way->ret;
	enum py_awaits_end state;
	uint64_t frame;

	ret->end = PY_AWAITS_UNREADABLE;
	if (!find_frame(way, *object, &frame))
		return false;
	if (is_over(way, *object, frame)) {
		ret->end = PY_AWAITS_NOTHING;
		return false;
	}
	if (!add_frame(way, frame) || !read_state(way, *object, frame, &state))
		return false;
	if (state != PY_AWAITS_OBJECT ||
	    !is_in_await(way, &ret->frames[ret->count - 1])) {
		ret->end = state == PY_AWAITS_OBJECT ? PY_AWAITS_NOTHING : state;
		return false;
	}
	return read_awaited(way, frame, object);
}

/*
 * What stands between awaits one object, its first field. False: there are too many, or
 * one cannot be read.
 */
static bool pass_between(struct way *way, uint64_t *object)
{
	for (int i = 0; i < BETWEEN_MAX; i++) {
		if (kind_of(way, *object) != KIND_BETWEEN)
			return true;
		if (!py_read_pointer(way->r, py_behind_head(way->r, *object),
				     object))
			return false;
		/* What an iterator has given up. */
		if (!*object)
			return true;
	}
	return false;
}

void py_awaits_read(struct py_objects_reader *r, uint64_t code_type,
		    uint64_t coroutine, struct py_awaits *ret)
{
	const struct py_release *release = py_release_of(r->layout);
	struct way way = { .r = r,
			   .at = &release->tasks,
			   .code_type = code_type,
			   .minor = PY_MINOR(r->layout->version),
			   .ret = ret };
	uint64_t object = coroutine;

	ret->count = 0;
	ret->object = 0;
	while (kind_of(&way, object) == KIND_GENERATOR) {
		if (!step(&way, &object))
			return;
		ret->end = PY_AWAITS_UNREADABLE;
		if (!pass_between(&way, &object))
			return;
	}
	ret->end = object ? PY_AWAITS_OBJECT : PY_AWAITS_NOTHING;
	ret->object = object;
}
