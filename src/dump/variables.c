// SPDX-License-Identifier: GPL-2.0-only
#include "dump/variables.h"

#include <string.h>

#include "dump/page_memory.h"
#include "python/locals.h"
#include "python/releases.h"

enum {
	/* Reads for the variables of a thread, each of two times; bytes of their words. */
	READS_MAX = 200000,
	TEXT_MAX = 8 << 20,
	NAME_MAX_BYTES = 256,
};

/* Memory of which so many reads are left. */
struct memory {
	struct page_memory pages;
	size_t reads_left;
};

struct reading {
	struct memory bounded;
	struct py_memory memory;
	struct py_objects_reader objects;
	struct py_value_reader values;
	struct dump_locals *locals;
	/* The first of the list that is read here, and the objects from there on. */
	size_t first;
	VEC(uint64_t) objects_read;
	struct strbuf again;
};

static bool read_memory(void *arg, uint64_t address, void *buf, size_t size)
{
	struct memory *memory = arg;

	if (!memory->reads_left)
		return false;
	memory->reads_left--;
	return page_memory_read(&memory->pages, address, buf, size);
}

/* False: there is no room for more. */
static bool add_local(struct reading *reading, const struct py_local *local)
{
	struct strbuf *text = &reading->locals->text;
	struct dump_local added = { .name = (uint32_t)text->len,
				    .is_argument = local->is_argument };

	if (text->len > TEXT_MAX)
		return false;
	/* Those without a name are the interpreter's own. */
	if (!py_text_read(reading->values.objects, local->name, NAME_MAX_BYTES,
			  text) ||
	    text->len == added.name) {
		strbuf_truncate(text, added.name);
		return true;
	}
	strbuf_putc(text, '\0');
	added.value = (uint32_t)text->len;
	py_value_put(&reading->values, local->value, text);
	strbuf_putc(text, '\0');
	if (!reading->bounded.reads_left) {
		strbuf_truncate(text, added.name);
		return false;
	}
	return vec_push(&reading->objects_read, local->value) &&
	       vec_push(&reading->locals->list, added);
}

/* --- all of it again --- */

/* What is read from here on is as it is now. */
static void forget(struct reading *reading)
{
	page_memory_clear(&reading->bounded.pages);
	reading->objects.type_count = 0;
}

static bool is_alike(const struct reading *reading, size_t value)
{
	const struct strbuf *text = &reading->locals->text;

	return text->failed || reading->again.failed ||
	       !strcmp(text->data + value, reading->again.data);
}

static void put_again(struct reading *reading, uint64_t object)
{
	strbuf_clear(&reading->again);
	py_value_put(&reading->values, object, &reading->again);
}

/* It may have changed since, and hold still for a moment. */
static void put_at_once(struct reading *reading, struct dump_local *local,
			uint64_t object)
{
	struct strbuf *text = &reading->locals->text;
	size_t value = text->len;

	forget(reading);
	py_value_put(&reading->values, object, text);
	forget(reading);
	put_again(reading, object);
	if (!is_alike(reading, value)) {
		strbuf_truncate(text, value);
		strbuf_puts(text, "[changes while it is read]");
	}
	strbuf_putc(text, '\0');
	local->value = (uint32_t)value;
}

/* Other threads may change a value meanwhile: it counts if it was alike twice. */
static void read_again(struct reading *reading)
{
	struct dump_locals *locals = reading->locals;

	forget(reading);
	reading->bounded.reads_left = READS_MAX;
	for (size_t i = reading->first; i < locals->list.count; i++) {
		struct dump_local *local = &locals->list.data[i];
		uint64_t object = reading->objects_read.data[i - reading->first];

		put_again(reading, object);
		if (!is_alike(reading, local->value))
			put_at_once(reading, local, object);
	}
}

/* --- frames --- */

static void read_frame(struct reading *reading, uint64_t frame,
		       struct variables_of *ret)
{
	struct py_local locals[PY_LOCALS_MAX];
	size_t count = py_locals_read(&reading->values, frame, locals);

	ret->first = (uint32_t)reading->locals->list.count;
	for (size_t i = 0; i < count && add_local(reading, &locals[i]); i++)
		;
	ret->count = (uint32_t)reading->locals->list.count - ret->first;
}

/* It refers to itself. */
static void reading_init(struct reading *reading, struct subject *subject,
			 const struct py_memory *memory,
			 struct dump_locals *locals)
{
	const struct py_layout *layout = &subject->python.layout;
	const struct py_release *release = py_release_of(layout);

	*reading = (struct reading){
		.bounded = { PAGE_MEMORY_INIT(memory), READS_MAX },
		.locals = locals,
		.first = locals->list.count,
		.again = STRBUF_INIT,
	};
	reading->memory =
		(struct py_memory){ read_memory, &reading->bounded, NULL };
	reading->objects = (struct py_objects_reader)PY_OBJECTS_INIT(
		layout, &release->objects, &reading->memory);
	reading->values = (struct py_value_reader){ &reading->objects,
						    &release->values,
						    &subject->builtins };
}

/* Of what ran out of memory the caller learns by its text. */
static void end(struct reading *reading)
{
	read_again(reading);
	page_memory_deinit(&reading->bounded.pages);
	vec_deinit(&reading->objects_read);
	strbuf_deinit(&reading->again);
}

void variables_read(struct variables *variables, struct subject *subject,
		    const struct python_stack *stack, struct dump_locals *ret)
{
	struct reading reading;

	reading_init(&reading, subject, &subject->memory, ret);
	vec_for_each(frame, &stack->frames) {
		struct variables_of of = {};

		read_frame(&reading, frame->frame, &of);
		if (!vec_push(&variables->frames, of))
			break;
	}
	end(&reading);
}

void variables_read_awaits(struct subject *subject,
			   const struct py_memory *memory,
			   struct dump_frame_list *frames,
			   struct dump_locals *ret)
{
	struct reading reading;

	reading_init(&reading, subject, memory, ret);
	for (size_t i = frames->count; i-- > 0;) {
		struct dump_frame *frame = &frames->data[i];
		struct variables_of of = {};

		read_frame(&reading, frame->address, &of);
		frame->first_local = of.first;
		frame->local_count = of.count;
	}
	end(&reading);
}

bool variables_append(const struct dump_locals *from, struct dump_locals *ret)
{
	uint32_t shift = (uint32_t)ret->text.len;

	vec_for_each(local, &from->list)
		if (!vec_push(&ret->list,
			      (struct dump_local){ local->name + shift,
						   local->value + shift,
						   local->is_argument }))
			return false;
	strbuf_append(&ret->text, from->text.data, from->text.len);
	return !ret->text.failed;
}

const struct variables_of *variables_at(const struct variables *variables,
					size_t i)
{
	static const struct variables_of none;

	return i < variables->frames.count ? &variables->frames.data[i] : &none;
}

void variables_deinit(struct variables *variables)
{
	vec_deinit(&variables->frames);
}
