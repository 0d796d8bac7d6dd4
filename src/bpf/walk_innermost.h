/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which frame is the innermost, and which one called it, where a thread was
 * interrupted between two calls (3.11, 3.12).
 *
 * The evaluation function makes several stores when it is entered, calls, resumes
 * a generator or returns, and compilers put them in any order: a frame may be the
 * current one before its `previous` is set, which until then is that of an
 * earlier frame at the same place; and the thread's _PyCFrame may be the new one
 * before anything is in it, so that what it says is what the C stack had there.
 * Such a link leads to frames that look right.
 *
 * A frame that is run says so: its stack top is -1. All links from it on were set
 * before. Of any other innermost frame a caller is proven, not believed:
 *
 * - Frames of functions stand one behind the other on the thread's data stack,
 *   without a gap. Hence if the frame at `end` was called by a function, that is
 *   the one that ends there. If a link is an old one, either its frame does not
 *   end there, or it is in the room that a later frame has not used yet; then one of
 *   the links behind it does not fit.
 * - Frames of generators are elsewhere. exc_info tells which one began last of
 *   those that run. If that one is further in than what should be the caller,
 *   the link is old.
 * - The first frame of an activation has to link to the current frame of the
 *   activation around it. There the proof ends: nothing out there changes.
 */
#ifndef KAA_BPF_WALK_INNERMOST_H
#define KAA_BPF_WALK_INNERMOST_H

#include "bpf/walk.h"

enum {
	/* struct _stack_chunk, Include/cpython/pystate.h: the same in 3.11, 3.12. */
	CHUNK_PREVIOUS = 0,
	CHUNK_TOP = 16,
	CHUNK_DATA = 24,
	/* struct _err_stackitem. */
	EXC_PREVIOUS = 8,
};

/* --- reading frames --- */

/* Reads as many bytes that end where the frame's head ends. */
static __always_inline long read_window(struct walk *w, __u64 frame, __u64 size)
{
	__u64 start = frame + w->frame_bytes - size;

	opaque(size);
	if (size > WINDOW_BYTES)
		return 1;
	w->window_start = start;
	w->window_size = 0;
	if (walk_read(w->frames, size, start))
		return 1;
	w->window_size = size;
	w->at = frame - start;
	return 0;
}

/* Reads the frame's head alone; the window stays. */
static __always_inline long read_lone_head(struct walk *w, __u64 frame)
{
	__u64 size = w->frame_bytes;

	opaque(size);
	if (size > FRAME_BYTES)
		return 1;
	w->at = WINDOW_BYTES;
	return walk_read(w->frames + WINDOW_BYTES, size, frame);
}

/* Is it likely that the callers of the frame lie before it, in the same page? */
static __always_inline int is_near(const struct walk *w, __u64 frame)
{
	if (!w->last_frame)
		return !(w->process.layout.flags & PY_FRAME_OBJECTS);
	return frame - w->last_frame + WINDOW_BYTES < 2 * WINDOW_BYTES;
}

/* Is the frame's head in the window? Then it is at hand. */
static __always_inline int find_head(struct walk *w, __u64 frame)
{
	__u64 at = frame - w->window_start;

	if (frame & 7 || !w->window_size || at > w->window_size - w->frame_bytes)
		return 0;
	w->last_frame = frame;
	w->at = at;
	return 1;
}

/*
 * Reads the head of a frame. Not a byte more than needed behind it: the local
 * variables behind a new one may lie in a page that the program has not touched yet. But
 * its callers often lie in the same page, before it: then one read takes in all.
 */
WALK_APART int read_head(__u64 frame)
{
	__u64 before = frame & (WINDOW_BYTES - 1);
	struct walk *w = walk_here();
	__u64 head;
	int near;

	if (!w || frame & 7)
		return 1;
	if (find_head(w, frame))
		return 0;
	near = is_near(w, frame);
	head = w->frame_bytes;
	w->last_frame = frame;
	if (before + head > WINDOW_BYTES)
		before = WINDOW_BYTES - head;
	if (near && before && !read_window(w, frame, before + head))
		return 0;
	return read_lone_head(w, frame) != 0;
}

/* --- the frame at hand --- */

static __always_inline __u64 frame_word(const struct walk *w, __u32 offset)
{
	offset += w->at;
	opaque(offset);
	return *(const walk_word *)(w->frames + (offset & (FRAMES_BYTES - 8)));
}

