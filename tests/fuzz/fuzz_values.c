// SPDX-License-Identifier: GPL-2.0-only
/*
 * The variables of frames, and their values in words, in any memory
 * (tests/unit/memory_image.h).
 */
#include <stdlib.h>

#include "memory_image.h"
#include "python/locals.h"
#include "python/releases.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAMES_MAX = 64 };

/* It is one line, and not much longer than it may be. */
static void check_value(struct py_value_reader *v, uint64_t object)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	py_value_put(v, object, &out);
	if (!out.len || out.len > 2 * PY_VALUE_MAX)
		abort();
	for (size_t i = 0; i < out.len; i++)
		if ((unsigned char)out.data[i] < 0x20)
			abort();
}

/* Images know no types by their addresses: any will do. */
static void choose_types(struct py_value_reader *v, uint64_t object,
			 unsigned int which, struct py_builtins *ret)
{
	uint64_t *const places[] = { &ret->float_type, &ret->set_type,
				     &ret->frozenset_type, &ret->cell_type };
	struct py_type type;

	if (py_type_of(v->objects, object, &type))
		*places[which % 4] = type.address;
}

static void check_frame(struct py_value_reader *v, uint64_t frame,
			unsigned int which, struct py_builtins *builtins)
{
	struct py_local locals[PY_LOCALS_MAX];
	size_t count = py_locals_read(v, frame, locals);

	if (count > PY_LOCALS_MAX)
		abort();
	for (size_t i = 0; i < count; i++) {
		if (which & 4)
			choose_types(v, locals[i].value, which, builtins);
		check_value(v, locals[i].value);
		check_value(v, locals[i].name);
	}
}

struct frames {
	uint64_t list[FRAMES_MAX];
	size_t count;
};

static bool take_frames(void *arg, const void *record, size_t size)
{
	const struct walker_stack *stack = record;
	struct frames *frames = arg;

	(void)size;
	if (stack->header.type != WALKER_STACK)
		return true;
	for (uint32_t i = 0; i < stack->count && frames->count < FRAMES_MAX; i++)
		frames->list[frames->count++] = stack->frames[i].frame;
	return true;
}

static void check_image(struct memory_image *image, unsigned int which)
{
	const struct py_layout *layout = &image->thread.process.layout;
	const struct py_release *release = py_release_of(layout);
	const struct py_memory memory = { memory_image_read, image };
	struct py_objects_reader objects =
		PY_OBJECTS_INIT(layout, &release->objects, &memory);
	struct py_builtins builtins = {};
	struct py_value_reader v = { &objects, &release->values, &builtins };
	struct frames frames = {};
	const struct user_walk_output output = { take_frames, &frames };
	struct user_walk *walk;

	if (user_walk_create(&walk))
		abort();
	user_walk_thread(walk, &image->thread, &memory, &output);
	for (size_t i = 0; i < frames.count; i++)
		check_frame(&v, frames.list[i], which, &builtins);
	/* Any piece of memory may be an object. */
	for (size_t i = 0; i < image->piece_count && i < FRAMES_MAX; i++) {
		if (which & 4)
			choose_types(&v, image->pieces[i].at.address, which + i,
				     &builtins);
		check_value(&v, image->pieces[i].at.address);
	}
	user_walk_destroy(walk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory_image image;
	struct error *error = memory_image_open((struct bytes){ data, size },
						&image);

	if (!error)
		check_image(&image, data[size - 1]);
	error_destroy(error);
	return 0;
}
