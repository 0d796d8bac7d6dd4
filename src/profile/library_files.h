/* SPDX-License-Identifier: GPL-2.0-only */
/* Which source files of a profile are not the program's own. */
#ifndef KAA_PROFILE_LIBRARY_FILES_H
#define KAA_PROFILE_LIBRARY_FILES_H

#include <stdbool.h>

#include "base/error.h"
#include "profile/profile.h"

/*
 * By string of the profile: it is the file of a Python frame, and in the standard
 * library, in an installed package, or a command that a package installs and that only
 * calls it: "/srv/venv/bin/pytest", where "/srv/venv/lib/python3.12" has files, too, and
 * the only function in it is the body of its module. *ret is to be freed, on failure as
 * well.
 */
struct error *library_files_find(const struct profile *profile, bool **ret);

/* A Python frame is a library's. libraries: what that gave, or NULL: none is. */
static inline bool library_files_has(const bool *libraries,
				     const struct profile_frame *frame)
{
	return libraries && frame->file != PROFILE_NONE &&
	       libraries[frame->file];
}

#endif
