/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who calls a Python function: the samples of one event that pass through it, by
 * the Python functions and lines that lead to it.
 *
 * A sample counts by the function's innermost frame, once. A function's line that
 * is on the way outwards already is passed over: a recursion, of one function or of
 * several, is as deep as it is, and has one row for each line.
 */
#ifndef KAA_PROFILE_OWN_CALLERS_H
#define KAA_PROFILE_OWN_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "profile/own_time.h"
#include "profile/profile.h"

struct own_caller {
	/* The function, as in own_time.functions; own and parts are empty. */
	struct own_entry entry;
	/* Of the call to what its parent is; 0: not known, or the function. */
	uint32_t line;
	/* Indices; PROFILE_NONE: none. Siblings stand heaviest first. */
	uint32_t parent;
	uint32_t first_child;
	uint32_t next;
	/* Of the function itself: a line was passed over. */
	bool is_recursive;
	/* How many of those above it have several children, or are the first. */
	uint32_t branches;
};

/* The function itself first, others behind their parents. */
struct own_caller_vec VEC_BODY(struct own_caller);

/*
 * name and def are the function's symbol and the line of its def, as its entry
 * has them. Appends to *ret, which is empty. Without samples the function stands
 * alone. ERROR_INTERRUPTED; *ret is to be freed even then.
 */
struct error *own_callers_find(const struct profile *profile,
			       const struct own_time_options *options,
			       uint32_t name, uint32_t def,
			       struct own_caller_vec *ret);

#endif
