/* SPDX-License-Identifier: GPL-2.0-only */
/* What the threads do now that `kaa top` shows. */
#ifndef KAA_CMD_TOP_STATES_H
#define KAA_CMD_TOP_STATES_H

#include "base/error.h"
#include "explore/own_states.h"
#include "profile/profile.h"

/*
 * Of the threads that have samples in the profile and, if these are of few processes,
 * of all others of them; their names are added to the profile. *ret is empty.
 */
struct error *top_states_read(struct profile *profile, struct own_states *ret);

#endif
