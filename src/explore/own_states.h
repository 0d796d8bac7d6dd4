/* SPDX-License-Identifier: GPL-2.0-only */
/* What threads do that run now: for rows of a program that is looked at meanwhile. */
#ifndef KAA_EXPLORE_OWN_STATES_H
#define KAA_EXPLORE_OWN_STATES_H

#include <stdint.h>

#include "base/vec.h"

struct own_thread {
	int32_t tid;
	/* As proc(5) has it; 0: it has ended. */
	char state;
	/* A task of the profile that is the thread. */
	uint32_t task;
};

/* Zero-initialise. */
struct own_states {
	/* By tid, each once. */
	VEC(struct own_thread) threads;
	/* The time that the samples are of, in ns. */
	uint64_t length;
};

void own_states_deinit(struct own_states *states);
/* By tid, each once: the first that was added. */
void own_states_sort(struct own_states *states);
/* A word for it, at most OWN_STATE_WIDTH columns; of an unknown thread "ended". */
const char *own_states_word(const struct own_states *states, int32_t tid);
enum { OWN_STATE_WIDTH = 7 };

#endif
