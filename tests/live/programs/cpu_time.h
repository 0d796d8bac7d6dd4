/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KAA_TESTS_CPU_TIME_H
#define KAA_TESTS_CPU_TIME_H

#include <sys/resource.h>

/* glibc has it for _GNU_SOURCE alone. */
#ifndef RUSAGE_THREAD
#define RUSAGE_THREAD 1
#endif

/*
 * Seconds of CPU time of this thread. What works for some of them, and not for
 * some rounds, has as many samples on a processor of any speed:
 *
 *	for (double end = cpu_time() + 0.1; cpu_time() < end;)
 *
 * Not by clock_gettime(), whose part in the vdso perf shows in ways of its own.
 */
__attribute__((noinline)) static double cpu_time(void)
{
	struct rusage used;

	getrusage(RUSAGE_THREAD, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/*
 * The same without what a hypervisor took: that counts as CPU time, too, but has
 * no samples. It is a long step between two calls, so there have to be short ones.
 */
__attribute__((noinline, unused)) static double seen_time(void)
{
	static __thread double before, seen;
	double now = cpu_time();

	seen += now - before < 0.002 ? now - before : 0.002;
	before = now;
	return seen;
}

#endif
