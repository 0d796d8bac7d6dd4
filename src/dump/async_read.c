// SPDX-License-Identifier: GPL-2.0-only
#include "dump/async_read.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/map.h"
#include "dump/async_awaits.h"
#include "dump/page_memory.h"
#include "dump/variables.h"
#include "python/async_wait.h"
#include "python/code_names.h"
#include "python/releases.h"

enum {
	/* Tries to read a task while its thread does not run, the later ones apart. */
	TRIES = 200,
	TRIES_AT_ONCE = 50,
	/* Of these, tries for its variables, too. */
	TRIES_LOCALS = 60,
	PAUSE_NS = 500000,
	/* Fewer once the thread ran on while so many tasks were tried, */
	TRIES_FEW = 20,
	FAILURES_MAX = 8,
	/* and one once it has taken so long. */
	TRIES_MS = 60000,
	/* A list that is not whole may be so a moment later. */
	TRIES_LIST = 8,
	/* Reads for a list or a task, and for all of them. */
	READS_MAX = 4 << 20,
	READS_ALL = 128 << 20,
	NAME_MAX_BYTES = 1024,
	INTERPRETERS_MAX = 64,
	/* Of all tasks together: frames and links that are kept, and bytes of texts. */
	FRAMES_MAX = 1 << 20,
	LINKS_MAX = 1 << 20,
	TEXTS_MAX = 256 << 20,
	LOCALS_MAX = 64 << 20,
};

/* A thread that runs a loop, or has tasks in its list. */
struct loop_thread {
	struct subject_thread *thread;
	const struct py_state *state;
	struct py_loop loop;
	/* It held still while its lists were read. */
	bool is_held;
	/* It has ended since. */
	bool is_gone;
	/* Tasks during all tries for which it ran on. */
	unsigned int failures;
};

/* What was read of a task while nothing moved. */
struct reading {
	struct async_task task;
	enum py_task_read result;
	bool is_current;
	/* Its frames go on in what is no coroutine of Python, and no future. */
	bool is_foreign;
	/* There was no memory. */
	bool failed;
	/* There were not enough reads for all of it. */
	bool ran_out;
	enum py_wait wait;
	enum py_wait without_tasks;
	struct strbuf name;
	struct strbuf waits_for;
	struct async_link_list links;
	/* Names and lines of its frames are in here, outermost first. */
	struct dump_frame_list frames;
	/* Variables are to be read, too. */
	bool with_locals;
	struct dump_locals locals;
};

struct async {
	struct subject *subject;
	const struct py_state_list *states;
	const struct async_walk *walk;
	struct dump *dump;
	const struct py_release *release;

	/* Memory of which so many reads are left: for what is at hand, and in all. */
	size_t reads_left;
	size_t all_left;
	/* By clock_ms(). */
	int64_t deadline;
	/* Read page by page: a loop's thread does not hold still for long. */
	struct page_memory pages;
	struct py_memory memory;
	/* The same as it is at each read. */
	struct py_memory direct;
	struct py_objects_reader objects;
	struct py_tasks_reader tasks;
	struct py_value_reader values;
	struct code_names names;
	struct async_reader reader;

	VEC(struct loop_thread) threads;
	struct py_task_list found;
	/* Address of a task to its index in dump->tasks.list. */
	struct map index_of;
	struct async_link_list links;
	struct reading reading;
};

static bool take_read(struct async *async)
{
	if (!async->reads_left)
		return false;
	async->reads_left--;
	return true;
}

static bool read_bounded(void *arg, uint64_t address, void *buf, size_t size)
{
	struct async *async = arg;

	return take_read(async) &&
	       page_memory_read(&async->pages, address, buf, size);
}

static bool read_direct(void *arg, uint64_t address, void *buf, size_t size)
{
	struct async *async = arg;
	const struct py_memory *memory = &async->subject->memory;

	return take_read(async) && memory->read(memory->arg, address, buf, size);
}

