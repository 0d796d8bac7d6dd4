// SPDX-License-Identifier: GPL-2.0-only
/* The time, from the vdso. */
#include <time.h>

#include "cpu_time.h"

enum { TIMES = 10000 };

int main(void)
{
	struct timespec now;

	for (double end = cpu_time() + 0.15; cpu_time() < end;) {
		for (int i = 0; i < TIMES; i++)
			clock_gettime(CLOCK_MONOTONIC, &now);
	}
	return 0;
}