static __always_inline __u32 frame_half(const struct walk *w, __u32 offset)
{
	offset += w->at;
	opaque(offset);
	return *(const walk_half *)(w->frames + (offset & (FRAMES_BYTES - 4)));
}

static __always_inline __u8 frame_byte(const struct walk *w, __u32 offset)
{
	offset += w->at;
	opaque(offset);
	return w->frames[offset & (FRAMES_BYTES - 1)];
}

static __always_inline int is_shim(const struct walk *w)
{
	const struct py_layout *l = &w->process.layout;

	return (l->flags & PY_SHIM_FRAMES) &&
	       frame_byte(w, l->frame_owner) >= l->shim_owner;
}

static __always_inline int is_generator(const struct walk *w)
{
	const struct py_layout *l = &w->process.layout;

	return frame_byte(w, l->frame_owner) == l->generator_owner;
}

/* The outermost one of its activation, by a mark that it has itself. */
static __always_inline int is_entry(const struct walk *w)
{
	const struct py_layout *l = &w->process.layout;

	return (l->flags & PY_ENTRY_FLAG) &&
	       frame_byte(w, l->frame_is_entry);
}

static __always_inline int is_run(const struct walk *w)
{
	return (__s32)frame_half(w, w->process.layout.frame_stack_top) < 0;
}

static __always_inline __u64 code_in(const struct walk *w)
{
	const struct py_layout *l = &w->process.layout;

	return frame_word(w, l->frame_code) & ~(__u64)l->code_tag_mask;
}

/* Before its first instruction. */
static __always_inline int is_new(const struct walk *w)
{
	const struct py_layout *l = &w->process.layout;

	return frame_word(w, l->frame_instruction) <
	       code_in(w) + l->code_adaptive;
}

/* The current frame of the activation around one. */
static __always_inline __u64 outer_frame(const struct walk *w, __u64 activation)
{
	const struct py_layout *l = &w->process.layout;
	__u64 around = activation_word(w, activation + l->cframe_previous);

	return around ? read_stack(w, around + l->cframe_frame) : 0;
}

/* --- the data stack --- */

static __always_inline __u32 read_u32(__u64 address)
{
	__u32 value;

	if (walk_read(&value, sizeof(value), address))
		return 0;
	return value;
}

/* Bytes of the frame at hand on the data stack; 0: it is no frame. */
static __always_inline __u64 frame_extent(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;
	__u64 code = code_in(w);

	if (!code || read_u64(code + l->object_type) != w->process.code_type)
		return 0;
	/* The head has room for one local variable. */
	return l->frame_size - 8 +
	       8 * ((__u64)read_u32(code + l->code_locals) +
		    read_u32(code + l->code_stack_size));
}

/* A proof under way. */
struct proof {
	/* The frame to be looked at. */
	__u64 frame;
	/* Where the next frame of a function has to end. */
	__u64 end;
	/* The chunk of the data stack in which that is. */
	__u64 chunk;
	/* The current frame of the activation around. */
	__u64 outer;
	/* The generator that runs and began last; 0: none. */
	__u64 generator;
	/* The activation's first frame was passed. */
	__u8 left;
	__u8 done;
};

/* The frame at hand is a function's: whether it is next on the data stack. */
static __always_inline int is_next(struct walk *w, struct proof *p)
{
	__u64 extent = frame_extent(w), before, top;

	if (!extent)
		return 0;
	if (p->frame + extent == p->end)
		return 1;
	/* The first frame of a chunk; the one before is the last of another. */
	if (p->end != p->chunk + CHUNK_DATA)
		return 0;
	before = read_u64(p->chunk + CHUNK_PREVIOUS);
	top = before + CHUNK_DATA + 8 * read_u64(before + CHUNK_TOP);
	if (!before || p->frame + extent != top)
		return 0;
	p->chunk = before;
	return 1;
}

/* The first frame of all; the first chunk has a word before it. */
static __always_inline int is_bottom(const struct proof *p)
{
	return p->end == p->chunk + CHUNK_DATA + 8 &&
	       !read_u64(p->chunk + CHUNK_PREVIOUS);
}

