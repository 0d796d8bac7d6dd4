// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_loop.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/name_match.h"
#include "collect/poll_hold.h"
#include "collect/polled_loop.h"
#include "collect/task_stack.h"
#include "perfdata/kaa_stream.h"
#include "python/async_wait.h"
#include "python/releases.h"
#include "python/states.h"

enum {
	/* Tasks of one look. */
	TASKS_MAX = 64,
	NAMES_MAX = 1 << 16,
	/* What one task takes, where none was read yet. */
	TASK_NS = 30000,
	/* A look that comes late takes so many times as long, at most. */
	LATE_TIMES = 16,
};

/* A look at one thread. */
struct look {
	struct poll_loops *loops;
	struct polled_process *process;
	struct polled_thread *thread;
	struct polled_loop *loop;
	struct py_memory memory;
	struct py_objects_reader objects;
	struct py_tasks_reader tasks;
	struct py_value_reader values;
	struct async_reader reader;
	struct py_loop now;
	/* The task that it runs; 0: none. */
	uint64_t current;
	struct async_task task;
};

bool poll_loops_begin(struct poll_loops *loops, struct poll_walk *walk)
{
	loops->walk = walk;
	loops->memory = held_memory_create();
	walk->keeps = walk->defers = true;
	return loops->memory;
}

void poll_loops_deinit(struct poll_loops *loops)
{
	held_memory_destroy(loops->memory);
	poll_parts_deinit(&loops->parts);
	python_stack_deinit(&loops->stack);
	strbuf_deinit(&loops->records);
	strbuf_deinit(&loops->words);
	map_deinit(&loops->seen);
	vec_deinit(&loops->found);
}

/* --- stacks --- */

/* What the walk has kept. */
static void take_walked(struct poll_loops *loops)
{
	const struct strbuf *kept = &loops->walk->stack;
	uint32_t size;

	python_stack_clear(&loops->stack);
	for (size_t at = 0; at < kept->len; at += sizeof(size) + size) {
		memcpy(&size, kept->data + at, sizeof(size));
		error_destroy(python_stack_add(
			&loops->stack,
			walker_copy_record(&loops->copy,
					   kept->data + at + sizeof(size), size),
			size));
	}
}

static void add_own(struct poll_loops *loops)
{
	(void)poll_parts_add(&loops->parts, &loops->walk->stack, 0, 1);
}

/* A program may have a name for each task: from so many on they have none. */
static void put_words(struct poll_loops *loops, const char *name)
{
	strbuf_clear(&loops->words);
	task_stack_words(name, &loops->words);
	if (loops->words.failed || loops->walk->tasks.count < NAMES_MAX ||
	    map_find(&loops->walk->tasks, task_stack_key(loops->words.data)))
		return;
	strbuf_clear(&loops->words);
	task_stack_words(NULL, &loops->words);
}

/* The stack's part, with the frame that names the task outside all others. */
static bool find_part(struct look *look, const char *name, uint64_t marker,
		      uint32_t *number)
{
	struct poll_loops *loops = look->loops;
	size_t frames = loops->stack.frames.count;
	uint64_t key;
	bool done;

	put_words(loops, name);
	if (loops->words.failed)
		return false;
	key = task_stack_key(loops->words.data);
	if (poll_walk_tell_task(loops->walk, look->process, key,
				loops->words.data))
		(void)task_stack_push(&loops->stack, key, 0);
	strbuf_clear(&loops->records);
	done = task_stack_records(&loops->stack, &loops->records) &&
	       poll_parts_find(&loops->parts, &loops->records, marker, number);
	loops->stack.frames.count = frames;
	return done;
}

/* The task that was read, with its stack. Those for which it stands have other names. */
static void add_task(struct look *look, uint64_t marker, double share,
		     bool runs)
{
	const struct py_task *read = &look->task.task;
	struct poll_loops *loops = look->loops;
	struct task_times *times = &look->loop->times;
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct poll_part_task task = { .share = share, .runs = runs };

	py_task_name(&look->tasks, read->name, TASK_NAME_MAX, &name);
	if (name.failed || !find_part(look, name.data, marker, &task.own))
		return;
	task.name = hash_string(loops->words.data);
	task.key = task_times_key(name.data, read->coroutine,
				  look->task.address);
	task.others = task.own;
	if (task_times_note_name(times, task.name, task.key) ||
	    find_part(look, NULL, marker, &task.others))
		(void)vec_push(&loops->parts.tasks, task);
}

