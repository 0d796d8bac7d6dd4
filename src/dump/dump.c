// SPDX-License-Identifier: GPL-2.0-only
#include "dump/dump.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "base/map.h"
#include "collect/code_spans.h"
#include "collect/python_stack.h"
#include "dump/async_read.h"
#include "dump/native_frames.h"
#include "dump/variables.h"
#include "python/code_name.h"
#include "python/gil.h"
#include "python/releases.h"
#include "python/states.h"
#include "python/threads.h"

enum {
	/* Tries to read a thread while it does not run, the later ones apart. */
	TRIES = 200,
	TRIES_AT_ONCE = 50,
	PAUSE_NS = 500000,
	/* Of these, tries for a stack that ends where it may not, and for variables. */
	TRIES_UNREADABLE = 30,
	TRIES_LOCALS = 60,
	/* In all so long for those with variables that were in vain; then one a thread. */
	LOCALS_MS = 2000,
	/* Looks at the lists of thread states. */
	TRIES_STATES = 8,
	/* Reads for the names of threads, and for each thread. */
	NAME_READS = 100000,
	NAME_READS_A_THREAD = 300,
	/* Bytes of a comm; those of its characters may be escaped. */
	COMM_MAX = 256,
};

/* What is needed while threads are read. */
struct reading {
	struct dump *dump;
	struct subject *subject;
	const struct dump_options *options;
	const struct py_release *release;
	struct user_walk *walk;
	struct code_table codes;
	struct python_stack stack;
	/* The walk has told of code since the last stack that was proven. */
	bool told_code;
	/* NULL: native frames are not asked for. */
	struct native_frames *native;
	/* Those of a stack that was walked for a task. */
	struct variables variables;
	/* In ns: for tries with variables. */
	int64_t locals_left;
	struct error *error;
	struct py_state_list states;
	/* pthread_self() to index in states; to offset in names. */
	struct map by_ident;
	struct map name_of;
	/* Indexed by the values of name_of. */
	VEC(struct py_thread) names;
};

/* --- names of threads --- */

struct bounded_memory {
	const struct py_memory *memory;
	size_t reads_left;
};

static bool read_bounded(void *arg, uint64_t address, void *buf, size_t size)
{
	struct bounded_memory *bounded = arg;

	if (!bounded->reads_left)
		return false;
	bounded->reads_left--;
	return bounded->memory->read(bounded->memory->arg, address, buf, size);
}

static bool is_wanted(void *arg, uint64_t ident)
{
	const struct reading *reading = arg;

	return map_find(&reading->by_ident, ident);
}

/* A name that cannot be kept is none. */
static void take_name(void *arg, const struct py_thread *found)
{
	struct reading *reading = arg;
	struct py_thread name = *found;
	uint64_t *place;

	name.name = arena_strndup(&reading->dump->strings, found->name,
				  found->size);
	place = name.name ? map_insert(&reading->name_of, name.ident,
				       reading->names.count, NULL) :
			    NULL;
	if (!place)
		return;
	*place = reading->names.count;
	(void)!vec_push(&reading->names, name);
}

static void read_names(struct reading *reading)
{
	struct bounded_memory bounded = {
		&reading->subject->memory,
		NAME_READS + reading->states.count * NAME_READS_A_THREAD
	};
	const struct py_memory memory = { read_bounded, &bounded, NULL };
	const struct walker_process *python = &reading->subject->python;
	struct py_objects_reader reader = PY_OBJECTS_INIT(
		&python->layout, &reading->release->objects, &memory);
	const struct py_threads_visit visit = { is_wanted, take_name, reading };
	struct py_threads_hints hints = {};

	py_threads_each(&reader, python->runtime, &hints, &visit);
}

