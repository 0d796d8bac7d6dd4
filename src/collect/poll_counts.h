/* SPDX-License-Identifier: GPL-2.0-only */
/* What a poller counts (collect/poller.h). */
#ifndef KAA_COLLECT_POLL_COUNTS_H
#define KAA_COLLECT_POLL_COUNTS_H

#include <stdint.h>

struct poll_counts {
	/* Reads that could not be proven to be of one moment. */
	uint64_t rejected;
	/* Threads met at a moment that is not by chance: too late, or off the CPU. */
	uint64_t late;
	uint64_t waited;
	/* Samples that found no room. */
	uint64_t lost;
	/* CPU time of all threads, and that which samples stand for, in ns. */
	uint64_t ran;
	uint64_t given;
	/*
	 * Time by the clock: what samples of it stand for, and what threads lived beside
	 * that, in ns.
	 */
	uint64_t told;
	uint64_t untold;
	/* For how long other programs had the CPU of threads that could run, in ns. */
	uint64_t kept_off;
	/*
	 * For how long the poller had none itself, of how long it ticked, and how far ticks
	 * were apart for that, in ns; 0 where they were not far apart.
	 */
	uint64_t own_kept_off;
	uint64_t ticked;
	uint64_t ticks_apart;
	/* Looks at threads for which there was no descriptor. */
	uint64_t missed;
	/* And at threads and processes beyond those that are followed. */
	uint64_t too_many;
	/* How often a thread was stopped for its native stack, and for how many ns in all. */
	uint64_t stopped;
	uint64_t stopped_ns;
	/* Samples without one, for the thread could not be stopped. */
	uint64_t not_stopped;
	/* Looks at threads that ran a loop of asyncio, and at tasks of an unknown build. */
	uint64_t loops;
	uint64_t unknown_tasks;
};

#endif