static size_t read_words(void *arg, const uint64_t *addresses, size_t count,
			 uint64_t *words)
{
	struct async *async = arg;
	const struct py_memory *memory = &async->subject->memory;

	if (async->reads_left < count)
		return 0;
	async->reads_left -= count;
	return memory->read_words(memory->arg, addresses, count, words);
}

static void pause_between(int i)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	if (i >= TRIES_AT_ONCE)
		nanosleep(&pause, NULL);
}

/* Types that were read at another moment may be others by now. */
static void begin_reading(struct async *async)
{
	async->reads_left = async->all_left < READS_MAX ? async->all_left :
							  READS_MAX;
	async->all_left -= async->reads_left;
	async->objects.type_count = 0;
	page_memory_clear(&async->pages);
}

/* False: there were not enough reads. */
static bool end_reading(struct async *async)
{
	bool enough = async->reads_left > 0;

	async->all_left += async->reads_left;
	async->reads_left = 0;
	return enough;
}

/* --- the lists --- */

static bool read_lists_of(struct async *async, struct loop_thread *of)
{
	bool is_whole;

	begin_reading(async);
	vec_clear(&async->found);
	py_loop_read(&async->tasks, of->state->address, &of->loop);
	is_whole = py_tasks_of_thread(&async->tasks, of->state->address,
				      &async->found);
	if (of->loop.loop)
		is_whole &= py_tasks_of_interpreter(
			&async->tasks, of->state->interp, &async->found);
	return end_reading(async) && is_whole;
}

/* Each task once, though it may be in several lists. */
static struct error *keep_found(struct async *async)
{
	vec_for_each(address, &async->found) {
		struct dump_tasks *tasks = &async->dump->tasks;
		bool is_new;

		if (tasks->list.count == PY_TASKS_MAX) {
			tasks->is_cut = true;
			return NULL;
		}
		if (!map_insert(&async->index_of, *address, tasks->list.count,
				&is_new))
			return error_no_memory();
		if (is_new && !vec_push(&tasks->list, (struct dump_task){
						.address = *address }))
			return error_no_memory();
	}
	return NULL;
}

static enum subject_read try_lists(struct async *async, struct loop_thread *of,
				   bool *is_whole)
{
	enum subject_read held = subject_begin(async->subject, of->thread);

	if (held != SUBJECT_STILL)
		return held;
	*is_whole = read_lists_of(async, of);
	if (subject_end(async->subject, of->thread)) {
		of->is_held = true;
		return SUBJECT_STILL;
	}
	/* What was found before is overwritten. */
	*is_whole = of->is_held = false;
	return SUBJECT_RUNS;
}

/* Of a thread that never held still, its loop tells which tasks are not read. */
static struct error *read_thread_lists(struct async *async,
				       struct loop_thread *of)
{
	bool is_whole = false;
	struct error *error;
	int looks = 0;

	for (int i = 0; i < TRIES && looks < TRIES_LIST && !is_whole; i++) {
		enum subject_read held = try_lists(async, of, &is_whole);

		if (held == SUBJECT_GONE)
			return NULL;
		looks += held == SUBJECT_STILL;
		if (!is_whole)
			pause_between(i);
	}
	if (!of->is_held)
		read_lists_of(async, of);
	async->dump->tasks.is_cut |= !is_whole;
	error = keep_found(async);
	if (!error && (of->loop.loop || async->found.count) &&
	    !vec_push(&async->threads, *of))
		error = error_no_memory();
	return error;
}

static struct error *read_threads(struct async *async)
{
	struct error *error = NULL;

	vec_for_each(thread, &async->subject->threads) {
		vec_for_each(state, async->states) {
			struct loop_thread of = { .thread = thread,
						  .state = state };

			if (error || !thread->pointer ||
			    state->thread_id != thread->pointer)
				continue;
			error = read_thread_lists(async, &of);
		}
		subject_release(async->subject, thread);
	}
	return error;
}

static bool has_loop_thread(const struct async *async, uint64_t interp)
{
	vec_for_each(of, &async->threads)
		if (of->state->interp == interp && of->loop.loop && of->is_held)
			return true;
	return false;
}

