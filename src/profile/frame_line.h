/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of a Python frame: whether it is the one where it was, or that of its def. */
#ifndef KAA_PROFILE_FRAME_LINE_H
#define KAA_PROFILE_FRAME_LINE_H

#include <stdbool.h>

#include "profile/profile.h"
#include "profile/symbol_word.h"

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

static inline struct symbol_lines
frame_lines(const struct profile *profile, const struct profile_frame *frame)
{
	const struct profile_symbol *symbol =
		profile_symbol(profile, frame->symbol);

	return (struct symbol_lines){
		.line = frame->line,
		.def = symbol ? symbol->line : 0,
		.body = symbol ? symbol->body_line : 0,
	};
}

#endif
