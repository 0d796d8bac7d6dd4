/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the line of a Python frame is that where it was, or that of its def. */
#ifndef KAA_PROFILE_FRAME_LINE_H
#define KAA_PROFILE_FRAME_LINE_H

#include <stdbool.h>

#include "profile/profile.h"

/*
 * A trampoline tells which function runs, not where in it; else a few instructions
 * have no line. Slot 0 of a code object stands for "not known".
 */
static inline bool frame_has_line(const struct profile *profile,
				  const struct profile_frame *frame)
{
	const struct profile_symbol *symbol =
		profile_symbol(profile, frame->symbol);
	const struct profile_dso *dso = profile_dso(profile, frame->dso);

	return symbol && dso && dso->kind == PROFILE_DSO_PYTHON &&
	       frame->rel > symbol->start + 1;
}

#endif
