// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which pages of a stack the walker sends: bpf/stack_bytes.h and bpf/left_stack.h, on a
 * stack that is made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <linux/types.h>

/* Most of the shell that it declares is not needed for pages. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "bpf/walk.h"

enum {
	PAGES = 400,
	STACK_SIZE = 65528,
};

#define BASE UINT64_C(0x7ffd00000000)
#define END (BASE + PAGES * WALKER_PAGE)

/* The stack of the thread, and which pages of it are in memory. */
static uint8_t memory[PAGES][WALKER_PAGE];
static int is_absent[PAGES];

/* What the walker wrote last. */
static struct walker_memory written;
static size_t pages_sent, records;
static uint64_t last_key;
/* Records for which there is room. */
static size_t room;

/* Keys that were sent, and in which epoch. */
static struct {
	uint64_t key;
	uint32_t epoch;
} sent[4 * PAGES];
static size_t sent_count;

/* --- the shell --- */

static __always_inline long walk_read(void *to, __u32 size, __u64 address)
{
	uint64_t offset = address - BASE;

	memset(to, 0, size);
	if (offset >= sizeof(memory) || offset + size > sizeof(memory) ||
	    is_absent[offset / WALKER_PAGE])
		return 1;
	memcpy(to, &memory[0][0] + offset, size);
	return 0;
}

static __always_inline long walk_emit(void *ctx, void *record, __u64 size)
{
	const struct walker_header *header = record;

	assert_ptr_equal(ctx, &room);
	if (records == room)
		return 1;
	records++;
	if (header->type == WALKER_BYTES) {
		assert_int_equal(size, sizeof(struct walker_bytes));
		last_key = ((struct walker_bytes *)record)->key;
		pages_sent++;
		return 0;
	}
	assert_true(header->type == WALKER_MEMORY || header->type == WALKER_LEFT);
	memset(&written, 0, sizeof(written));
	memcpy(&written, record, size < sizeof(written) ? size : sizeof(written));
	assert_int_equal(size, offsetof(struct walker_memory, keys) +
				       written.count * sizeof(written.keys[0]));
	return 0;
}

static __always_inline long walk_loop(__u32 count, walk_loop_fn *step, void *arg)
{
	__u32 i = 0;

	while (i < count && !step(i, arg))
		i++;
	return i;
}

#define WALK_UNROLL
#define WALK_APART static

#include "bpf/stack_bytes.h"

static struct stack_bytes bytes;

static __always_inline struct stack_bytes *walk_stack_bytes(void)
{
	return &bytes;
}

static __always_inline int walk_sent_page(__u64 key, __u32 epoch)
{
	for (size_t i = 0; i < sent_count; i++)
		if (sent[i].key == key)
			return sent[i].epoch == epoch;
	return 0;
}

static __always_inline void walk_put_page(__u64 key, __u32 epoch)
{
	size_t i = 0;

	while (i < sent_count && sent[i].key != key)
		i++;
	assert_true(i < sizeof(sent) / sizeof(*sent));
	sent[i].key = key;
	sent[i].epoch = epoch;
	if (i == sent_count)
		sent_count++;
}

/* --- one sample after the other --- */

static struct walk walk;
static struct walker_setting setting;

static int begin(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	for (size_t i = 0; i < PAGES; i++)
		memory[i][8 * i % WALKER_PAGE] = (uint8_t)(1 + i / 100);
	memset(is_absent, 0, sizeof(is_absent));
	walk = (struct walk){ .pid = 7, .number = 8, .tid = 8 };
	setting = (struct walker_setting){ .stack_size = STACK_SIZE,
					    .new_pages = WALKER_MAX_PAGES };
	sent_count = 0;
	room = SIZE_MAX;
	return 0;
}

/* A sample of the thread with that many bytes of stack; how many pages were sent. */
static size_t take_sample(uint64_t depth)
{
	walk.stack_pointer = END - depth;
	pages_sent = records = 0;
	written = (struct walker_memory){};
	assert_int_equal(put_stack_bytes(&room, &walk, END, &setting), 0);
	return pages_sent;
}

