// SPDX-License-Identifier: GPL-2.0-only
#include "process/mmap_record.h"

#include <sys/mman.h>

struct process_mmap process_mmap_of_record(const struct record_mmap *record)
{
	return (struct process_mmap){
		.start = record->start,
		.length = record->len,
		.pgoff = record->pgoff,
		/* An MMAP record has no protection, but says this much. */
		.prot = record->prot | (record->is_exec ? PROT_EXEC : 0),
		.flags = record->flags,
		.major = record->maj,
		.minor = record->min,
		.inode = record->ino,
		.inode_generation = record->ino_generation,
		.path = record->filename,
		.build_id = record->build_id,
		.build_id_size = record->build_id_size,
	};
}
