// SPDX-License-Identifier: GPL-2.0-only
/* Functions inlined into each other, below recursion deeper than perf can draw lines for. */
#include <sys/prctl.h>

#include "cpu_time.h"

#define INLINED static inline __attribute__((always_inline))
#define CALLED static __attribute__((noinline, noclone))

enum { DEPTH = 60 };

static volatile unsigned long sink;

INLINED void innermost(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * n;
}

INLINED void between(unsigned long n)
{
	innermost(n);
	sink++;
}

CALLED void outermost(unsigned long n)
{
	between(n);
	sink++;
}

CALLED void recurse(int depth)
{
	outermost(2000);
	if (depth)
		recurse(depth - 1);
	innermost(100);
	sink++;
}

int main(void)
{
	for (double end = cpu_time() + 0.05; cpu_time() < end;)
		recurse(DEPTH);
	prctl(PR_SET_NAME, "second half");
	for (double end = cpu_time() + 0.05; cpu_time() < end;)
		recurse(DEPTH);
	return 0;
}
