/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints what is known of some Python functions: `kaa report -S`. */
#ifndef KAA_CMD_READING_FUNCTIONS_PRINT_H
#define KAA_CMD_READING_FUNCTIONS_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/lists.h"
#include "cmd/reading/answer_print.h"
#include "profile/profile.h"

/*
 * Of each Python function that a word calls (profile/symbol_word.h) its own and total
 * time, its hottest lines, and who calls it; of a file its lines. Words that call
 * nothing are passed over. *done is false, and nothing was printed, if a word calls a
 * native function: only the table of entries has those.
 */
struct error *functions_print(const struct profile *profile,
			      const struct answer_input *input,
			      const struct name_list *words, FILE *out,
			      bool *done);

#endif
