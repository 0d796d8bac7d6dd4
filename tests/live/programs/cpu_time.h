/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KAA_TESTS_CPU_TIME_H
#define KAA_TESTS_CPU_TIME_H

#include <time.h>

/*
 * Seconds of CPU time of this thread. What works for some of them, and not for
 * some rounds, has as many samples on a processor of any speed:
 *
 *	for (double end = cpu_time() + 0.1; cpu_time() < end;)
 */
__attribute__((noinline)) static double cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
