// SPDX-License-Identifier: GPL-2.0-only
#include "python/merge.h"

/* Values of merge_activation.place that are no index of a native frame. */
#define PLACE_END (SIZE_MAX - 1)
#define PLACE_UNKNOWN SIZE_MAX

/* Pairs of call and frame that are asked about before a shift is believed. */
#define EVIDENCE_PAIRS 8

void merge_chain_deinit(struct merge_chain *chain)
{
	vec_deinit(&chain->addresses);
	vec_deinit(&chain->activations);
	vec_deinit(&chain->evals);
	chain->flags = 0;
}

/* Cuts the Python stack into activations; the last may lack its entry. */
static bool find_activations(const struct merge_input *in,
			     struct merge_chain *chain)
{
	size_t first = 0;

	for (size_t i = 0; i < in->frame_count; i++) {
		if (!in->frames[i].is_entry && i + 1 < in->frame_count)
			continue;
		if (!vec_push(&chain->activations,
			      (struct merge_activation){ first, i + 1,
							 PLACE_UNKNOWN }))
			return false;
		first = i + 1;
	}
	return true;
}

static bool find_evals(const struct merge_input *in, struct merge_chain *chain)
{
	for (size_t i = 0; in->eval_known && i < in->native_count; i++)
		if (in->natives[i].is_eval && !vec_push(&chain->evals, i))
			return false;
	return true;
}

static const struct merge_python *entry_of(const struct merge_input *in,
					   const struct merge_activation *a)
{
	return &in->frames[a->end - 1];
}

/* True if address is on the part of the stack that was not unwound. */
static bool is_beyond(const struct merge_input *in, uint64_t address)
{
	const struct merge_native *last;

	if (in->native_complete)
		return false;
	if (!in->native_count)
		return true;
	last = &in->natives[in->native_count - 1];
	return address >= (last->cfa ? last->cfa : last->sp);
}

/* The native frame, from `from` on, in which a mark lies. */
static size_t place_of_mark(const struct merge_input *in, size_t from,
			    uint64_t mark)
{
	for (size_t i = from; i < in->native_count; i++)
		if (mark >= in->natives[i].sp && mark < in->natives[i].cfa)
			return i;
	return is_beyond(in, mark) ? PLACE_END : PLACE_UNKNOWN;
}

/* True if it is known which part of the stack each native frame has. */
static bool has_extents(const struct merge_input *in)
{
	return !in->native_count || in->natives[0].sp;
}

/*
 * Places the activations that have a mark. One whose mark lies in no native
 * frame gets none; *lost is the first such, or the number of activations.
 */
static void place_by_marks(const struct merge_input *in,
			   struct merge_chain *chain, size_t *lost)
{
	size_t count = chain->activations.count, from = 0;

	*lost = count;
	for (size_t i = 0; i < count && has_extents(in); i++) {
		struct merge_activation *a = &chain->activations.data[i];
		const struct merge_python *entry = entry_of(in, a);

		if (!entry->is_entry || !entry->entry_addr)
			continue;
		a->place = place_of_mark(in, from, entry->entry_addr);
		if (a->place == PLACE_UNKNOWN)
			*lost = *lost < count ? *lost : i;
		else
			from = a->place == PLACE_END ? in->native_count :
						       a->place;
	}
}

/* Activations without a place, between two that have one. */
struct run {
	size_t first;
	size_t count;
	/* The calls of the evaluation function between these two. */
	size_t eval;
	size_t eval_count;
	/* There is one further in, or further out. */
	bool inner;
	bool outer;
	/* The one further out is beyond the native stack. */
	bool beyond;
};

static struct run run_from(const struct merge_chain *chain, size_t first)
{
	const struct merge_activation *a = chain->activations.data;
	struct run run = { .first = first, .inner = first > 0 };
	size_t end = first, eval_end, limit;

	while (end < chain->activations.count && a[end].place == PLACE_UNKNOWN)
		end++;
	run.count = end - first;
	run.outer = end < chain->activations.count;
	limit = run.outer ? a[end].place : PLACE_END;
	run.beyond = run.outer && limit == PLACE_END;
	while (run.inner && run.eval < chain->evals.count &&
	       chain->evals.data[run.eval] <= a[first - 1].place)
		run.eval++;
	for (eval_end = run.eval; eval_end < chain->evals.count; eval_end++)
		if (chain->evals.data[eval_end] >= limit)
			break;
	run.eval_count = eval_end - run.eval;
	return run;
}