static void test_what_the_kernel_copies_is_enough(void **state)
{
	(void)state;
	take_sample(50000);
	assert_int_equal(records, 0);
	setting.stack_size = 0;
	take_sample(200000);
	assert_int_equal(records, 0);
	/* Nobody knows where it ends. */
	setting.stack_size = STACK_SIZE;
	assert_int_equal(put_stack_bytes(&room, &walk, 0, &setting), 0);
	assert_int_equal(records, 0);
}

static void test_pages_up_to_the_end(void **state)
{
	uint64_t copied = END - 200000 + STACK_SIZE;

	(void)state;
	take_sample(200000);
	assert_int_equal(pages_sent, written.count);
	assert_int_equal(written.header.pid, 7);
	assert_int_equal(written.tid, 8);
	assert_int_equal(written.stack_pointer, END - 200000);
	assert_int_equal(written.start % WALKER_PAGE, 0);
	/* Not all of the copy's last pages need be copied. */
	assert_true(written.start < copied - 4096 && written.start > copied - 4 * 4096);
	assert_int_equal(written.start + written.count * WALKER_PAGE, END);
	for (size_t i = 0; i < written.count; i++)
		assert_true(written.keys[i] != 0);
	assert_int_equal(written.keys[written.count - 1], last_key);
}

/* A copy that is far shorter than a record is as long as it was asked for. */
static void test_short_copy(void **state)
{
	(void)state;
	setting.stack_size = 16384;
	take_sample(16384);
	assert_int_equal(records, 0);
	take_sample(16384 + 8);
	assert_int_equal(written.count, 1);
	assert_int_equal(written.start, END - WALKER_PAGE);
}

static void test_an_unchanged_page_is_sent_once(void **state)
{
	struct walker_memory first;

	(void)state;
	take_sample(200000);
	assert_int_equal(pages_sent, written.count);
	first = written;
	assert_int_equal(take_sample(200000), 0);
	assert_memory_equal(&first, &written, sizeof(written));
	/* Other bytes, in either half of a word, that change one after the other. */
	for (size_t i = 0; i < WALKER_PAGE; i += 41) {
		memory[PAGES - 3][i] ^= 0x80;
		assert_int_equal(take_sample(200000), 1);
		assert_int_equal(written.keys[written.count - 3], last_key);
	}
	setting.epoch++;
	take_sample(200000);
	assert_int_equal(pages_sent, written.count);
	/* The same bytes in another process. */
	walk.pid++;
	take_sample(200000);
	assert_int_equal(pages_sent, written.count);
}

/* The kernel's copy ends there, and the pages begin. */
static void test_pages_that_are_not_in_memory(void **state)
{
	size_t first = PAGES - 200000 / WALKER_PAGE - 1;

	(void)state;
	is_absent[first + 2] = is_absent[first + 20] = 1;
	take_sample(200000);
	assert_int_equal(written.start, BASE + (first + 2) * WALKER_PAGE);
	assert_int_equal(written.start + written.count * WALKER_PAGE, END);
	assert_int_equal(pages_sent, written.count - 2);
	for (size_t i = 0; i < written.count; i++)
		assert_int_equal(written.keys[i] == 0, i == 0 || i == 18);
}

static void test_a_stack_that_is_too_deep(void **state)
{
	uint64_t most = 65536 - 8192 + (WALKER_MAX_PAGES - 1) * WALKER_PAGE;

	(void)state;
	take_sample(most + 8);
	assert_int_equal(records, 0);
	take_sample(most);
	assert_true(written.count > 0);
	assert_int_equal(written.start + written.count * WALKER_PAGE, END);
}

/* Samples of a tracepoint take the last record for theirs. */
static void test_no_longer_deep(void **state)
{
	(void)state;
	take_sample(200000);
	take_sample(1000);
	assert_int_equal(records, 1);
	assert_int_equal(written.header.type, WALKER_MEMORY);
	assert_int_equal(written.count, 0);
	take_sample(1000);
	assert_int_equal(records, 0);
}