/* Passes the activation's first frame, which links to previous. */
static __always_inline int leave_activation(struct proof *p, __u64 previous)
{
	if (p->left)
		return 1;
	p->left = 1;
	return previous == p->outer;
}

static long prove_step(__u32 i, void *arg)
{
	struct walk *w = walk_here();
	struct proof *p = arg;
	__u64 previous;
	int shim, generator;

	if (!w || read_head(p->frame))
		return 1;
	previous = frame_word(w, w->process.layout.frame_previous);
	shim = is_shim(w);
	generator = !shim && is_generator(w);
	if (generator && !i && p->frame != p->generator)
		return 1;
	if (!shim && !generator) {
		if (!is_next(w, p))
			return 1;
		p->end = p->frame;
		p->done = p->left;
		if (p->done)
			return 1;
	}
	if ((shim || is_entry(w)) && !leave_activation(p, previous))
		return 1;
	p->frame = previous;
	p->done = !previous && p->left && is_bottom(p);
	return !previous;
}

/* --- generators --- */

/* The one that runs and began last, other than `but`; 0: none does. */
static __always_inline __u64 running_generator(struct walk *w, __u64 but)
{
	const struct py_layout *l = &w->process.layout;
	__u64 to_frame = l->generator_frame - l->generator_exc_state;
	__u64 info = read_u64(w->thread + l->thread_exc_info);

	if (but && info + to_frame == but)
		info = read_u64(info + EXC_PREVIOUS);
	if (!info || info == w->thread + l->thread_exc_state)
		return 0;
	return info + to_frame;
}

/* Frames below a generator's, down to one of a function. */
struct descent {
	__u64 frame;
	/* Is it among them? */
	__u64 wanted;
	__u8 found;
};

static long descend_step(__u32 i, void *arg)
{
	struct walk *w = walk_here();
	struct descent *d = arg;

	(void)i;
	if (d->frame == d->wanted)
		d->found = 1;
	if (!w || d->found || !d->frame || read_head(d->frame) ||
	    (!is_shim(w) && !is_generator(w)))
		return 1;
	d->frame = frame_word(w, w->process.layout.frame_previous);
	return 0;
}

/* Is the frame further out than the generator, with no function in between? */
static __always_inline int is_below(__u64 generator, __u64 frame)
{
	struct descent d = { .frame = generator, .wanted = frame };

	walk_loop(MAX_INLINED, descend_step, &d);
	return d.found;
}

/*
 * Proves that a frame was the thread's innermost one when its data stack ended at
 * `end`, in an activation within one whose current frame is `outer`. `but`: a
 * generator that did not run yet.
 */
WALK_APART int is_innermost(__u64 frame, __u64 end, __u64 outer, __u64 but)
{
	struct walk *w = walk_here();
	struct proof p = { .frame = frame, .end = end, .outer = outer };

	if (!w || !frame || (frame & 7))
		return 0;
	p.generator = running_generator(w, but);
	if (p.generator && p.generator != frame && is_below(p.generator, frame))
		return 0;
	p.chunk = read_u64(w->thread + w->process.layout.thread_stack_chunk);
	walk_loop(2 * WALKER_MAX_FRAMES, prove_step, &p);
	return p.done;
}

/* --- the caller of a frame that is not run yet --- */

static __always_inline __u64 register_at(const struct walk *w, __u32 i)
{
	opaque(i);
	return w->registers[i & (REGISTERS - 1)];
}

/* A search for it in the registers of the evaluation function. */
struct search {
	/* As is_innermost() has them. */
	__u64 end;
	__u64 but;
	/* The frame itself. */
	__u64 callee;
	__u64 found;
};

static long register_step(__u32 i, void *arg)
{
	struct walk *w = walk_here();
	struct search *s = arg;
	__u64 address;

	if (!w || i >= REGISTERS)
		return 1;
	address = register_at(w, i);
	if (address == s->callee ||
	    !is_innermost(address, s->end, w->outer, s->but))
		return 0;
	s->found = address;
	return 1;
}

/*
 * The caller of w->frame, whose head is at hand: what it links to, else one that
 * the evaluation function has in a register. 0: neither is proven.
 */
