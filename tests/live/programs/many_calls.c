// SPDX-License-Identifier: GPL-2.0-only
/* Recursion, mutual recursion, threads with names, libc and the kernel. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cpu_time.h"

#define CALLED __attribute__((noinline, noclone))

enum { WORKERS = 3, NUMBERS = 20000 };

static volatile unsigned long sink;

CALLED static void leaf_a(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * i;
}

CALLED static void leaf_b(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink ^= i + 3;
}

CALLED static void leaf_c(unsigned long n)
{
	leaf_b(n / 2);
	for (unsigned long i = 0; i < n; i++)
		sink += i;
}

CALLED static void mid_one(unsigned long n)
{
	leaf_a(n);
	leaf_b(n / 2);
	sink++;
}

CALLED static void mid_two(unsigned long n)
{
	leaf_c(n);
	leaf_a(n / 8);
	leaf_b(n / 64);
	sink++;
}

CALLED static void recurse(int depth, unsigned long n)
{
	if (depth) {
		recurse(depth - 1, n);
		leaf_a(n / 10);
	} else {
		mid_two(n);
	}
	sink++;
}

CALLED static void ping(int depth, unsigned long n);

CALLED static void pong(int depth, unsigned long n)
{
	leaf_b(n / 4);
	if (depth)
		ping(depth - 1, n);
	sink++;
}

CALLED static void ping(int depth, unsigned long n)
{
	leaf_a(n / 3);
	if (depth)
		pong(depth - 1, n);
	sink++;
}

CALLED static void memory(void)
{
	size_t n = 4 << 20;
	char *p = malloc(n);

	memset(p, 1, n);
	for (size_t i = 0; i < n; i += 64)
		sink += (unsigned long)p[i];
	free(p);
}

CALLED static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

CALLED static void sorting(void)
{
	static __thread int numbers[NUMBERS];

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = rand();
	qsort(numbers, NUMBERS, sizeof(*numbers), compare);
	sink++;
}

CALLED static void system_calls(void)
{
	for (int i = 0; i < 3000; i++)
		if (write(1, "", 0))
			sink++;
}

static void *worker(void *arg)
{
	long number = (long)arg;
	char name[16];

	snprintf(name, sizeof(name), "worker-%ld", number);
	/* One keeps the name of the program. */
	if (number != 2)
		prctl(PR_SET_NAME, name);
	for (double end = cpu_time() + 0.03 * (double)number; cpu_time() < end;) {
		recurse(5 + (int)number, 200000);
		ping(6, 60000);
		sorting();
		if (number == 1)
			memory();
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[WORKERS];

	for (long i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
	for (double end = cpu_time() + 0.08; cpu_time() < end;) {
		mid_one(300000);
		mid_two(300000);
		recurse(3, 100000);
		system_calls();
		memory();
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
