/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names that a Python process gives its threads: what
 * threading.current_thread().name says in each, read from the module's _active, a
 * dict of pthread_self() to Thread object, and the attributes _name and _native_id
 * of that object. Before 3.8 there is no _native_id; there glibc's own note of it is
 * read. In 2.7 _name is called _Thread__name. A `name` that a subclass computes is not known.
 *
 * Memory is read through a callback; the process runs on. A name that is not read
 * alike twice in a row, while its Thread stayed where it was, is left out.
 */
#ifndef KAA_PYTHON_THREADS_H
#define KAA_PYTHON_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "python/object.h"

/* Bytes of a name; of a longer one the end is "...". */
#define PY_THREAD_NAME_MAX 1024

struct py_thread {
	/* pthread_self() */
	uint64_t ident;
	/*
	 * gettid(), as the process's pid namespace numbers it. After a fork it is
	 * that of the thread that forked, in the parent.
	 */
	int64_t native_id;
	/* size bytes, not terminated. */
	const char *name;
	size_t size;
};

struct py_threads_visit {
	/* Is the thread of that pthread_self() to be read? */
	bool (*wanted)(void *arg, uint64_t ident);
	void (*found)(void *arg, const struct py_thread *thread);
	void *arg;
};

/* Where things were found last time; zero to begin with. One for each process. */
struct py_threads_hints {
	uint32_t module;
	uint32_t active;
	uint32_t name;
	uint32_t native_id;
};

/*
 * Visits the threads of all interpreters that have the module, those of the main
 * interpreter last: a thread may be in several. runtime: address of _PyRuntime.
 */
void py_threads_each(struct py_objects_reader *r, uint64_t runtime,
		     struct py_threads_hints *hints,
		     const struct py_threads_visit *visit);

#endif
