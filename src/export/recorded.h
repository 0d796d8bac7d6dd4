/* SPDX-License-Identifier: GPL-2.0-only */
/* What exports say of a recording as a whole: when it was made, and of what. */
#ifndef KAA_EXPORT_RECORDED_H
#define KAA_EXPORT_RECORDED_H

#include <stdint.h>

#include "base/strbuf.h"
#include "export/groups.h"
#include "profile/metadata.h"

struct export_times {
	/* Of the samples that are exported, ns of the recording's clock. */
	uint64_t first;
	uint64_t last;
	/* The first of them, ns since 1970; 0: not known. */
	uint64_t wall;
};

/* The profile has a row for each sample. */
struct export_times export_groups_times(const struct export_groups *groups);

/* Appends the command that recorded it; nothing if that is not known. */
void export_command(const struct metadata *metadata, struct strbuf *out);

#endif
