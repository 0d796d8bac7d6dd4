/* SPDX-License-Identifier: GPL-2.0-only */
/* When a poller ticks: at times that depend on nothing but chance. */
#ifndef KAA_COLLECT_POLL_TICKS_H
#define KAA_COLLECT_POLL_TICKS_H

#include <stdint.h>

struct poll_ticks {
	/* Between two of them in the mean, in ns. */
	uint64_t period;
	uint64_t random;
	/* The last one, or the one that is waited for, by poll_hold_now(). */
	uint64_t at;
	/* When the last one really came; the time between them, and its squares. */
	uint64_t came;
	double between;
	double squares;
};

/* In the thread that is to tick; it asks the scheduler for what that needs. */
void poll_ticks_begin(struct poll_ticks *ticks);
/* Ticks that are over are not made up for. It always sleeps. */
void poll_ticks_wait(struct poll_ticks *ticks);
/* One has come. */
void poll_ticks_note(struct poll_ticks *ticks, uint64_t now);
/* How far the two ticks are apart, in ns, that a moment lies between, in the mean of all. */
uint64_t poll_ticks_apart(const struct poll_ticks *ticks);

#endif