/* Where no loop runs, nothing changes the sets. */
static struct error *read_interpreters(struct async *async)
{
	uint64_t seen[INTERPRETERS_MAX];
	struct error *error = NULL;
	size_t count = 0;

	vec_for_each(state, async->states) {
		bool is_known = has_loop_thread(async, state->interp);

		for (size_t i = 0; i < count; i++)
			is_known |= seen[i] == state->interp;
		if (is_known || count == INTERPRETERS_MAX || error)
			continue;
		seen[count++] = state->interp;
		begin_reading(async);
		vec_clear(&async->found);
		async->dump->tasks.is_cut |= !py_tasks_of_interpreter(
			&async->tasks, state->interp, &async->found);
		async->dump->tasks.is_cut |= !end_reading(async);
		error = keep_found(async);
	}
	return error;
}

/* --- one task, while nothing moves --- */

static void clear_reading(struct reading *reading)
{
	strbuf_clear(&reading->name);
	strbuf_clear(&reading->waits_for);
	vec_clear(&reading->links);
	vec_clear(&reading->frames);
	vec_clear(&reading->locals.list);
	strbuf_clear(&reading->locals.text);
	reading->wait = reading->without_tasks = PY_WAIT_NONE;
	reading->is_current = reading->is_foreign = reading->failed = false;
	reading->task.awaits.count = 0;
	reading->task.awaits.end = PY_AWAITS_NOTHING;
}

/* Texts of the names stay until the dump has a copy. */
static bool read_frames(struct async *async, struct reading *reading)
{
	const struct py_awaits *awaits = &reading->task.awaits;

	for (size_t i = 0; i < awaits->count; i++) {
		const struct py_await *at = &awaits->frames[i];
		const struct code_name *name = code_names_find(
			&async->names, &async->objects, at->code);

		if (!name)
			return false;
		if (!vec_push(&reading->frames,
			      (struct dump_frame){
				      .function = name->function,
				      .file = name->file,
				      .line = code_name_line(name, at->offset),
				      .address = at->frame }))
			return false;
	}
	return true;
}

static bool is_current(struct async *async, const struct loop_thread *of,
		       const struct async_task *task)
{
	struct py_loop now;

	/* It runs, or is in code that is no Python. */
	if (!of || (task->awaits.end != PY_AWAITS_RUNS && task->awaits.count))
		return false;
	py_loop_read(&async->tasks, of->state->address, &now);
	return now.loop == task->task.loop &&
	       (now.task == task->address ||
		(!now.task && py_tasks_current(&async->tasks, of->state->interp,
					       now.loop) == task->address));
}

static bool is_foreign(struct async *async, const struct async_task *task)
{
	uint64_t object = task->awaits.object;

	return task->awaits.end == PY_AWAITS_OBJECT &&
	       object != task->task.waiter &&
	       !py_is_future(&async->tasks, object);
}

static void read_now(struct async *async, const struct loop_thread *of,
		     uint64_t address)
{
	struct reading *reading = &async->reading;
	struct async_task *task = &reading->task;

	clear_reading(reading);
	task->address = address;
	reading->result = py_task_read(&async->tasks, address, &task->task);
	if (reading->result != PY_TASK_READ)
		return;
	py_task_name(&async->tasks, task->task.name, NAME_MAX_BYTES,
		     &reading->name);
	if (task->task.state != PY_TASK_PENDING)
		return;
	py_awaits_read(&async->objects, async->subject->python.code_type,
		       task->task.coroutine, &task->awaits);
	reading->is_foreign = is_foreign(async, task);
	if (!read_frames(async, reading))
		task->awaits.end = PY_AWAITS_UNREADABLE;
	if (reading->with_locals)
		variables_read_awaits(async->subject, &async->direct,
				      &reading->frames, &reading->locals);
	reading->is_current = is_current(async, of, task);
	if (reading->is_current)
		async->walk->walk(async->walk->arg, of->thread, of->state,
				  reading->with_locals ? &reading->locals :
							 NULL);
	reading->wait = async_wait(&async->reader, task,
				   &reading->without_tasks, &reading->waits_for);
	reading->failed = !async_links(&async->reader, task, &reading->links);
}

