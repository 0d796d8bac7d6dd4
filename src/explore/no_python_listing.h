/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time without Python code, which a report has a row of. It has no source, but it is
 * known what it was spent in.
 */
#ifndef KAA_EXPLORE_NO_PYTHON_LISTING_H
#define KAA_EXPLORE_NO_PYTHON_LISTING_H

#include "explore/listing.h"
#include "profile/own_time.h"
#include "profile/profile.h"

/* The entry, if the word is what a report calls it and samples have it; else NULL. */
const struct own_entry *no_python_find(const struct profile *profile,
				       const struct own_time *own,
				       const char *word);
/* Appends a row for each part of the entry, which is one of the first event. */
void no_python_listing_put(struct listing *listing,
			   const struct own_entry *entry);

#endif
