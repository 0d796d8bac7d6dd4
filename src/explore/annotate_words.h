/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What words such as "dedupe", "orders.py" and "orders.py:37" ask to see the
 * source of (profile/symbol_word.h).
 */
#ifndef KAA_EXPLORE_ANNOTATE_WORDS_H
#define KAA_EXPLORE_ANNOTATE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "explore/weights.h"
#include "profile/profile.h"

enum annotate_kind {
	ANNOTATE_FUNCTION,
	ANNOTATE_FILE,
	/* A line, in the function that most samples have it in. */
	ANNOTATE_LINE,
	/* A native function: its instructions. */
	ANNOTATE_NATIVE,
};

/* All but the numbers are handles or PROFILE_NONE. */
struct annotate_part {
	enum annotate_kind kind;
	/* Of a function its name and the line of its def. */
	uint32_t name;
	uint32_t def;
	uint32_t file;
	/* Of a line its number. */
	uint32_t line;
	/* Of a native function, and one of its frames. */
	uint32_t symbol;
	uint32_t frame;
	/* In the first of the events: periods or numbers of samples. */
	uint64_t own;
	uint64_t total;
};

struct annotate_parts VEC_BODY(struct annotate_part);

/* What a part weighs in the samples of an event. */
struct error *annotate_part_weigh(const struct weights *weights, size_t event,
				  const struct annotate_part *part,
				  struct weight_pair *ret);

/* A lambda, a comprehension: its source is a part of another statement. */
bool annotate_part_is_nameless(const struct profile *profile,
			       const struct annotate_part *part);

/*
 * Appends what one word calls and samples of the events have, heaviest own time
 * first, each once; *called is false if it calls nothing in the profile. Of a line
 * it is one part of each file that the word calls. exact:
 * the whole name of a symbol alone is a name. by_samples: what has most samples
 * is heaviest, else what has the largest period.
 */
struct error *annotate_words_find(const struct weights *weights,
				  const char *word, bool exact, bool by_samples,
				  struct annotate_parts *ret, bool *called);

/* Samples that have a function which the word calls in their stack. */
struct annotate_passed {
	/* Of the first event; each sample counts once. */
	struct own_weight weight;
	/* All that the word calls are inlined, so they have no code of their own. */
	bool is_inlined;
	/* All of it is the interpreter's own (PROFILE_FRAME_INTERPRETER). */
	bool is_interpreter;
};

/* For words that annotate_words_find() finds nothing for. exact: as there. */
struct error *annotate_words_pass(const struct weights *weights,
				  const char *word, bool exact,
				  struct annotate_passed *ret);

/*
 * Fills *ret, which is empty, with the functions of the first event that have
 * most own time, at most that many; *rest is what the others have, *rest_count
 * how many they are.
 */
struct error *annotate_words_hottest(const struct weights *weights, size_t most,
				     bool by_samples,
				     struct annotate_parts *ret,
				     uint64_t *rest_count, uint64_t *rest);

#endif
