// SPDX-License-Identifier: GPL-2.0-only
/*
 * The merge against generated stacks, whose true interleaving is known: what
 * comes out is the truth, or it is marked as not aligned where the inputs do
 * not tell; nothing is ever dropped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "python/merge.h"

enum {
	MAX = 64,
	STACKS = 3000,
};

#define STACK_TOP 0x7fff00000000ull

static uint64_t seed = 88172645463325252ull;

static unsigned int random_below(unsigned int n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned int)(seed >> 32) % n;
}

/* A stack as it is, innermost first. */
struct truth {
	struct merge_native natives[MAX];
	size_t native_count;
	struct merge_python frames[MAX];
	size_t frame_count;
	/* The native frame that runs each Python frame. */
	size_t runs[MAX];
	/* The innermost call of the evaluation function runs none. */
	bool extra;
};

static void add_activation(struct truth *t, size_t native, unsigned int frames,
			   bool marks)
{
	struct merge_native *n = &t->natives[native];

	for (unsigned int i = 0; i < frames && t->frame_count < MAX; i++) {
		size_t f = t->frame_count++;

		t->frames[f] = (struct merge_python){
			.address = KAA_BASE + 0x10001 + 2 * f,
			.frame = 0x7f0000000000 + 0x100 * f,
		};
		t->runs[f] = native;
	}
	t->frames[t->frame_count - 1].is_entry = true;
	if (marks)
		t->frames[t->frame_count - 1].entry_addr =
			n->sp + random_below((unsigned int)(n->cfa - n->sp));
}

/* A random stack; heap: one Python frame an activation, as up to 3.10. */
static void generate(struct truth *t, bool marks, bool heap, bool extra)
{
	uint64_t sp = STACK_TOP;
	bool first = true;

	memset(t, 0, sizeof(*t));
	t->native_count = 1 + random_below(20);
	for (size_t i = 0; i < t->native_count; i++) {
		struct merge_native *n = &t->natives[i];

		n->ip = 0x400000 + 0x10 * i;
		n->sp = sp;
		sp += 8 * (1 + random_below(40));
		n->cfa = sp;
		n->is_eval = !random_below(3);
		if (!n->is_eval)
			continue;
		if (first && extra)
			t->extra = true;
		else
			add_activation(t, i, heap ? 1 : 1 + random_below(3),
				       marks);
		first = false;
	}
}

static enum merge_evidence true_evidence(void *arg, size_t native,
					 uint64_t frame)
{
	const struct truth *t = arg;

	for (size_t i = 0; i < t->frame_count; i++)
		if (t->frames[i].frame == frame)
			return t->runs[i] == native ? MERGE_YES : MERGE_NO;
	return MERGE_UNKNOWN;
}

/* The inputs that a recorder would have: the first so many of each. */
static struct merge_input view_of(struct truth *t, size_t natives,
				  size_t frames)
{
	return (struct merge_input){
		.natives = t->natives,
		.native_count = natives,
		.native_complete = natives == t->native_count,
		.eval_known = true,
		.frames = t->frames,
		.frame_count = frames,
		.python_complete = frames == t->frame_count,
		.arg = t,
	};
}

struct list {
	uint64_t addresses[3 * MAX];
	size_t count;
};

static void put(struct list *list, uint64_t address)
{
	list->addresses[list->count++] = address;
}

/* Frames up to and with those that natives[native] runs. */
static void put_frames(struct list *list, const struct truth *t,
		       const struct merge_input *in, size_t native,
		       size_t *next)
{
	while (*next < in->frame_count && t->runs[*next] <= native) {
		put(list, t->frames[*next].address);
		if (++*next == in->frame_count && !in->python_complete)
			put(list, KAA_MARKER_UNREADABLE);
	}
}

static struct list expected(const struct truth *t, const struct merge_input *in)
{
	struct list list = {};
	size_t next = 0;
	bool marked = in->python_complete || in->frame_count;

