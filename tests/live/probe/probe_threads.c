// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of the threads of a process: "IDENT NATIVE_ID NAME" for each, as the
 * process runs on.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "probe.h"
#include "probe_target.h"
#include "python/releases.h"
#include "python/thread_names.h"

static bool want(void *arg, uint64_t ident)
{
	(void)arg;
	(void)ident;
	return true;
}

static void print_thread(void *arg, const struct py_thread *thread)
{
	(void)arg;
	printf("%" PRIu64 " %" PRId64 " %.*s\n", thread->ident,
	       thread->native_id, (int)thread->size, thread->name);
}

static struct error *print_names(struct probe_target *t)
{
	struct py_memory memory = { probe_target_read, t };
	struct py_threads_visit visit = { want, print_thread, NULL };
	struct py_threads_hints hints = {};
	struct walker_process process;
	struct error *error = probe_target_process(t, &process);
	struct py_objects_reader reader =
		PY_OBJECTS_INIT(&process.layout, NULL, &memory);

	if (error)
		return error;
	reader.at = &py_release_find(process.layout.version)->objects;
	py_threads_each(&reader, process.runtime, &hints, &visit);
	return NULL;
}

struct error *probe_threads(const char *pid)
{
	struct probe_target t;
	struct error *error = probe_target_init(&t, pid);

	if (error)
		return error;
	error = print_names(&t);
	probe_target_deinit(&t);
	return error;
}
