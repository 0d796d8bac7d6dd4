/* SPDX-License-Identifier: GPL-2.0-only */
/* Which function of a flame graph's tree a frame of a profile is. */
#ifndef KAA_FLAME_FLAME_FUNCTION_H
#define KAA_FLAME_FLAME_FUNCTION_H

#include "flame/flame_tree.h"
#include "view/place_name.h"

/* The frames of one profile; to be zero-initialised but for these two. */
struct flame_frames {
	struct flame_tree *tree;
	const struct profile *profile;
	struct place_names *places;
	/* By frame: its function, or FLAME_NONE while nobody asked. */
	uint32_t *functions;
};

struct error *flame_frames_init(struct flame_frames *frames);
void flame_frames_deinit(struct flame_frames *frames);

/* The function of that frame. */
struct error *flame_frame_function(struct flame_frames *frames, uint32_t frame,
				   uint32_t *ret);
/*
 * What a function is below that caller: all that the collector calls is the
 * collector's, and all that waits for the GIL waits.
 */
struct error *flame_function_below(struct flame_tree *tree, uint32_t caller,
				   uint32_t function, uint32_t *ret);
/* A function that no frame is, with a name and a place. */
struct error *flame_other_function(struct flame_tree *tree,
				   enum flame_kind kind, const char *name,
				   const char *place, uint32_t *ret);

/* Python code that only starts a program: the module runpy. */
bool flame_frame_is_starter(const struct profile *profile,
			    const struct profile_frame *frame);

#endif
