/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What regular expressions (POSIX extended) say of a profile's symbols: the
 * options --parent and --ignore-callees.
 */
#ifndef KAA_VIEW_SYMBOL_MATCH_H
#define KAA_VIEW_SYMBOL_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

/* Where no expression is given, perf's: how system calls once were named. */
#define SYMBOL_MATCH_PARENT "^sys_|^do_page_fault"

/*
 * *ret[symbol] is true if its name matches; to be freed. ERROR_INVALID_ARGUMENT
 * says what is wrong with the expression.
 */
struct error *symbol_matches(const struct profile *profile, const char *regex,
			     bool **ret);
/*
 * *ret[stack] is the name (a string of the profile) of the first function of
 * the stack that matches, or PROFILE_NONE, from the outermost one if
 * caller_order, else from the leaf; inlined ones do not count. One more, for
 * PROFILE_NONE. To be freed.
 */
struct error *symbol_match_parents(const struct profile *profile,
				   const char *regex, bool caller_order,
				   uint32_t **ret);

#endif
