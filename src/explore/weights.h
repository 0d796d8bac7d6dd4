/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Own time (profile/own_time.h) of several events, found by function, line and
 * file.
 */
#ifndef KAA_EXPLORE_WEIGHTS_H
#define KAA_EXPLORE_WEIGHTS_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/own_time.h"
#include "profile/profile.h"

struct weights_event {
	uint32_t event;
	struct own_time *own;
	/* Name and def of a function, file and number of a line. */
	struct map functions;
	struct map lines;
};

/* In the order in which the events were asked for. */
struct weights {
	/* Borrowed. */
	const struct profile *profile;
	VEC(struct weights_event) events;
};

struct weight_pair {
	struct own_weight own;
	struct own_weight total;
};

/* Lines of a file, ascending. */
struct weights_lines VEC_BODY(uint32_t);
/* Ascending, each once. */
void weights_lines_sort(struct weights_lines *lines);

struct error *weights_create(const struct profile *profile,
			     const uint32_t *events, size_t count,
			     struct weights **ret);
void weights_destroy(struct weights *weights);
DEFINE_CLEANUP(weights, struct weights *, weights_destroy);
#define _cleanup_weights_ _cleanup_(cleanup_weights_)

/* NULL: no sample of the event has it. */
const struct own_entry *weights_function(const struct weights *weights,
					 size_t event, uint32_t name,
					 uint32_t def);
const struct own_entry *weights_line(const struct weights *weights,
				     size_t event, uint32_t file,
				     uint32_t line);
const struct own_entry *weights_file(const struct weights *weights,
				     size_t event, uint32_t file);

/*
 * Fills *ret, which is empty, with the lines of a file from first to last that
 * samples of any of the events have.
 */
struct error *weights_find_lines(const struct weights *weights, uint32_t file,
				 uint32_t first, uint32_t last,
				 struct weights_lines *ret);

#endif
