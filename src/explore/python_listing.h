/* SPDX-License-Identifier: GPL-2.0-only */
/* The source of Python functions, files and lines in a listing. */
#ifndef KAA_EXPLORE_PYTHON_LISTING_H
#define KAA_EXPLORE_PYTHON_LISTING_H

#include "base/error.h"
#include "explore/listing.h"

/*
 * Appends a part that is not native. A function is shown with the functions in
 * it, whose time is said to be theirs. Where there is no text, the numbers of
 * lines stand alone.
 */
struct error *python_listing_put(struct listing *listing,
				 const struct annotate_part *part);

#endif