/* Another thread may have the place of one that ended: see collect/python_threads.c. */
static const char *find_name(const struct reading *reading,
			     const struct subject_thread *thread)
{
	const uint64_t *index = map_find(&reading->name_of, thread->pointer);
	const struct py_thread *name;

	if (!thread->pointer || !index || *index >= reading->names.count)
		return NULL;
	name = &reading->names.data[*index];
	if (name->native_id != thread->number &&
	    thread->tid != reading->subject->pid)
		return NULL;
	return name->name;
}

/* --- the walk --- */

static bool emit(void *arg, const void *record, size_t size)
{
	const struct walker_header *header = record;
	struct reading *reading = arg;
	struct error *error = python_stack_take(&reading->stack, &reading->codes,
						record, size);

	reading->told_code |= header->type != WALKER_STACK;
	if (error && !reading->error)
		reading->error = error;
	else
		error_destroy(error);
	return true;
}

/* Code that a torn walk told of may be none: the next walk tells of all anew. */
static void forget_walk(struct reading *reading)
{
	struct error *error;

	if (!reading->told_code)
		return;
	reading->told_code = false;
	user_walk_destroy(reading->walk);
	reading->walk = NULL;
	error = user_walk_create(&reading->walk);
	if (error && !reading->error)
		reading->error = error;
	else
		error_destroy(error);
}

static void walk(struct reading *reading, const struct subject_thread *thread,
		 const struct py_state *state)
{
	const struct user_walk_output output = { emit, reading };
	struct user_walk_thread who = {
		.process = reading->subject->python,
		.thread_pointer = thread->pointer,
		.pid = (uint32_t)reading->subject->pid,
		.tid = (uint32_t)thread->tid,
		.stack_pointer = thread->stack_pointer,
	};

	memcpy(who.registers, thread->registers, sizeof(who.registers));
	python_stack_clear(&reading->stack);
	user_walk_hint(reading->walk, who.tid, state->address);
	user_walk_thread(reading->walk, &who, &reading->subject->memory,
			 &output);
}

/* --- the GIL --- */

static void read_gil_of(const struct reading *reading,
			const struct subject_thread *thread,
			const struct py_state *state, struct dump_thread *ret)
{
	const struct py_memory *memory = &reading->subject->memory;
	const struct walker_process *python = &reading->subject->python;
	struct py_gil_place gil;

	if (!py_gil_find(&python->layout, memory, python->runtime,
			 state->interp, &gil))
		return;
	if (py_gil_holder(&python->layout, memory, &gil) == state->address) {
		ret->holds_gil = true;
		ret->collects_garbage |= py_gil_collects(
			&python->layout, memory, python->runtime,
			state->interp);
	}
	if (thread->has_call && thread->call.number == SYS_futex &&
	    thread->call.first >= gil.wait_start &&
	    thread->call.first < gil.wait_end)
		ret->wants_gil = true;
}

/* The first state's interpreter tells for all. */
static bool has_gil(const struct reading *reading)
{
	const struct py_memory *memory = &reading->subject->memory;
	const struct walker_process *python = &reading->subject->python;
	struct py_gil_place gil;

	return !reading->states.count ||
	       !py_gil_find(&python->layout, memory, python->runtime,
			    reading->states.data[0].interp, &gil) ||
	       !py_gil_is_off(&python->layout, memory, gil.address);
}

/* The thread made states that others may run by now. */
static bool shares_states(const struct reading *reading, uint64_t ident)
{
	size_t count = 0;

	if (PY_MINOR(reading->subject->python.layout.version) >= 13)
		return false;
	vec_for_each(state, &reading->states)
		count += state->thread_id == ident;
	return count > 1;
}

/*
 * From 3.10 on the walker tells them by where on the stack they are in use, if it
 * knows the stack.
 */
static bool is_ambiguous(const struct reading *reading,
			 const struct subject_thread *thread)
{
	return shares_states(reading, thread->pointer) &&
	       PY_MINOR(reading->subject->python.layout.version) >= 10 &&
	       !thread->stack_pointer;
}

