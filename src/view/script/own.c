// SPDX-License-Identifier: GPL-2.0-only
#include "view/script/own.h"

#include <inttypes.h>
#include <string.h>

#include "profile/spent.h"
#include "view/script/put.h"
#include "view/spent_text.h"
#include "view/text.h"

/* The first Python step from there on; count: there is none. */
static uint32_t find_python(const struct convert_stack *stack, uint32_t from)
{
	while (from < stack->count &&
	       stack->steps[from].kind != PROFILE_FRAME_PYTHON)
		from++;
	return from;
}

static struct spent_symbol ask(const struct convert_frame *frame)
{
	return spent_symbol(frame->is_nameless ? NULL : frame->name,
			    frame->in_interpreter);
}

void script_put_own_symbol(struct strbuf *out, const struct convert_stack *stack)
{
	uint32_t python = find_python(stack, 0);
	const char *name = python < stack->count ?
				   stack->steps[python].frame->name :
				   "-";

	script_put_name(out, name ? name : "[unknown]");
}

void script_put_own_line(struct strbuf *out, const struct convert_stack *stack)
{
	uint32_t python = find_python(stack, 0);
	const struct convert_frame *frame =
		python < stack->count ? stack->steps[python].frame : NULL;

	script_put_name(out, frame && frame->file ? frame->file : "-");
	if (frame && frame->file && frame->line)
		strbuf_printf(out, ":%" PRIu32, frame->line);
}

static struct spent_below enter(const struct convert_stack *stack,
				uint32_t python)
{
	uint32_t outer = find_python(stack, python + 1);
	struct spent_symbol symbol = ask(stack->steps[python].frame), caller;
	struct spent_below below;

	if (outer < stack->count)
		caller = ask(stack->steps[outer].frame);
	spent_enter_python(&below, &symbol,
			   outer < stack->count ? &caller : NULL);
	return below;
}

static enum spent_where where_is(const struct convert_step *step)
{
	const struct convert_frame *frame = step->frame;

	if (step->kind == PROFILE_FRAME_KERNEL)
		return SPENT_IN_KERNEL;
	return spent_where(frame->dso ? frame->dso->name : NULL,
			   frame->in_interpreter, frame->is_glue,
			   frame->starts);
}

/* From the innermost Python frame, or else from the outermost one, to the leaf. */
static struct spent_below follow(const struct convert_stack *stack,
				 const struct convert_frame **subject)
{
	uint32_t i = find_python(stack, 0);
	struct spent_below below = {};

	*subject = NULL;
	if (i < stack->count)
		below = enter(stack, i);
	else if (!i)
		below.kind = SPENT_NATIVE;
	while (i-- > 0) {
		const struct convert_step *step = &stack->steps[i];
		struct spent_symbol symbol;

		if (step->flags & PROFILE_FRAME_INTERPRETER) {
			spent_pass_interpreter(&below);
			continue;
		}
		symbol = ask(step->frame);
		if (step->kind == PROFILE_FRAME_MARKER &&
		    !spent_is_state(symbol.kind))
			continue;
		if (spent_enter_native(&below, &symbol, where_is(step),
				       step->flags & PROFILE_FRAME_INLINED))
			*subject = step->frame;
	}
	return below;
}

static void put_subject(struct strbuf *out, enum spent_kind kind,
			const struct convert_frame *subject)
{
	const char *name = subject->name ? subject->name : "[unknown]";
	struct spent_call call;

	strbuf_putc(out, ':');
	if (kind != SPENT_KERNEL || !spent_kernel_call(name, &call)) {
		script_put_name(out, name);
		return;
	}
	text_append(out, call.name, call.length);
	strbuf_puts(out, call.is_system_call ? "()" : "");
}

void script_put_spent(struct strbuf *out, const struct convert_stack *stack,
		      const struct event_meaning *event)
{
	const struct convert_frame *subject;
	struct spent_below below = follow(stack, &subject);

	struct spent_event told = { .python_only = event->python_only,
				    .is_wait = event->kind == EVENT_WAIT };
	bool has_subject = spent_settle(&below, told, subject != NULL);

	strbuf_puts(out, spent_kind_text(below.kind));
	if (has_subject && spent_has_subject(below.kind))
		put_subject(out, below.kind, subject);
}
