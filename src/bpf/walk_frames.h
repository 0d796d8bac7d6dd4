/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The walk over the frames of a thread, innermost first, into STACK records.
 *
 * The thread can have been interrupted in the middle of a change: every frame is
 * checked (its code object has PyCode_Type as its type), every activation has
 * to link to the next, and every stack has to end where an outermost frame
 * ends. What fails is flagged.
 */
#ifndef KAA_BPF_WALK_FRAMES_H
#define KAA_BPF_WALK_FRAMES_H

#include "bpf/walk_code.h"
#include "bpf/walk_innermost.h"
#include "bpf/walk_thread.h"

/* A search for the copy of the instructions that an instruction is in. */
struct find_copy {
	__u64 instruction;
	/* Bytes of each copy. */
	__u64 size;
	/* The array of their addresses, and how many there are. */
	__u64 copies;
	__u64 count;
	__s32 offset;
};

static __always_inline int is_in_copy(struct find_copy *s, __u64 start)
{
	__u64 offset = s->instruction - start;

	if (!start || offset >= s->size || offset > 0x7fffffff)
		return 0;
	s->offset = offset;
	return 1;
}

static long find_copy_step(__u32 i, void *arg)
{
	struct find_copy *s = arg;

	return i >= s->count ||
	       is_in_copy(s, read_u64(s->copies + PY_COPIES_FIRST + i * 8ULL));
}

/*
 * Where each thread has a copy of its own. The frame says in which one its instruction
 * is; but who takes a frame over stores that and the instruction one after the other:
 * in between it is in another one.
 */
WALK_APART int offset_in_copy(__u64 code)
{
	struct find_copy s = { .offset = -1 };
	struct walk *w = walk_here();
	const struct py_layout *l;
	__u64 number;

	if (!w)
		return -1;
	l = &w->process.layout;
	number = frame_half(w, l->frame_copy);
	s.instruction = frame_word(w, l->frame_instruction);
	s.size = 2 * read_u64(code + l->code_units);
	if (!number && is_in_copy(&s, code + l->code_adaptive))
		return s.offset;
	s.copies = read_u64(code + l->code_copies);
	/* Whether it is one at all, the instruction says. */
	if (is_in_copy(&s, read_u64(s.copies + PY_COPIES_FIRST + number * 8)))
		return s.offset;
	s.count = read_u64(s.copies + PY_COPIES_COUNT);
	walk_loop(PY_COPIES_MAX, find_copy_step, &s);
	return s.offset;
}

/* Byte offset of the instruction that the frame at hand is at. */
static __always_inline __s32 frame_offset(struct walk *w, __u64 code)
{
	const struct py_layout *l = &w->process.layout;
	__s64 offset;

	if (l->code_copies)
		return offset_in_copy(code);
	if (l->flags & PY_LASTI)
		offset = (__s64)(__s32)frame_half(w, l->frame_instruction) *
			 l->lasti_unit;
	else
		offset = frame_word(w, l->frame_instruction) - code -
			 l->code_adaptive;
	if (offset < 0 || offset > 0x7fffffff)
		return -1;
	return offset;
}

static __always_inline int flush_chunk(void *ctx,
				       struct walk *w, struct walker_stack *s)
{
	__u64 count = s->count;
	__u64 size;

	s->header.type = WALKER_STACK;
	s->header.pid = w->pid;
	s->tid = w->number;
	s->thread_pointer = w->thread_pointer;
	s->flags = w->flags;
	s->before = w->total - s->count;
	opaque(count);
	if (count > WALKER_CHUNK_FRAMES)
		return 1;
	/* An `or` in place of the addition would blur the verifier's bound. */
	size = count * sizeof(struct walker_frame);
	opaque(size);
	size += __builtin_offsetof(struct walker_stack, frames);
	if (walk_emit(ctx, s, size))
		return 1;
	s->count = 0;
	return 0;
}