/* The same before 3.10, of a thread that holds still. */
static bool is_unclear(const struct reading *reading,
		       const struct subject_thread *thread)
{
	const struct walker_process *python = &reading->subject->python;

	return py_states_tell(&python->layout, &reading->subject->memory,
			      python->runtime,
			      thread->pointer) != PY_STATES_ALL;
}

/* A thread may have a state in each of several interpreters. */
static void read_gil(const struct reading *reading,
		     const struct subject_thread *thread,
		     struct dump_thread *ret)
{
	if (shares_states(reading, thread->pointer))
		return;
	vec_for_each(state, &reading->states)
		if (state->thread_id == thread->pointer)
			read_gil_of(reading, thread, state, ret);
	/* Who lets go may have to wait for its lock, too. */
	ret->wants_gil &= !ret->holds_gil;
}

/* --- one thread --- */

static void clear_read(struct dump_thread *ret)
{
	vec_clear(&ret->frames);
	vec_clear(&ret->locals.list);
	strbuf_clear(&ret->locals.text);
	ret->holds_gil = ret->wants_gil = ret->collects_garbage = false;
}

/* False: the walk has not told what it is. */
static bool open_frame(const struct reading *reading,
		       const struct walker_frame *frame, bool *internal,
		       struct dump_frame *ret)
{
	const struct code *code = code_table_find(&reading->codes, frame->key);

	if (!code)
		return false;
	*internal = code->internal;
	*ret = (struct dump_frame){
		.function = code->qualname,
		.file = code->filename,
		.line = py_lines_find(&code->lines, frame->offset),
		.address = frame->frame,
	};
	/* As tracebacks have it of a frame that has not begun. */
	if (!ret->line && frame->offset < 0)
		ret->line = code->first_line;
	return true;
}

/* Once the frames of the walk are proven. */
static struct error *take_frames(struct reading *reading,
				 const struct variables *variables,
				 struct dump_thread *ret)
{
	size_t i = 0;

	vec_for_each(frame, &reading->stack.frames) {
		const struct variables_of *of = variables_at(variables, i++);
		struct dump_frame taken;
		bool internal;

		if (!open_frame(reading, frame, &internal, &taken)) {
			ret->problem = DUMP_UNREADABLE;
			break;
		}
		if (internal)
			continue;
		taken.first_local = of->first;
		taken.local_count = of->count;
		if (!vec_push(&ret->frames, taken))
			return error_no_memory();
	}
	return NULL;
}

static struct error *add_native(struct reading *reading,
				const struct subject_thread *thread,
				bool has_python, struct dump_thread *ret)
{
	ret->no_native = !thread->has_all_registers;
	return native_frames_merge(reading->native, thread,
				   has_python ? &reading->stack : NULL,
				   &reading->dump->strings, &ret->frames);
}

static enum dump_problem problem_of(const struct python_stack *stack)
{
	if (stack->flags & WALKER_TOO_DEEP)
		return DUMP_TOO_DEEP;
	return stack->flags & (WALKER_UNREADABLE | WALKER_IN_PROLOGUE) ?
		       DUMP_UNREADABLE :
		       DUMP_NO_PROBLEM;
}

enum attempt { ATTEMPT_DONE, ATTEMPT_AGAIN, ATTEMPT_GONE };

static enum attempt try_thread(struct reading *reading,
			       struct subject_thread *thread,
			       const struct py_state *state, bool locals,
			       struct dump_thread *ret)
{
	_cleanup_(variables_deinit) struct variables variables = {};
	enum subject_read held = subject_begin(reading->subject, thread);
	bool unclear;

