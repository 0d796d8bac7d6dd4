// SPDX-License-Identifier: GPL-2.0-only
/*
 * A walk that takes from the walk before it gives what a whole walk gives: on
 * stacks of this very program, one after the other, with words, registers,
 * mappings and the size of the copy changed at random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <ucontext.h>

#include "unwind/last_walk.h"
#include "unwind_process.h"

enum {
	SHOTS = 96,
	COPY = 24 * 1024,
	MAX_FRAMES = 256,
	MAX_NESTED = 16,
	ROUNDS = 60000,
	ALT_STACK = 256 * 1024,
};

/* What a sample has. */
struct shot {
	struct unwind_regs regs;
	uint64_t start;
	size_t size;
	uint8_t copy[COPY];
};

static struct shot *shots;
static size_t n_shots;
static uint64_t seed = 0x9e3779b97f4a7c15;
static volatile unsigned long sink;

static uint64_t number(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/*
 * ---- stacks ----
 */

static void regs_from_context(const ucontext_t *context,
			      struct unwind_regs *ret)
{
	/* uc_mcontext.gregs by DWARF number. */
	static const uint8_t greg[UNWIND_REGS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
		REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
		REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};

	*ret = (struct unwind_regs){};
	for (int i = 0; i < UNWIND_REGS; i++)
		unwind_reg_set(ret, i,
			       (uint64_t)context->uc_mcontext.gregs[greg[i]]);
}

__attribute__((noinline, no_sanitize("address"))) static void capture(void)
{
	struct shot *shot = &shots[n_shots];
	ucontext_t context;

	if (n_shots == SHOTS)
		return;
	n_shots++;
	getcontext(&context);
	regs_from_context(&context, &shot->regs);
	shot->start = shot->regs.value[UNWIND_RSP];
	for (shot->size = COPY; shot->size; shot->size -= 512) {
		struct iovec local = { shot->copy, shot->size };
		struct iovec remote = { (void *)(uintptr_t)shot->start,
					shot->size };

		if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) ==
		    (ssize_t)shot->size)
			break;
	}
}

static void descend(int depth);

/* Called by code that knows no depth, such as a signal's: not without end. */
static void descend_anew(void)
{
	static unsigned int nested;

	nested++;
	descend(nested < MAX_NESTED ? (int)number(6) : 0);
	nested--;
}

static int compare(const void *a, const void *b)
{
	descend_anew();
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void by_qsort(int depth)
{
	int two[2] = { 2, depth % 2 };

	qsort(two, 2, sizeof(*two), compare);
	sink += (unsigned long)two[0];
}

__attribute__((noinline)) static void by_array(int depth)
{
	char *local = __builtin_alloca(16 * (1 + number(8)));

	local[0] = (char)depth;
	descend(depth - 1);
	sink += (unsigned char)local[0];
}

__attribute__((noinline)) static unsigned long
by_values(int depth, unsigned long a, unsigned long b, unsigned long c,
	  unsigned long d)
{
	descend(depth - 1);
	return a + b * c - d;
}

static void on_signal(int signum)
{
	(void)signum;
	descend_anew();
}

__attribute__((noinline)) static void descend(int depth)
{
	if (depth <= 0) {
		capture();
		return;
	}
	switch (number(8)) {
	case 0:
		by_qsort(depth);
		break;
	case 1:
		raise(SIGUSR1);
		break;
	case 2:
		raise(SIGUSR2);
		break;
	case 3:
	case 4:
		by_array(depth);
		break;
	default:
		sink += by_values(depth, number(9), number(9), sink,
				  (unsigned long)depth);
	}
	if (number(3) == 0)
		descend(depth - 1);
}

/* Handlers on the thread's stack, and on one of their own. */
static void take_shots(void)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_NODEFER };
	stack_t alternative = { .ss_sp = malloc(ALT_STACK),
				.ss_size = ALT_STACK };

	shots = calloc(SHOTS, sizeof(*shots));
	assert_non_null(shots);
	assert_non_null(alternative.ss_sp);
	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags |= SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	sigaltstack(&alternative, NULL);
	while (n_shots < SHOTS)
		descend(10 + (int)number(20));
	alternative.ss_flags = SS_DISABLE;
	sigaltstack(&alternative, NULL);
	free(alternative.ss_sp);
}

/*
 * ---- walks ----
 */

/* The program's mappings, of which some are gone in a second space. */
struct world {
	struct test_process process;
	bool without_libc;
};

static bool find_map(void *arg, uint64_t address, struct unwind_map *ret)
{
	struct world *world = arg;

	if (!test_process_find_map(&world->process, address, ret))
		return false;
	for (size_t i = 0; i < world->process.n_maps; i++) {
		const struct test_map *map = &world->process.maps[i];

		if (world->without_libc && map->start == ret->start &&
		    map->module && strstr(map->module->path, "libc.so"))
			return false;
	}
	return true;
}

static bool read_code(void *arg, uint64_t address, void *buf, size_t size)
{
	struct world *world = arg;
	struct unwind_map map;

	return find_map(arg, address, &map) &&
	       test_process_read(&world->process, address, buf, size);
}

struct both {
	struct world world;
	struct unwinder *whole;
	struct unwinder *again;
	struct unwind_trace trace;
	unsigned int ends[UNWIND_SWITCHING + 1];
};

static void check_regs(const struct unwind_trace *trace, size_t i,
		       const struct unwind_regs *regs)
{
	const struct unwind_link *link = &trace->links[i];

	assert_int_equal(link->known & UNWIND_PRESERVED_MASK,
			 regs->known & UNWIND_PRESERVED_MASK);
	for (size_t r = 0; r < UNWIND_PRESERVED; r++) {
		unsigned int reg = unwind_preserved_regs[r];

		if (!unwind_reg_known(regs, reg))
			continue;
		assert_int_equal(link->preserved[r], regs->value[reg]);
		assert_true(unwind_trace_holds(trace, i, regs->value[reg]));
	}
}

