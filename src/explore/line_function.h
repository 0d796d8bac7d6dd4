/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which function a line is in, where a recording knows functions and not their
 * lines, as of trampolines. The source tells, as long as it is what ran.
 */
#ifndef KAA_EXPLORE_LINE_FUNCTION_H
#define KAA_EXPLORE_LINE_FUNCTION_H

#include <stdbool.h>

#include "explore/annotate_words.h"
#include "explore/sources.h"
#include "explore/weights.h"

/*
 * False: the word is no line, lines are known of its file, or the source does not
 * tell, or the function has no samples. *ret: the function, without weights.
 */
bool line_function_find(const struct weights *weights, struct sources *sources,
			const char *word, struct annotate_part *ret);

#endif
