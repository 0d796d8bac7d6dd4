// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of threads, and so dicts, attributes, texts and integers, in any
 * memory (tests/unit/memory_image.h).
 */
#include <stdlib.h>

#include "memory_image.h"
#include "python/releases.h"
#include "python/threads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_wanted(void *arg, uint64_t ident)
{
	(void)arg;
	return ident != 1;
}

static void check_thread(void *arg, const struct py_thread *thread)
{
	(void)arg;
	/* All of it is there to be read, and it is text of one line. */
	for (size_t i = 0; i < thread->size; i++)
		if ((unsigned char)thread->name[i] < 0x20)
			abort();
	if (thread->size > PY_THREAD_NAME_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory_image image;
	struct error *error = memory_image_open((struct bytes){ data, size },
						&image);
	const struct py_layout *layout = &image.thread.process.layout;
	const struct py_memory memory = { memory_image_read, &image };
	const struct py_threads_visit visit = { is_wanted, check_thread, NULL };
	struct py_threads_hints hints = {};

	if (!error) {
		struct py_objects_reader reader = PY_OBJECTS_INIT(
			layout, &py_release_of(layout)->objects,
			&memory);

		py_threads_each(&reader, image.thread.process.runtime, &hints,
				&visit);
	}
	error_destroy(error);
	return 0;
}