/*
 * Can it be that the first `shift` calls run none of the frames read, and each
 * further one the next activation?
 */
static bool shift_is_possible(const struct merge_input *in,
			      const struct run *run, size_t shift)
{
	size_t calls, needed = run->count;

	if (shift > run->eval_count)
		return false;
	calls = run->eval_count - shift;
	if (run->beyond)
		return needed >= calls;
	if (run->outer)
		return needed == calls;
	if (in->python_complete)
		return in->native_complete ? needed == calls : needed >= calls;
	if (!in->native_complete)
		return true;
	/* The frame that could not be read needs a call as well. */
	if (in->frames[in->frame_count - 1].is_entry)
		needed++;
	return needed <= calls;
}

struct evidence {
	bool denied;
	bool supported;
};

static struct evidence ask(const struct merge_input *in,
			   const struct merge_chain *chain,
			   const struct run *run, size_t shift)
{
	struct evidence result = {};

	for (size_t i = 0; i < EVIDENCE_PAIRS && i < run->count &&
			   i + shift < run->eval_count;
	     i++) {
		const struct merge_activation *a =
			&chain->activations.data[run->first + i];
		size_t native = chain->evals.data[run->eval + i + shift];
		enum merge_evidence e = MERGE_UNKNOWN;

		if (in->eval_runs_frame)
			e = in->eval_runs_frame(in->arg, native,
						in->frames[a->first].frame);
		result.denied |= e == MERGE_NO;
		result.supported |= e == MERGE_YES;
	}
	result.supported &= !result.denied;
	return result;
}

/* 0 or 1: calls at the innermost end without a frame; -1: cannot be told. */
static int find_shift(const struct merge_input *in,
		      const struct merge_chain *chain, const struct run *run)
{
	bool zero = shift_is_possible(in, run, 0);
	bool one = shift_is_possible(in, run, 1);
	struct evidence e0, e1;

	/* Next to an activation that has its place there is no such call. */
	if (run->inner)
		return zero ? 0 : -1;
	if (!zero || !one)
		return zero ? 0 : one ? 1 : -1;
	e0 = ask(in, chain, run, 0);
	e1 = ask(in, chain, run, 1);
	if (e0.denied != e1.denied)
		return e0.denied ? 1 : 0;
	if (!e0.denied && e0.supported != e1.supported)
		return e0.supported ? 0 : 1;
	return -1;
}

static void place_by_count(struct merge_chain *chain, const struct run *run,
			   size_t shift)
{
	for (size_t i = 0; i < run->count; i++)
		chain->activations.data[run->first + i].place =
			i + shift < run->eval_count ?
				chain->evals.data[run->eval + i + shift] :
				PLACE_END;
}

/*
 * Keeps what has no known place together: directly inside the next activation
 * that has one; else after the innermost call that is left, or after
 * all native frames.
 */
static void place_unknown(struct merge_chain *chain, const struct run *run)
{
	struct merge_activation *a = &chain->activations.data[run->first];
	size_t place = run->outer      ? a[run->count].place :
		       run->eval_count ? chain->evals.data[run->eval] :
					 PLACE_END;

	for (size_t i = 0; i < run->count; i++)
		a[i].place = place;
	chain->flags |= MERGE_NOT_ALIGNED;
}

static void place_run(const struct merge_input *in, struct merge_chain *chain,
		      const struct run *run, bool lost)
{
	const struct merge_activation *a = chain->activations.data;
	int shift = -1;

	/* Beyond one that is beyond the native stack, or without any. */
	if (!in->native_count ||
	    (run->inner && a[run->first - 1].place == PLACE_END))
		shift = 0;
	else if (in->eval_known && !lost)
		shift = find_shift(in, chain, run);
	if (shift < 0)
		place_unknown(chain, run);
	else
		place_by_count(chain, run, (size_t)shift);
}

