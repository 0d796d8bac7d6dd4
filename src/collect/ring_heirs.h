/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which event tells of a ring when the one that did has ended: all events of a CPU
 * write to its two rings, of samples and of task records, each of one thread and of
 * those that inherit it. A ring is over with the last of its events.
 *
 * What ends takes a time that does not depend on how many others there are: a program
 * of 1,000 threads has 128,000 events on 64 CPUs, and mostly they end together.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_RING_HEIRS_H
#define KAA_COLLECT_RING_HEIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "collect/sampler.h"

/* Zero-initialise. Filled at the first end, with all events that are open by then. */
struct ring_heirs {
	/* Descriptor to index in sampler.fds. */
	struct map by_fd;
	/* Of each of them the next event of its ring, round and round. */
	VEC(uint32_t) next;
};

void ring_heirs_deinit(struct ring_heirs *heirs);

static inline bool sampler_fd_is_of_tasks(const struct sampler *sampler,
					  const struct sampler_fd *entry)
{
	return entry->event == sampler_tasks_index(sampler);
}

/*
 * The event with that descriptor has ended: *ret is another one of its ring that has
 * not, or NULL. Events that have ended by now are passed over. *tasks: the ring is one
 * of task records. Nothing of a descriptor that is none of the sampler's.
 */
struct error *ring_heirs_next(struct ring_heirs *heirs, struct sampler *sampler,
			      int fd, const struct sampler_fd **ret, bool *tasks);

#endif
