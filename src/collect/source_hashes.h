/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What stood in the source files of the Python functions that were sampled, as hashes:
 * who reads the recording tells by them whether a file is still the one that ran
 * (docs/page.md). The files are read when the recording ends.
 *
 * A file has no hash if it was changed since the oldest of the recorded Pythons began:
 * it may have been read before. None has one if a Python sees other files than kaa.
 * Whoever names a file is the recorded process: all that comes of what is in it is its
 * hash.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_SOURCE_HASHES_H
#define KAA_COLLECT_SOURCE_HASHES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "collect/code_spans.h"
#include "perfdata/kaa_stream.h"

struct source_hashes {
	/* No Python began before, ns since 1970. */
	int64_t since;
	bool other_files;
};

/* Pythons that begin from now on began after now. */
void source_hashes_init(struct source_hashes *hashes);
/* A Python was found. root goes before /proc. runs_already: it began before the recording. */
void source_hashes_python(struct source_hashes *hashes, const char *root,
			  uint32_t pid, bool runs_already);

/* Takes one; borrowed for the call. */
typedef struct error *source_hashes_sink(void *arg,
					 const struct kaa_source *source);

/*
 * Tells the hashes of the files of all code that has an address. Fails for want of
 * memory, or because the sink does.
 */
struct error *source_hashes_tell(const struct source_hashes *hashes,
				 const struct code_table *codes,
				 source_hashes_sink *sink, void *arg);

#endif
