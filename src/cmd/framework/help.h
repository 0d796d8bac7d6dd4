/* SPDX-License-Identifier: GPL-2.0-only */
/* Help made from the command table; see also cmd/framework/manual.h. */
#ifndef KAA_CMD_FRAMEWORK_HELP_H
#define KAA_CMD_FRAMEWORK_HELP_H

#include "base/strbuf.h"
#include "cmd/framework/command.h"

/* What kaa is: lines. */
extern const char help_about[];

/* `kaa help`: all commands with their summaries. */
void help_format_overview(struct strbuf *out);
/* "usage: kaa foo ..." lines. */
void help_format_usage(const struct command *command, struct strbuf *out);
/* `kaa help foo`. */
void help_format_command(const struct command *command, struct strbuf *out);

#endif
