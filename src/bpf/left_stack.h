/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stack that a thread leaves, while greenlet exchanges it for another in the same
 * memory (docs/greenlets.md): greenlet has a copy of what is in the other's way.
 *
 * Source: greenlet 3.1 to 3.5, TThreadStateCreator.hpp, TThreadState.hpp, greenlet.h
 * (PyGreenlet), TGreenlet.hpp (Greenlet, StackState). glibc's <dl-dtv.h>: the thread
 * pointer points at two words, of which the second is the table of the modules'
 * variables.
 */
#ifndef KAA_BPF_LEFT_STACK_H
#define KAA_BPF_LEFT_STACK_H

#include "bpf/walk.h"

enum {
	THREAD_MODULES = 8,
	MODULE_BYTES = 16,
	/* ThreadState */
	STATE_CURRENT = 8,
	/* PyGreenlet */
	OBJECT_GREENLET = 32,
	/* Greenlet: pointer to the PyGreenlet. */
	GREENLET_OBJECT = 8,
	/* A larger copy than pages that are sent of it. */
	LEFT_MAX = (WALKER_MAX_PAGES - 1) * WALKER_PAGE,
};

struct left_stack {
	/* Where the stack's inner end was; 0: the thread leaves none. */
	__u64 start;
	/* How much of it is in a copy, and where. */
	__u64 size;
	__u64 copy;
};

/* What greenlet keeps of a stack: StackState. */
struct greenlet_stack {
	__u64 start;
	__u64 stop;
	__u64 copy;
	__u64 saved;
};

/* The greenlet that the thread runs; while it switches: the one that it leaves. */
static __always_inline __u64 current_greenlet(const struct walk *w)
{
	const struct walker_switches *s = &w->process.switches;
	__u64 module = read_u64(s->module), variables, state, object, greenlet;

	variables = read_u64(w->thread_pointer + THREAD_MODULES);
	variables = read_u64(variables + MODULE_BYTES * module);
	/* 1: greenlet has not run in this thread; or it has no variables yet. */
	state = variables ? read_u64(variables + s->variable) : 0;
	object = state > 1 ? read_u64(state + STATE_CURRENT) : 0;
	greenlet = object ? read_u64(object + OBJECT_GREENLET) : 0;
	return greenlet && read_u64(greenlet + GREENLET_OBJECT) == object ?
		       greenlet :
		       0;
}

/*
 * The thread's stack that is left at this time. A greenlet that runs has no copy of its
 * stack. One that ends does not keep its stack.
 */
static __always_inline void find_left(struct walk *w, struct left_stack *left)
{
	const struct walker_switches *s = &w->process.switches;
	struct greenlet_stack stack;
	__u64 greenlet, switching;

	*left = (struct left_stack){};
	w->left_size = 0;
	w->switching = 0;
	w->settled = 0;
	if (!s->module)
		return;
	greenlet = current_greenlet(w);
	if (!greenlet || walk_read(&stack, sizeof(stack), greenlet + s->stack))
		return;
	switching = read_u64(s->switching);
	w->switching = switching != 0;
	if (stack.start < WALKER_PAGE)
		return;
	w->settled = !stack.saved && !switching;
	if (w->settled || (stack.saved && !stack.copy) ||
	    stack.saved > LEFT_MAX || stack.saved > stack.stop - stack.start)
		return;
	left->start = stack.start;
	left->size = stack.saved;
	left->copy = stack.copy;
	/* From then on what Python knows of the thread may be the new greenlet's. */
	if (!switching)
		return;
	w->left = left->start;
	w->left_size = left->size;
	w->left_copy = left->copy;
}

#endif
