/* SPDX-License-Identifier: GPL-2.0-only */
/* Which event of each recording is compared: that of one name. */
#ifndef KAA_CMD_READING_DIFF_EVENTS_H
#define KAA_CMD_READING_DIFF_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

struct diff_event_search {
	const struct profile *profile;
	/* Of its recordings, as the user named them. */
	const char *const *paths;
	/* The user has named the event. */
	bool is_asked;
};

/*
 * ERROR_NOT_FOUND: the recording has none, or no samples of it. It says what events
 * there are, and what to record again.
 */
struct error *diff_event_find(const struct diff_event_search *search,
			      uint32_t recording, const char *name,
			      uint32_t *ret);

#endif
