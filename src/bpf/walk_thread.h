/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The walk's search for the state of the thread: in the interpreters' lists, by
 * the thread_id, which is the thread pointer.
 *
 * Up to 3.12 whoever runs code in an interpreter does so with the state that it was
 * made with, whose thread_id is that of the thread that made it. There a state
 * that runs is told by its mark (3.10 on): that is on the stack of its thread.
 */
#ifndef KAA_BPF_WALK_THREAD_H
#define KAA_BPF_WALK_THREAD_H

#include "bpf/walk.h"

/* The innermost frame (or 3.11's and 3.12's activation) of a thread state. */
static __always_inline __u64 thread_top(const struct py_layout *l, __u64 thread)
{
	return read_u64(thread + (l->flags & PY_FRAME_VIA_CFRAME ?
					  l->thread_cframe :
					  l->thread_frame));
}

/* True if the thread state runs Python code at this time. */
static __always_inline int thread_runs(const struct py_layout *l, __u64 thread)
{
	__u64 top = thread_top(l, thread);

	if (l->flags & PY_FRAME_VIA_CFRAME)
		return top && read_u64(top + l->cframe_frame);
	if (l->flags & PY_SHIM_FRAMES)
		return top && read_u64(top + l->frame_previous);
	return top != 0;
}

/*
 * True for what is on the thread's stack, in use. That of the main thread is above
 * everything else; others end below what their thread pointer points at.
 */
static __always_inline int is_on_stack(const struct walk *w, __u64 address)
{
	return address >= w->stack_pointer &&
	       (w->stack_pointer > w->thread_pointer ||
		address < w->thread_pointer);
}

static __always_inline int is_of_thread(const struct walk *w, __u64 thread)
{
	const struct py_layout *l = &w->process.layout;
	__u64 mark;

	if (w->several && w->stack_pointer && (l->flags & PY_CFRAMES)) {
		mark = read_u64(thread + l->thread_cframe);
		if (mark && mark != thread + l->thread_root_cframe)
			return is_on_stack(w, mark);
	}
	return read_u64(thread + l->thread_id) == w->thread_pointer;
}

/*
 * One step over all thread states of all interpreters. A thread that made a
 * subinterpreter has a state in each, both with its thread_id; the lists have
 * the newest first, and that one runs while it has frames.
 */
static long find_step(__u32 i, void *unused)
{
	struct walk *w = walk_here();
	const struct py_layout *l;

	(void)i;
	(void)unused;
	if (!w)
		return 1;
	l = &w->process.layout;
	if (!w->candidate) {
		if (w->interp)
			w->interp = read_u64(w->interp + l->interp_next);
		if (!w->interp)
			return 1;
		w->candidate = read_u64(w->interp + l->interp_threads);
		return 0;
	}
	if (is_of_thread(w, w->candidate)) {
		if (thread_runs(l, w->candidate)) {
			w->found = w->candidate;
			if (!w->several) {
				w->done = 1;
				return 1;
			}
			w->running[w->running_count++ & (MAX_RUNNING - 1)] =
				w->candidate;
		}
		if (!w->found)
			w->found = w->candidate;
	}
	w->candidate = read_u64(w->candidate + l->thread_next);
	return 0;
}

/* True if activations leave marks on the C stack: from 3.10 on. */
static __always_inline int has_marks(const struct py_layout *l)
{
	return (l->flags & (PY_CFRAMES | PY_SHIM_FRAMES)) != 0;
}

static long shim_step(__u32 i, void *arg)
{
	struct walk *w = walk_here();
	__u64 *frame = arg;
	__u8 owner = 0;

	(void)i;
	if (!w || !*frame ||
	    walk_read(&owner, sizeof(owner),
		      *frame + w->process.layout.frame_owner))
		*frame = 0;
	if (!*frame || owner >= w->process.layout.shim_owner)
		return 1;
	*frame = read_u64(*frame + w->process.layout.frame_previous);
	return 0;
}

/* The mark of a state's innermost activation; 0: it has none yet. */
static __always_inline __u64 innermost_mark(const struct py_layout *l,
					    __u64 thread)
{
	__u64 frame;

	if (l->flags & PY_CFRAMES)
		return read_u64(thread + l->thread_cframe);
	frame = thread_top(l, thread);
	walk_loop(MAX_INLINED, shim_step, &frame);
	return frame;
}

/* Takes the innermost of the states that are left; 0: none is. */
static __always_inline __u64 take_state(struct walk *w)
{
	__u64 thread = 0, mark = 0;
	__u32 taken = 0;

	for (__u32 i = 0; i < MAX_RUNNING; i++) {
		if (!w->running[i] || (thread && w->marks[i] >= mark))
			continue;
		thread = w->running[i];
		mark = w->marks[i];
		taken = i;
	}
	opaque(taken);
	w->running[taken & (MAX_RUNNING - 1)] = 0;
	return thread;
}

static __always_inline void mark_states(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;

	for (__u32 i = 0; i < MAX_RUNNING; i++)
		if (w->running[i])
			w->marks[i] = innermost_mark(l, w->running[i]);
}

static __always_inline void find_begin(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;

	w->interp = read_u64(w->process.runtime + l->runtime_interpreters);
	w->candidate =
		w->interp ? read_u64(w->interp + l->interp_threads) : 0;
	w->running_count = 0;
	for (__u32 i = 0; i < MAX_RUNNING; i++)
		w->running[i] = 0;
	w->several = has_marks(l) && w->interp &&
		     read_u64(w->interp + l->interp_next);
}

/*
 * Up to 3.11 the runtime tells whose turn it is. If it is this thread's, that
 * is the one state of it that runs, whatever interpreters it has made.
 */
static __always_inline __u64 current_thread(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;
	__u64 current;

	if (l->runtime_current == PY_ABSENT)
		return 0;
	current = read_u64(w->process.runtime + l->runtime_current);
	if (!current || read_u64(current + l->thread_id) != w->thread_pointer)
		return 0;
	return thread_runs(l, current) ? current : 0;
}

/* The calling thread's state, 0 if it has none. */
static __always_inline __u64 find_thread(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;
	const __u64 *cached;
	__u64 found;

	w->found = 0;
	w->done = 0;
	if (!w->thread_pointer)
		return 0;
	find_begin(w);
	found = w->several ? 0 : current_thread(w);
	if (found)
		return found;
	walk_loop(w->several ? SOME_THREADS : FEW_THREADS, find_step, NULL);
	if (w->running_count) {
		mark_states(w);
		return walk_next_state();
	}
	if (w->done || !w->interp)
		return w->found;
	cached = walk_find_thread(w->tid);
	if (cached && read_u64(*cached + l->thread_id) == w->thread_pointer &&
	    thread_runs(l, *cached))
		return *cached;
	walk_loop(MANY_THREADS, find_step, NULL);
	found = w->found;
	if (found)
		walk_put_thread(w->tid, found);
	return found;
}

#endif
