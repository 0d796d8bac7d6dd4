/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where in a function the samples are: by line of a Python function, by
 * address of a native one. Reads the model alone.
 *
 * A sample counts once for each distinct line that the function has on its
 * stack (`period`), recursion included, and for the line that it hit
 * (`self`); what hit the interpreter under a Python function hit that. Of a
 * native function only what hit it is told.
 */
#ifndef KAA_EXPLORE_ANNOTATE_H
#define KAA_EXPLORE_ANNOTATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "explore/entries.h"
#include "profile/own_time.h"
#include "profile/profile.h"

struct annotate_weight {
	uint64_t period;
	uint64_t count;
	uint64_t self_period;
	uint64_t self_count;
};

/* A line, or an address in the DSO's own addresses. */
struct annotate_place {
	uint64_t at;
	struct annotate_weight weight;
};

struct annotation {
	bool is_python;
	/* Ascending by `at`. */
	VEC(struct annotate_place) places;
	/* Of the function as a whole. */
	struct annotate_weight whole;
	/*
	 * Of the native function: what has no address in it (interpreter
	 * frames that are folded into it). Of a file: what has no line.
	 */
	uint64_t elsewhere;
	/* What is zoomed into: 100 % of it all. */
	uint64_t total_period;
	uint64_t total_count;
};

/*
 * The function of a frame that has a symbol, in the samples that entries shows.
 */
struct error *annotation_create(const struct entries *entries,
				const struct profile_frame *frame,
				struct annotation **ret);
/*
 * The lines of a source file by own time (profile/own_time.h): `self` has the
 * native and kernel code below the line, too. file: a string of the profile.
 */
struct error *annotation_of_file(const struct own_time *own, uint32_t file,
				 struct annotation **ret);
void annotation_destroy(struct annotation *annotation);
DEFINE_CLEANUP(annotation, struct annotation *, annotation_destroy);

/* The weight at a place, or NULL. */
const struct annotate_weight *
annotation_find(const struct annotation *annotation, uint64_t at);
/* The greatest `at`; 0 if there is none. */
uint64_t annotation_last(const struct annotation *annotation);

#endif
