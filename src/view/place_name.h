/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Short names of the source files of a profile, for people.
 *
 * A file below the current folder is named from there on; one in a folder of
 * installed packages or in the standard library from that folder on
 * ("json/decoder.py"). Files that would have one name keep their paths.
 */
#ifndef KAA_VIEW_PLACE_NAME_H
#define KAA_VIEW_PLACE_NAME_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/map.h"
#include "profile/profile.h"

struct place_names;

/*
 * Of all files that Python frames are in. folder: the current one, an absolute
 * path, or NULL. The profile is borrowed for the life of the names.
 */
struct error *place_names_create(const struct profile *profile,
				 const char *folder, struct place_names **ret);
/*
 * The same where some files are others at another path, `same` says which: these
 * two may have one name.
 */
struct error *place_names_create_of(const struct profile *profile,
				    const char *folder, const struct map *same,
				    struct place_names **ret);
void place_names_destroy(struct place_names *names);
DEFINE_CLEANUP(place_names, struct place_names *, place_names_destroy);
#define _cleanup_place_names_ _cleanup_(cleanup_place_names_)

/* `file` is a string of the profile, or PROFILE_NONE, which has the name "". */
const char *place_name(const struct place_names *names, uint32_t file);

/* Whose code is in a file. */
enum place_kind {
	/* The program's own, as far as the path tells. */
	PLACE_PROGRAM,
	/* An installed package. */
	PLACE_PACKAGE,
	/* Python's standard library, also where it is frozen. */
	PLACE_STANDARD,
};

enum place_kind place_kind(const char *path);

#endif
