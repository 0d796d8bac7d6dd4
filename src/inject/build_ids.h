/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build-ids of the files that samples hit, read from the files on this machine:
 * for the section BUILD_ID of recordings whose maps carry none.
 */
#ifndef KAA_INJECT_BUILD_IDS_H
#define KAA_INJECT_BUILD_IDS_H

#include "base/error.h"
#include "base/map.h"
#include "convert/frame_names.h"
#include "perfdata/features.h"
#include "perfdata/record.h"

/* Zero-initialise. */
struct build_ids {
	/* Those found; filenames are owned. */
	VEC(struct feature_build_id) found;
	/* struct process_file.index of files that were looked at. */
	struct map seen;
};

void build_ids_deinit(struct build_ids *ids);

/* Looks at all addresses of a sample's user part, or of its chain. */
struct error *build_ids_see(struct build_ids *ids, struct names *names,
			    struct process *process,
			    const struct record *record);
/* Adds those that the section does not have. */
struct error *build_ids_add(const struct build_ids *ids,
			    struct features *features);

#endif
