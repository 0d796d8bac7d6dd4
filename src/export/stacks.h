/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks of a profile as exports write them: what reports fold is left out,
 * and each step is a place, which is a line of a function.
 *
 * Everything is a column with numbers from 0 on; equal content has an equal
 * number, and the same profile gives the same numbers. PROFILE_NONE is "none".
 */
#ifndef KAA_EXPORT_STACKS_H
#define KAA_EXPORT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"
#include "profile/index.h"
#include "profile/location.h"
#include "profile/profile.h"
#include "profile/texts.h"

/*
 * Of one name, file, object and def. Two functions of an object whose names are
 * equal are one, unless they are of Python and their defs stand apart.
 */
struct export_function {
	/* A text of names, "foo" without "py::". */
	uint32_t name;
	/* One of files, or PROFILE_NONE: no source is known, as of native code. */
	uint32_t file;
	/* The DSO, or PROFILE_NONE: not known, or it is Python code. */
	uint32_t object;
	/* Of a Python function that of its def; 0: not known. */
	uint32_t line;
	/* enum profile_frame_kind */
	uint8_t kind;
};

struct export_place {
	uint32_t function;
	/*
	 * Where a Python function's lines are not known, or not asked for, that
	 * of its def; 0: not known.
	 */
	uint32_t line;
};

/* The place below its caller; parent is PROFILE_NONE for the outermost one. */
struct export_node {
	uint32_t parent;
	uint32_t place;
};

struct export_stacks_options {
	/* Places are lines; else functions. */
	bool lines;
	/* As in struct location_options. */
	bool interpreter_frames;
	bool python_only;
	bool compares;
};

struct export_stacks {
	const struct profile *profile;
	/* They may hold any byte. */
	struct texts names;
	struct texts files;
	VEC(struct export_function) functions;
	VEC(struct export_place) places;
	/* A parent stands before its children. */
	VEC(struct export_node) nodes;
	/* Private. */
	struct export_stacks_options options;
	struct locations *locations;
	struct index function_index;
	struct index place_index;
	struct index node_index;
	/* Of each location its place, of each reduced stack its node. */
	VEC(uint32_t) place_of;
	VEC(uint32_t) node_of;
	struct strbuf text;
};

/* The profile is borrowed. */
struct error *export_stacks_create(const struct profile *profile,
				   const struct export_stacks_options *options,
				   struct export_stacks **ret);
void export_stacks_destroy(struct export_stacks *stacks);
DEFINE_CLEANUP(export_stacks, struct export_stacks *, export_stacks_destroy);
#define _cleanup_export_stacks_ _cleanup_(cleanup_export_stacks_)

/* The function that a frame of the profile belongs to. */
static inline uint32_t export_stacks_function(const struct export_stacks *stacks,
					      uint32_t frame)
{
	uint32_t location = stacks->locations->of_frame[frame];

	return stacks->places.data[stacks->place_of.data[location]].function;
}

/* Of each place a frame of the profile there, or PROFILE_NONE; to be freed. */
struct error *export_stacks_frames(const struct export_stacks *stacks,
				   uint32_t **ret);

/* "python", "native", "kernel", or "mark" for markers. */
const char *export_function_kind(const struct export_function *function);

static inline const char *
export_function_name(const struct export_stacks *stacks,
		     const struct export_function *function)
{
	return stacks->names.all.data[function->name];
}

/* The source file, or "". */
static inline const char *
export_function_source(const struct export_stacks *stacks,
		       const struct export_function *function)
{
	return function->file == PROFILE_NONE ?
		       "" :
		       stacks->files.all.data[function->file];
}

/* The node of a stack of the profile, PROFILE_NONE included. */
static inline uint32_t export_stacks_node(const struct export_stacks *stacks,
					  uint32_t stack)
{
	return stacks->node_of.data[locations_stack(
		stacks->locations, stacks->profile, stack)];
}

/* The path of the object that holds the function, or "". */
const char *export_function_object(const struct export_stacks *stacks,
				   const struct export_function *function);
/* The source file of the function, or its object: "" if neither is known. */
const char *export_function_file(const struct export_stacks *stacks,
				 const struct export_function *function);

#endif
