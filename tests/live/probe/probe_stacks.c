// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Python stacks of all threads of a process that holds still, by the walk in
 * user space: "thread ID", then "QUALNAME\tFILE\tLINE", innermost first.
 */
#include <inttypes.h>
#include <stdio.h>

#include "probe.h"
#include "probe_target.h"
#include "walked.h"

static uint64_t word(struct probe_target *t, uint64_t address)
{
	uint64_t value = 0;

	probe_target_read(t, address, &value, sizeof(value));
	return value;
}

static struct error *print_thread(const struct py_memory *memory,
				  const struct user_walk_thread *thread)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct walked walked;
	struct error *error = walked_init(&walked);

	if (error)
		return error;
	walked_run(&walked, thread, memory);
	walked_text(&walked, false, &text);
	printf("thread %" PRIu64 "\n%s", (uint64_t)thread->thread_pointer,
	       text.data);
	walked_deinit(&walked);
	return NULL;
}

static struct error *print_threads(struct probe_target *t,
				   const struct py_memory *memory,
				   struct user_walk_thread *thread)
{
	const struct py_layout *l = &thread->process.layout;
	uint64_t interp = word(t, thread->process.runtime + l->runtime_interpreters);
	struct error *error = NULL;

	for (; interp; interp = word(t, interp + l->interp_next)) {
		uint64_t state = word(t, interp + l->interp_threads);

		for (; state && !error; state = word(t, state + l->thread_next)) {
			thread->thread_pointer = word(t, state + l->thread_id);
			error = print_thread(memory, thread);
		}
	}
	return error;
}

static struct error *print_stacks(struct probe_target *t)
{
	struct py_memory memory = { probe_target_read, t };
	struct user_walk_thread thread = { .pid = 1, .tid = 1 };
	struct py_layout_seen seen;
	struct error *error = probe_target_process(t, &thread.process);

	if (error)
		return error;
	error = py_layout_validate(&thread.process.layout, &memory,
				   thread.process.runtime,
				   thread.process.code_type, &seen);
	if (error)
		return error;
	printf("seen %u interpreters, %u threads, %u live, %u frames\n",
	       seen.interpreters, seen.threads, seen.live_threads, seen.frames);
	return print_threads(t, &memory, &thread);
}

struct error *probe_stacks(const char *pid)
{
	struct probe_target t;
	struct error *error = probe_target_init(&t, pid);

	if (error)
		return error;
	error = print_stacks(&t);
	probe_target_deinit(&t);
	return error;
}