	for (size_t i = 0; i < in->native_count; i++) {
		put(&list, t->natives[i].ip);
		put_frames(&list, t, in, i, &next);
		if (!marked && t->natives[i].is_eval) {
			put(&list, KAA_MARKER_UNREADABLE);
			marked = true;
		}
	}
	put_frames(&list, t, in, SIZE_MAX - 1, &next);
	if (!marked)
		put(&list, KAA_MARKER_UNREADABLE);
	if (!in->native_complete)
		put(&list, KAA_MARKER_TRUNCATED);
	return list;
}

static bool is_marker(uint64_t address)
{
	return address == KAA_MARKER_TRUNCATED ||
	       address == KAA_MARKER_UNREADABLE ||
	       address == KAA_MARKER_NOT_ALIGNED;
}

/* All natives and all frames are there, each in order, no more. */
static void check_nothing_dropped(const struct merge_input *in,
				  const struct merge_chain *chain)
{
	size_t native = 0, frame = 0;

	for (size_t i = 0; i < chain->addresses.count; i++) {
		uint64_t a = chain->addresses.data[i];

		if (is_marker(a))
			continue;
		if (native < in->native_count && a == in->natives[native].ip) {
			native++;
			continue;
		}
		assert_true(frame < in->frame_count);
		assert_int_equal(a, in->frames[frame].address);
		frame++;
	}
	assert_int_equal(native, in->native_count);
	assert_int_equal(frame, in->frame_count);
}

static size_t count_of(const struct merge_chain *chain, uint64_t address)
{
	size_t n = 0;

	for (size_t i = 0; i < chain->addresses.count; i++)
		n += chain->addresses.data[i] == address;
	return n;
}

static void check_markers(const struct merge_input *in,
			  const struct merge_chain *chain)
{
	assert_int_equal(count_of(chain, KAA_MARKER_TRUNCATED),
			 !in->native_complete);
	assert_int_equal(!!(chain->flags & MERGE_TRUNCATED),
			 !in->native_complete);
	assert_int_equal(count_of(chain, KAA_MARKER_UNREADABLE),
			 !in->python_complete);
	assert_int_equal(count_of(chain, KAA_MARKER_NOT_ALIGNED),
			 !!(chain->flags & MERGE_NOT_ALIGNED));
}

/* Merges; returns true if the result is aligned, and then is the truth. */
static bool check_view(const struct truth *t, const struct merge_input *in)
{
	static struct merge_chain chain;
	struct list list = expected(t, in);

	assert_null(merge_stacks(in, &chain));
	check_nothing_dropped(in, &chain);
	check_markers(in, &chain);
	if (chain.flags & MERGE_NOT_ALIGNED) {
		merge_chain_deinit(&chain);
		return false;
	}
	assert_int_equal(chain.addresses.count, list.count);
	assert_memory_equal(chain.addresses.data, list.addresses,
			    list.count * sizeof(uint64_t));
	merge_chain_deinit(&chain);
	return true;
}

/* Native stacks cut at every point, and Python stacks too if python. */
static void check_all_cuts(struct truth *t, bool python, bool evidence,
			   size_t *unaligned)
{
	for (size_t n = 0; n <= t->native_count; n++) {
		for (size_t p = python ? 0 : t->frame_count;
		     p <= t->frame_count; p++) {
			struct merge_input in = view_of(t, n, p);

			if (evidence)
				in.eval_runs_frame = true_evidence;
			*unaligned += !check_view(t, &in);
		}
	}
}

static void test_marks_align_every_cut_of_the_native_stack(void **state)
{
	size_t unaligned = 0;
	struct truth t;

	(void)state;
	for (int i = 0; i < STACKS; i++) {
		generate(&t, true, random_below(2), random_below(2));
		check_all_cuts(&t, false, false, &unaligned);
	}
	assert_int_equal(unaligned, 0);
}

