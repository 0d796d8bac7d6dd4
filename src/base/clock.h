/* SPDX-License-Identifier: GPL-2.0-only */
/* The time that passes: for waiting and for limits, not for dates. */
#ifndef KAA_BASE_CLOCK_H
#define KAA_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Of dates, too: until 2262. */
static inline int64_t timespec_ns(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/* 0: there is no such clock. */
static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec now = {};

	clock_gettime(clock, &now);
	return timespec_ns(&now);
}

/* ms of CLOCK_MONOTONIC. */
static inline int64_t clock_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

#endif