/* What found no room is sent with the next sample. */
static void test_full_ring(void **state)
{
	size_t all = take_sample(200000);

	(void)state;
	setting.epoch++;
	room = 5;
	pages_sent = records = 0;
	assert_int_not_equal(put_stack_bytes(&room, &walk, END, &setting), 0);
	assert_int_equal(pages_sent, 5);
	room = SIZE_MAX;
	assert_int_equal(take_sample(200000), all - 5);
	assert_int_equal(written.count, all);
	room = 0;
	pages_sent = records = 0;
	assert_int_not_equal(put_stack_bytes(&room, &walk, END, &setting), 0);
}

/* A sample leaves room for others: the rest of its pages come with the next ones. */
static void test_no_more_than_its_share(void **state)
{
	size_t all = take_sample(200000), done = 0;

	(void)state;
	setting.epoch++;
	setting.new_pages = 7;
	do {
		assert_int_equal(take_sample(200000), all - done < 7 ? all - done : 7);
		assert_int_equal(written.count, all);
		done += pages_sent;
		for (size_t i = 0; i < all; i++)
			assert_int_equal(written.keys[i] != 0, i < done);
	} while (done < all);
}

/* --- a stack that is left for another one --- */

/* Where what leads to the thread's greenlet is, in words from BASE on. */
enum {
	NUMBER = 20,
	SWITCHING = 21,
	MODULES = 40,
	VARIABLES = 60,
	STATE = 80,
	OBJECT = 100,
	GREENLET = 120,
	STACK = GREENLET + 7,
	COPY = 5 * WALKER_PAGE + 16,
	SAVED = 2 * WALKER_PAGE,
};

#define WORD(i) (BASE + 8 * (i))
#define LEFT (END - 3 * WALKER_PAGE)

static void put_word(size_t i, uint64_t value)
{
	memcpy(&memory[0][0] + 8 * i, &value, sizeof(value));
}

/* The second module of the program is greenlet's, in whose variables the second is it. */
static int begin_switch(void **state)
{
	begin(state);
	walk.process.switches = (struct walker_switches){
		.module = WORD(NUMBER),
		.variable = 8,
		.switching = WORD(SWITCHING),
		.stack = 56,
	};
	walk.thread_pointer = BASE;
	put_word(1, WORD(MODULES));
	put_word(NUMBER, 2);
	put_word(MODULES + 4, WORD(VARIABLES));
	put_word(VARIABLES + 1, WORD(STATE));
	put_word(STATE + 1, WORD(OBJECT));
	put_word(OBJECT + 4, WORD(GREENLET));
	put_word(GREENLET + 1, WORD(OBJECT));
	put_word(SWITCHING, WORD(GREENLET));
	put_word(STACK, LEFT);
	put_word(STACK + 1, END);
	put_word(STACK + 2, BASE + COPY);
	put_word(STACK + 3, SAVED);
	return 0;
}

static struct left_stack sample_of_switch(void)
{
	struct left_stack left;

	take_sample(1000);
	find_left(&walk, &left);
	assert_int_equal(put_left_stack(&room, &walk, &left), 0);
	return left;
}

static void test_a_stack_that_is_left(void **state)
{
	struct left_stack left = sample_of_switch();

	(void)state;
	assert_int_equal(left.start, LEFT);
	assert_int_equal(records, 4);
	assert_int_equal(written.header.type, WALKER_LEFT);
	assert_int_equal(written.tid, 8);
	assert_int_equal(written.stack_pointer, END - 1000);
	assert_int_equal(written.left, LEFT);
	assert_int_equal(written.left_size, SAVED);
	assert_int_equal(written.left_copy, BASE + COPY);
	/* The copy is in three pages. */
	assert_int_equal(written.start, BASE + 5 * WALKER_PAGE);
	assert_int_equal(written.count, 3);
	/* What the walk reads of it, too. */
	assert_int_equal(place_on_stack(&walk, LEFT - 8), LEFT - 8);
	assert_int_equal(place_on_stack(&walk, LEFT), BASE + COPY);
	assert_int_equal(place_on_stack(&walk, LEFT + SAVED - 8), BASE + COPY + SAVED - 8);
	assert_int_equal(place_on_stack(&walk, LEFT + SAVED), LEFT + SAVED);
}

