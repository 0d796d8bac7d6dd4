// SPDX-License-Identifier: GPL-2.0-only
/*
 * What test_unwind_step single-steps: many shapes of code, each of them
 * unwound at every instruction. SIGUSR2 brackets the part in which the tracer
 * also injects SIGUSR1 wherever it likes.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static volatile long sink;
static volatile sig_atomic_t hits;

NOINLINE static long leaf(long a)
{
	return a * 3 + sink;
}

NOINLINE static long recurse(long depth)
{
	long local[4] = { depth, depth + 1 };

	sink += local[depth & 1];
	if (depth == 0)
		return leaf(1);
	return recurse(depth - 1) + leaf(depth);
}

/* Uses every register that a callee preserves. */
NOINLINE static long many_registers(long a, long b, long c, long d, long e,
				    long f)
{
	long x = leaf(a), y = leaf(b), z = leaf(c), v = leaf(d), w = leaf(e);

	for (int i = 0; i < 3; i++)
		x += leaf(x ^ y) + leaf(z - v) * leaf(w + f);
	return x + y + z + v + w;
}

NOINLINE static long with_alloca(size_t n)
{
	char *p = alloca(n);

	memset(p, (int)n, n);
	return leaf(p[n / 2]) + p[0];
}

/* A stack aligned beyond 16 makes GCC write DWARF expressions. */
NOINLINE static long with_realign(long n, ...)
{
	long values[16] __attribute__((aligned(64)));
	char *p = alloca((size_t)n + 16);
	va_list args;

	va_start(args, n);
	for (int i = 0; i < 4; i++)
		values[i] = va_arg(args, long);
	va_end(args);
	memset(p, 1, (size_t)n);
	sink += values[n & 3];
	return many_registers(values[0], values[1], p[0], n, 5, 6) + values[3];
}

static int compare(const void *a, const void *b)
{
	return (int)(leaf(*(const int *)a) - leaf(*(const int *)b));
}

NOINLINE static void with_callback(void)
{
	int values[] = { 5, 2, 9, 1, 7, 3 };

	qsort(values, 6, sizeof(*values), compare);
	sink += values[2];
}

static jmp_buf jump_to;

NOINLINE static void jump_out(long depth)
{
	if (depth == 0)
		longjmp(jump_to, 1);
	if (depth > 0)
		jump_out(depth - 1);
	sink++;
}

NOINLINE static void with_longjmp(void)
{
	if (setjmp(jump_to) == 0)
		jump_out(3);
	sink += leaf(2);
}

NOINLINE static long cold_tail(long a)
{
	if (__builtin_expect(a == 12345, 0)) {
		puts("rare");
		abort();
	}
	return leaf(a) + 1;
}

static void on_signal(int signum)
{
	hits += signum;
	sink += recurse(1);
}

static void *run_thread(void *arg)
{
	sink += recurse(2);
	with_callback();
	return arg;
}

NOINLINE static void shapes(void)
{
	char text[64];

	sink += recurse(4);
	sink += many_registers(1, 2, 3, 4, 5, 6);
	sink += with_alloca(40);
	sink += with_realign(24, 1L, 2L, 3L, 4L);
	with_callback();
	with_longjmp();
	sink += cold_tail(3);
	snprintf(text, sizeof(text), "%ld %s %.3f", sink, "text", 1.5);
	sink += strtol(text, NULL, 10);
	sink += time(NULL);
}

static void handle(int signum, int flags)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = flags };

	sigaction(signum, &action, NULL);
}

int main(void)
{
	static char other_stack[64 * 1024];
	stack_t stack = { .ss_sp = other_stack,
			  .ss_size = sizeof(other_stack) };
	pthread_t thread;

	shapes();
	handle(SIGUSR1, 0);
	sigaltstack(&stack, NULL);
	handle(SIGHUP, SA_ONSTACK);
	raise(SIGUSR1);
	raise(SIGHUP);
	raise(SIGUSR2);
	shapes();
	raise(SIGUSR2);
	if (pthread_create(&thread, NULL, run_thread, NULL) == 0)
		pthread_join(thread, NULL);
	return hits ? 0 : 1;
}
