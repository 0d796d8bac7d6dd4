// SPDX-License-Identifier: GPL-2.0-only
#include "convert/fold.h"

static bool is_python(const struct convert_step *step)
{
	return step->kind == PROFILE_FRAME_PYTHON;
}

static void set_interpreter(struct convert_step *step)
{
	step->flags |= PROFILE_FRAME_INTERPRETER;
}

/* The walker's frames say all that trampolines say, and the line. */
static void fold_trampolines(struct convert_step *steps, size_t count)
{
	bool walked = false;

	for (size_t i = 0; i < count && !walked; i++)
		walked = is_python(&steps[i]) && !steps[i].frame->is_trampoline;
	if (!walked)
		return;
	for (size_t i = 0; i < count; i++) {
		if (!steps[i].frame->is_trampoline)
			continue;
		steps[i].kind = PROFILE_FRAME_NATIVE;
		set_interpreter(&steps[i]);
	}
}

static bool is_native(const struct convert_step *step)
{
	return step->kind == PROFILE_FRAME_NATIVE;
}

/* Glue, or a folded trampoline, which never ends a run of glue. */
static bool is_glue(const struct convert_step *step)
{
	return is_native(step) &&
	       (step->frame->is_glue || step->frame->is_trampoline);
}

/*
 * Between an evaluation function and the one that it was called by, what has
 * no name (the interpreter's file is not here) is glue, too.
 */
static bool is_caller_glue(const struct convert_step *step)
{
	return is_glue(step) || (is_native(step) &&
				 step->frame->in_interpreter &&
				 !step->frame->name);
}

/* The evaluation function, whatever its name; but most imported stacks have none. */
static bool is_evaluation(const struct convert_step *step)
{
	return is_native(step) && step->frame->in_interpreter &&
	       !step->frame->is_no_glue;
}

/* The native frame that step i's Python frame stands behind. */
static void fold_around(struct convert_step *steps, size_t count, size_t i)
{
	size_t k;

	if (i > 0 && is_evaluation(&steps[i - 1])) {
		set_interpreter(&steps[i - 1]);
		for (k = i - 1; k > 0 && is_glue(&steps[k - 1]); k--)
			set_interpreter(&steps[k - 1]);
	}
	for (k = i + 1; k < count && is_caller_glue(&steps[k]); k++)
		set_interpreter(&steps[k]);
}

/* All of it is glue, or starts the program or a thread. */
static bool is_start(const struct convert_step *step)
{
	const struct convert_frame *frame = step->frame;

	if (frame->real)
		frame = frame->real;
	return is_glue(step) ||
	       (is_native(step) && (frame->is_glue || frame->starts));
}

/* What stands in front of the outermost Python frame, if it is nothing else. */
static void fold_start(struct convert_step *steps, size_t count, size_t last)
{
	for (size_t i = last + 1; i < count; i++)
		if (!is_start(&steps[i]))
			return;
	for (size_t i = last + 1; i < count; i++)
		set_interpreter(&steps[i]);
}

void fold_steps(struct convert_step *steps, size_t count)
{
	size_t first = count, last = 0;

	fold_trampolines(steps, count);
	for (size_t i = 0; i < count; i++) {
		if (!is_python(&steps[i]))
			continue;
		if (first == count)
			first = i;
		last = i;
		fold_around(steps, count, i);
	}
	for (size_t i = first; i < last; i++)
		if (is_glue(&steps[i]))
			set_interpreter(&steps[i]);
	if (first < count)
		fold_start(steps, count, last);
}