/* Python's frames may be those of the stack that comes: the walk reads that. */
static void test_behind_the_switch(void **state)
{
	(void)state;
	put_word(SWITCHING, 0);
	sample_of_switch();
	assert_int_equal(written.count, 3);
	assert_int_equal(place_on_stack(&walk, LEFT), LEFT);
}

/* The other stack needs none of its memory. */
static void test_a_stack_that_stays_in_place(void **state)
{
	(void)state;
	put_word(STACK + 2, 0);
	put_word(STACK + 3, 0);
	sample_of_switch();
	assert_int_equal(written.left, LEFT);
	assert_int_equal(written.count, 0);
	assert_int_equal(place_on_stack(&walk, LEFT), LEFT);
}

static void assert_none_left(void)
{
	assert_int_equal(sample_of_switch().start, 0);
	assert_int_equal(records, 0);
	assert_int_equal(place_on_stack(&walk, LEFT), LEFT);
	begin_switch(NULL);
}

static void test_no_stack_is_left(void **state)
{
	(void)state;
	/* A greenlet that runs. */
	put_word(STACK + 3, 0);
	put_word(SWITCHING, 0);
	sample_of_switch();
	assert_true(walk.settled);
	assert_none_left();
	/* One that ends. */
	put_word(STACK, 0);
	put_word(SWITCHING, 0);
	sample_of_switch();
	assert_false(walk.settled);
	assert_none_left();
	/* What is no greenlet. */
	put_word(GREENLET + 1, WORD(OBJECT) + 8);
	assert_none_left();
	put_word(STACK + 1, LEFT + SAVED - 8);
	assert_none_left();
	put_word(STACK + 2, 0);
	assert_none_left();
	/* Greenlet has not run in this thread; nobody has told of it. */
	put_word(VARIABLES + 1, 1);
	assert_none_left();
	walk.process.switches.module = 0;
	assert_none_left();
}

/* Samples of a tracepoint take the last record for theirs. */
static void test_no_stack_is_left_any_more(void **state)
{
	(void)state;
	sample_of_switch();
	put_word(SWITCHING, 0);
	put_word(STACK + 3, 0);
	sample_of_switch();
	assert_int_equal(records, 1);
	assert_int_equal(written.header.type, WALKER_LEFT);
	assert_int_equal(written.left, 0);
	sample_of_switch();
	assert_int_equal(records, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_what_the_kernel_copies_is_enough, begin),
		cmocka_unit_test_setup(test_pages_up_to_the_end, begin),
		cmocka_unit_test_setup(test_short_copy, begin),
		cmocka_unit_test_setup(test_an_unchanged_page_is_sent_once, begin),
		cmocka_unit_test_setup(test_pages_that_are_not_in_memory, begin),
		cmocka_unit_test_setup(test_a_stack_that_is_too_deep, begin),
		cmocka_unit_test_setup(test_no_longer_deep, begin),
		cmocka_unit_test_setup(test_full_ring, begin),
		cmocka_unit_test_setup(test_no_more_than_its_share, begin),
		cmocka_unit_test_setup(test_a_stack_that_is_left, begin_switch),
		cmocka_unit_test_setup(test_behind_the_switch, begin_switch),
		cmocka_unit_test_setup(test_a_stack_that_stays_in_place, begin_switch),
		cmocka_unit_test_setup(test_no_stack_is_left, begin_switch),
		cmocka_unit_test_setup(test_no_stack_is_left_any_more, begin_switch),
	};

	return cmocka_run_group_tests_name("stack_bytes", tests, NULL, NULL);
}
