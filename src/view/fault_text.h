/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The words for what is wrong with a recording (base/faults.h).
 *
 * A report ends with notes; commands also have lines for stderr. Both say the
 * same, each in its own words and order; what a report has a note for it has no
 * line for.
 */
#ifndef KAA_VIEW_FAULT_TEXT_H
#define KAA_VIEW_FAULT_TEXT_H

#include "base/faults.h"
#include "base/strbuf.h"

enum fault_lines {
	/* What a report has no note for. */
	FAULT_LINES_DAMAGE,
	/* What else is wrong with a file that was read. */
	FAULT_LINES_FILE,
	/* How many stacks and frames lack something. */
	FAULT_LINES_STACKS,
	/* Of a recording that was copied: what could not be added; the rest. */
	FAULT_LINES_JITDUMPS,
	FAULT_LINES_COPY,
};

/* Appends those lines. */
void fault_lines(const struct faults *faults, enum fault_lines which,
		 struct strbuf *out);
/* Appends lines that begin so, with shares of that many samples. */
void fault_notes(const struct faults *faults, uint64_t samples,
		 const char *prefix, struct strbuf *out);
/* Appends comment lines for what the recorder counted itself. */
void fault_recorder_notes(const struct faults *faults, struct strbuf *out);

#endif
