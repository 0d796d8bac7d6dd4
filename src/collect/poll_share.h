/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much CPU time a sample of a thread stands for: about as much as each other. It
 * does not depend on where in a burst of work the sample was taken: what was run since
 * the last one belongs in part to the work before the thread slept, or all of it to work
 * that has no sample. So what was run goes into an account, and each sample takes what
 * samples of late have had on average, and a part of what they did not.
 */
#ifndef KAA_COLLECT_POLL_SHARE_H
#define KAA_COLLECT_POLL_SHARE_H

#include <stdint.h>

/* Zero-initialise to start. */
struct poll_share {
	/* CPU time between two samples of late, in ns; 0: there were none. */
	uint64_t usual;
	/* What was run, less what samples stand for. */
	int64_t owed;
};

/*
 * A sample has been taken: the thread has run so much since the one before. tick: the
 * time between two looks at it. Returns what it stands for, in ns, more than 0.
 */
uint64_t poll_share_next(struct poll_share *share, uint64_t ran, uint64_t tick);

#endif
