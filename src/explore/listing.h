/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Source text and instructions with what each line weighs, as `kaa annotate`
 * prints them: columns of own and total weight for each event, a number, a text.
 *
 * A listing is of parts (explore/annotate_words.h), each with a heading. Runs of
 * lines in which there is nothing to see are one row that counts them. Foreign
 * text is never wider than a line, and moves no cursor (view/fit.h).
 */
#ifndef KAA_EXPLORE_LISTING_H
#define KAA_EXPLORE_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "explore/annotate_words.h"
#include "explore/code.h"
#include "explore/sources.h"
#include "explore/weights.h"
#include "view/place_name.h"

enum listing_value {
	LISTING_PERCENT,
	LISTING_SAMPLES,
	LISTING_PERIOD,
};

struct listing_options {
	/* Of a line of output; at least 60 are used. */
	size_t columns;
	bool color;
	enum listing_value value;
	/* 100 % are the samples of the part, and not all. */
	bool is_local;
	/* Percentages are of numbers of samples, and not of periods. */
	bool counts_hits;
	/* Nothing is folded. */
	bool shows_all;
	/* Only the surroundings of the hottest lines of each part. */
	bool only_hottest;
	/* Lines around those with samples; by default as fits the part. */
	bool has_context;
	size_t context;
};

/* Are weights numbers of samples, or periods? */
bool listing_counts_samples(const struct listing_options *options);

/* All that is not said to be made is the caller's, and borrowed. */
struct listing {
	const struct profile *profile;
	const struct weights *weights;
	const struct listing_options *options;
	struct sources *sources;
	const struct place_names *names;
	struct code_places code;
	/* Made: what was written so far, and scratch. Free both. */
	struct strbuf text;
	struct strbuf scratch;
	/* Made: the first events, as many as fit. */
	size_t event_count;
	size_t columns;
	size_t cell_width;
	/* Made for each part. */
	bool has_totals;
	size_t label_width;
	VEC(struct weight_pair) whole;
};

void listing_init(struct listing *listing);
void listing_deinit(struct listing *listing);

/* --- The pieces of a part ---------------------------------------------- */

/* What is not shown, a line for each event that does not fit. */
void listing_put_hidden_events(struct listing *listing);

/* The heading, in one or more lines: name and place, and what all of it weighs. */
struct error *listing_begin(struct listing *listing,
			    const struct annotate_part *part,
			    const char *name, const char *place);
/* A line that says why something is not shown. The error stays the caller's. */
void listing_put_error(struct listing *listing, const char *what,
		       const struct error *error);
/* Breaks the lines of words behind `begin` of its text that are too long. */
void listing_wrap(struct listing *listing, size_t begin);
/* The titles of the columns; extra is behind `width` columns of the text. */
void listing_put_titles(struct listing *listing, const char *label,
			const char *text, const char *extra, size_t width);

/* More are not shown, however wide a line may be. */
enum { LISTING_EVENTS_MAX = 64 };

/* The weights of a row; either may be NULL, which is blank. */
struct listing_cell {
	const struct own_weight *own;
	const struct own_weight *total;
};

/* Columns before the text of a row. */
size_t listing_text_column(const struct listing *listing);
/* The beginning of a row: a cell for each event, and a label ("37"). */
void listing_put_row(struct listing *listing, const struct listing_cell *cells,
		     const char *label, bool is_marked);
/* The text of a row: n foreign bytes, cut to width. Returns its columns. */
size_t listing_put_text(struct listing *listing, const char *text, size_t n,
			size_t width, bool is_hot);
/* How many columns it would take if nothing were cut. */
size_t listing_text_width(struct listing *listing, const char *text, size_t n);
void listing_end_row(struct listing *listing);
/* How hot a weight of an event is: percent of what 100 % is. */
double listing_share(const struct listing *listing, size_t event,
		     const struct own_weight *weight);
/* Rows from which on that are marked as hot, %. */
#define LISTING_HOT 5.0

/* --- What is shown of many lines --------------------------------------- */

/* Fewer are not worth a row that counts them. */
enum { LISTING_FOLD_MIN = 3 };

/* Lines from `first` to `last`, ascending. */
struct listing_span {
	size_t first;
	size_t last;
};

struct listing_spans VEC_BODY(struct listing_span);

/* A span that does not begin before the last one; joined if it is near. */
struct error *listing_add_span(struct listing_spans *spans, size_t first,
			       size_t last);

#endif