/* --- the task that runs --- */

static bool read_task(struct look *look, uint64_t address)
{
	struct async_task *task = &look->task;
	enum py_task_read read =
		py_task_read(&look->tasks, address, &task->task);

	look->loops->unknown += read == PY_TASK_UNKNOWN;
	if (read != PY_TASK_READ || task->task.state != PY_TASK_PENDING ||
	    task->task.loop != look->now.loop)
		return false;
	task->address = address;
	py_awaits_read(&look->objects, look->process->python.code_type,
		       task->task.coroutine, &task->awaits);
	return true;
}

/* Where the loop waits for all of them, it does nothing for one. */
static bool is_idle(struct look *look)
{
	const struct python_stack *stack = &look->loops->stack;
	const struct code_name *name;
	uint64_t code;

	if (!stack->frames.count)
		return true;
	if (!py_frame_code(&look->objects, look->process->python.code_type,
			   stack->frames.data[0].frame, &code))
		return false;
	name = code_names_find(&look->loop->names, &look->objects, code);
	return name && (strstr(name->file, "/asyncio/") ||
			name_ends_with(name->file, "/selectors.py"));
}

/* But for so many at the inner end. */
static void push_awaits(struct look *look, size_t left_out)
{
	const struct py_awaits *awaits = &look->task.awaits;
	struct python_stack *stack = &look->loops->stack;
	size_t count = awaits->count - left_out;

	python_stack_clear(stack);
	stack->pid = (uint32_t)look->process->pid;
	stack->tid = (uint32_t)look->thread->tid;
	stack->thread_pointer = look->thread->pointer;
	while (count-- > 0) {
		const struct py_await *frame = &awaits->frames[count];
		uint64_t key = poll_walk_code(look->loops->walk, &look->memory,
					      frame->code);

		(void)task_stack_push(stack, key, frame->offset);
	}
	if (awaits->end == PY_AWAITS_TOO_DEEP)
		stack->flags |= WALKER_TOO_DEEP;
}

/*
 * Its coroutine may not have been entered yet, or be left already: then it is nowhere
 * in the walk. Of one of another kind no frame is known, and what it calls stays.
 */
static void cut_current(struct look *look)
{
	const struct py_awaits *awaits = &look->task.awaits;

	if (!awaits->count && awaits->end == PY_AWAITS_OBJECT)
		return;
	if (!awaits->count || !task_stack_cut(&look->loops->stack,
					      awaits->frames[0].frame))
		push_awaits(look, 0);
}

static void add_current(struct look *look, bool asleep)
{
	struct poll_loops *loops = look->loops;

	take_walked(loops);
	if (look->current && read_task(look, look->current)) {
		cut_current(look);
		add_task(look, 0, 1, true);
	} else if (!asleep || !is_idle(look)) {
		add_own(loops);
	}
}

/* --- those that wait --- */

static uint64_t marker_of(enum py_wait wait)
{
	static const uint64_t markers[] = {
		[PY_WAIT_NONE] = KAA_MARKER_AWAITS_TURN,
		[PY_WAIT_TASKS] = KAA_MARKER_AWAITS_TASK,
		[PY_WAIT_SLEEP] = KAA_MARKER_AWAITS_SLEEP,
		[PY_WAIT_LOCK] = KAA_MARKER_AWAITS_LOCK,
		[PY_WAIT_QUEUE] = KAA_MARKER_AWAITS_QUEUE,
		[PY_WAIT_SOCKET] = KAA_MARKER_AWAITS_SOCKET,
		[PY_WAIT_PROCESS] = KAA_MARKER_AWAITS_PROCESS,
		[PY_WAIT_THREAD] = KAA_MARKER_AWAITS_THREAD,
		[PY_WAIT_FUTURE] = KAA_MARKER_AWAITS_FUTURE,
	};

	return markers[wait];
}

