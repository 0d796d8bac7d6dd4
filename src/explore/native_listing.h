/* SPDX-License-Identifier: GPL-2.0-only */
/* The instructions of a native function in a listing. */
#ifndef KAA_EXPLORE_NATIVE_LISTING_H
#define KAA_EXPLORE_NATIVE_LISTING_H

#include "base/error.h"
#include "explore/listing.h"

/*
 * Appends a native part: what hit each instruction, with the source lines that
 * debug information gives. Where there is no code, the addresses stand alone.
 */
struct error *native_listing_put(struct listing *listing,
				 const struct annotate_part *part);

#endif
