/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clocks among the events of a sampler: cpu-clock and task-clock, whose samples
 * stand for CPU time. docs/clock.md says how they tick.
 */
#ifndef KAA_COLLECT_CLOCKS_H
#define KAA_COLLECT_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/sampler_options.h"

/* No clock ticks faster. Linux 6.18, perf_swevent_hrtimer(). */
#define CLOCKS_PERIOD_MIN 10000

bool clocks_is_clock(const struct sampler_options *options, size_t index);
/* Not a clock: the waits of the walker. */
bool clocks_is_off_cpu(const struct sampler_event *event);
bool clocks_has_off_cpu(const struct sampler_options *options);
/* A clock that is in no group. */
bool clocks_is_alone(const struct sampler_options *options, size_t index);
/* There are clocks, and all that it records may be told apart on a CPU. */
bool clocks_can_be_by_cpu(const struct sampler_options *options);
/* It has a frequency, not a count. */
bool clocks_has_frequency(const struct sampler_options *options, size_t index);
/* What a tick stands for, in ns; never 0. */
uint64_t clocks_period(const struct sampler_options *options, size_t index);

#endif
