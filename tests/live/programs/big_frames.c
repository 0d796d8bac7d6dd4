// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads whose functions have large arrays that they do not use: pages of the
 * stack in which nothing was ever written lie between their frames, and are
 * not in memory. Each spins for argv[1] seconds of CPU time.
 */
#include <pthread.h>
#include <stdlib.h>

#include "cpu_time.h"

#define CALLED __attribute__((noinline, noclone))

enum { THREADS = 2, UNUSED = 5 * 4096 };

static double seconds;

CALLED static unsigned long innermost(void)
{
	unsigned long sum = 0;
	double end = seen_time() + seconds;

	while (seen_time() < end)
		for (unsigned long i = 0; i < 100000; i++)
			sum += i * i ^ sum >> 3;
	return sum;
}

CALLED static unsigned long inner(volatile char *outer)
{
	volatile char unused[UNUSED];

	unused[0] = outer[0];
	return innermost() + (unsigned long)unused[0];
}

CALLED static unsigned long outer(void)
{
	volatile char unused[UNUSED];

	unused[0] = 1;
	return inner(unused) + (unsigned long)unused[0];
}

static void *run(void *unused)
{
	(void)unused;
	return (void *)outer();
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	seconds = argc > 1 ? atof(argv[1]) : 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