	if (held != SUBJECT_STILL)
		return held == SUBJECT_GONE ? ATTEMPT_GONE : ATTEMPT_AGAIN;
	clear_read(ret);
	unclear = state && is_unclear(reading, thread);
	if (unclear) {
		python_stack_clear(&reading->stack);
	} else if (state) {
		walk(reading, thread, state);
		read_gil(reading, thread, ret);
		if (locals)
			variables_read(&variables, reading->subject,
				       &reading->stack, &ret->locals);
	}
	if (reading->native)
		native_frames_copy(reading->native, thread);
	if (!subject_end(reading->subject, thread)) {
		forget_walk(reading);
		return ATTEMPT_AGAIN;
	}
	reading->told_code = false;
	ret->problem = unclear ? DUMP_AMBIGUOUS :
		       state   ? problem_of(&reading->stack) :
				 DUMP_NO_PROBLEM;
	ret->no_locals = reading->options->locals && !locals;
	if (!reading->error && state)
		reading->error = take_frames(reading, &variables, ret);
	if (!reading->error && reading->native)
		reading->error = add_native(reading, thread, state && !unclear, ret);
	return ATTEMPT_DONE;
}

static bool tries_locals(const struct reading *reading, int i)
{
	return reading->options->locals && i < TRIES_LOCALS &&
	       (!i || reading->locals_left > 0);
}

static void pause_between(int i)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	if (i >= TRIES_AT_ONCE)
		nanosleep(&pause, NULL);
}

/*
 * A stack that is not whole may be so a moment later: 3.11 and 3.12 have moments in
 * which the innermost frame's caller is not known (docs/poll.md).
 */
static enum attempt read_thread(struct reading *reading,
				struct subject_thread *thread,
				const struct py_state *state,
				struct dump_thread *ret)
{
	enum attempt result = ATTEMPT_AGAIN;

	for (int i = 0; i < TRIES && !reading->error; i++) {
		bool locals = tries_locals(reading, i);
		int64_t began = clock_ns(CLOCK_MONOTONIC);
		enum attempt now = try_thread(reading, thread, state, locals, ret);

		if (locals && now == ATTEMPT_AGAIN)
			reading->locals_left -= clock_ns(CLOCK_MONOTONIC) - began;

		if (now == ATTEMPT_GONE)
			return now;
		if (now == ATTEMPT_DONE)
			result = now;
		if (now == ATTEMPT_DONE &&
		    (ret->problem != DUMP_UNREADABLE ||
		     thread->state != 'R' || i >= TRIES_UNREADABLE))
			break;
		pause_between(i);
	}
	return result;
}

static const struct py_state *find_state(const struct reading *reading,
					 uint64_t ident)
{
	const uint64_t *index =
		ident ? map_find(&reading->by_ident, ident) : NULL;

	return index ? &reading->states.data[*index] : NULL;
}

static const char *take_comm(struct dump *dump, const char *comm)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	py_text_append_utf8(&text,
			    (struct bytes){ (const uint8_t *)comm,
					    strlen(comm) },
			    COMM_MAX);
	return text.failed ? NULL :
			     arena_strndup(&dump->strings, text.data, text.len);
}

static void thread_deinit(struct dump_thread *thread)
{
	vec_deinit(&thread->frames);
	vec_deinit(&thread->locals.list);
	strbuf_deinit(&thread->locals.text);
}

/* The strings of the frames have to outlive the table of code. */
static struct error *keep_strings(struct dump *dump, struct dump_thread *thread)
{
	vec_for_each(frame, &thread->frames) {
		frame->function = arena_strndup(&dump->strings, frame->function,
						strlen(frame->function));
		frame->file = arena_strndup(&dump->strings, frame->file,
					    strlen(frame->file));
		if (!frame->function || !frame->file)
			return error_no_memory();
	}
	return strbuf_error(&thread->locals.text);
}

static struct error *add_thread(struct reading *reading,
				struct subject_thread *thread)
{
	const struct py_state *state = find_state(reading, thread->pointer);
	struct dump_thread taken = { .tid = thread->tid,
				     .ident = thread->pointer,
				     .has_python = state != NULL,
				     .locals.text = STRBUF_INIT };
	bool ambiguous = is_ambiguous(reading, thread);
	enum attempt result = read_thread(reading, thread,
					  ambiguous ? NULL : state, &taken);
	struct error *error = reading->error;

