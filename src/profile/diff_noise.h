/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A value that was measured in runs before and after: by how much it changed,
 * and how much of that chance explains (docs/diff.md).
 */
#ifndef KAA_PROFILE_DIFF_NOISE_H
#define KAA_PROFILE_DIFF_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What it takes to tell a difference; fewer samples are not tested. */
#define DIFF_NOISE_SAMPLES_MIN 8

/*
 * What a value of a run differs by from that of another, of the same program: one
 * standard deviation, a part of the value. It is taken where there is one run of
 * each side, which does not tell. Of a share s it is that part of s * (1 - s).
 */
#define DIFF_NOISE_RUNS 0.05
/*
 * Of several runs each one of a side has at least so many samples of a function, and
 * none of the other has any: then it came, or went, as sure as counts tell.
 */
#define DIFF_NOISE_SAMPLES_ALWAYS 4

struct diff_run {
	bool is_after;
	/* Values are shares of a run; all is 1. */
	bool is_share;
	/* In the unit of the values: all samples, and one of them. */
	double all;
	double sample;
	/* How many there are. */
	double samples;
};

struct diff_value {
	/* Means of the runs. */
	double before;
	double after;
	/* 95 of 100 such changes are at most this far from the true one. */
	double half_width;
	/*
	 * How likely chance alone makes such a change; NAN: there are too few
	 * samples to tell.
	 */
	double chance;
	/* For who compares many values to decide. */
	bool is_real;
};

/*
 * values: one for each run, 0 to all; samples: what they were measured with. At
 * least one run is before and one after.
 *
 * squares: of each value by how much chance may be off, squared; each of its samples adds
 * its own. NULL: samples fall by chance, and each is one diff_run.sample.
 */
struct diff_value diff_noise_measure(const struct diff_run *runs, size_t count,
				     const double *values,
				     const double *squares, uint64_t samples);

#endif