static void test_marks_need_no_symbol(void **state)
{
	size_t unaligned = 0;
	struct truth t;

	(void)state;
	for (int i = 0; i < STACKS; i++) {
		generate(&t, true, false, random_below(2));
		for (size_t n = 0; n <= t.native_count; n++) {
			struct merge_input in = view_of(&t, n, t.frame_count);

			in.eval_known = false;
			for (size_t k = 0; k < n; k++)
				t.natives[k].is_eval = false;
			unaligned += !check_view(&t, &in);
		}
	}
	assert_int_equal(unaligned, 0);
}

static void test_counting_aligns_complete_stacks(void **state)
{
	size_t extra = 0;
	struct truth t;

	(void)state;
	for (int i = 0; i < STACKS; i++) {
		struct merge_input in;

		generate(&t, false, random_below(2), random_below(2));
		in = view_of(&t, t.native_count, t.frame_count);
		assert_true(check_view(&t, &in));
		extra += t.extra;
	}
	assert_true(extra > STACKS / 10);
}

static void test_evidence_aligns_every_cut(void **state)
{
	size_t unaligned = 0;
	struct truth t;

	(void)state;
	for (int i = 0; i < STACKS / 4; i++) {
		generate(&t, random_below(2), random_below(2),
			 random_below(2));
		check_all_cuts(&t, true, true, &unaligned);
	}
	assert_int_equal(unaligned, 0);
}

/*
 * Any of the marks may be missing: 3.10 has taken the innermost off its list
 * some instructions before the frame goes.
 */
static void test_missing_marks_are_filled_in(void **state)
{
	size_t unaligned = 0, leading = 0;
	struct truth t;

	(void)state;
	for (int i = 0; i < STACKS; i++) {
		bool only_first = random_below(2), missing = false;
		struct merge_input in;

		generate(&t, true, random_below(2), random_below(2));
		for (size_t f = 0; f < t.frame_count; f++) {
			if (only_first ? missing : random_below(2))
				continue;
			missing |= t.frames[f].is_entry;
			t.frames[f].entry_addr = 0;
		}
		in = view_of(&t, t.native_count, t.frame_count);
		assert_true(check_view(&t, &in));
		/* Cut stacks: never wrong. */
		if (only_first)
			check_all_cuts(&t, false, false, &leading);
		else
			check_all_cuts(&t, true, false, &unaligned);
	}
	assert_true(leading < unaligned);
}

static void test_chains_of_frame_pointers_are_counted(void **state)
{
	struct truth t;

	(void)state;
	for (int i = 0; i < STACKS; i++) {
		struct merge_input in;

		generate(&t, true, random_below(2), random_below(2));
		for (size_t k = 0; k < t.native_count; k++)
			t.natives[k].sp = t.natives[k].cfa = 0;
		in = view_of(&t, t.native_count, t.frame_count);
		assert_true(check_view(&t, &in));
	}
}

/* check_view() fails on any chain that is wrong and not marked. */
static void test_without_evidence_nothing_is_guessed(void **state)
{
	size_t unaligned = 0;
	struct truth t;

	(void)state;
	for (int i = 0; i < STACKS / 4; i++) {
		generate(&t, random_below(2), random_below(2),
			 random_below(2));
		check_all_cuts(&t, true, false, &unaligned);
	}
	assert_true(unaligned > 0);
}

static void hide_first_call(struct truth *t)
{
	for (size_t i = 0; i < t->native_count; i++) {
		if (t->natives[i].is_eval) {
			t->natives[i].is_eval = false;
			return;
		}
	}
}