/*
 * A word of the C stack, 3.10. The activations further out are above it; where its page
 * ends, the stack may end, too.
 */
static __always_inline __u64 mark_word(struct walk *w, __u64 address)
{
	__u64 at, size;

	/* What is in a copy and what is not do not follow each other. */
	if (w->left_size)
		return address & 7 ? 0 : read_stack(w, address);
	at = address - w->marks_start;
	size = WALKER_PAGE - (address & (WALKER_PAGE - 1));
	if (address & 7)
		return 0;
	if (at >= w->marks_size) {
		if (size > MARKS_BYTES)
			size = MARKS_BYTES;
		at = 0;
		w->marks_start = address;
		w->marks_size = size;
		opaque(size);
		if (size > MARKS_BYTES || walk_read(w->marks_bytes, size, address))
			w->marks_size = 0;
		if (!w->marks_size)
			return 0;
	}
	opaque(at);
	return *(const walk_word *)(w->marks_bytes + (at & (MARKS_BYTES - 8)));
}

/*
 * Ends the segment of frames that one activation runs, 3.10 and 3.11: these
 * keep a _PyCFrame on the C stack, linked to the one before. Returns 0 if the
 * link does not fit.
 */
static __always_inline int next_activation(struct walk *w, __u64 previous)
{
	const struct py_layout *l = &w->process.layout;

	if (!(l->flags & PY_CFRAMES))
		return 1;
	if (!(l->flags & PY_FRAME_VIA_CFRAME)) {
		w->activation = mark_word(w, w->activation + l->cframe_previous);
		return 1;
	}
	w->activation = activation_word(w, w->activation + l->cframe_previous);
	if (!w->activation)
		return 0;
	read_activation(w, w->activation);
	return activation_word(w, w->activation + l->cframe_frame) == previous;
}

/*
 * The innermost activation says what cannot be: it runs nothing yet, or not any
 * more. Begins with the one before, if that is proven to be the innermost that
 * runs a frame.
 */
static __always_inline int begin_before(struct walk *w, struct walker_stack *s)
{
	const struct py_layout *l = &w->process.layout;
	__u64 before;

	if (!(l->flags & PY_FRAME_VIA_CFRAME) || !w->first ||
	    w->total != s->count)
		return 0;
	w->first = 0;
	before = activation_before();
	if (!before)
		return 0;
	w->flags &= ~WALKER_BY_REGISTER;
	w->flags |= WALKER_IN_PROLOGUE;
	w->activation = before;
	w->frame = read_stack(w, before + l->cframe_frame);
	w->caller = 0;
	w->total = 0;
	s->count = 0;
	return 1;
}

static __always_inline long walk_broken(struct walk *w, struct walker_stack *s)
{
	if (begin_before(w, s))
		return 0;
	w->flags |= WALKER_UNREADABLE;
	w->done = 1;
	return 1;
}

/* A frame without a caller, which no activation ends. */
static __always_inline long walk_unmarked_end(struct walk *w,
					      struct walker_stack *s)
{
	if (!walk_broken(w, s))
		return 0;
	w->flags |= WALKER_UNMARKED_END;
	return 1;
}

/* Goes to the innermost frame of a thread state. */
static __always_inline void enter_state(struct walk *w, __u64 thread)
{
	const struct py_layout *l = &w->process.layout;

	w->thread = thread;
	w->frame = thread_top(w, thread);
	w->activation = 0;
	if (l->flags & PY_FRAME_VIA_CFRAME) {
		w->activation = w->frame;
		w->frame = activation_word(w, w->activation + l->cframe_frame);
	} else if (l->flags & PY_CFRAMES) {
		w->activation = word_in(&w->thread_block,
					thread + l->thread_cframe);
	}
	w->first_activation = w->activation;
	w->caller = 0;
	w->first = 0;
}

/* After the last frame of a state: on with the state around it, if any. */
static __always_inline long leave_state(struct walk *w)
{
	__u64 thread = w->running_count > 1 ? walk_next_state() : 0;

	w->done = !thread;
	if (!thread)
		return 1;
	enter_state(w, thread);
	return 0;
}

