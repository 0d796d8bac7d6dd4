// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions called as compilers of Rust call theirs, in the old way and in that
 * of 2019, where no such compiler is.
 */
#include "cpu_time.h"

#define CALLED __attribute__((noinline, noclone))
#define NAMED(name) __asm__(name)

static volatile unsigned long sink;

unsigned long burn(unsigned long n)
	NAMED("_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE");
unsigned long extend(unsigned long n)
	NAMED("_ZN71_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..iter..Extend$LT$T$GT$$GT$6extend17hfedcba9876543210E");
unsigned long example(unsigned long n) NAMED("_RNvC7mycrate7example");
unsigned long align_of(unsigned long n) NAMED("_RINvNtC3std3mem8align_ofjdE");
unsigned long method(unsigned long n) NAMED("_RNvMs_NtC7mycrate3modNtB4_5Thing3run");

CALLED unsigned long burn(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * i;
	return sink;
}

CALLED unsigned long extend(unsigned long n)
{
	burn(n);
	sink++;
	return burn(n / 2) + 1;
}

CALLED unsigned long example(unsigned long n)
{
	burn(n);
	extend(n);
	sink++;
	return 1;
}

CALLED unsigned long align_of(unsigned long n)
{
	example(n);
	for (unsigned long i = 0; i < n; i++)
		sink += i;
	return extend(n / 3) + 1;
}

CALLED unsigned long method(unsigned long n)
{
	burn(n / 4);
	return align_of(n) + 1;
}

int main(void)
{
	for (double end = cpu_time() + 0.08; cpu_time() < end;)
		method(100000);
	return 0;
}
