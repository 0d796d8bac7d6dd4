/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of own time of a program that runs on: what was chosen stays chosen. */
#ifndef KAA_EXPLORE_OWN_FOLLOW_H
#define KAA_EXPLORE_OWN_FOLLOW_H

#include "explore/own_rows.h"

/*
 * rows, just created, get what `before` shows of earlier samples: view, zooms,
 * order, what is open, what is selected. Their profiles give equal strings equal
 * handles (profile/profile_window.h).
 */
struct error *own_rows_follow(struct own_rows *rows,
			      const struct own_rows *before);

#endif
