// SPDX-License-Identifier: GPL-2.0-only
/*
 * The variables of frames, and their values in words, in any memory
 * (tests/unit/memory_image.h). Types of C whose names mean something are planted.
 */
#include <stdlib.h>
#include <string.h>

#include "memory_image.h"
#include "python/locals.h"
#include "python/releases.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAMES_MAX = 64 };

/* --- planted types --- */

/* Behind the head of an object. */
static const struct planted_type {
	const char *name;
	uint32_t size;
	uint32_t flags;
} planted_types[] = {
	{ "collections.deque", 200, PY_TYPE_HEAP | PY_TYPE_IMMUTABLE },
	{ "bytearray", 40, 0 },
	{ "range", 32, 0 },
	{ "slice", 32, 0 },
	{ "builtin_function_or_method", 56, 0 },
	{ "datetime.date", 16, 0 },
	{ "datetime.datetime", 32, 0 },
	{ "datetime.time", 24, 0 },
	{ "datetime.timedelta", 24, 0 },
	{ "datetime.timezone", 16, 0 },
	{ "zoneinfo.ZoneInfo", 192, 0 },
	{ "decimal.Decimal", 88, 0 },
	{ "ValueError", 56, PY_TYPE_ERROR },
	{ "Slots", 32, PY_TYPE_HEAP },
	{ "numpy.ndarray", 80, 0 },
	{ "numpy.float32", 8, 0 },
	{ "numpy.complex128", 16, 0 },
	{ "numpy.int16", 8, 0 },
	{ "numpy.bool_", 8, 0 },
	/* The last one: that of all types. */
	{ "type", 900, PY_TYPE_TYPE },
};

enum {
	PLANTED_COUNT = sizeof(planted_types) / sizeof(planted_types[0]),
	/* Of a type, and where it has its name. */
	PLANTED_SIZE = 1024,
	PLANTED_NAME = 960,
};

#define PLANTED_BASE 0x7e0000000000ull

/* An image, with planted types in it: which of its objects have one is chosen by number. */
struct planted {
	struct memory_image *image;
	uint32_t object_type;
	unsigned int which;
	uint8_t types[PLANTED_COUNT * PLANTED_SIZE];
};

static uint64_t planted_type(unsigned int i)
{
	return PLANTED_BASE + i % PLANTED_COUNT * PLANTED_SIZE;
}

/* Types are objects, too; one that is to have members finds them in the image. */
static void plant(struct planted *planted, const struct py_release *release,
		  const struct py_layout *layout)
{
	uint32_t head = layout->object_type + 8, base = release->tasks.type_base;
	uint64_t members = planted->image->piece_count ?
				   planted->image->pieces[0].at.address :
				   0;

	/* An image may say that they stand anywhere. */
	if (layout->object_type > PLANTED_NAME - 8 ||
	    layout->type_name > PLANTED_NAME - 8)
		return;
	for (unsigned int i = 0; i < PLANTED_COUNT; i++) {
		const struct planted_type *type = &planted_types[i];
		uint8_t *at = planted->types + i * PLANTED_SIZE;
		uint64_t name = planted_type(i) + PLANTED_NAME;
		int64_t size = head + type->size;
		uint64_t flags = type->flags, class = planted_type(PLANTED_COUNT - 1);

		strcpy((char *)at + PLANTED_NAME, type->name);
		memcpy(at + layout->object_type, &class, 8);
		memcpy(at + layout->type_name, &name, 8);
		memcpy(at + release->objects.type_basic_size, &size, 8);
		memcpy(at + release->objects.type_flags, &flags, 8);
		if (base)
			memcpy(at + base - 16, &members, 8);
	}
}

/* What stands where an object has its type is another address, of some objects. */
static bool read_planted(void *arg, uint64_t address, void *buf, size_t size)
{
	const struct planted *planted = arg;
	uint64_t at = address - PLANTED_BASE;

	if (at < sizeof(planted->types)) {
		if (size > sizeof(planted->types) - at)
			return false;
		memcpy(buf, planted->types + at, size);
		return true;
	}
	if (!memory_image_read(planted->image, address, buf, size))
		return false;
	if (planted->which & 8 && size == 8 &&
	    address % 16 == planted->object_type % 16) {
		uint64_t type = planted_type(
			(unsigned int)(address / 16) + (planted->which >> 4));

		memcpy(buf, &type, sizeof(type));
	}
	return true;
}

/* --- checks --- */

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
	static struct planted planted;
	const struct py_memory memory = { read_planted, &planted };
	struct py_objects_reader objects =
		PY_OBJECTS_INIT(layout, &release->objects, &memory);
	struct py_builtins builtins = {};
	struct py_value_reader v = { &objects, &release->values, &builtins };
	struct frames frames = {};
	const struct user_walk_output output = { take_frames, &frames };
	struct user_walk *walk;

	planted = (struct planted){ .image = image,
				    .object_type = layout->object_type };
	plant(&planted, release, layout);
	if (user_walk_create(&walk))
		abort();
	user_walk_thread(walk, &image->thread, &memory, &output);
	planted.which = which;
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
