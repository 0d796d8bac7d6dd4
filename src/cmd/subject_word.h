/* SPDX-License-Identifier: GPL-2.0-only */
/* `kaa orders.py`: what the first word may mean where it is no command of kaa. */
#ifndef KAA_CMD_SUBJECT_WORD_H
#define KAA_CMD_SUBJECT_WORD_H

#include <stdbool.h>

#include "base/strbuf.h"

/*
 * Appends the command that was meant, as "kaa record python3 orders.py": of a
 * script, a program (more: with arguments, for which "..." stands), or of a
 * recording. False: it is none of these, or stands in quotes for a shell.
 */
bool subject_word_command(const char *word, bool more, struct strbuf *out);

#endif
