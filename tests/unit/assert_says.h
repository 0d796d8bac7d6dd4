/* SPDX-License-Identifier: GPL-2.0-only */
/* What a text for the user says; the whole text is printed where it does not. */
#ifndef KAA_UNIT_ASSERT_SAYS_H
#define KAA_UNIT_ASSERT_SAYS_H

#include <stdbool.h>
#include <string.h>

#include "assert_ok.h"

static inline void assert_words(const char *text, const char *words, bool wanted,
				const char *file, int line)
{
	/* That there is one at all the sanitized build cannot tell. */
	text = text ? text : "";
	if (!strstr(text, words) != wanted)
		return;
	print_error("the text should %ssay '%s':\n%s\n", wanted ? "" : "not ",
		    words, text);
	_fail(file, line);
}

#define assert_says(text, words) \
	assert_words(text, words, true, __FILE__, __LINE__)
#define assert_does_not_say(text, words) \
	assert_words(text, words, false, __FILE__, __LINE__)

#endif
