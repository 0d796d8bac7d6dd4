/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a source file is the one that ran. A recording that has a hash of it proves it
 * (docs/page.md); else a file that was changed after the recording may be another one.
 */
#ifndef KAA_EXPLORE_SOURCE_PROOF_H
#define KAA_EXPLORE_SOURCE_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "explore/source.h"
#include "profile/profile.h"

enum source_proof {
	/* No recording has a hash of it. */
	SOURCE_UNPROVEN,
	SOURCE_SAME,
	SOURCE_OTHER,
};

/* Which recordings; zero: none that has hashes. */
struct source_recordings {
	/* Borrowed; NULL: none. */
	const struct profile *profile;
	/* The first, and behind the last. */
	uint32_t first;
	uint32_t end;
};

static inline struct source_recordings
source_recordings_all(const struct profile *profile)
{
	return (struct source_recordings){ profile, 0,
					   (uint32_t)profile->recordings.count };
}

/* All recordings that have a hash of the file of that path have to agree. */
enum source_proof source_prove(const struct source_recordings *recordings,
			       const char *path, const struct source *source);
/* recorded: when the recording was written, ns since 1970; 0: not known. */
bool source_may_be_another(enum source_proof proof, const struct source *source,
			   int64_t recorded);
/*
 * Appends behind the name of the file, as one line, that samples are on a line that it
 * does not have: it is not the file that ran.
 */
void source_tell_no_line(const struct source *source, uint64_t line,
			 struct strbuf *out);

#endif
