/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records for what was there before the recording: the kernel's map, and the
 * processes that run already, as the kernel would have told them. They have
 * time 0.
 */
#ifndef KAA_COLLECT_SYNTHESIZE_H
#define KAA_COLLECT_SYNTHESIZE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "collect/mapped_files.h"
#include "perfdata/record.h"

/* Takes a record; borrowed for the call. */
typedef struct error *record_sink(void *arg, const struct record *record);

/* From _text to _etext; start 0 if addresses are hidden or not there. */
struct kernel_code {
	uint64_t start;
	uint64_t end;
};

/*
 * Where the kernel's code is. /proc/iomem tells its size to CAP_SYS_ADMIN; for
 * others nearly all of /proc/kallsyms is read, which takes 0.05 s. root: see
 * sys/file.h.
 */
struct kernel_code kernel_code_find(const char *root);

/* The map of the kernel's code, `[kernel.kallsyms]_text`, if that is known. */
struct error *synthesize_kernel(const struct kernel_code *code,
				record_sink *sink, void *arg);

/*
 * COMM, FORK and MMAP2 records of a process and its threads. A process that
 * has ended meanwhile gives nothing. data: maps that are not code, too. files:
 * where to get build-ids of the mapped files; NULL: without them.
 */
struct error *synthesize_process(const char *root, pid_t pid, bool data,
				 struct mapped_files *files, record_sink *sink,
				 void *arg);

#endif
