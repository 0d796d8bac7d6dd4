/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints who calls a function: `kaa report --callers`. */
#ifndef KAA_CMD_READING_CALLERS_PRINT_H
#define KAA_CMD_READING_CALLERS_PRINT_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "cmd/reading/answer_print.h"
#include "profile/profile.h"

/*
 * The callers of each Python function that the word calls
 * (profile/symbol_word.h), of the first few if there are many, the heaviest
 * first. ERROR_NOT_FOUND: there is none; it names near ones, or what to type for
 * a function that is not Python's.
 */
struct error *callers_print(const struct profile *profile,
			    const struct answer_input *input, const char *word,
			    FILE *out);
/* Of one Python function: the name of its symbol, and the line of its def. */
struct error *callers_print_function(const struct profile *profile,
				     const struct answer_input *input,
				     uint32_t name, uint32_t def, FILE *out);
/* A line that so many other functions have the name. */
void callers_print_rest(size_t count, FILE *out);

#endif
