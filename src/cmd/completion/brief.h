/* SPDX-License-Identifier: GPL-2.0-only */
/* Text of the table of commands as a word of a shell. */
#ifndef KAA_CMD_COMPLETION_BRIEF_H
#define KAA_CMD_COMPLETION_BRIEF_H

#include "base/strbuf.h"
#include "cmd/framework/options.h"

/*
 * The first thought of an option's help, without defaults and lists: a shell
 * has one line for it.
 */
void brief_help(const struct option *option, struct strbuf *out);

/* Text between single quotes, as bash, zsh and fish read it alike. */
void brief_quote(const char *text, struct strbuf *out);

#endif