static __always_inline __u64 proven_caller(struct walk *w)
{
	const struct py_layout *l = &w->process.layout;
	__u64 linked = frame_word(w, l->frame_previous);
	struct search s = { .callee = w->frame, .end = w->frame };

	if (is_generator(w)) {
		s.end = read_u64(w->thread + l->thread_stack_top);
		s.but = w->frame;
	}
	if (linked && is_innermost(linked, s.end, w->outer, s.but))
		return linked;
	walk_loop(REGISTERS, register_step, &s);
	if (s.found)
		w->flags |= WALKER_BY_REGISTER;
	return s.found;
}

/* --- the activation before --- */

/*
 * Where the data stack ended before a frame that is not run yet, or not any more,
 * was put on it: behind the first function at or below `frame`. 0: there is none.
 */
static __always_inline __u64 end_before_new(struct walk *w, __u64 frame)
{
	const struct py_layout *l = &w->process.layout;
	__u64 top = read_u64(w->thread + l->thread_stack_top);
	__u64 chunk = read_u64(w->thread + l->thread_stack_chunk);
	struct descent d = { .frame = frame };
	__u64 places[2], extent;

	walk_loop(MAX_INLINED, descend_step, &d);
	if (!d.frame || read_head(d.frame))
		return 0;
	places[0] = d.frame + frame_extent(w);
	places[1] = chunk + CHUNK_DATA;
	WALK_UNROLL
	for (int i = 0; i < 2; i++) {
		if (read_head(places[i]) || is_run(w))
			continue;
		extent = frame_extent(w);
		if (extent && places[i] + extent == top)
			return places[i];
	}
	return 0;
}

/* The frame at hand is a function's, and nothing but a new one follows it. */
static __always_inline int is_last(struct walk *w)
{
	__u64 extent = frame_extent(w);
	__u64 top = read_u64(w->thread + w->process.layout.thread_stack_top);

	return extent && (w->frame + extent == top ||
			  end_before_new(w, w->frame));
}

/* The generator that began last, if it is not run. */
static __always_inline __u64 idle_generator(struct walk *w)
{
	__u64 frame = running_generator(w, 0);

	return frame && !read_head(frame) && !is_run(w) ? frame : 0;
}

/* Proves that an activation is the innermost one that has a frame which is run. */
static __always_inline int is_innermost_activation(struct walk *w,
						   __u64 activation)
{
	const struct py_layout *l = &w->process.layout;
	__u64 frame, outer, end, idle;

	if (!activation || (activation & 7))
		return 0;
	frame = read_stack(w, activation + l->cframe_frame);
	if (!frame)
		return 0;
	outer = outer_frame(w, activation);
	idle = idle_generator(w);
	end = read_u64(w->thread + l->thread_stack_top);
	if (is_innermost(frame, end, outer, idle))
		return 1;
	end = end_before_new(w, frame);
	return end && is_innermost(frame, end, outer, idle);
}

static long activation_step(__u32 i, void *arg)
{
	struct walk *w = walk_here();
	__u64 *found = arg;
	__u64 address;

	if (!w || i > REGISTERS)
		return 1;
	address = i ? register_at(w, i - 1) :
		      read_stack(w, w->first_activation +
					     w->process.layout.cframe_previous);
	if (!is_innermost_activation(w, address))
		return 0;
	*found = address;
	return 1;
}

/*
 * The activation before the thread's innermost one, which runs nothing: what that
 * links to, else what the evaluation function has in a register. 0: neither is
 * proven.
 */
WALK_APART __u64 activation_before(void)
{
	__u64 found = 0;

	walk_loop(1 + REGISTERS, activation_step, &found);
	return found;
}

/*
 * Looks at w->frame, which the innermost activation says is current. Not 0: it
 * is, and w->caller is its caller where that is not what it links to.
 */
WALK_APART int find_innermost(void)
{
	struct walk *w = walk_here();
	const struct py_layout *l;
	__u64 previous;

	if (!w || read_head(w->frame))
		return 0;
	l = &w->process.layout;
	if (is_run(w))
		return 1;
	previous = frame_word(w, l->frame_previous);
	if (is_shim(w))
		return 0;
	if (!is_new(w) && (previous || !is_generator(w)))
		return is_generator(w) || is_last(w);
	if (is_entry(w))
		return previous == w->outer &&
		       is_innermost_activation(
			       w, read_stack(w, w->activation +
							l->cframe_previous));
	w->caller = proven_caller(w);
	return w->caller != 0;
}

#endif
