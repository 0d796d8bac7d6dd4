/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names near a mistyped one, for "did you mean".
 */
#ifndef KAA_BASE_NEAREST_H
#define KAA_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

enum {
	NEAREST_MAX = 5,
	/* Longer words are near to nothing. */
	NEAREST_MAX_LENGTH = 64,
};

/* The nearest names so far, best first. Zero-initialise word's rest. */
struct nearest {
	/* What was typed; borrowed. */
	const char *word;
	/* In front of each name, such as "--"; NULL: nothing. */
	const char *prefix;
	size_t count;
	/* Borrowed from nearest_add(). */
	const char *names[NEAREST_MAX];
	int distances[NEAREST_MAX];
};

/*
 * Edits (insert, delete, replace, swap two neighbours; case counts half)
 * between two words, times two. INT_MAX for words over NEAREST_MAX_LENGTH.
 */
int edit_distance(const char *a, const char *b);

/* Offers a candidate; far ones are dropped, as are doubles. */
void nearest_add(struct nearest *nearest, const char *name);
/* The same for a name that people type otherwise: that is what is compared. */
void nearest_add_typed(struct nearest *nearest, const char *name,
		       const char *typed);

/*
 * Appends ": did you mean 'a', 'b' or 'c'?", behind what is wrong with the word;
 * nothing if none is near. All say it so.
 */
void nearest_format(const struct nearest *nearest, struct strbuf *out);

#endif
