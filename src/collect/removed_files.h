/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of functions in files that nobody will find when the recording is read:
 * an executable that unpacks its libraries removes them when it ends, and an
 * upgrade replaces them. The recorder has such files open.
 */
#ifndef KAA_COLLECT_REMOVED_FILES_H
#define KAA_COLLECT_REMOVED_FILES_H

#include "base/error.h"
#include "collect/target_file.h"
#include "perfdata/kaa_stream.h"

/* Takes a name; borrowed for the call. */
typedef struct error *removed_sink(void *arg,
				   const struct kaa_file_symbol *symbol);

/*
 * Tells the functions through which stacks led in files whose path does not lead to
 * them any more. At the end of a recording.
 */
struct error *removed_files_tell(const struct target_files *files,
				 removed_sink *sink, void *arg);

#endif
