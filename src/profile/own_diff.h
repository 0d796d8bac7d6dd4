/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Own time of Python code before and after (docs/diff.md): what each function
 * and line weighed in the recordings of both sides, and which differences are
 * more than chance.
 *
 * All recordings are in one profile, whose rows are samples (not aggregated). A
 * function is the same where its qualified name and its file are
 * (profile/file_pairs.h), wherever its def has moved to. Where CPython before
 * 3.11 is compared with a later one, the last part of the qualified name is all
 * that both know. Each sample counts in one entry of the functions, and in one
 * of the lines, so their changes of own time add up to the change of all.
 */
#ifndef KAA_PROFILE_OWN_DIFF_H
#define KAA_PROFILE_OWN_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"
#include "profile/diff_noise.h"
#include "profile/file_pairs.h"
#include "profile/own_time.h"
#include "profile/profile.h"

/* Of what is called real at most this part is expected to be chance. */
#define OWN_DIFF_LEVEL 0.01

enum own_diff_by {
	/* What a run took, in the unit of the event. */
	OWN_DIFF_BY_TIME,
	/* The share of all samples of its run, 0 to 1. */
	OWN_DIFF_BY_SHARE,
};

/* What is known of the lines of a file before and after. */
enum own_diff_lines {
	/* Nothing: by what the functions in it tell. */
	OWN_DIFF_LINES_UNKNOWN,
	/* The numbers are those of the same lines. */
	OWN_DIFF_LINES_SAME,
	/* line_after() tells. */
	OWN_DIFF_LINES_PAIRED,
};

struct own_diff_options {
	/* Of each recording the event to compare; those before stand first. */
	const uint32_t *events;
	size_t before;
	size_t after;
	enum own_diff_by by;
	/* As in struct own_time_options. */
	bool without_libraries;
	/* Both NULL: nothing is known of any file. */
	enum own_diff_lines (*lines)(void *arg, uint32_t file_before,
				     uint32_t file_after);
	/* 0: the line is gone. */
	uint32_t (*line_after)(void *arg, uint32_t file_before,
			       uint32_t file_after, uint32_t line);
	void *arg;
};

/* A function, or a line. */
struct own_diff_entry {
	/* As own_time has them; of a side that has none, zeroed. */
	struct own_entry before;
	struct own_entry after;
	bool is_before;
	bool is_after;
	/*
	 * Of functions with one name that were edited: so many are one entry,
	 * as are all lines of a function with is_unpaired. Their totals are not
	 * known (NAN).
	 */
	uint32_t functions;
	bool is_unpaired;
	/* own_diff_run names it so, in whatever order they stand. */
	uint32_t number;
	struct diff_value own;
	struct diff_value total;
};

struct own_diff_entry_vec VEC_BODY(struct own_diff_entry);

/* A recording. */
struct own_diff_run {
	uint32_t event;
	/* What a period is worth in the unit of the values; see own_diff_by. */
	double scale;
	struct own_time *own;
	/* Of its functions, and of its lines: the number of the entry. */
	uint32_t *function_entries;
	uint32_t *line_entries;
};

struct own_diff {
	/* By the size of the change of own time, largest first. */
	struct own_diff_entry_vec functions;
	struct own_diff_entry_vec lines;
	/* All samples; of shares of one run each chance is NAN: they are 1. */
	struct diff_value all;
	/* Source files that have another path now. */
	struct file_pairs files;
	/* Of wall time: what a sample may be off by is not its period. */
	bool is_wall;
	/* Only the last part of qualified names was compared. */
	bool by_last_name;
	/* Lines were paired by how far below their def they are. */
	bool by_distance;
	/* Before first; noise says of each on which side it is. */
	VEC(struct own_diff_run) runs;
	VEC(struct diff_run) noise;
};

/*
 * The profile is borrowed for the call alone. ERROR_INVALID_ARGUMENT: a
 * recording has no samples of its event.
 */
struct error *own_diff_create(const struct profile *profile,
			      const struct own_diff_options *options,
			      struct own_diff **ret);
/* By the size of the change of total time; of own time if that is false. */
void own_diff_sort(struct own_diff *diff, bool by_total);
void own_diff_destroy(struct own_diff *diff);
DEFINE_CLEANUP(own_diff, struct own_diff *, own_diff_destroy);
#define _cleanup_own_diff_ _cleanup_(cleanup_own_diff_)

#endif
