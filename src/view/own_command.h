/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands that messages advise: whoever has typed ./kaa or /opt/kaa/kaa cannot
 * type kaa.
 */
#ifndef KAA_VIEW_OWN_COMMAND_H
#define KAA_VIEW_OWN_COMMAND_H

#include "base/strbuf.h"

/*
 * Appends the text, with this program named as it was typed in all commands of the
 * forms 'kaa ...' and 'sudo kaa ...', between quotes.
 */
void own_command_puts(struct strbuf *out, const char *text);

/* The first n bytes, one command without quotes, the same way. */
void own_command_example(struct strbuf *out, const char *text, size_t n);

#endif
