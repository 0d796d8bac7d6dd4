/* SPDX-License-Identifier: GPL-2.0-only */
/* Which function and which line of an own_time a Python frame counts for. */
#ifndef KAA_PROFILE_OWN_INDEX_H
#define KAA_PROFILE_OWN_INDEX_H

#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "profile/own_time.h"

/* Zero-initialise; own_index_deinit() frees. */
struct own_index {
	struct map functions;
	struct map lines;
	/* Of code of which no line, or no file, is known: by the name of its function. */
	struct map names;
};

/* The own_time may be freed then. */
struct error *own_index_fill(struct own_index *index,
			     const struct own_time *own);
void own_index_deinit(struct own_index *index);

/* Its place in own_time.functions, in own_time.lines; PROFILE_NONE: no sample has it. */
uint32_t own_index_function(const struct own_index *index,
			    const struct profile *profile,
			    const struct profile_frame *frame);
uint32_t own_index_line(const struct own_index *index,
			const struct profile *profile,
			const struct profile_frame *frame);

#endif