/* --- one task, proven --- */

static const char *keep_text(struct async *async, const char *text)
{
	return arena_strndup(&async->dump->strings, text, strlen(text));
}

/* Its frames were taken; which variables they have is told by places in the reading. */
static struct error *keep_locals(struct async *async, struct dump_task *ret)
{
	struct dump_tasks *tasks = &async->dump->tasks;
	const struct reading *reading = &async->reading;
	uint32_t shift = (uint32_t)tasks->locals.list.count;
	bool is_full = tasks->locals.text.len > LOCALS_MAX;

	ret->no_locals = async->dump->has_locals &&
			 (!reading->with_locals || is_full);
	for (uint32_t i = 0; i < ret->frame_count; i++) {
		struct dump_frame *frame =
			&tasks->frames.data[ret->first_frame + i];

		frame->first_local += shift;
		if (ret->no_locals)
			frame->local_count = 0;
	}
	return ret->no_locals ||
			       variables_append(&reading->locals,
						&tasks->locals) ?
		       NULL :
		       error_no_memory();
}

/* Of both the innermost is the last; a dump has it first. */
static struct error *keep_frames(struct async *async, struct dump_task *ret)
{
	struct dump_frame_list *frames = &async->dump->tasks.frames;
	const struct reading *reading = &async->reading;
	size_t count = reading->frames.count;
	struct error *error = NULL;

	ret->first_frame = (uint32_t)frames->count;
	if (reading->is_current && count)
		error = async->walk->take(async->walk->arg,
					  reading->frames.data[0].address,
					  frames);
	if (!error && frames->count == ret->first_frame)
		while (!error && count-- > 0)
			if (!vec_push(frames, reading->frames.data[count]))
				error = error_no_memory();
	ret->frame_count = (uint32_t)(frames->count - ret->first_frame);
	if (!error)
		error = keep_locals(async, ret);
	for (size_t i = ret->first_frame; !error && i < frames->count; i++) {
		struct dump_frame *frame = &frames->data[i];

		frame->function = keep_text(async, frame->function);
		frame->file = keep_text(async, frame->file);
		if (!frame->function || !frame->file)
			error = error_no_memory();
	}
	return error;
}

static enum dump_task_problem problem_of(const struct reading *reading)
{
	switch (reading->task.awaits.end) {
	case PY_AWAITS_UNREADABLE:
		return DUMP_TASK_UNREADABLE;
	case PY_AWAITS_TOO_DEEP:
		return DUMP_TASK_TOO_DEEP;
	default:
		return reading->is_foreign ? DUMP_TASK_FOREIGN :
					     DUMP_TASK_NO_PROBLEM;
	}
}

static enum dump_task_state state_of(const struct reading *reading)
{
	if (reading->task.task.state != PY_TASK_PENDING)
		return DUMP_TASK_DONE;
	if (reading->is_current)
		return DUMP_TASK_RUNNING;
	return reading->task.task.waiter ? DUMP_TASK_WAITING :
					   DUMP_TASK_SCHEDULED;
}

static struct error *keep_links(struct async *async)
{
	const struct async_link_list *links = &async->reading.links;
	bool *is_cut = &async->dump->tasks.is_cut;

	*is_cut |= links->count == ASYNC_LINKS_MAX;
	vec_for_each(link, links) {
		if (async->links.count == LINKS_MAX) {
			*is_cut = true;
			return NULL;
		}
		if (!vec_push(&async->links, *link))
			return error_no_memory();
	}
	return NULL;
}

/* For the frames of one more task. */
static bool has_room(const struct async *async)
{
	return async->dump->tasks.frames.count < FRAMES_MAX &&
	       async->dump->strings.used < TEXTS_MAX;
}

