/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which source files of two recordings are the same file, maybe in another
 * folder: another checkout, virtual environment or version of Python.
 *
 *  1. Equal paths are one file.
 *  2. Of the others, files of installed packages and of the standard library
 *     are one if they are at the same place in it.
 *  3. The rest are one if they are each other's best match: the most folders at
 *     the end of their paths are equal, no other file has as many, and neither
 *     recording has a file in the folder that the other's path begins with,
 *     unless all of that folder's files are below the other's.
 *  4. What had as good a match elsewhere is one with the file at the same place
 *     in a folder that 3. has found.
 *  5. If one file is left on each side, in one folder, it has another name:
 *     "old.py" and "new.py".
 */
#ifndef KAA_PROFILE_FILE_PAIRS_H
#define KAA_PROFILE_FILE_PAIRS_H

#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/profile.h"

/* Strings of the profile, each once. */
struct file_list VEC_BODY(uint32_t);

struct file_pair {
	uint32_t before;
	uint32_t after;
};

/* Zero-initialise; file_pairs_deinit() frees. */
struct file_pairs {
	/* Those whose paths are not equal. */
	VEC(struct file_pair) list;
	/* Files before that were not looked for: too many have their name. */
	size_t left_out;
	/* Their `before` to their `after`. */
	struct map after_of;
};

void file_pairs_deinit(struct file_pairs *pairs);

struct error *file_pairs_find(const struct profile *profile,
			      const struct file_list *before,
			      const struct file_list *after,
			      struct file_pairs *ret);

/* The file after that `before` is; itself where no other was found. */
uint32_t file_pairs_after(const struct file_pairs *pairs, uint32_t before);

#endif
