// SPDX-License-Identifier: GPL-2.0-only
#include "collect/native_stack.h"

#include <stdlib.h>
#include <string.h>

#include "perfdata/kaa_stream.h"

/* More frames than a record of perf.data can hold. */
enum { FRAMES_MAX = 8192 };

struct error *native_stack_init(struct native_stack *native)
{
	struct error *error;

	*native = (struct native_stack){};
	error = unwinder_create(&native->unwinder);
	if (error)
		return error;
	native->all = calloc(FRAMES_MAX, sizeof(*native->all));
	native->saved = calloc(FRAMES_MAX, sizeof(*native->saved));
	if (native->all && native->saved)
		return NULL;
	native_stack_deinit(native);
	return error_no_memory();
}

void native_stack_deinit(struct native_stack *native)
{
	unwinder_destroy(native->unwinder);
	last_walks_deinit(&native->walks);
	vec_deinit(&native->habits);
	free(native->all);
	free(native->saved);
	*native = (struct native_stack){};
}

void native_stack_forget(struct native_stack *native)
{
	unwinder_forget(native->unwinder);
}

/* Python's marks of its calls of the evaluation function, innermost first. */
struct marks {
	const struct python_stack *python;
	size_t next;
};

static bool next_mark(struct marks *marks, uint64_t *ret)
{
	const struct python_stack *python = marks->python;

	while (marks->next < python->frames.count) {
		const struct walker_frame *frame =
			&python->frames.data[marks->next++];

		if (!(frame->flags & WALKER_FRAME_ENTRY) || !frame->activation)
			continue;
		*ret = frame->activation;
		return true;
	}
	*ret = python->extra_activation;
	return marks->next++ == python->frames.count && *ret;
}

/* The next mark beyond a stack address. */
static bool mark_beyond(struct marks *marks, uint64_t address, uint64_t *ret)
{
	while (next_mark(marks, ret))
		if (*ret > address)
			return true;
	return false;
}

static bool is_eval(void *arg, uint64_t address)
{
	return target_is_eval(arg, address);
}

/* NULL: there is no memory. */
static struct stack_habit *habit_of(struct native_stack *native,
				    const struct target *target)
{
	vec_for_each(one, &native->habits)
		if (one->binary == target->binary)
			return &one->habit;
	if (!vec_push(&native->habits,
		      (struct native_habit){ .binary = target->binary }))
		return NULL;
	return &native->habits.data[native->habits.count - 1].habit;
}

/* Of a whole stack: each mark lies in a frame of the evaluation function. */
static void learn(const struct native_stack *native, const struct target *target,
		  const struct python_stack *python, struct stack_habit *habit)
{
	struct marks marks = { .python = python };
	uint64_t mark;
	size_t i = 0;

	if (habit->seen >= STACK_HABIT_MOST)
		return;
	while (next_mark(&marks, &mark)) {
		const struct unwind_frame *frame;

		while (i < native->count && native->frames[i].cfa <= mark)
			i++;
		if (i == native->count)
			return;
		frame = &native->frames[i];
		if (frame->sp <= mark && (frame->flags & UNWIND_FRAME_CALLER) &&
		    target_is_eval(target, frame->ip - 1))
			stack_habit_learn(habit, frame->sp, frame->cfa, mark);
	}
}

/* A frame that says that frames are missing, and what is beyond them. */
static void go_on(struct native_stack *native, struct target *target,
		  const struct unwind_regs *regs,
		  const struct unwind_stack *stack)
{
	size_t at = native->count + 1, count;

	if (native->frames != native->all)
		memcpy(native->all, native->frames,
		       native->count * sizeof(*native->all));
	native->frames = native->all;
	native->all[native->count] =
		(struct unwind_frame){ .ip = KAA_MARKER_MISSING_NATIVE };
	native->saved[native->count] = (struct unwind_regs){};
	native->end = unwind_callers(native->unwinder, &target->unwind, regs,
				     stack, native->all + at,
				     native->saved + at, FRAMES_MAX - at,
				     &count);
	native->count = at + count;
	native->gaps++;
}

