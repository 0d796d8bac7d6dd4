/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What texts say of a profile's functions: regular expressions (POSIX
 * extended) of --parent and --ignore-callees, names of --symbols, parts of
 * names of --symbol-filter, and what is typed on the terminal. A text that is
 * what people call a function (profile/symbol_word.h) finds it in all of these.
 */
#ifndef KAA_VIEW_SYMBOL_MATCH_H
#define KAA_VIEW_SYMBOL_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/lists.h"
#include "profile/profile.h"

/* Where no expression is given, perf's: how system calls once were named. */
#define SYMBOL_MATCH_PARENT "^sys_|^do_page_fault"

enum symbol_rule {
	/* As perf does: the symbol's name alone counts. */
	SYMBOL_RULE_PERF,
	/* So does what people call the function. */
	SYMBOL_RULE_PEOPLE,
};

/*
 * *ret[symbol] is true if its name matches, or by SYMBOL_RULE_PEOPLE the
 * qualified name of a Python function, or if the text calls it so; to be
 * freed. ERROR_INVALID_ARGUMENT says what is wrong with the expression.
 */
struct error *symbol_matches(const struct profile *profile, const char *regex,
			     enum symbol_rule rule, bool **ret);
/*
 * *ret[stack] is the name (a string of the profile) of the first function of
 * the stack that matches, or PROFILE_NONE, from the outermost one if
 * caller_order, else from the leaf; inlined ones do not count. One more, for
 * PROFILE_NONE. To be freed.
 */
struct error *symbol_match_parents(const struct profile *profile,
				   const char *regex, enum symbol_rule rule,
				   bool caller_order, uint32_t **ret);

/*
 * The functions that the text calls, whose name does not have it; ends with
 * PROFILE_NONE, to be freed.
 */
struct error *symbol_match_called(const struct profile *profile,
				  const char *text, uint32_t **ret);

/* The symbol (or PROFILE_NONE) is one of these. */
bool symbol_match_is_called(const uint32_t *called, uint32_t symbol);

/* What words or a part of a name choose of a profile. */
struct symbol_choice {
	/* By symbol: the function is called so, or one of its lines. */
	bool *functions;
	/* By frame: the same, but of lines it is this one. */
	bool *places;
	/* A single word was given, and is the whole name of all of that. */
	bool is_whole_name;
};

/* What one of the words calls. Borrows nothing. */
struct error *symbol_choose_words(const struct profile *profile,
				  const struct name_list *words,
				  enum symbol_rule rule,
				  struct symbol_choice **ret);
/* What has the text in its name, too. */
struct error *symbol_choose_text(const struct profile *profile,
				 const char *text, enum symbol_rule rule,
				 struct symbol_choice **ret);
void symbol_choice_destroy(struct symbol_choice *choice);
/*
 * The frame of the profile (NULL: nothing is known) is among it; by_line: it
 * stands for its line alone, and not for all of its function.
 */
bool symbol_choice_has(const struct symbol_choice *choice,
		       const struct profile *profile,
		       const struct profile_frame *frame, bool by_line);

#endif
