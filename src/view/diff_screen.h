/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the screen of `kaa diff` (view/diff_text.h). */
#ifndef KAA_VIEW_DIFF_SCREEN_H
#define KAA_VIEW_DIFF_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "profile/own_diff.h"
#include "view/diff_text.h"
#include "view/place_name.h"

struct diff_screen {
	const struct profile *profile;
	const struct own_diff *diff;
	const struct diff_text_options *options;
	struct place_names *names;
	size_t columns;
	struct diff_unit unit;
	struct strbuf text;
	/* A recording's line would be too long with all words. */
	bool has_little_room;
	/* A row that is shown says "maybe". */
	bool has_maybe;
	/* It has a function whose lines are not paired. */
	bool has_changed;
	/* The program of the first recording of each side. */
	struct strbuf programs[2];
	/* Scratch. */
	struct strbuf word;
};

/* The side by which an entry is named. */
static inline const struct own_entry *
diff_entry_of(const struct own_diff_entry *entry)
{
	return entry->is_after ? &entry->after : &entry->before;
}

/*
 * diff_ways.c: a line each of what differs in how the sides were recorded, and whether
 * the machine was busy. Of two programs their commands are no news.
 */
void diff_put_ways(struct diff_screen *s, bool is_one_program);

/* diff_tables.c */
/* No chance by itself, but one among many. */
bool diff_is_maybe(const struct diff_value *value);
void diff_put_functions(struct diff_screen *s);
void diff_put_lines(struct diff_screen *s);
/* No chance by itself, but one among many. */
bool diff_is_maybe(const struct diff_value *value);
/* Into s->word: the qualified name. */
const char *diff_name_function(struct diff_screen *s,
			       const struct own_diff_entry *entry);

#endif