	subject_release(reading->subject, thread);
	reading->error = NULL;
	if (error || result == ATTEMPT_GONE) {
		thread_deinit(&taken);
		return error;
	}
	if (result == ATTEMPT_AGAIN) {
		clear_read(&taken);
		taken.problem = DUMP_RAN_ON;
	} else if (ambiguous) {
		taken.problem = DUMP_AMBIGUOUS;
	}
	taken.state = thread->state;
	taken.has_call = thread->has_call && thread->state != 'R';
	taken.call = thread->call.number;
	taken.name = find_name(reading, thread);
	taken.comm = take_comm(reading->dump, thread->comm);
	error = taken.comm ? keep_strings(reading->dump, &taken) :
			     error_no_memory();
	if (!error && !vec_push(&reading->dump->threads, taken))
		error = error_no_memory();
	if (error)
		thread_deinit(&taken);
	return error;
}

/* --- tasks --- */

/* After an error there may be nothing to walk with. */
static void walk_for_task(void *arg, const struct subject_thread *thread,
			  const struct py_state *state,
			  struct dump_locals *locals)
{
	struct reading *reading = arg;

	vec_clear(&reading->variables.frames);
	if (reading->error)
		return;
	walk(reading, thread, state);
	if (locals)
		variables_read(&reading->variables, reading->subject,
			       &reading->stack, locals);
}

static void forget_for_task(void *arg)
{
	forget_walk(arg);
}

/* A walk that is not whole may have left out frames: it is good for nothing here. */
static struct error *take_for_task(void *arg, uint64_t outermost,
				   struct dump_frame_list *ret)
{
	struct reading *reading = arg;
	size_t start = ret->count, i = 0;

	if (reading->error)
		return take_ptr(reading->error);
	reading->told_code = false;
	vec_for_each(frame, &reading->stack.frames) {
		const struct variables_of *of =
			variables_at(&reading->variables, i++);
		struct dump_frame taken;
		bool internal;

		if (!open_frame(reading, frame, &internal, &taken))
			break;
		taken.first_local = of->first;
		taken.local_count = of->count;
		if (!internal && !vec_push(ret, taken))
			return error_no_memory();
		if (frame->frame == outermost)
			return NULL;
	}
	ret->count = start;
	return NULL;
}

static void tell_progress(void *arg, uint64_t done, uint64_t size)
{
	const struct reading *reading = arg;
	const struct dump_options *options = reading->options;

	if (options->progress)
		options->progress(options->progress_arg, done, size);
}

static struct error *read_tasks(struct reading *reading)
{
	const struct async_walk async = { walk_for_task, forget_for_task,
					  take_for_task, reading,
					  tell_progress };
	struct error *error;

	if (!reading->options->tasks)
		return NULL;
	error = async_read(reading->subject, &reading->states, &async,
			   reading->dump);
	return error ? error : take_ptr(reading->error);
}

/* --- all of them --- */

static bool same_states(const struct py_state_list *a,
			const struct py_state_list *b)
{
	return a->count == b->count &&
	       (!a->count ||
		!memcmp(a->data, b->data, a->count * sizeof(a->data[0])));
}

/* A list that changes while it is read may seem to end: alike twice is enough. */
static struct error *read_lists(struct reading *reading)
{
	const struct walker_process *python = &reading->subject->python;
	struct py_state_list before = {};
	struct error *error = NULL;

	for (int i = 0; !error && i < TRIES_STATES; i++) {
		vec_deinit(&before);
		before = reading->states;
		reading->states = (struct py_state_list){};
		error = py_states_read(&python->layout,
				       &reading->subject->memory,
				       python->runtime, &reading->states);
		if (i && same_states(&before, &reading->states))
			break;
	}
	vec_deinit(&before);
	return error;
}

