/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording that is looked at while it is made (docs/top.md): a thread reads it
 * from a pipe and converts it; snapshots say what is in it by now.
 *
 *	live_start(fd, &options, &live);
 *	... live_snapshot(live, window, &profile) ...
 *	(whoever writes ends)
 *	live_stop(live);
 *
 * Times of the recording are those of CLOCK_MONOTONIC. Memory is bounded: what is
 * oldest is forgotten. All functions are for one thread, the one that started it.
 */
#ifndef KAA_CONVERT_LIVE_H
#define KAA_CONVERT_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "convert/convert.h"
#include "profile/profile.h"

struct live;

struct live_options {
	/* Borrowed until live_stop(). */
	const struct convert_options *convert;
	/* Words of the recorder for metadata_subject(), NULL at the end; borrowed. */
	const char *const *command;
	/* What may be kept; 0: as much as is good. */
	size_t rows_max;
	size_t stacks_max;
};

struct live_state {
	/* The recorder has got as far as to begin the recording. */
	bool has_begun;
	/* Samples so far, forgotten ones too. */
	uint64_t samples;
	/* When the first of them was taken; 0: there is none. */
	uint64_t began;
	/* From when on all are kept: later than that if some are forgotten. */
	uint64_t kept_from;
	/* The pipe has ended, or could not be read on. */
	bool has_ended;
	/* Why, borrowed until live_stop(); NULL: it ended as it should. */
	const struct error *failure;
};

/* Takes fd over, even on failure. */
struct error *live_start(int fd, const struct live_options *options,
			 struct live **ret);
struct live_state live_state(struct live *live);
/*
 * What was recorded in the last `window` ns, 0: all that is kept. *ret must not
 * outlive live. There are no events before the first sample.
 */
struct error *live_snapshot(struct live *live, uint64_t window,
			    struct profile **ret);
/* Waits until the pipe has ended. Legal on NULL. */
void live_stop(struct live *live);

#endif
