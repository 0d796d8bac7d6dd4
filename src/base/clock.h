/* SPDX-License-Identifier: GPL-2.0-only */
/* The time that passes: for waiting and for limits, not for dates. */
#ifndef KAA_BASE_CLOCK_H
#define KAA_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* ms of CLOCK_MONOTONIC. */
static inline int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Of dates, too: until 2262. */
static inline int64_t timespec_ns(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

#endif
