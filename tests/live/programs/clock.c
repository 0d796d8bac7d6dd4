// SPDX-License-Identifier: GPL-2.0-only
/* The time, from the vdso. */
#include <time.h>

enum { TIMES = 8000000 };

int main(void)
{
	struct timespec now;

	for (int i = 0; i < TIMES; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
	return 0;
}
