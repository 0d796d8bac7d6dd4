/* SPDX-License-Identifier: GPL-2.0-only */
/* The source of Python functions, files and lines in a listing. */
#ifndef KAA_EXPLORE_PYTHON_LISTING_H
#define KAA_EXPLORE_PYTHON_LISTING_H

#include "base/error.h"
#include "explore/listing.h"

/* So many lines of a part are shown where only its hottest ones are. */
enum { PYTHON_LISTING_HOT = 5 };

/*
 * Appends a part that is not native. A function is shown with the functions in
 * it, whose time is said to be theirs. Where there is no text, the numbers of
 * lines stand alone.
 */
struct error *python_listing_put(struct listing *listing,
				 const struct annotate_part *part);

/*
 * Appends the lines with samples that such a part has, ascending: of a function all
 * from its beginning to its end, of a module's body those of no other function.
 */
struct error *python_listing_lines(struct listing *listing,
				   const struct annotate_part *part,
				   struct weights_lines *ret);

#endif