static void walk_both(struct both *both, const struct shot *shot, size_t max)
{
	static struct unwind_frame frames[MAX_FRAMES];
	static struct unwind_regs saved[MAX_FRAMES];
	struct unwind_target target = {
		.space = both->world.without_libc ? 2 : 1,
		.find_map = find_map,
		.read = read_code,
		.arg = &both->world,
	};
	struct unwind_stack stack = { shot->start, { shot->copy, shot->size } };
	enum unwind_end end, again;
	size_t count;

	end = unwind_stack(both->whole, &target, &shot->regs, &stack, frames,
			   saved, max, &count);
	again = unwind_stack_again(both->again, &target, &shot->regs, &stack,
				   &both->trace, max);
	both->ends[end]++;
	assert_int_equal(again, end);
	assert_int_equal(both->trace.count, count);
	for (size_t i = 0; i < count; i++) {
		const struct unwind_frame *a = &frames[i];
		const struct unwind_frame *b = &both->trace.frames[i];

		assert_int_equal(a->ip, b->ip);
		assert_int_equal(a->sp, b->sp);
		assert_int_equal(a->cfa, b->cfa);
		assert_int_equal(a->flags, b->flags);
		check_regs(&both->trace, i, &saved[i]);
	}
}

static void both_init(struct both *both)
{
	*both = (struct both){ .world.process.pid = getpid() };
	test_process_refresh(&both->world.process);
	assert_null(unwinder_create(&both->whole));
	assert_null(unwinder_create(&both->again));
	if (!shots)
		take_shots();
}

static void both_deinit(struct both *both)
{
	unwind_trace_deinit(&both->trace);
	unwinder_destroy(both->whole);
	unwinder_destroy(both->again);
	test_process_deinit(&both->world.process);
}

static uint64_t reused(const struct both *both)
{
	struct unwind_stats stats;

	unwinder_stats(both->again, &stats);
	return stats.reused;
}

/* A word becomes another one of the stack, its neighbour, or nonsense. */
static void change_word(struct shot *shot)
{
	size_t at = 8 * number(shot->size / 8), from = 8 * number(shot->size / 8);
	uint64_t word;

	memcpy(&word, shot->copy + (number(2) ? at : from), 8);
	if (number(3) == 0)
		word += 8 * number(5) - 16;
	if (number(8) == 0)
		word = number(UINT64_MAX);
	memcpy(shot->copy + at, &word, 8);
}

static void change(struct shot *shot)
{
	for (uint64_t n = number(12); n; n--)
		change_word(shot);
	if (number(4) == 0)
		shot->regs.value[unwind_preserved_regs[number(UNWIND_PRESERVED)]] +=
			8 * number(4);
	if (number(8) == 0)
		shot->regs.known &= ~(1u << unwind_preserved_regs[number(
					      UNWIND_PRESERVED)]);
	if (number(6) == 0)
		shot->size = 8 * number(shot->size / 8);
}

/* A sample like the one before has its callers from there. */
static void test_same_stack(void **state)
{
	struct both both;

	(void)state;
	both_init(&both);
	walk_both(&both, &shots[0], MAX_FRAMES);
	walk_both(&both, &shots[0], MAX_FRAMES);
	/* All but the ends, and what signals interrupted. */
	assert_true(reused(&both) > both.trace.count / 2);
	both_deinit(&both);
}

/* Nothing is taken where the mappings are others, or are not known. */
static void test_other_mappings(void **state)
{
	struct both both;

	(void)state;
	both_init(&both);
	walk_both(&both, &shots[0], MAX_FRAMES);
	both.world.without_libc = true;
	walk_both(&both, &shots[0], MAX_FRAMES);
	assert_int_equal(reused(&both), 0);
	unwind_trace_clear(&both.trace);
	walk_both(&both, &shots[0], MAX_FRAMES);
	assert_int_equal(reused(&both), 0);
	both_deinit(&both);
}

/* One stack after another, as a thread has them. */
static void test_next_stack(void **state)
{
	struct both both;

	(void)state;
	both_init(&both);
	for (size_t i = 0; i < SHOTS; i++)
		walk_both(&both, &shots[i], MAX_FRAMES);
	assert_true(reused(&both) > SHOTS);
	both_deinit(&both);
}

static void test_changed_stacks(void **state)
{
	static struct shot shot;
	struct both both;
	size_t at = 0;

	(void)state;
	both_init(&both);
	for (int i = 0; i < ROUNDS; i++) {
		/* The same stack for a while, or another thread's. */
		if (number(4) == 0)
			at = number(SHOTS);
		shot = shots[at];
		if (number(4))
			change(&shot);
		both.world.without_libc = number(16) == 0;
		walk_both(&both, &shot, number(8) ? MAX_FRAMES : 1 + number(20));
	}
	print_message("%llu frames taken from the walk before\n",
		      (unsigned long long)reused(&both));
	assert_true(reused(&both) > ROUNDS);
	assert_true(both.ends[UNWIND_COMPLETE] > ROUNDS / 100);
	assert_true(both.ends[UNWIND_TRUNCATED] > ROUNDS / 100);
	assert_true(both.ends[UNWIND_BAD_ADDRESS] > ROUNDS / 100);
	assert_true(both.ends[UNWIND_LIMIT] > ROUNDS / 100);
	both_deinit(&both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_stack),
		cmocka_unit_test(test_other_mappings),
		cmocka_unit_test(test_next_stack),
		cmocka_unit_test(test_changed_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
