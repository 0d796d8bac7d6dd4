/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The source files that a view shows lines of: each is read once, as it is now
 * (explore/source.h).
 */
#ifndef KAA_EXPLORE_SOURCES_H
#define KAA_EXPLORE_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "explore/source_proof.h"

struct sources_file {
	/* Owned. */
	char *path;
	/* Without lines where the file cannot be read. */
	struct source source;
	/* The last line that was asked for and that it does not have; 0: none. */
	uint32_t missing;
	/* By the hashes that the recordings have. */
	enum source_proof proof;
	/* Why it cannot be read, or NULL. Owned. */
	struct error *error;
};

/* Zero-initialise the rest; sources_deinit() frees. */
struct sources {
	/* In front of all paths, or NULL; borrowed. */
	const char *symfs;
	/* When the recording was written, ns since 1970; 0: not known. */
	int64_t recorded;
	/* Those that may have hashes of the files. */
	struct source_recordings recordings;
	/* Pointers, so that a file keeps its place. */
	VEC(struct sources_file *) files;
};

void sources_deinit(struct sources *sources);
#define _cleanup_sources_ _cleanup_(sources_deinit)

/*
 * The file of that path, read if it has not been; it lives as long as sources.
 * NULL: "<string>" and its like, which are no files, or want of memory.
 */
const struct sources_file *sources_find(struct sources *sources,
					const char *path);
/* Appends a line of a file, without its end; nothing where there is none. */
void sources_put_line(struct sources *sources, const char *path, uint32_t line,
		      struct strbuf *out);
/*
 * The same as answer_options.source, whose argument is a struct sources. A file of which a
 * hash says that it is another than the one that ran has no text.
 */
void sources_answer_line(void *sources, const char *path, uint32_t line,
			 struct strbuf *out);

/*
 * Its lines may be others than those that were recorded: a hash says so, or, where there
 * is none, it was changed after the recording.
 */
bool sources_has_changed(const struct sources *sources,
			 const struct sources_file *file);
/*
 * Appends a line of text for each file that was read and has changed, or lacks lines that
 * were asked for, and one of those that this user may not read.
 */
void sources_tell(const struct sources *sources, struct strbuf *out);
/* "orders.py has changed since the recording": of all such files; or nothing. */
void sources_put_changed(const struct sources *sources, struct strbuf *out);

#endif
