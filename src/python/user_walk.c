// SPDX-License-Identifier: GPL-2.0-only
#include "python/user_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "bpf/walk.h"

struct user_walk {
	struct walk walk;
	struct walker_stack stack;
	struct walker_code code;
	struct walker_lines lines;
	struct walker_counters counters;
	const struct py_memory *memory;
	/* Keys of code objects whose records are written. */
	struct map codes;
	struct walk_code_slot code_slots[CODE_SLOTS];
	/* Thread id to thread state. */
	struct map threads;
};

_Static_assert(USER_WALK_REGISTERS == REGISTERS, "the same registers");

/* The walk that runs: one a thread, where the kernel has one a processor. */
static _Thread_local struct user_walk *running;

/* --- the shell of the walk --- */

static __always_inline long walk_read(void *to, __u32 size, __u64 address)
{
	const struct py_memory *memory = running->memory;

	if (address + size >= address &&
	    memory->read(memory->arg, address, to, size))
		return 0;
	memset(to, 0, size);
	return 1;
}

static __always_inline long walk_emit(void *ctx, void *record, __u64 size)
{
	const struct user_walk_output *output = ctx;

	return !output->emit(output->arg, record, size);
}

static __always_inline long walk_loop(__u32 count, walk_loop_fn *step,
				      void *arg)
{
	__u32 i = 0;

	while (i < count && !step(i, arg))
		i++;
	return i;
}

static __always_inline int walk_has_code(__u64 key)
{
	return map_find(&running->codes, key) != NULL;
}

/* What is not kept, as memory has run out, is found or written again. */
static void keep(struct map *map, size_t max, uint64_t key, uint64_t value)
{
	uint64_t *place;

	if (map->count >= max)
		map_clear(map);
	place = map_insert(map, key, value, NULL);
	if (place)
		*place = value;
}

static __always_inline void walk_put_code(__u64 key)
{
	keep(&running->codes, WALKER_MAX_CODES, key, 1);
}

static __always_inline struct walk_code_slot *walk_code_slot(__u64 code)
{
	return &running->code_slots[code_slot(code)];
}

static __always_inline const __u64 *walk_find_thread(__u32 tid)
{
	return (const __u64 *)map_find(&running->threads, tid);
}

static __always_inline void walk_put_thread(__u32 tid, __u64 thread)
{
	keep(&running->threads, WALKER_MAX_THREADS, tid, thread);
}

static __always_inline struct walk *walk_here(void)
{
	return &running->walk;
}

static __always_inline struct walker_code *walk_code_record(void)
{
	return &running->code;
}

static __always_inline struct walker_lines *walk_lines_record(void)
{
	return &running->lines;
}

#define WALK_UNROLL
#define WALK_APART static

#include "bpf/walk_frames.h"

static __always_inline __u64 walk_next_state(void)
{
	return take_state(&running->walk);
}

/* --- walking --- */

struct error *user_walk_create(struct user_walk **ret)
{
	struct user_walk *walk = calloc(1, sizeof(*walk));

	if (!walk)
		return error_no_memory();
	*ret = walk;
	return NULL;
}

void user_walk_destroy(struct user_walk *walk)
{
	if (!walk)
		return;
	map_deinit(&walk->codes);
	map_deinit(&walk->threads);
	free(walk);
}

void user_walk_hint(struct user_walk *walk, uint32_t tid, uint64_t state)
{
	keep(&walk->threads, WALKER_MAX_THREADS, tid, state);
}

static void take_thread(struct walk *w, const struct user_walk_thread *thread)
{
	w->process = thread->process;
	w->thread_pointer = thread->thread_pointer;
	w->stack_pointer = thread->stack_pointer;
	w->pid = thread->pid;
	w->number = thread->tid;
	w->tid = thread->tid;
	for (size_t i = 0; i < REGISTERS; i++)
		w->registers[i] = thread->registers[i];
}

enum user_walk_result user_walk_thread(struct user_walk *walk,
				       const struct user_walk_thread *thread,
				       const struct py_memory *memory,
				       const struct user_walk_output *output)
{
	uint64_t stacks = walk->counters.stacks;
	int lost;

	take_thread(&walk->walk, thread);
	walk->memory = memory;
	running = walk;
	lost = walk_thread((void *)output, &walk->walk, &walk->stack,
			   &walk->counters);
	running = NULL;
	if (lost)
		return USER_WALK_LOST;
	return walk->counters.stacks > stacks ? USER_WALK_STACK :
						USER_WALK_NO_FRAMES;
}

uint64_t user_walk_state(const struct user_walk *walk)
{
	return walk->walk.thread;
}

uint64_t user_walk_code(struct user_walk *walk, uint64_t code,
			const struct py_memory *memory,
			const struct user_walk_output *output)
{
	uint64_t key;

	/* Only a walk that found the thread has asked for interpreters. */
	if (!walk->walk.thread)
		walk->walk.versions_tell = 0;
	walk->memory = memory;
	running = walk;
	key = code_of((void *)output, &walk->walk, code);
	running = NULL;
	return key;
}
