/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much CPU time there was, and how much of it samples stand for.
 *
 * Where the clocks of CPUs are filtered by the walker, the periods of samples are
 * set at the end of each round, so that their sum follows the CPU time that the
 * kernel has counted. Where each thread has a clock of its own, periods stay as
 * they are, and what is missing is said. docs/clock.md says why.
 *
 * Functions return an error only if the recording cannot go on. Not thread-safe.
 */
#ifndef KAA_COLLECT_CPU_TIME_H
#define KAA_COLLECT_CPU_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "collect/output.h"
#include "collect/python_source.h"
#include "collect/sampler.h"

/* A sample that gets its period when the round ends. */
struct clock_sample {
	/* Where it begins in output.bytes. */
	size_t offset;
	/* How its clock ticked, in ns. */
	uint64_t period;
};

struct clock_of_cpu {
	/* In ns; 0: as all. */
	uint64_t period;
	/* It had samples. */
	bool has_ticked;
};

/* One event's samples. */
struct clock_account {
	/* What a sample stands for, in ns; 0: the event is no clock. */
	uint64_t period;
	/* By index of sampler.cpus. */
	VEC(struct clock_of_cpu) cpus;
	/* It ticks for each CPU. */
	bool by_cpu;
	/* And the sum of periods shall be the CPU time. */
	bool balanced;
	/* What all samples up to this round stand for, in ns. */
	uint64_t given;
	/* How their clocks ticked, and those of this round: sums, in ns. */
	uint64_t ticked;
	uint64_t round_ticked;
	/* This round's, if it is by_cpu. */
	VEC(struct clock_sample) samples;
};

struct cpu_time {
	/* Borrowed. */
	const struct sampler *sampler;
	struct source_state *source;
	struct output *output;

	/* By index of the user's events. */
	VEC(struct clock_account) events;
	/* The event whose samples are held against the CPU time; none: all. */
	size_t judged;
	/* Counting events of the recorded threads. */
	VEC(int) counters;
	/* Of what was followed: when sampling began, and when it ended. */
	uint64_t begun;
	uint64_t ended;
	bool is_over;
	/* The CPU time up to the round at hand. */
	uint64_t ran;
};

/* In ns. */
struct cpu_time_result {
	/* 0: not known. */
	uint64_t ran;
	uint64_t without_samples;
	/* As much may be missing by chance. */
	uint64_t by_chance;
	/* Threads and processes that could not be followed. */
	uint64_t missed;
};

/* Of a sampler that is open; the other fields are zero. */
struct error *cpu_time_open(struct cpu_time *cpu_time);
void cpu_time_close(struct cpu_time *cpu_time);

/* The events are enabled, or disabled. */
void cpu_time_begin(struct cpu_time *cpu_time);
void cpu_time_end(struct cpu_time *cpu_time);

/*
 * The event's clock of a CPU ticks otherwise from now on, in ns. cpu: an index of
 * sampler.cpus, as below.
 */
void cpu_time_set_period(struct cpu_time *cpu_time, size_t event, size_t cpu,
			 uint64_t period);

/* Since this was asked last, or sampling began; cpu: as above. */
bool cpu_time_has_ticked(struct cpu_time *cpu_time, size_t event, size_t cpu);

/* A sample of the user's event begins there in output.bytes. */
struct error *cpu_time_sampled(struct cpu_time *cpu_time, size_t event,
			       size_t cpu, size_t offset);
/*
 * When the rings are looked at: the round's samples stand for what was until then,
 * and not for the time that it takes to handle them.
 */
void cpu_time_begin_round(struct cpu_time *cpu_time);
/* Before the output writes the round. */
void cpu_time_end_round(struct cpu_time *cpu_time);

struct cpu_time_result cpu_time_result(const struct cpu_time *cpu_time);

/*
 * What a sample stands for whose clock ticked with this period, if ticks so far
 * stand for `scale` times as much, and so many samples lack so much CPU time beside
 * that; it may be negative.
 */
uint64_t cpu_time_share(double scale, double missing, size_t samples,
			uint64_t period);

#endif