/* Complete stacks with a call too few, or two calls too many. */
static void test_contradictions_are_marked(void **state)
{
	static struct merge_chain chain;
	struct truth t;

	(void)state;
	for (int i = 0; i < STACKS; i++) {
		struct merge_input in;

		generate(&t, false, true, false);
		if (t.frame_count < 3)
			continue;
		in = view_of(&t, t.native_count, t.frame_count);
		if (i & 1)
			hide_first_call(&t);
		else
			in.frame_count -= 2;
		assert_null(merge_stacks(&in, &chain));
		check_nothing_dropped(&in, &chain);
		check_markers(&in, &chain);
		assert_true(chain.flags & MERGE_NOT_ALIGNED);
	}
	merge_chain_deinit(&chain);
}

static void test_mark_in_no_frame_is_not_trusted(void **state)
{
	struct merge_native natives[] = {
		{ 0x1000, 0x7000, 0x7100, true },
		{ 0x2000, 0x7100, 0x7200, false },
	};
	struct merge_python frames[] = { { 0x6b6100010001, 1, 0x9000, true } };
	struct merge_input in = { natives, 2, true, true, frames, 1, true };
	uint64_t want[] = { 0x1000, 0x6b6100010001, KAA_MARKER_NOT_ALIGNED,
			    0x2000 };
	struct merge_chain chain = {};

	(void)state;
	assert_null(merge_stacks(&in, &chain));
	assert_int_equal(chain.addresses.count, 4);
	assert_memory_equal(chain.addresses.data, want, sizeof(want));
	merge_chain_deinit(&chain);
}

/* Two frames of another interpreter's thread state are on the same stack. */
static void test_calls_without_frames_stay_native(void **state)
{
	struct merge_native natives[] = {
		{ 0x1000, 0x7000, 0x7100, true },
		{ 0x2000, 0x7100, 0x7200, false },
		{ 0x3000, 0x7200, 0x7300, true },
		{ 0x4000, 0x7300, 0x7400, true },
	};
	struct merge_python frames[] = { { 0x6b6100010001, 1, 0x7080, true } };
	struct merge_input in = { natives, 4, true, true, frames, 1, true };
	uint64_t want[] = { 0x1000, 0x6b6100010001, 0x2000, 0x3000, 0x4000 };
	struct merge_chain chain = {};

	(void)state;
	assert_null(merge_stacks(&in, &chain));
	assert_int_equal(chain.flags, 0);
	assert_int_equal(chain.addresses.count, 5);
	assert_memory_equal(chain.addresses.data, want, sizeof(want));
	/* Without the mark there is no telling. */
	frames[0].entry_addr = 0;
	assert_null(merge_stacks(&in, &chain));
	assert_true(chain.flags & MERGE_NOT_ALIGNED);
	merge_chain_deinit(&chain);
}

static void test_flags(void **state)
{
	struct merge_native natives[] = {
		{ 0x1000, 0x7000, 0x7100, true },
		{ 0x2000, 0x7100, 0x7200, true },
	};
	struct merge_python frames[] = {
		{ 0x6b6100010001, 1, 0x7180, true },
		{ 0x6b6100010003, 2, 0x8000, true },
	};
	struct merge_input in = { natives, 2, false, true, frames, 2, true };
	struct merge_chain chain = {};

	(void)state;
	assert_null(merge_stacks(&in, &chain));
	assert_int_equal(chain.flags, MERGE_EXTRA_CALL | MERGE_BEYOND_NATIVE |
					      MERGE_TRUNCATED);
	merge_chain_deinit(&chain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks_align_every_cut_of_the_native_stack),
		cmocka_unit_test(test_marks_need_no_symbol),
		cmocka_unit_test(test_counting_aligns_complete_stacks),
		cmocka_unit_test(test_evidence_aligns_every_cut),
		cmocka_unit_test(test_missing_marks_are_filled_in),
		cmocka_unit_test(test_chains_of_frame_pointers_are_counted),
		cmocka_unit_test(test_without_evidence_nothing_is_guessed),
		cmocka_unit_test(test_contradictions_are_marked),
		cmocka_unit_test(test_mark_in_no_frame_is_not_trusted),
		cmocka_unit_test(test_calls_without_frames_stay_native),
		cmocka_unit_test(test_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
