/* SPDX-License-Identifier: GPL-2.0-only */
/* The event of commands that show the samples of one event (--event). */
#ifndef KAA_CMD_READING_ONE_EVENT_H
#define KAA_CMD_READING_ONE_EVENT_H

#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

/*
 * The event of that name; NULL: `first`, or where that is PROFILE_NONE the first
 * one that has samples, and a note on stderr says which events are left out.
 * done: what happens to samples, "exported". Without any event *ret is 0.
 */
struct error *one_event_choose(const struct profile *profile, const char *name,
			       uint32_t first, const char *done, uint32_t *ret);

#endif