static void add_waiting(struct look *look, uint64_t address, double share)
{
	if (address == look->current || !read_task(look, address))
		return;
	/* The marker tells of asyncio's own functions. */
	push_awaits(look, look->task.task.waiter ?
				  async_own_frames(&look->reader,
						   &look->task.awaits) :
				  0);
	add_task(look, marker_of(async_wait_kind(&look->reader, &look->task)),
		 share, false);
}

/*
 * The first one behind the last look's: in turn each is read as often as the others,
 * which chance would do less evenly.
 */
static size_t begin_turn(const struct polled_loop *loop)
{
	size_t low = 0, high = loop->tasks.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (polled_loop_place(loop->tasks.data[middle]) <= loop->turn)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t how_many(const struct look *look,
		       const struct poll_effort *effort)
{
	uint64_t each = look->loop->task_ns ? look->loop->task_ns : TASK_NS;
	size_t all = look->loop->tasks.count;
	size_t count = effort->ns / each;

	if (count < effort->least)
		count = effort->least;
	if (count > TASKS_MAX)
		count = TASKS_MAX;
	return count < all ? count : all;
}

/*
 * Those that were read stand for all. How many these will be is to be known before:
 * the time that the last ones took tells.
 */
static void add_all_waiting(struct look *look,
			    const struct poll_effort *effort)
{
	const struct py_task_list *tasks = &look->loop->tasks;
	uint64_t began = poll_hold_now(), took;
	size_t count = how_many(look, effort), first;

	if (!count)
		return;
	first = begin_turn(look->loop);
	for (size_t i = 0; i < count; i++)
		add_waiting(look, tasks->data[(first + i) % tasks->count],
			    (double)tasks->count / (double)count);
	look->loop->turn =
		polled_loop_place(tasks->data[(first + count - 1) % tasks->count]);
	took = (poll_hold_now() - began) / count;
	look->loop->task_ns = look->loop->task_ns ?
				      (7 * look->loop->task_ns + took) / 8 :
				      took;
}

/* --- the list --- */

static bool find_interp(struct look *look, uint64_t state)
{
	const struct walker_process *python = &look->process->python;
	struct py_state_list states = {};
	struct error *error;

	if (look->loop->state == state)
		return look->loop->interp;
	look->loop->state = look->loop->interp = 0;
	error = py_states_read(&python->layout, &look->memory, python->runtime,
			       &states);
	error_destroy(error);
	vec_for_each(other, &states)
		if (other->address == state)
			look->loop->interp = other->interp;
	vec_deinit(&states);
	if (look->loop->interp)
		look->loop->state = state;
	return look->loop->interp;
}

/* Each once, though it may be in several lists. */
static void drop_doubles(struct look *look, struct py_task_list *tasks)
{
	struct map *seen = &look->loops->seen;
	size_t count = 0;
	bool is_new;

	map_clear(seen);
	vec_for_each(task, tasks)
		if (map_insert(seen, *task, 0, &is_new) && is_new)
			tasks->data[count++] = *task;
	tasks->count = count;
}

/*
 * One that changed meanwhile is cut: then the one before is better. If that is so again
 * it is no accident.
 */
static void take_list(struct look *look, bool is_whole, uint64_t now)
{
	struct py_task_list *found = &look->loops->found;
	struct polled_loop *loop = look->loop;
	bool was_cut = loop->is_cut;

	loop->is_cut = !is_whole;
	if (is_whole || was_cut || !loop->tasks.count) {
		drop_doubles(look, found);
		polled_loop_take(loop, found, now);
	}
	loop->listed_at = now;
}

static void list_tasks(struct look *look, bool asleep)
{
	struct polled_loop *loop = look->loop;
	struct py_task_list *found = &look->loops->found;
	uint64_t began = poll_hold_now();
	int64_t ran;
	bool is_whole;

	if (polled_loop_is_listed(loop, began, asleep))
		return;
	ran = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	vec_clear(found);
	is_whole = py_tasks_of_thread(&look->tasks, loop->state, found);
	is_whole &= py_tasks_of_interpreter(&look->tasks, loop->interp, found);
	take_list(look, is_whole, began);
	/* Not what other programs took of its time. */
	loop->listing_ns = (uint64_t)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - ran);
}

