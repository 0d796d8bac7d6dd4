// SPDX-License-Identifier: GPL-2.0-only
#include "view/library_time.h"

enum {
	/* Percent: who has less of it is not asked for, and what hides it. */
	OWN_FILE_MIN = 5,
	LIBRARIES_MIN = 50,
};

static bool is_share(const struct own_time *own, uint64_t period, double percent)
{
	return period && 100.0 * (double)period >= percent * (double)own->all.period;
}

uint64_t library_time(const bool *libraries, const struct own_time *own)
{
	uint64_t theirs = 0, mine = 0;

	vec_for_each(file, &own->files) {
		if (!file->is_python || file->file == PROFILE_NONE)
			continue;
		if (libraries[file->file])
			theirs += file->own.period;
		else if (file->total.period > mine)
			mine = file->total.period;
	}
	return is_share(own, theirs, LIBRARIES_MIN) &&
			       is_share(own, mine, OWN_FILE_MIN) ?
		       theirs :
		       0;
}
