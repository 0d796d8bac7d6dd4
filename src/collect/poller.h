/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that samples processes from outside, without any right, and without
 * stopping them (docs/poll.md): at each tick it reads the Python frames of the
 * threads that have run since, and fills the rings of a sampler.
 *
 * The functions are for the recorder's thread.
 */
#ifndef KAA_COLLECT_POLLER_H
#define KAA_COLLECT_POLLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "bpf/walker_shared.h"
#include "collect/poll_counts.h"
#include "collect/sampler.h"

/* Samples a second if no rate is asked for: reading costs the program some CPU time, too. */
#define POLLER_DEFAULT_RATE 999
/* And of tasks, of which one look reads many. */
#define POLLER_ASYNC_RATE 199

struct poller;

/* ERROR_UNSUPPORTED says why this machine cannot do it. */
struct error *poller_create(struct poller **ret);
void poller_destroy(struct poller *poller);

/* The sampler is open, and its options say whom to sample, and how often. */
struct error *poller_attach(struct poller *poller, struct sampler *sampler);

/* As struct sampler_producer has them. */
struct error *poller_enable(void *poller, bool samples);
void poller_disable(void *poller);
uint64_t poller_lost(void *poller, bool tasks);

/* See poll_tasks_set_python(). */
struct error *poller_set_python(struct poller *poller, pid_t pid,
				uint64_t since,
				const struct walker_process *python);

/* When it is disabled. */
void poller_counts(const struct poller *poller, struct poll_counts *ret);

#endif