/* --- a look --- */

static void begin(struct look *look)
{
	/* Texts of values are not asked for. */
	static const struct py_builtins no_builtins;
	const struct walker_process *python = &look->process->python;
	const struct py_release *release = py_release_of(&python->layout);

	held_memory_begin(look->loops->memory, &look->process->memory);
	look->memory = (struct py_memory){ held_memory_read,
					   look->loops->memory };
	look->objects = (struct py_objects_reader)PY_OBJECTS_INIT(
		&python->layout, &release->objects, &look->memory);
	look->tasks = (struct py_tasks_reader){ &look->objects,
						&release->values };
	look->tasks.hints = &look->loop->hints;
	py_tasks_read_sizes(&look->tasks, &look->memory, python->runtime);
	look->values = (struct py_value_reader){ &look->objects,
						 &release->values, &no_builtins };
	look->reader = (struct async_reader){ &look->tasks, &look->values,
					      &look->loop->names };
}

/* False: it runs no loop. */
static bool find_loop(struct look *look)
{
	const struct walker_process *python = &look->process->python;
	struct polled_thread *thread = look->thread;
	uint64_t state;

	/* Without these two it was not walked. */
	if (!look->process->has_python || !thread->pointer ||
	    !look->loops->walk->walk ||
	    !py_release_of(&python->layout)->tasks.type_base)
		return false;
	state = user_walk_state(look->loops->walk->walk);
	if (!state)
		return false;
	if (thread->loop && thread->loop->era != python->era) {
		polled_loop_destroy(thread->loop);
		thread->loop = NULL;
	}
	if (!thread->loop)
		thread->loop = polled_loop_create(python->era);
	if (!thread->loop)
		return false;
	look->loop = thread->loop;
	begin(look);
	py_loop_read(&look->tasks, state, &look->now);
	return look->now.loop && find_interp(look, state);
}

/*
 * A thread that is kept from running loses time; and one that sleeps may not sleep for
 * long, so each further try takes less. Of the time that passes it is the same part,
 * whether looks are frequent or not.
 */
struct poll_effort poll_loops_effort(bool asleep, int tried, uint64_t ticks)
{
	static const struct poll_effort efforts[2][3] = {
		{ { 6, 100000 }, { 3, 0 }, { 1, 0 } },
		{ { 24, 500000 }, { 6, 100000 }, { 1, 0 } },
	};
	struct poll_effort effort = efforts[asleep][tried < 2 ? tried : 2];

	if (tried || ticks < 2)
		return effort;
	if (ticks > LATE_TIMES)
		ticks = LATE_TIMES;
	effort.least *= ticks;
	effort.ns *= ticks;
	return effort;
}

void poll_loops_read(struct poll_loops *loops, struct polled_process *process,
		     struct polled_thread *thread, bool asleep,
		     const struct poll_effort *effort)
{
	struct look look = { .loops = loops, .process = process,
			     .thread = thread };

	poll_parts_clear(&loops->parts);
	if (!find_loop(&look)) {
		/* Of a library's own threads only work is worth a sample. */
		if (!asleep || loops->walk->stack.len)
			add_own(loops);
		return;
	}
	loops->looks++;
	list_tasks(&look, asleep);
	look.current = look.now.task ?
			       look.now.task :
			       py_tasks_current(&look.tasks, look.loop->interp,
						look.now.loop);
	add_current(&look, asleep);
	add_all_waiting(&look, effort);
	task_times_settle_names(&look.loop->times, &loops->parts);
}

void poll_loops_settle(const struct polled_thread *thread, bool held)
{
	struct polled_loop *loop = thread->loop;

	if (!loop)
		return;
	if (held && !loop->names.is_full) {
		code_names_keep(&loop->names);
		return;
	}
	if (held)
		code_names_clear(&loop->names);
	else
		code_names_forget(&loop->names);
}
