// SPDX-License-Identifier: GPL-2.0-only
#include "view/symbol_match.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "profile/frame_line.h"
#include "profile/symbol_word.h"

static struct error *compile(const char *text, regex_t *ret)
{
	char reason[256];
	int code = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);

	if (!code)
		return NULL;
	regerror(code, ret, reason, sizeof(reason));
	return error_create(ERROR_INVALID_ARGUMENT,
			    "'%s' is not a regular expression: %s", text, reason);
}

/* The expression matches a Python function's qualified name, without its file. */
static bool matches_qualname(const regex_t *regex, const char *symbol,
			     struct strbuf *scratch)
{
	struct python_symbol python;

	if (!python_symbol_parse(symbol, &python))
		return false;
	strbuf_clear(scratch);
	strbuf_append(scratch, python.qualname, python.qualname_length);
	return !regexec(regex, scratch->data, 0, NULL, 0);
}

static void match_names(const struct profile *profile, const regex_t *regex,
			enum symbol_rule rule, bool *matches)
{
	_cleanup_strbuf_ struct strbuf scratch = STRBUF_INIT;

	for (size_t i = 0; i < profile->symbols.count; i++) {
		const char *name = profile_string(
			profile, profile->symbols.data[i].name, "");

		matches[i] = !regexec(regex, name, 0, NULL, 0) ||
			     (rule == SYMBOL_RULE_PEOPLE &&
			      matches_qualname(regex, name, &scratch));
	}
}

static const char *frame_name(const struct profile *profile,
			      const struct profile_frame *frame)
{
	const struct profile_symbol *symbol =
		profile_symbol(profile, frame->symbol);

	return symbol ? profile_string(profile, symbol->name, NULL) : NULL;
}

/* Functions are called by their lines, too, which frames have. */
static void match_called(const struct profile *profile, const char *text,
			 bool *matches)
{
	const struct symbol_word word = symbol_word_init(text, false);

	vec_for_each(frame, &profile->frames) {
		struct symbol_lines lines = frame_lines(profile, frame);

		if (symbol_word_calls(&word, frame_name(profile, frame), &lines))
			matches[frame->symbol] = true;
	}
}

struct error *symbol_matches(const struct profile *profile, const char *regex,
			     enum symbol_rule rule, bool **ret)
{
	bool *matches = calloc(profile->symbols.count + 1, sizeof(*matches));
	struct error *error;
	regex_t compiled;

	if (!matches)
		return error_no_memory();
	error = compile(regex, &compiled);
	if (error) {
		free(matches);
		return error;
	}
	match_names(profile, &compiled, rule, matches);
	regfree(&compiled);
	if (rule == SYMBOL_RULE_PEOPLE)
		match_called(profile, regex, matches);
	*ret = matches;
	return NULL;
}

/* The name of the stack's leaf if it matches. */
static uint32_t match_of(const struct profile *profile, const bool *matches,
			 size_t stack)
{
	const struct profile_frame *frame =
		profile_frame(profile, profile->stack_frames.data[stack]);

	const uint8_t never = PROFILE_FRAME_INLINED | PROFILE_FRAME_HIT_ONLY |
			      PROFILE_FRAME_UNWOUND;

	if (frame->symbol == PROFILE_NONE || !matches[frame->symbol] ||
	    (frame->flags & never))
		return PROFILE_NONE;
	return profile->symbols.data[frame->symbol].name;
}

struct error *symbol_match_parents(const struct profile *profile,
				   const char *regex, enum symbol_rule rule,
				   bool caller_order, uint32_t **ret)
{
	size_t count = profile->stack_parents.count;
	_cleanup_free_ bool *matches = NULL;
	struct error *error = symbol_matches(profile, regex, rule, &matches);
	uint32_t *parents;

	if (error)
		return error;
	parents = malloc((count + 1) * sizeof(*parents));
	if (!parents)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		uint32_t up = profile->stack_parents.data[i];
		uint32_t above = up == PROFILE_NONE ? PROFILE_NONE
						    : parents[up];
		uint32_t own = match_of(profile, matches, i);

		if (caller_order)
			parents[i] = above != PROFILE_NONE ? above : own;
		else
			parents[i] = own != PROFILE_NONE ? own : above;
	}
	parents[count] = PROFILE_NONE;
	*ret = parents;
	return NULL;
}

