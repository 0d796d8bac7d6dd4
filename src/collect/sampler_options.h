/* SPDX-License-Identifier: GPL-2.0-only */
/* What a sampler is to open: the user's events, of what, and how. */
#ifndef KAA_COLLECT_SAMPLER_OPTIONS_H
#define KAA_COLLECT_SAMPLER_OPTIONS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "collect/callchain_mode.h"

struct sampler_event {
	/* type, config*, exclude_*, precise_ip and, if it has one, its period. */
	struct perf_event_attr attr;
	/* As the user typed it; borrowed. */
	const char *name;
	/* attr.sample_period or sample_freq came with the event. */
	bool has_period;
	/* Of the group of the event before it: the kernel runs all or none. */
	bool joins_group;
};

struct pid_vec VEC_BODY(pid_t);
struct cpu_vec VEC_BODY(int);

/* What a sample without an event stands for. */
enum sampled_time {
	/* Time of a thread on a CPU. */
	TIME_ON_CPU,
	/* Time of a thread, whether it runs or not. */
	TIME_BY_CLOCK,
	/* The same while it has the GIL. */
	TIME_WITH_GIL,
	/* Of each task of asyncio, and of threads that run none. */
	TIME_OF_TASKS,
};

struct sampler_options {
	const struct sampler_event *events;
	size_t event_count;
	enum callchain_mode callchain;
	/* CALLCHAIN_UNWIND, _DWARF: bytes of stack, a multiple of 8. */
	uint32_t stack_size;
	/* Samples a second; 0: `period` counts. */
	uint64_t frequency;
	uint64_t period;
	/* Of a source without events. */
	enum sampled_time time;
	/* Time by the clock: a sample of a sleep that goes on each so many ns; 0: each second. */
	uint64_t sleep_ns;
	/* With native stacks, for which such a source stops threads. */
	bool polls_native;
	/* Nobody has asked for that rate. */
	bool rate_by_default;
	/* Threads to record; empty: the whole system. */
	struct pid_vec threads;
	/* Processes of which all threads are: those may start some meanwhile. */
	struct pid_vec whole;
	/* CPUs to sample; empty: all that are online. */
	struct cpu_vec cpus;
	bool inherit;
	/* Clocks tick for each CPU, where that is possible, and with jitter. */
	bool cpu_clocks;
	/* Events start when the target calls exec. */
	bool enable_on_exec;
	/* -1: the kernel's default clock. */
	int clockid;
	/* Bytes of one CPU's ring for samples; 0: a good default. */
	size_t ring_size;
	/* Place before /sys and /proc; "" for the real ones. */
	const char *root;
};

#endif
