/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a word of --symbols and its like found nothing, and which functions of
 * the recording it may have meant.
 *
 *	symbol_near_init(&near, word, false);
 *	symbol_near_offer(&near, symbol, &lines, SYMBOL_CALLS);   for each function
 *	if (near.place < SYMBOL_CALLS)
 *		symbol_near_format(&near, "no sample is in a function called", &text);
 *	symbol_near_deinit(&near);
 *
 * What is offered is copied if it is kept.
 */
#ifndef KAA_VIEW_SYMBOL_NEAR_H
#define KAA_VIEW_SYMBOL_NEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/nearest.h"
#include "base/strbuf.h"
#include "profile/profile.h"
#include "profile/symbol_word.h"

/* Where a function was seen; the greater, the more there is to show. */
enum symbol_place {
	SYMBOL_NOWHERE,
	/* As a frame of the interpreter, which is folded into a function. */
	SYMBOL_FOLDED,
	/* In a call chain. */
	SYMBOL_CALLS,
	/* A sample hit it. */
	SYMBOL_HIT,
};

struct symbol_near {
	struct symbol_word word;
	/* The greatest one at which something was that the word calls. */
	enum symbol_place place;
	/* What is compared: the word's function, or its file without folders. */
	char *typed;
	struct nearest nearest;
	/* Lines of the word's file with samples, around its own; 0: none. */
	uint32_t line_before;
	uint32_t line_behind;
	/* Of the word's file there are functions with lines, and without. */
	bool with_lines;
	bool without_lines;
	/* Of the names in nearest. */
	struct arena names;
	struct strbuf scratch;
};

/* word is borrowed. exact: the symbol's whole name alone calls it, as in perf. */
struct error *symbol_near_init(struct symbol_near *near, const char *word,
			       bool exact);
void symbol_near_deinit(struct symbol_near *near);
void symbol_near_offer(struct symbol_near *near, const char *symbol,
		       const struct symbol_lines *lines,
		       enum symbol_place place);
/* All functions of a profile, where they are. */
struct error *symbol_near_offer_profile(struct symbol_near *near,
					const struct profile *profile,
					bool interpreter_frames);
/*
 * Appends a sentence on what is the matter with the word, without a period.
 * none is how it begins if the word calls nothing: "no sample is in a function called".
 * Names are sanitized.
 */
void symbol_near_format(const struct symbol_near *near, const char *none,
			struct strbuf *out);

#endif
