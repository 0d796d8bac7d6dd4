// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_share.h"

enum {
	/* Samples that share what one of them has too much or too little. */
	SHARERS = 8,
	/* Of the usual, a sample stands for so much of it at least ... */
	LEAST_PART = 4,
	/* ... and what was run for longer says little of what is usual. */
	MOST_TIMES = 4,
};

/* What was run since the last sample says where this one is: it counts from the next on. */
uint64_t poll_share_next(struct poll_share *share, uint64_t ran, uint64_t tick)
{
	uint64_t usual = share->usual ? share->usual : tick;
	int64_t least = (int64_t)(usual / LEAST_PART) + 1;
	int64_t given = (int64_t)usual + share->owed / SHARERS;

	if (given < least)
		given = least;
	share->owed += (int64_t)ran - given;
	if (ran > MOST_TIMES * usual)
		ran = MOST_TIMES * usual;
	share->usual = usual - usual / SHARERS + ran / SHARERS + 1;
	return (uint64_t)given;
}
