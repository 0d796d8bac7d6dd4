/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The build-ids of files that processes have mapped, each file read once.
 *
 * Records of maps that were there before the recording, and of the whole system
 * all (sampler.c, attr_tasks()), need them as the kernel's own do: the path
 * alone is another file in another container, or after an upgrade. Not
 * thread-safe.
 */
#ifndef KAA_COLLECT_MAPPED_FILES_H
#define KAA_COLLECT_MAPPED_FILES_H

#include <sys/types.h>

#include "base/map.h"
#include "base/vec.h"
#include "obj/build_id.h"
#include "perfdata/record.h"
#include "sys/proc.h"

struct mapped_files {
	/* Device and inode, mixed, to an index in ids. */
	struct map known;
	VEC(struct build_id) ids;
};

/*
 * Puts that of the file behind a map of the process into the map's MMAP2 record,
 * in the place of device and inode, as the kernel does it. The record stays as
 * it is if the file has none, is no regular ELF file, or may not be read. A
 * device is never opened.
 */
void mapped_files_put_build_id(struct mapped_files *files, pid_t pid,
			       const struct proc_map *map,
			       struct record *record);
void mapped_files_deinit(struct mapped_files *files);

#endif