/* A core is of one moment, and nothing runs a task that is done, or has no loop. */
static bool is_proven(const struct async *async, const struct loop_thread *of,
		      const struct py_task *task)
{
	return async->subject->core || task->state != PY_TASK_PENDING ||
	       !task->loop || (of && of->loop.loop == task->loop);
}

static struct error *keep_task(struct async *async, const struct loop_thread *of,
			       struct dump_task *ret)
{
	const struct reading *reading = &async->reading;
	struct error *error = reading->failed ? error_no_memory() :
						strbuf_error(&reading->name);

	if (!error)
		error = strbuf_error(&reading->waits_for);
	if (error)
		return error;
	ret->state = state_of(reading);
	ret->problem = problem_of(reading);
	ret->tid = of && of->loop.loop ? of->thread->tid : 0;
	ret->is_unproven = !is_proven(async, of, &reading->task.task);
	ret->wait = ret->state == DUMP_TASK_WAITING ? reading->wait :
						      PY_WAIT_NONE;
	ret->without_tasks = reading->without_tasks;
	ret->name = reading->name.len ? keep_text(async, reading->name.data) :
					NULL;
	ret->waits_for = ret->wait != PY_WAIT_NONE && reading->waits_for.len ?
				 keep_text(async, reading->waits_for.data) :
				 NULL;
	error = keep_links(async);
	if (error || has_room(async))
		return error ? error : keep_frames(async, ret);
	if (reading->frames.count) {
		async->dump->tasks.is_cut = true;
		ret->problem = DUMP_TASK_TOO_DEEP;
	}
	return NULL;
}

/* The thread that runs its loop. */
static struct loop_thread *find_thread(struct async *async, uint64_t address)
{
	enum py_task_read result;
	struct py_task task;

	begin_reading(async);
	result = py_task_read(&async->tasks, address, &task);
	end_reading(async);
	if (result != PY_TASK_READ)
		return NULL;
	vec_for_each(of, &async->threads)
		if (of->loop.loop && of->loop.loop == task.loop)
			return of;
	return NULL;
}

static enum subject_read try_task(struct async *async,
				  const struct loop_thread *of,
				  uint64_t address)
{
	enum subject_read held = of ? subject_begin(async->subject, of->thread) :
				      SUBJECT_STILL;

	if (held != SUBJECT_STILL)
		return held;
	/* Names that were read without proof are not for others. */
	code_names_forget(&async->names);
	begin_reading(async);
	read_now(async, of, address);
	async->reading.ran_out = !end_reading(async);
	if (async->reading.ran_out)
		async->reading.task.awaits.end = PY_AWAITS_UNREADABLE;
	if (of && !subject_end(async->subject, of->thread)) {
		async->walk->forget(async->walk->arg);
		return SUBJECT_RUNS;
	}
	if (of || async->subject->core)
		code_names_keep(&async->names);
	return SUBJECT_STILL;
}

static int tries_for(const struct async *async, const struct loop_thread *of)
{
	if (clock_ms() > async->deadline)
		return 1;
	return of && of->failures >= FAILURES_MAX ? TRIES_FEW : TRIES;
}

/* Until the thread holds still meanwhile, if there is one. */
static enum dump_task_problem try_often(struct async *async,
					struct loop_thread *of, uint64_t address)
{
	int tries = tries_for(async, of);

	if (of && of->is_gone)
		return DUMP_TASK_THREAD_ENDED;
	if (of && !of->is_held)
		return DUMP_TASK_RAN_ON;
	for (int i = 0; i < tries && async->all_left; i++) {
		enum subject_read held;

		async->reading.with_locals = async->dump->has_locals &&
					     i < TRIES_LOCALS;
		held = try_task(async, of, address);
		if (held == SUBJECT_STILL)
			return DUMP_TASK_NO_PROBLEM;
		if (held == SUBJECT_GONE) {
			of->is_gone = true;
			return DUMP_TASK_THREAD_ENDED;
		}
		pause_between(i);
	}
	if (!async->all_left) {
		async->dump->tasks.is_cut = true;
		return DUMP_TASK_NOT_READ;
	}
	if (of)
		of->failures++;
	return DUMP_TASK_RAN_ON;
}