/* While a thread changes its stack, Python's marks are those of the old one. */
static bool may_go_on(const struct native_stack *native)
{
	return native->end != UNWIND_COMPLETE && native->end != UNWIND_LIMIT &&
	       native->end != UNWIND_SWITCHING && native->count &&
	       native->count + 2 < FRAMES_MAX;
}

/* The frame of the evaluation function that has a mark. habit: NULL, if there was no memory. */
static bool find_eval(const struct stack_search *search,
		      const struct stack_habit *habit, uint64_t from,
		      uint64_t mark, struct unwind_regs *ret)
{
	return (habit && stack_search_habit(search, habit, from, mark, ret)) ||
	       stack_search_frame(search, from, mark, ret);
}

static void step_over(struct native_stack *native, struct target *target,
		      const struct unwind_stack *stack,
		      const struct python_stack *python,
		      const struct stack_habit *habit)
{
	const struct stack_search search = { .target = &target->unwind,
					     .stack = stack,
					     .is_function = is_eval,
					     .arg = target };
	struct marks marks = { .python = python };
	struct unwind_regs regs;
	uint64_t mark;

	while (may_go_on(native)) {
		uint64_t last = native->frames[native->count - 1].sp;

		/* What lies between a mark and the next is never left out. */
		if (!mark_beyond(&marks, last, &mark) ||
		    !find_eval(&search, habit, last, mark, &regs))
			return;
		go_on(native, target, &regs, stack);
	}
}

void native_stack_unwind(struct native_stack *native, struct target *target,
			 uint32_t tid, const struct unwind_regs *regs,
			 const struct unwind_stack *stack,
			 const struct python_stack *python)
{
	struct unwind_trace *walk = last_walks_of(&native->walks, tid);
	struct stack_habit *habit;

	if (!target_knows_maps(target))
		unwind_trace_clear(walk);
	native->gaps = 0;
	native->end = unwind_stack_again(native->unwinder, &target->unwind,
					 regs, stack, walk, FRAMES_MAX);
	native->walk = walk;
	native->frames = walk->frames;
	native->count = native->walked = walk->count;
	if (!python || !target->binary)
		return;
	habit = habit_of(native, target);
	if (native->end != UNWIND_COMPLETE)
		step_over(native, target, stack, python, habit);
	else if (habit)
		learn(native, target, python, habit);
}

bool native_stack_branch(struct native_stack *native, struct target *target,
			 size_t i, const struct native_branch *branch)
{
	size_t at = i + 1, room = FRAMES_MAX - at, count;
	struct unwind_frame *frames = native->all + at;
	struct unwind_regs *saved = native->saved + at;

	/* Frames that are not the walk's are behind a gap. */
	if (native->frames == native->all || at >= FRAMES_MAX ||
	    unwind_callers(native->unwinder, &target->unwind, &branch->regs,
			   branch->stack, frames, saved, room,
			   &count) != UNWIND_COMPLETE ||
	    count < 2 || frames[1].ip != branch->second)
		return false;
	count -= branch->skipped;
	memmove(frames, frames + branch->skipped, count * sizeof(*frames));
	memmove(saved, saved + branch->skipped, count * sizeof(*saved));
	memcpy(native->all, native->frames, at * sizeof(*native->all));
	native->frames = native->all;
	native->walked = at;
	native->count = at + count;
	native->end = UNWIND_COMPLETE;
	return true;
}

void native_stack_leave_branch(struct native_stack *native)
{
	native->frames = native->walk->frames;
	native->count = native->walked = native->walk->count;
}

static bool regs_hold(const struct unwind_regs *regs, uint64_t value)
{
	for (size_t i = 0; i < UNWIND_PRESERVED; i++)
		if (unwind_reg_known(regs, unwind_preserved_regs[i]) &&
		    regs->value[unwind_preserved_regs[i]] == value)
			return true;
	return false;
}

bool native_stack_holds(const struct native_stack *native, size_t i,
			uint64_t value)
{
	return i < native->walked ?
		       unwind_trace_holds(native->walk, i, value) :
		       regs_hold(&native->saved[i], value);
}