static void place_all(const struct merge_input *in, struct merge_chain *chain)
{
	size_t lost;

	place_by_marks(in, chain, &lost);
	for (size_t i = 0; i < chain->activations.count; i++) {
		struct run run;

		if (chain->activations.data[i].place != PLACE_UNKNOWN)
			continue;
		run = run_from(chain, i);
		place_run(in, chain, &run, lost < i + run.count);
	}
}

/* There is room: emit_all(). */
static inline void emit(struct merge_chain *chain, uint64_t address)
{
	chain->addresses.data[chain->addresses.count++] = address;
}

/* The markers that stand on the caller side of the last Python frame. */
static void emit_python_end(const struct merge_input *in,
			    struct merge_chain *chain)
{
	if (!in->python_complete) {
		chain->flags |= MERGE_UNREADABLE;
		emit(chain, KAA_MARKER_UNREADABLE);
	}
	if (chain->flags & MERGE_NOT_ALIGNED)
		emit(chain, KAA_MARKER_NOT_ALIGNED);
}

/* Writes the activations from *next on that stand at place. */
static void emit_place(const struct merge_input *in, struct merge_chain *chain,
		       size_t place, size_t *next)
{
	size_t count = chain->activations.count;

	for (; *next < count; ++*next) {
		const struct merge_activation *a =
			&chain->activations.data[*next];

		if (a->place != place)
			break;
		for (size_t i = a->first; i < a->end; i++)
			emit(chain, in->frames[i].address);
		if (*next + 1 == count)
			emit_python_end(in, chain);
	}
}

/* The native frames [first, end). */
static void emit_natives(const struct merge_input *in,
			 struct merge_chain *chain, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		emit(chain, in->natives[i].ip);
}

/* All of both, with the place in between of what has one. */
static void emit_placed(const struct merge_input *in,
			struct merge_chain *chain)
{
	size_t next = 0, done = 0;

	while (next < chain->activations.count) {
		size_t place = chain->activations.data[next].place;

		if (place >= in->native_count)
			break;
		if (place >= done) {
			emit_natives(in, chain, done, place + 1);
			done = place + 1;
		}
		emit_place(in, chain, place, &next);
	}
	emit_natives(in, chain, done, in->native_count);
	emit_place(in, chain, PLACE_END, &next);
}

/* None of Python's frames could be read: what says so has a place like theirs. */
static void emit_none_read(const struct merge_input *in,
			   struct merge_chain *chain)
{
	size_t inner = chain->evals.count ? chain->evals.data[0] + 1 :
					    in->native_count;

	emit_natives(in, chain, 0, inner);
	emit_python_end(in, chain);
	emit_natives(in, chain, inner, in->native_count);
}

static bool emit_all(const struct merge_input *in, struct merge_chain *chain)
{
	size_t markers = 3;

	if (!vec_reserve(&chain->addresses,
			 in->native_count + in->frame_count + markers))
		return false;
	if (!in->frame_count && !in->python_complete)
		emit_none_read(in, chain);
	else
		emit_placed(in, chain);
	if (!in->native_complete) {
		chain->flags |= MERGE_TRUNCATED;
		emit(chain, KAA_MARKER_TRUNCATED);
	}
	return true;
}

static void note_flags(const struct merge_input *in, struct merge_chain *chain)
{
	const struct merge_activation *first, *last;

	if (!chain->activations.count || (chain->flags & MERGE_NOT_ALIGNED))
		return;
	first = chain->activations.data;
	last = vec_last(&chain->activations);
	if (chain->evals.count && chain->evals.data[0] < first->place)
		chain->flags |= MERGE_EXTRA_CALL;
	if (in->native_count && last->place == PLACE_END)
		chain->flags |= MERGE_BEYOND_NATIVE;
}

struct error *merge_stacks(const struct merge_input *in,
			   struct merge_chain *ret)
{
	vec_clear(&ret->addresses);
	vec_clear(&ret->activations);
	vec_clear(&ret->evals);
	ret->flags = 0;
	if (!find_activations(in, ret) || !find_evals(in, ret))
		return error_no_memory();
	place_all(in, ret);
	note_flags(in, ret);
	if (!emit_all(in, ret))
		return error_no_memory();
	return NULL;
}
