// SPDX-License-Identifier: GPL-2.0-only
#include "python/locals.h"

#include "python/releases.h"

/* pycore_code.h, 3.11 on: what a variable is. */
#define KIND_CELL 0x40
#define KIND_FREE 0x80

/* Include/cpython/code.h: bits of co_flags. */
#define CODE_VARIABLE_ARGUMENTS 0x04
#define CODE_VARIABLE_KEYWORDS	0x08

/* 3.14 on, pycore_stackref.h: bits of a reference that are no part of the pointer. */
#define REFERENCE_TAG 3u
#define REFERENCE_INT 3u

/* What a code object says of its variables. */
struct names {
	/* Tuples; those of cells and free variables up to 3.10. */
	uint64_t tuples[3];
	uint32_t counts[3];
	/* The bytes object of kinds, and how many there are. */
	uint64_t kinds;
	uint32_t arguments;
};

static bool read_half(const struct py_value_reader *v, uint64_t address,
		      uint32_t *ret)
{
	return py_read_bytes(v->objects, address, ret, sizeof(*ret));
}

static bool read_tuple(const struct py_value_reader *v, uint64_t address,
		       uint64_t *ret, uint32_t *count)
{
	uint64_t size;

	if (!py_read_pointer(v->objects, address, ret) ||
	    !py_read_pointer(v->objects,
			     *ret + v->objects->layout->bytes_size, &size))
		return false;
	*count = size < PY_LOCALS_MAX ? (uint32_t)size : PY_LOCALS_MAX;
	return true;
}

static bool read_arguments(const struct py_value_reader *v, uint64_t code,
			   uint32_t *ret)
{
	uint32_t count, keywords = 0, flags;

	if (!read_half(v, code + v->at->code_arguments, &count) ||
	    (v->at->code_keyword_arguments != PY_ABSENT &&
	     !read_half(v, code + v->at->code_keyword_arguments, &keywords)) ||
	    !read_half(v, code + v->objects->layout->code_flags, &flags) ||
	    count > PY_LOCALS_MAX || keywords > PY_LOCALS_MAX)
		return false;
	*ret = count + keywords + !!(flags & CODE_VARIABLE_ARGUMENTS) +
	       !!(flags & CODE_VARIABLE_KEYWORDS);
	return true;
}

static bool read_names(const struct py_value_reader *v, uint64_t code,
		       struct names *ret)
{
	const struct py_values *at = v->at;

	*ret = (struct names){};
	if (!read_arguments(v, code, &ret->arguments) ||
	    !read_tuple(v, code + at->code_local_names, &ret->tuples[0],
			&ret->counts[0]))
		return false;
	if (at->code_local_kinds != PY_ABSENT)
		return py_read_pointer(v->objects, code + at->code_local_kinds,
				       &ret->kinds);
	return read_tuple(v, code + at->code_cell_names, &ret->tuples[1],
			  &ret->counts[1]) &&
	       read_tuple(v, code + at->code_free_names, &ret->tuples[2],
			  &ret->counts[2]);
}

static bool is_in_cell(const struct py_value_reader *v,
		       const struct names *names, int group, uint32_t i)
{
	uint8_t kind = 0;

	if (!names->kinds)
		return group > 0;
	return py_read_bytes(v->objects,
			     names->kinds + v->objects->layout->bytes_data + i,
			     &kind, sizeof(kind)) &&
	       (kind & (KIND_CELL | KIND_FREE));
}

/* What stands in a cell; it may be empty, and made only after the frame has begun. */
static uint64_t open_cell(struct py_value_reader *v, uint64_t object)
{
	struct py_type type;
	uint64_t value;

	if (!v->builtins->cell_type || !py_type_of(v->objects, object, &type) ||
	    type.address != v->builtins->cell_type)
		return object;
	return py_read_pointer(v->objects, object + v->at->cell_value, &value) ?
		       value :
		       0;
}

/* 0: it is not bound. */
static uint64_t read_slot(struct py_value_reader *v, uint64_t address)
{
	uint64_t value;

	if (!py_read_pointer(v->objects, address, &value))
		return 0;
	if (PY_MINOR(v->objects->layout->version) < 14)
		return value;
	return (value & REFERENCE_TAG) == REFERENCE_INT ?
		       0 :
		       value & ~(uint64_t)REFERENCE_TAG;
}

size_t py_locals_read(struct py_value_reader *v, uint64_t frame,
		      struct py_local ret[PY_LOCALS_MAX])
{
	const struct py_layout *l = v->objects->layout;
	uint64_t slot = frame + v->at->frame_locals, code;
	struct names names;
	size_t count = 0;

	if (!py_read_pointer(v->objects, frame + l->frame_code, &code) ||
	    !read_names(v, code & ~(uint64_t)l->code_tag_mask, &names))
		return 0;
	for (int group = 0; group < 3; group++) {
		for (uint32_t i = 0; i < names.counts[group] &&
				     count < PY_LOCALS_MAX;
		     i++, slot += 8) {
			struct py_local *local = &ret[count];

			local->value = read_slot(v, slot);
			if (local->value && is_in_cell(v, &names, group, i))
				local->value = open_cell(v, local->value);
			local->is_argument = !group && i < names.arguments;
			if (local->value &&
			    py_read_pointer(v->objects,
					    names.tuples[group] +
						    v->at->tuple_items + i * 8,
					    &local->name))
				count++;
		}
	}
	return count;
}
