/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers by chance, for what is not to beat with a program; nothing secret. */
#ifndef KAA_BASE_RANDOM_H
#define KAA_BASE_RANDOM_H

#include <stdint.h>
#include <sys/random.h>

/* xorshift64. *state: 0 before the first call; one caller at a time. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	if (!x && getrandom(&x, sizeof(x), 0) != sizeof(x))
		x = 0;
	x = x ? x : 1;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

#endif
