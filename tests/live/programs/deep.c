// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recursion deeper than a chain of perf's is long; a process that changes its
 * name, and its program twice.
 */
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cpu_time.h"

#define CALLED __attribute__((noinline, noclone))

enum { DEPTH = 200, LESS = 60, PROGRAMS = 3 };

static volatile unsigned long sink;

CALLED static void burn(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * i;
}

CALLED static void down(int depth)
{
	burn(depth % 16 ? 30 : 5000);
	if (depth)
		down(depth - 1);
	sink++;
}

int main(int argc, char **argv)
{
	int number = argc > 1 ? atoi(argv[1]) : 0;
	char next[] = { (char)('1' + number), '\0' };

	/* A longer name, then a shorter one. */
	prctl(PR_SET_NAME, number ? "less" : "the first name");
	for (double end = cpu_time() + 0.05; cpu_time() < end;)
		down(DEPTH - LESS * number);
	if (number + 1 < PROGRAMS)
		execl("/proc/self/exe", argv[0], next, NULL);
	return 0;
}
