// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which processes work for others. The record of a fork says who started a process; that
 * it is a worker, and not another program, is in its stacks alone.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/name_match.h"
#include "profile/symbol_word.h"
#include "view/answer_screen.h"

/* Of a stack, and of a process whose stacks have it. */
enum {
	HAS_PYTHON = 1 << 0,
	HAS_WORKER = 1 << 1,
};

/* Beside the parent's pid. */
#define IS_WORKER (1ULL << 32)

/*
 * BaseProcess._bootstrap() runs what a process is given to do, however it was started:
 * fork, spawn or forkserver, in a pool or not. 3.8 to 3.10 know no qualified names.
 */
static bool runs_worker(const struct python_symbol *symbol)
{
	static const char name[] = "_bootstrap";
	const size_t n = sizeof(name) - 1;

	return symbol->qualname_length >= n &&
	       !memcmp(symbol->qualname + symbol->qualname_length - n, name, n) &&
	       (name_ends_with(symbol->file, "/multiprocessing/process.py") ||
		name_ends_with(symbol->file, "/billiard/process.py"));
}

static uint8_t look_at_frame(const struct profile *p, uint32_t handle)
{
	const struct profile_frame *frame = profile_frame(p, handle);
	const struct profile_symbol *symbol = profile_symbol(p, frame->symbol);
	struct python_symbol python;

	if (frame->kind != PROFILE_FRAME_PYTHON)
		return 0;
	if (!symbol ||
	    !python_symbol_parse(profile_string(p, symbol->name, ""), &python))
		return HAS_PYTHON;
	return runs_worker(&python) ? HAS_PYTHON | HAS_WORKER : HAS_PYTHON;
}

/* By frame, then by stack; NULL for want of memory. */
static uint8_t *look_at_stacks(const struct profile *p)
{
	_cleanup_free_ uint8_t *frames = calloc(p->frames.count + 1, 1);
	uint8_t *stacks = calloc(p->stack_parents.count + 1, 1);

	if (!frames || !stacks) {
		free(stacks);
		return NULL;
	}
	for (size_t i = 0; i < p->frames.count; i++)
		frames[i] = look_at_frame(p, (uint32_t)i);
	for (size_t i = 0; i < p->stack_parents.count; i++) {
		uint32_t parent = p->stack_parents.data[i];

		stacks[i] = frames[p->stack_frames.data[i]];
		if (parent != PROFILE_NONE)
			stacks[i] |= stacks[parent];
	}
	return stacks;
}

/* What the stacks of each process have, by pid. */
static struct error *look_at_processes(const struct profile *p, uint32_t event,
				       const uint8_t *stacks, struct map *ret)
{
	for (size_t i = 0; i < p->samples.rows; i++) {
		uint32_t stack = p->samples.stack[i];
		uint64_t *has;

		if (p->samples.event[i] != event ||
		    stack == PROFILE_NONE || !stacks[stack])
			continue;
		has = map_insert(ret,
				 (uint32_t)profile_task(p, p->samples.task[i])->pid,
				 0, NULL);
		if (!has)
			return error_no_memory();
		*has |= stacks[stack];
	}
	return NULL;
}

struct error *answer_find_workers(const struct profile *p, uint32_t event,
				  struct map *ret)
{
	uint32_t recording = p->events.data[event].recording;
	_cleanup_free_ uint8_t *stacks = look_at_stacks(p);
	_cleanup_(map_deinit) struct map processes = {};
	struct error *error = stacks ? look_at_processes(p, event, stacks, &processes) :
				       error_no_memory();

	for (uint32_t i = 0; !error && i < p->tasks.count; i++) {
		const struct profile_task *task = profile_task(p, i);
		const uint64_t *has = map_find(&processes, (uint32_t)task->pid);
		uint32_t parent = (uint32_t)profile_task_parent(p, i);

		if (!has || task->recording != recording)
			continue;
		if (!parent || !map_find(&processes, parent))
			parent = 0;
		if (!map_insert(ret, (uint32_t)task->pid,
				parent | (*has & HAS_WORKER ? IS_WORKER : 0),
				NULL))
			return error_no_memory();
	}
	return error;
}

struct answer_process answer_process(const struct map *workers, int32_t pid)
{
	const uint64_t *found = map_find(workers, (uint32_t)pid);
	uint64_t value = found ? *found : 0;

	return (struct answer_process){ .is_worker = value & IS_WORKER,
					.parent = (int32_t)(uint32_t)value };
}
