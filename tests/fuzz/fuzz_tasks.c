// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks of asyncio, their coroutines and containers, in any memory
 * (tests/unit/memory_image.h).
 */
#include <stdlib.h>

#include "memory_image.h"
#include "python/coroutine.h"
#include "python/states.h"
#include "python/tasks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OBJECTS_MAX = 64 };

static bool count_item(void *arg, uint64_t item)
{
	size_t *count = arg;

	(void)item;
	return ++*count < PY_TASKS_MAX;
}

static void check_coroutine(struct py_objects_reader *r, uint64_t code_type,
			    uint64_t object)
{
	static struct py_awaits awaits;

	py_awaits_read(r, code_type, object, &awaits);
	if (awaits.count > PY_AWAITS_MAX ||
	    (awaits.object && awaits.end != PY_AWAITS_OBJECT))
		abort();
	for (size_t i = 0; i < awaits.count; i++)
		if (awaits.frames[i].offset < -1)
			abort();
}

static void check_object(struct py_tasks_reader *r, uint64_t code_type,
			 uint64_t object)
{
	struct py_task task;
	size_t count = 0;

	if (py_task_read(r, object, &task) == PY_TASK_READ) {
		if (task.state > PY_TASK_FINISHED)
			abort();
		check_coroutine(r->objects, code_type, task.coroutine);
		py_items_each(r, task.callbacks, count_item, &count);
	}
	check_coroutine(r->objects, code_type, object);
	py_items_each(r, object, count_item, &count);
	py_future_callback(r, object);
}

static void check_states(struct py_tasks_reader *r,
			 const struct py_memory *memory, uint64_t runtime)
{
	struct py_state_list states = {};
	struct py_task_list tasks = {};
	struct error *error = py_states_read(r->objects->layout, memory,
					     runtime, &states);

	for (size_t i = 0; !error && i < states.count && i < OBJECTS_MAX; i++) {
		struct py_loop loop;

		py_loop_read(r, states.data[i].address, &loop);
		py_tasks_of_thread(r, states.data[i].address, &tasks);
		py_tasks_of_interpreter(r, states.data[i].interp, &tasks);
		py_tasks_current(r, states.data[i].interp, loop.loop);
	}
	if (tasks.count > PY_TASKS_MAX)
		abort();
	error_destroy(error);
	vec_deinit(&states);
	vec_deinit(&tasks);
}

static void check_image(struct memory_image *image)
{
	const struct walker_process *process = &image->thread.process;
	const struct py_release *release =
		py_release_find(process->layout.version);
	const struct py_memory memory = { memory_image_read, image, NULL };
	struct py_objects_reader objects = PY_OBJECTS_INIT(
		&process->layout, &release->objects, &memory);
	struct py_tasks_reader r = { &objects, &release->values };

	check_states(&r, &memory, process->runtime);
	/* Any piece of memory may be an object. */
	for (size_t i = 0; i < image->piece_count && i < OBJECTS_MAX; i++)
		check_object(&r, process->code_type,
			     image->pieces[i].at.address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory_image image;
	struct error *error = memory_image_open((struct bytes){ data, size },
						&image);

	if (!error)
		check_image(&image);
	error_destroy(error);
	return 0;
}