/* After the frame at hand: where the walk goes on. */
static __always_inline long walk_on(struct walk *w, struct walker_stack *s,
				    int entry)
{
	const struct py_layout *l = &w->process.layout;
	__u64 previous = w->caller ? w->caller :
				     frame_word(w, l->frame_previous);

	w->caller = 0;
	if (entry && !next_activation(w, previous))
		return walk_broken(w, s);
	if (entry)
		w->first = 0;
	if (!previous && !entry)
		return walk_unmarked_end(w, s);
	w->frame = previous;
	return previous ? 0 : leave_state(w);
}

/*
 * 3.12: the innermost activation's last frame links to the caller of the activation, and
 * not to its shim. Greenlet does so with one frame after the other.
 */
static __always_inline int is_relinked(const struct walk *w)
{
	return w->switching && w->met_outer;
}

/* A shim ends the segment of the frames before it. */
static __always_inline long walk_shim(struct walk *w, struct walker_stack *s)
{
	const struct py_layout *l = &w->process.layout;
	__u64 last = s->count - 1;

	if (w->first && (l->flags & PY_FRAME_VIA_CFRAME) &&
	    frame_word(w, l->frame_previous) != w->outer) {
		if (!is_relinked(w))
			return walk_broken(w, s);
		w->flags |= WALKER_UNREADABLE | WALKER_UNMARKED_END;
	}
	w->first = 0;
	opaque(last);
	if (s->count && last < WALKER_CHUNK_FRAMES &&
	    !(s->frames[last].flags & WALKER_FRAME_ENTRY)) {
		s->frames[last].flags |= WALKER_FRAME_ENTRY;
		s->frames[last].activation = w->frame;
	}
	w->frame = frame_word(w, l->frame_previous);
	return w->frame ? 0 : leave_state(w);
}

/* Behind the last field that the walk looks at. */
static __always_inline __u32 frame_bytes(const struct py_layout *l)
{
	__u32 last = l->frame_instruction;

	if (l->frame_owner != PY_ABSENT && l->frame_owner > last)
		last = l->frame_owner;
	return (last | 7) + 1;
}

/* What the loop over the frames gives to each step, which so need not look it up. */
struct walk_frames {
	void *ctx;
	struct walk *w;
	struct walker_stack *s;
};

static long walk_step(__u32 i, void *arg)
{
	struct walk_frames *frames = arg;
	void *ctx = frames->ctx;
	struct walk *w = frames->w;
	struct walker_stack *s = frames->s;
	const struct py_layout *l;
	struct walker_frame *f;
	__u64 code, key;
	__u64 count;
	int entry;

	(void)i;
	l = &w->process.layout;
	if (!find_head(w, w->frame) && read_head(w->frame))
		return walk_broken(w, s);
	if (is_shim(w))
		return walk_shim(w, s);
	/* A frame after a full chunk; a shim may still have marked its last. */
	if (w->total == WALKER_MAX_FRAMES)
		return 1;
	if (s->count == WALKER_CHUNK_FRAMES) {
		w->flags |= WALKER_CONTINUES;
		if (flush_chunk(ctx, w, s))
			return 1;
		w->flags &= ~WALKER_CONTINUES;
	}
	if (w->first && w->frame == w->outer)
		w->met_outer = 1;
	code = code_in(w);
	key = code_of(ctx, w, code);
	if (!key)
		return walk_broken(w, s);
	count = s->count;
	opaque(count);
	if (count >= WALKER_CHUNK_FRAMES)
		return 1;
	f = &s->frames[count];
	f->key = key;
	f->frame = w->frame;
	f->offset = frame_offset(w, code);
	entry = !(l->flags & PY_SHIM_FRAMES) &&
		(!(l->flags & PY_ENTRY_FLAG) ||
		 frame_byte(w, l->frame_is_entry));
	f->flags = entry ? WALKER_FRAME_ENTRY : 0;
	f->activation = entry && (l->flags & PY_CFRAMES) ?
				w->activation :
				0;
	if (f->activation &&
	    f->activation == w->thread + l->thread_root_cframe) {
		f->activation = 0;
		w->flags |= WALKER_LEAVING;
	}
	s->count = count + 1;
	w->total++;
	return walk_on(w, s, entry);
}

