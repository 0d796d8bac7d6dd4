/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The build-ids of files that processes have mapped, each file read once.
 *
 * Records of maps that were there before the recording need them as the
 * kernel's own do: the path alone is another file in another container, or
 * after an upgrade. Not thread-safe.
 */
#ifndef KAA_COLLECT_MAPPED_FILES_H
#define KAA_COLLECT_MAPPED_FILES_H

#include <sys/types.h>

#include "base/map.h"
#include "base/vec.h"
#include "obj/build_id.h"
#include "sys/proc.h"

struct mapped_files {
	/* Device and inode, mixed, to an index in ids. */
	struct map known;
	VEC(struct build_id) ids;
};
#define MAPPED_FILES_INIT {}

/*
 * Of the file behind a map of the process; size 0 if it has none, is no
 * regular ELF file, or may not be read. A device is never opened.
 */
struct build_id mapped_files_build_id(struct mapped_files *files, pid_t pid,
				      const struct proc_map *map);
void mapped_files_deinit(struct mapped_files *files);

#endif
