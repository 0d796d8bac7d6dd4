/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a report is silent about otherwise: lost samples, stacks that are not
 * whole, addresses without a name.
 */
#ifndef KAA_VIEW_REPORT_NOTES_H
#define KAA_VIEW_REPORT_NOTES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "profile/profile.h"

/*
 * Where the profile has no samples, appends why, a sentence. is_filtered: it has not
 * all samples of its recordings.
 */
bool report_without_samples(const struct profile *profile, bool is_filtered,
			    struct strbuf *out);

/*
 * Appends what a reader has to know before anything else: comment lines, or nothing.
 * is_filtered: the profile has not all samples of its recordings.
 */
struct error *report_first_note(const struct profile *profile, bool is_filtered,
				struct strbuf *out);

/* Appends comment lines, with counts and shares; nothing if all is well. */
struct error *report_notes(const struct profile *profile, struct strbuf *out);

#endif