struct error *symbol_match_called(const struct profile *profile,
				  const char *text, uint32_t **ret)
{
	size_t count = profile->symbols.count, kept = 0;
	_cleanup_free_ bool *matches = calloc(count + 1, sizeof(*matches));
	uint32_t *called = malloc((count + 1) * sizeof(*called));

	if (!matches || !called) {
		free(called);
		return error_no_memory();
	}
	/* All that other texts call has them in its name. */
	if (strpbrk(text, ":."))
		match_called(profile, text, matches);
	for (size_t i = 0; i < count; i++)
		if (matches[i] &&
		    !strstr(profile_string(profile,
					   profile->symbols.data[i].name, ""),
			    text))
			called[kept++] = (uint32_t)i;
	called[kept] = PROFILE_NONE;
	*ret = called;
	return NULL;
}

bool symbol_match_is_called(const uint32_t *called, uint32_t symbol)
{
	for (; *called != PROFILE_NONE; called++)
		if (*called == symbol)
			return true;
	return false;
}

/* --- Choices ------------------------------------------------------------ */

void symbol_choice_destroy(struct symbol_choice *choice)
{
	if (!choice)
		return;
	free(choice->functions);
	free(choice->places);
	free(choice);
}

static struct symbol_choice *choose_nothing(const struct profile *profile)
{
	struct symbol_choice *choice = calloc(1, sizeof(*choice));

	if (!choice)
		return NULL;
	choice->functions = calloc(profile->symbols.count + 1, sizeof(bool));
	choice->places = calloc(profile->frames.count + 1, sizeof(bool));
	if (choice->functions && choice->places)
		return choice;
	symbol_choice_destroy(choice);
	return NULL;
}

/* Adds what one word calls. */
static void choose_called(const struct profile *profile,
			  const struct symbol_word *word,
			  struct symbol_choice *choice)
{
	for (size_t i = 0; i < profile->frames.count; i++) {
		const struct profile_frame *frame = &profile->frames.data[i];
		const char *name = frame_name(profile, frame);
		struct symbol_lines lines = frame_lines(profile, frame);

		if (!symbol_word_calls(word, name, &lines))
			continue;
		choice->places[i] = choice->functions[frame->symbol] = true;
		if (strcmp(name, word->text) != 0)
			choice->is_whole_name = false;
	}
}

struct error *symbol_choose_words(const struct profile *profile,
				  const struct name_list *words,
				  enum symbol_rule rule,
				  struct symbol_choice **ret)
{
	struct symbol_choice *choice = choose_nothing(profile);

	if (!choice)
		return error_no_memory();
	choice->is_whole_name = words->count == 1;
	for (size_t i = 0; i < words->count; i++) {
		const struct symbol_word word = symbol_word_init(
			words->values[i], rule == SYMBOL_RULE_PERF);

		choose_called(profile, &word, choice);
	}
	*ret = choice;
	return NULL;
}

struct error *symbol_choose_text(const struct profile *profile,
				 const char *text, enum symbol_rule rule,
				 struct symbol_choice **ret)
{
	const struct name_list words = { &text, rule == SYMBOL_RULE_PEOPLE };
	struct error *error = symbol_choose_words(profile, &words, rule, ret);

	if (error)
		return error;
	for (size_t i = 0; i < profile->frames.count; i++) {
		const struct profile_frame *frame = &profile->frames.data[i];
		const char *name = frame_name(profile, frame);

		if (name && strstr(name, text))
			(*ret)->places[i] = (*ret)->functions[frame->symbol] =
				true;
	}
	return NULL;
}

bool symbol_choice_has(const struct symbol_choice *choice,
		       const struct profile *profile,
		       const struct profile_frame *frame, bool by_line)
{
	if (!frame || frame->symbol == PROFILE_NONE)
		return false;
	return by_line ? choice->places[frame - profile->frames.data]
		       : choice->functions[frame->symbol];
}