static struct error *take_task(struct async *async, const struct loop_thread *of,
			       struct dump_task *ret)
{
	const struct reading *reading = &async->reading;
	struct dump_tasks *tasks = &async->dump->tasks;

	tasks->is_cut |= reading->ran_out;
	if (reading->result == PY_TASK_READ)
		return keep_task(async, of, ret);
	if (reading->ran_out) {
		ret->problem = DUMP_TASK_NOT_READ;
		return NULL;
	}
	tasks->unknown += reading->result == PY_TASK_UNKNOWN;
	/* It has ended since the lists were read. */
	ret->address = 0;
	return NULL;
}

static struct error *read_task(struct async *async, struct dump_task *ret)
{
	struct loop_thread *of = find_thread(async, ret->address);

	ret->problem = try_often(async, of, ret->address);
	return ret->problem ? NULL : take_task(async, of, ret);
}

/* --- who awaits whom --- */

static int compare_awaits(const void *a, const void *b)
{
	const struct dump_await *x = a, *y = b;

	if (x->waiter != y->waiter)
		return x->waiter < y->waiter ? -1 : 1;
	return (x->awaited > y->awaited) - (x->awaited < y->awaited);
}

/* NULL: it is none of those that were read, or done. */
static const struct dump_task *find_task(const struct async *async,
					 uint64_t address)
{
	const uint64_t *index = map_find(&async->index_of, address);
	const struct dump_task *task;

	if (!index)
		return NULL;
	task = &async->dump->tasks.list.data[*index];
	return task->state == DUMP_TASK_DONE ? NULL : task;
}

static struct error *resolve_links(struct async *async)
{
	struct dump_tasks *tasks = &async->dump->tasks;
	size_t count = 0;

	vec_for_each(link, &async->links) {
		const struct dump_task *waiter = find_task(async, link->waiter);
		const struct dump_task *awaited =
			find_task(async, link->awaited);

		if (waiter && awaited && waiter != awaited &&
		    !vec_push(&tasks->awaits,
			      (struct dump_await){
				      (uint32_t)(waiter - tasks->list.data),
				      (uint32_t)(awaited - tasks->list.data) }))
			return error_no_memory();
	}
	if (tasks->awaits.count)
		qsort(tasks->awaits.data, tasks->awaits.count,
		      sizeof(tasks->awaits.data[0]), compare_awaits);
	vec_for_each(await, &tasks->awaits)
		if (!count || compare_awaits(&tasks->awaits.data[count - 1],
					     await))
			tasks->awaits.data[count++] = *await;
	tasks->awaits.count = count;
	return NULL;
}

/* What seems to wait for tasks, and for none of those, waits for something else. */
static void finish_wait(const struct dump_tasks *tasks, uint32_t index)
{
	struct dump_task *task = &tasks->list.data[index];
	size_t count;

	if (task->wait != PY_WAIT_TASKS)
		return;
	if (async_awaits_of(tasks, index, &count))
		task->waits_for = NULL;
	else
		task->wait = task->without_tasks;
}

static void finish_waits(struct dump_tasks *tasks)
{
	vec_for_each(await, &tasks->awaits)
		tasks->list.data[await->awaited].is_awaited = true;
	for (uint32_t i = 0; i < tasks->list.count; i++)
		finish_wait(tasks, i);
}

/* By name, Task-2 before Task-10; by address where they have one name. */
static int compare_tasks(const void *a, const void *b)
{
	const struct dump_task *x = a, *y = b;
	int order = strverscmp(x->name ? x->name : "", y->name ? y->name : "");

	return order ? order :
		       (x->address > y->address) - (x->address < y->address);
}

/* Those that have ended meanwhile leave; the indices of the others move. */
static struct error *order_tasks(struct async *async)
{
	struct dump_tasks *tasks = &async->dump->tasks;
	size_t count = 0;

