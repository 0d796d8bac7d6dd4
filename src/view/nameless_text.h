/* SPDX-License-Identifier: GPL-2.0-only */
/* Words on C functions that no symbol names: how much, in which files, what helps. */
#ifndef KAA_VIEW_NAMELESS_TEXT_H
#define KAA_VIEW_NAMELESS_TEXT_H

#include "base/strbuf.h"
#include "profile/own_time.h"
#include "profile/profile.h"

/* Appends whole lines; nothing if it is less than one percent (spent_nameless()). */
void nameless_note(const struct profile *profile, const struct own_time *own,
		   struct strbuf *out);

#endif
