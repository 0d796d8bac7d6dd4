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

#include "bpf/walk_innermost.h"

/*
 * The fields of a thread state that the walk looks at follow each other closely:
 * one read takes in all.
 */
static __always_inline void read_thread(struct walk *w, __u64 thread)
{
	const struct py_layout *l = &w->process.layout;
	__u32 top = l->flags & PY_CFRAMES ? l->thread_cframe : l->thread_frame;
	__u32 last = l->thread_id > top ? l->thread_id : top;

	read_block(&w->thread_block, thread, last + 8);
}

/* The innermost frame (or 3.11's and 3.12's activation) of a thread state. */
static __always_inline __u64 thread_top(const struct walk *w, __u64 thread)
{
	const struct py_layout *l = &w->process.layout;

	return word_in(&w->thread_block,
		       thread + (l->flags & PY_FRAME_VIA_CFRAME ?
					 l->thread_cframe :
					 l->thread_frame));
}

/* True if the thread state runs Python code at this time. */
static __always_inline int thread_runs(struct walk *w, __u64 thread)
{
	const struct py_layout *l = &w->process.layout;
	__u64 top = thread_top(w, thread);

	if (!top)
		return 0;
	if (l->flags & PY_FRAME_VIA_CFRAME) {
		read_activation(w, top);
		return activation_word(w, top + l->cframe_frame) != 0;
	}
	if (l->flags & PY_SHIM_FRAMES)
		return !read_head(top) && frame_word(w, l->frame_previous);
	return 1;
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
		mark = word_in(&w->thread_block, thread + l->thread_cframe);
		if (mark && mark != thread + l->thread_root_cframe)
			return is_on_stack(w, mark);
	}
	return word_in(&w->thread_block, thread + l->thread_id) ==
	       w->thread_pointer;
}

/* The search goes on with the newest thread state of an interpreter; 0: of none. */
static __always_inline void enter_interp(struct walk *w, __u64 interp)
{
	const struct py_layout *l = &w->process.layout;
	__u64 next = l->interp_next, threads = l->interp_threads;
	__u64 start = next < threads ? next : threads;

	w->interp = interp;
	w->candidate = 0;
	if (!interp)
		return;
	read_block(&w->interp_block, interp + start,
		   next + threads - 2 * start + 8);
	w->candidate = word_in(&w->interp_block, interp + threads);
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
			enter_interp(w, word_in(&w->interp_block,
						w->interp + l->interp_next));
		if (!w->interp)
			return 1;
		return 0;
	}
	read_thread(w, w->candidate);
	if (is_of_thread(w, w->candidate)) {
		if (thread_runs(w, w->candidate)) {
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
	w->candidate = word_in(&w->thread_block, w->candidate + l->thread_next);
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
static __always_inline __u64 innermost_mark(const struct walk *w, __u64 thread)
{
	const struct py_layout *l = &w->process.layout;
	__u64 frame;

	if (l->flags & PY_CFRAMES)
		return word_in(&w->thread_block, thread + l->thread_cframe);
	frame = thread_top(w, thread);
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
	for (__u32 i = 0; i < MAX_RUNNING; i++)
		if (w->running[i])
			w->marks[i] = innermost_mark(w, w->running[i]);
}

static __always_inline void forget_states(struct walk *w)
{
	w->several = 0;
	w->running_count = 0;
	for (__u32 i = 0; i < MAX_RUNNING; i++)
		w->running[i] = 0;
}

static __always_inline void find_begin(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;

	enter_interp(w,
		     read_u64(w->process.runtime + l->runtime_interpreters));
	w->several = has_marks(l) && w->interp &&
		     word_in(&w->interp_block, w->interp + l->interp_next);
}

/* Is it still a state of this thread, which runs? */
WALK_APART int is_still(__u64 thread)
{
	struct walk *w = walk_here();
	const struct py_layout *l;

	if (!w)
		return 0;
	l = &w->process.layout;
	read_thread(w, thread);
	return word_in(&w->thread_block, thread + l->thread_id) ==
		       w->thread_pointer &&
	       thread_runs(w, thread);
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
	return current && is_still(current) ? current : 0;
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
	forget_states(w);
	/* Before 3.10 its word is taken, whatever interpreters there are. */
	found = has_marks(l) ? 0 : current_thread(w);
	if (found)
		return found;
	find_begin(w);
	found = has_marks(l) && !w->several ? current_thread(w) : 0;
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
	if (cached && is_still(*cached))
		return *cached;
	walk_loop(MANY_THREADS, find_step, NULL);
	found = w->found;
	if (found)
		walk_put_thread(w->tid, found);
	return found;
}

#endif
