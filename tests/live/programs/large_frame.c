// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library for Python's ctypes: a function with 200 KiB of local variables that
 * works for some seconds of CPU time, as routines of linear algebra do.
 */
#include <string.h>

#include "cpu_time.h"

#define CALLED __attribute__((noinline, noclone))

enum { LARGE = 200 << 10 };

CALLED static unsigned long innermost(double seconds)
{
	unsigned long sum = 0;
	double end = seen_time() + seconds;

	while (seen_time() < end)
		for (unsigned long i = 0; i < 100000; i++)
			sum += i * i ^ sum >> 3;
	return sum;
}

/* Its pages were all written. */
CALLED unsigned long filled(double seconds)
{
	volatile char large[LARGE];

	memset((void *)large, 1, sizeof(large));
	return innermost(seconds) + (unsigned long)large[0];
}

/* Most of its pages are not in memory. */
CALLED unsigned long unused(double seconds)
{
	volatile char large[LARGE];

	large[LARGE / 2] = 1;
	return innermost(seconds) + (unsigned long)large[LARGE / 2];
}
