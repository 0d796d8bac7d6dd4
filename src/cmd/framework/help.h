/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts made from the command table. */
#ifndef KAA_CMD_FRAMEWORK_HELP_H
#define KAA_CMD_FRAMEWORK_HELP_H

#include "base/strbuf.h"
#include "cmd/framework/command.h"

/* `kaa help`: all commands with their summaries. */
void help_format_overview(struct strbuf *out);
/* "usage: kaa foo ..." lines. */
void help_format_usage(const struct command *command, struct strbuf *out);
/* `kaa help foo`. */
void help_format_command(const struct command *command, struct strbuf *out);
/* The manual page kaa-foo(1), man(7) macros. */
void help_format_man(const struct command *command, struct strbuf *out);
/* A completion script for bash (zsh: bashcompinit). */
void help_format_completion(struct strbuf *out);

#endif