/* Threads of which the C library does not tell the kernel where they are. */
static void find_pointers(struct reading *reading)
{
	struct subject *subject = reading->subject;

	vec_for_each(thread, &subject->threads)
		if (!thread->pointer)
			thread->pointer = py_states_thread(&reading->states,
							   &subject->memory,
							   thread->number);
}

/* The first one of a thread is that of its newest interpreter. */
static struct error *read_states(struct reading *reading)
{
	struct error *error = read_lists(reading);

	find_pointers(reading);
	for (size_t i = 0; !error && i < reading->states.count; i++)
		if (!map_insert(&reading->by_ident,
				reading->states.data[i].thread_id, i, NULL))
			error = error_no_memory();
	return error;
}

static struct error *read_all(struct reading *reading)
{
	struct error *error = user_walk_create(&reading->walk);

	if (!error)
		error = read_states(reading);
	if (!error)
		read_names(reading);
	if (!error && reading->options->native)
		error = native_frames_create(reading->subject, &reading->codes,
					     reading->options->interpreter,
					     &reading->native);
	reading->subject->stops = reading->options->native;
	for (size_t i = 0; !error && i < reading->subject->threads.count; i++)
		error = add_thread(reading, &reading->subject->threads.data[i]);
	reading->subject->stops = false;
	return error ? error : read_tasks(reading);
}

static void reading_deinit(struct reading *reading)
{
	native_frames_destroy(reading->native);
	user_walk_destroy(reading->walk);
	code_table_deinit(&reading->codes);
	python_stack_deinit(&reading->stack);
	variables_deinit(&reading->variables);
	vec_deinit(&reading->states);
	vec_deinit(&reading->names);
	map_deinit(&reading->by_ident);
	map_deinit(&reading->name_of);
	error_destroy(reading->error);
}

static const char *copy(struct dump *dump, const char *text)
{
	return text ? arena_strndup(&dump->strings, text, strlen(text)) : NULL;
}

struct error *dump_create(struct subject *subject,
			  const struct dump_options *options, struct dump **ret)
{
	_cleanup_(cleanup_dump_) struct dump *dump = calloc(1, sizeof(*dump));
	struct reading reading = {
		.dump = dump,
		.subject = subject,
		.options = options,
		.release = py_release_of(&subject->python.layout),
		.locals_left = LOCALS_MS * INT64_C(1000000),
	};
	struct error *error;

	if (!dump)
		return error_no_memory();
	dump->pid = subject->pid;
	dump->version = subject->python.layout.version;
	dump->signal = subject->signal;
	dump->signalled = subject->signalled;
	dump->has_locals = options->locals;
	dump->tasks.locals.text = (struct strbuf)STRBUF_INIT;
	dump->has_tasks = options->tasks;
	dump->has_native = options->native;
	dump->core = copy(dump, subject->core);
	dump->command = copy(dump, subject->command);
	dump->interpreter = copy(dump, subject->interpreter);
	if (!dump->command || !dump->interpreter ||
	    (subject->core && !dump->core))
		return error_no_memory();
	code_table_init(&reading.codes);
	error = read_all(&reading);
	if (!error && !dump->threads.count)
		error = subject_ended(subject);
	dump->has_gil = has_gil(&reading);
	reading_deinit(&reading);
	if (error)
		return error;
	*ret = take_ptr(dump);
	return NULL;
}

void dump_destroy(struct dump *dump)
{
	if (!dump)
		return;
	vec_for_each(thread, &dump->threads)
		thread_deinit(thread);
	vec_deinit(&dump->threads);
	vec_deinit(&dump->tasks.list);
	vec_deinit(&dump->tasks.awaits);
	vec_deinit(&dump->tasks.frames);
	vec_deinit(&dump->tasks.locals.list);
	strbuf_deinit(&dump->tasks.locals.text);
	arena_deinit(&dump->strings);
	free(dump);
}
