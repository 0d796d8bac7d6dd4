/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How likely chance alone makes a difference as large as one that was measured
 * (a p-value, two-sided), and which of many differences are not chance.
 */
#ifndef KAA_PROFILE_CHANCE_H
#define KAA_PROFILE_CHANCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * a and b events were counted, and each of them falls among the a with
 * probability p. Exact, from the binomial distribution; above a million events
 * from the normal one. Counts need not be whole: events may have weights.
 */
double chance_of_counts(double a, double b, double p);

/* A value that is t standard errors from 0, which df values tell (Student's t). */
double chance_of_t(double t, double df);

/*
 * Standard errors to each side within which 95 of 100 values are, where df
 * values tell the standard error; INFINITY: it is known.
 */
double chance_half_width(double df);

/*
 * Which of n differences are real, by their p-values: of all that are called so,
 * a part of at most `level` is expected to be chance (Benjamini and Hochberg
 * 1995). So where nothing differs, a call is made with that probability at most.
 * Those that are NAN are never real, and do not count. ERROR_NO_MEMORY.
 */
struct error *chance_find_real(const double *p, size_t n, double level,
			       bool *real);

#endif