	vec_for_each(task, &tasks->list)
		if (task->address)
			tasks->list.data[count++] = *task;
	tasks->list.count = count;
	if (count)
		qsort(tasks->list.data, count, sizeof(tasks->list.data[0]),
		      compare_tasks);
	map_clear(&async->index_of);
	for (size_t i = 0; i < count; i++)
		if (!map_insert(&async->index_of, tasks->list.data[i].address, i,
				NULL))
			return error_no_memory();
	return NULL;
}

/* --- all of them --- */

static struct error *read_all(struct async *async)
{
	struct dump_tasks *tasks = &async->dump->tasks;
	struct error *error = read_threads(async);

	if (!error)
		error = read_interpreters(async);
	for (size_t i = 0; !error && i < tasks->list.count; i++) {
		error = read_task(async, &tasks->list.data[i]);
		if (async->walk->progress)
			async->walk->progress(async->walk->arg, i + 1,
					      tasks->list.count);
	}
	tasks->is_cut |= async->names.is_full;
	vec_for_each(of, &async->threads)
		subject_release(async->subject, of->thread);
	if (error)
		return error;
	error = order_tasks(async);
	if (!error)
		error = resolve_links(async);
	if (!error)
		finish_waits(tasks);
	return error;
}

static void async_init(struct async *async)
{
	const struct py_layout *layout = &async->subject->python.layout;

	async->memory = (struct py_memory){
		read_bounded, async,
		async->subject->memory.read_words ? read_words : NULL
	};
	async->direct = (struct py_memory){ read_direct, async, NULL };
	async->pages = (struct page_memory)PAGE_MEMORY_INIT(
		&async->subject->memory);
	async->objects = (struct py_objects_reader)PY_OBJECTS_INIT(
		layout, &async->release->objects, &async->memory);
	async->tasks = (struct py_tasks_reader){ &async->objects,
						 &async->release->values };
	py_tasks_read_sizes(&async->tasks, &async->subject->memory,
			    async->subject->python.runtime);
	async->values = (struct py_value_reader){ &async->objects,
						  &async->release->values,
						  &async->subject->builtins };
	async->reader = (struct async_reader){ &async->tasks, &async->values,
					       &async->names };
	async->reading.name = (struct strbuf)STRBUF_INIT;
	async->reading.waits_for = (struct strbuf)STRBUF_INIT;
	async->reading.locals.text = (struct strbuf)STRBUF_INIT;
}

static void async_deinit(struct async *async)
{
	code_names_deinit(&async->names);
	page_memory_deinit(&async->pages);
	vec_deinit(&async->threads);
	vec_deinit(&async->found);
	map_deinit(&async->index_of);
	vec_deinit(&async->links);
	strbuf_deinit(&async->reading.name);
	strbuf_deinit(&async->reading.waits_for);
	vec_deinit(&async->reading.links);
	vec_deinit(&async->reading.frames);
	vec_deinit(&async->reading.locals.list);
	strbuf_deinit(&async->reading.locals.text);
}

struct error *async_read(struct subject *subject,
			 const struct py_state_list *states,
			 const struct async_walk *walk, struct dump *dump)
{
	const struct py_layout *layout = &subject->python.layout;
	const struct py_release *release = py_release_of(layout);
	struct async *async;
	struct error *error;

	if (!release->tasks.type_base)
		return error_create(
			ERROR_UNSUPPORTED,
			"tasks of asyncio can be read from CPython 3.8 on; this is %u.%u: leave --async out",
			layout->version >> 24, PY_MINOR(layout->version));
	async = calloc(1, sizeof(*async));
	if (!async)
		return error_no_memory();
	async->subject = subject;
	async->states = states;
	async->walk = walk;
	async->dump = dump;
	async->release = release;
	async->all_left = READS_ALL;
	async->deadline = clock_ms() + TRIES_MS;
	async_init(async);
	error = read_all(async);
	async_deinit(async);
	free(async);
	return error;
}
