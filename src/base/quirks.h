/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What perf does otherwise than kaa, by version of perf: its faults, and what
 * it chose. This is the only place that knows which perf does what.
 *
 *	struct quirks quirks = quirks_of_perf(PERF_7_2);
 *	if (quirks.return_addresses)
 *
 * To add one: a row in base/quirks.def, which becomes a member of struct quirks;
 * the code that asks for it; and a row below "Different on purpose" in
 * docs/report.md or docs/script.md, which says what perf does, what kaa does,
 * and why.
 *
 *	QUIRK(name, since, until, title of the row in the page)
 *
 * A quirk is in perf from version `since` on, and no more from `until` on; 0:
 * in all later versions. PERF_7_2 in `since` is the first that was compared. If
 * a later perf mends a fault, its row gets an `until`.
 *
 * Layers that need only one or two of these take options of their own.
 */
#ifndef KAA_BASE_QUIRKS_H
#define KAA_BASE_QUIRKS_H

#include <stdbool.h>
#include <stddef.h>

/* Major version times 100, and minor version. */
enum perf_version {
	/* Like no perf: no quirks. */
	PERF_NONE = 0,
	PERF_7_2 = 702,
};

#define QUIRK(name, since, until, title) bool name;
struct quirks {
#include "base/quirks.def"
};
#undef QUIRK

/* The table's rows, in its order. */
struct quirk {
	const char *name;
	/* Of the member in struct quirks. */
	size_t offset;
	unsigned int since;
	unsigned int until;
	const char *title;
};

/* Those of a version; of PERF_NONE none. */
struct quirks quirks_of_perf(unsigned int version);
/* NULL behind the last. */
const struct quirk *quirk_at(size_t index);
/* The version has it. */
bool quirk_is_in(const struct quirk *quirk, unsigned int version);

#endif
