/* SPDX-License-Identifier: GPL-2.0-only */
/* Which instructions of a native function the samples of an event hit. */
#ifndef KAA_EXPLORE_NATIVE_HITS_H
#define KAA_EXPLORE_NATIVE_HITS_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/own_time.h"
#include "profile/profile.h"

struct native_hit {
	/* In the DSO's own addresses. */
	uint64_t at;
	/* Whose code that is: of the function, or of one that is inlined there. */
	uint32_t frame;
	struct own_weight weight;
};

struct native_hits {
	/* Ascending by `at`. */
	VEC(struct native_hit) places;
	struct own_weight all;
	/* In it and in what it calls; a sample counts once. */
	struct own_weight total;
};

/* The frame whose code a stack ends in, of the function that holds it. */
const struct profile_frame *native_hits_frame(const struct profile *profile,
					      uint32_t stack);

/* Of the function of that symbol, with what is inlined into it. */
struct error *native_hits_create(const struct profile *profile, uint32_t event,
				 uint32_t symbol, struct native_hits **ret);
void native_hits_destroy(struct native_hits *hits);
DEFINE_CLEANUP(native_hits, struct native_hits *, native_hits_destroy);
#define _cleanup_native_hits_ _cleanup_(cleanup_native_hits_)

/* NULL: nothing hit it. */
const struct native_hit *native_hits_at(const struct native_hits *hits,
					uint64_t at);

#endif
