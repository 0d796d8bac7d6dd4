/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The source files of two sides of a comparison, as far as their text is known:
 * a file that was changed after its recording is not what was recorded.
 */
#ifndef KAA_CMD_READING_DIFF_SOURCES_H
#define KAA_CMD_READING_DIFF_SOURCES_H

#include "base/cleanup.h"
#include "base/map.h"
#include "base/vec.h"
#include "explore/line_pairs.h"
#include "explore/sources.h"
#include "profile/own_diff.h"

/* Zero-initialise the rest; diff_sources_deinit() frees. */
struct diff_sources {
	const struct profile *profile;
	struct sources before;
	struct sources after;
	/* Pairs of files to what is known of their lines. */
	struct map index;
	VEC(struct diff_file) files;
};

struct diff_file {
	enum own_diff_lines known;
	struct line_pairs pairs;
};

void diff_sources_deinit(struct diff_sources *sources);
#define _cleanup_diff_sources_ _cleanup_(diff_sources_deinit)

/* For struct own_diff_options; arg is a struct diff_sources. */
enum own_diff_lines diff_sources_lines(void *arg, uint32_t before,
				       uint32_t after);
uint32_t diff_sources_line_after(void *arg, uint32_t before, uint32_t after,
				 uint32_t line);
/* For struct diff_text_options. */
void diff_sources_put(void *arg, bool is_after, uint32_t file, uint32_t line,
		      struct strbuf *out);
void diff_sources_notes(void *arg, struct strbuf *out);

#endif
