/* SPDX-License-Identifier: GPL-2.0-only */
/* What samples that came too late (FAULT_LATE of base/faults.h) leave open. */
#ifndef KAA_BASE_LATE_SAMPLES_H
#define KAA_BASE_LATE_SAMPLES_H

#include <stdint.h>

/*
 * By how many points shares may be off where so many samples came too late, beside those
 * that were taken. Nobody knows where the late ones would have been: all in one function,
 * or none. Samples stand for about the same time.
 */
static inline double late_samples_points(uint64_t late, uint64_t taken)
{
	return late ? 100.0 * (double)late / ((double)late + (double)taken) : 0;
}

#endif