static __always_inline void walk_begin(struct walk *w, struct walker_stack *s)
{
	enter_state(w, w->thread);
	w->flags = w->running_count > MAX_RUNNING ? WALKER_TOO_DEEP : 0;
	if (w->settled)
		w->flags |= WALKER_SETTLED;
	w->total = 0;
	w->done = 0;
	s->count = 0;
	s->extra_activation = 0;
}

/* Nothing that an earlier walk has read is believed. */
static __always_inline void walk_forget(struct walk *w)
{
	w->number_of_walk++;
	w->identity = process_identity(&w->process, w->pid);
	w->frame_bytes = frame_bytes(&w->process.layout);
	w->window_size = 0;
	w->last_frame = 0;
	w->thread_block.size = 0;
	w->activation_block.size = 0;
	w->marks_size = 0;
}

/*
 * The innermost frame of 3.11 and 3.12 may have a link that was not set yet. 0: no
 * frame to begin with is known.
 */
static __always_inline int walk_innermost(struct walk *w, struct walker_stack *s)
{
	if (!(w->process.layout.flags & PY_FRAME_VIA_CFRAME))
		return 1;
	w->first = 1;
	w->met_outer = 0;
	w->outer = outer_frame(w, w->activation);
	return find_innermost() || begin_before(w, s);
}

static __always_inline int walk_end(void *ctx,
				    struct walk *w, struct walker_stack *s)
{
	const struct py_layout *l = &w->process.layout;

	/* Also if the ring was full for a record, and is not any more. */
	w->flags &= ~WALKER_CONTINUES;
	if (!w->done)
		w->flags |= WALKER_TOO_DEEP;
	if ((l->flags & PY_CFRAMES) &&
	    !(l->flags & PY_FRAME_VIA_CFRAME) && w->activation &&
	    w->activation != w->thread + l->thread_root_cframe)
		s->extra_activation = w->activation;
	return flush_chunk(ctx, w, s);
}

/*
 * The thread has no frames. The samples of a tracepoint would take the
 * last stack of the thread that this CPU's ring has for theirs.
 */
static __always_inline int walk_no_frames(void *ctx, struct walk *w,
					  struct walker_stack *s)
{
	if (!w->has_stack || w->has_stack != w->tid)
		return 0;
	w->flags = WALKER_NO_FRAMES;
	w->total = 0;
	s->count = 0;
	s->extra_activation = 0;
	if (flush_chunk(ctx, w, s))
		return 1;
	w->has_stack = 0;
	return 0;
}

/*
 * Walks the thread that *w tells of; its records are written with ctx. Not 0: a
 * record of the stack found no room.
 */
static __always_inline int walk_thread(void *ctx, struct walk *w,
				       struct walker_stack *s,
				       struct walker_counters *c)
{
	struct walk_frames frames = { .ctx = ctx, .w = w, .s = s };

	walk_forget(w);
	w->thread = find_thread(w);
	if (!w->thread) {
		c->no_thread++;
		return walk_no_frames(ctx, w, s);
	}
	w->versions_tell = w->process.versions_tell && !w->several;
	walk_begin(w, s);
	if (!w->frame)
		return walk_no_frames(ctx, w, s);
	w->has_stack = w->tid;
	if (walk_innermost(w, s))
		walk_loop(2 * WALKER_MAX_FRAMES, walk_step, &frames);
	else
		walk_broken(w, s);
	if (walk_end(ctx, w, s))
		return 1;
	c->stacks++;
	return 0;
}

#endif
