/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of one thread over time. Zero-initialise to start. Names are
 * unique pointers that outlive the object; NULL is "not known".
 */
#ifndef KAA_PROCESS_THREAD_NAMES_H
#define KAA_PROCESS_THREAD_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum {
	/* Names that one thread remembers; the oldest go first. */
	THREAD_NAMES_MAX = 4096,
};

struct thread_name {
	uint64_t from;
	const char *comm;
};

struct thread_names VEC_BODY(struct thread_name);

/* comm holds from that time on; false when memory runs out. */
bool thread_names_set(struct thread_names *names, uint64_t from,
		      const char *comm);
/* The name at that time; before the first one, the first one. */
/* No name holds from then on; one that is set for that time does. */
bool thread_names_end(struct thread_names *names, uint64_t time);
const char *thread_names_at(const struct thread_names *names, uint64_t time);
/* Drops what was replaced by `before`; true if more than one name is left. */
bool thread_names_forget(struct thread_names *names, uint64_t before);

#endif
