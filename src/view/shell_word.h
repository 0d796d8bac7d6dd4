/* SPDX-License-Identifier: GPL-2.0-only */
/* Words of command lines that a user is to type. No state: from any thread. */
#ifndef KAA_VIEW_SHELL_WORD_H
#define KAA_VIEW_SHELL_WORD_H

#include "base/strbuf.h"

/*
 * Appends the word as a shell takes it for one, between quotes where it needs
 * them. A control character is shown as '?'.
 */
void shell_word(const char *word, struct strbuf *out);

#endif
