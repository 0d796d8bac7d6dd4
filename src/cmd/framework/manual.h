/* SPDX-License-Identifier: GPL-2.0-only */
/* Manual pages made from the command table, with the macros of man(7). */
#ifndef KAA_CMD_FRAMEWORK_MANUAL_H
#define KAA_CMD_FRAMEWORK_MANUAL_H

#include "base/strbuf.h"
#include "cmd/framework/command.h"

/* kaa(1): the commands, and what all have in common. */
void manual_format_overview(struct strbuf *out);
/* kaa-foo(1) */
void manual_format(const struct command *command, struct strbuf *out);

/* Rows of command.files and command.environment that several commands have. */
#define MANUAL_FILE_RECORDING \
	"perf.data\tThe recording, in the format of perf. Where another one of this name stands, record keeps it as perf.data.old."
#define MANUAL_FILE_IMAGE \
	"perf.data.python-<number>\tAn ELF image beside the recording, in which stock perf finds the names of Python functions."
#define MANUAL_FILE_DEBUG                                                    \
	"~/.debug, /usr/lib/debug\tWhere files with debug symbols are looked " \
	"for by their build-id."
#define MANUAL_HOME \
	"HOME\tThe folder in which .debug, the cache of perf with files by their build-id, is looked for."
#define MANUAL_PAGER                                                        \
	"KAA_PAGER, PAGER\tThe program through which text is shown on a "   \
	"terminal. The first one that is set counts; cat or nothing means " \
	"none. The default is less."
#define MANUAL_LESS \
	"LESS\tOptions of less. If it is not set, kaa sets it to FRSX."
#define MANUAL_COLUMNS \
	"COLUMNS\tThe width of tables, if it is set; else that of the terminal, or 100."
#define MANUAL_NO_COLOR \
	"NO_COLOR\tIf it is set and not empty, no colours are shown."
#define MANUAL_PATH \
	"PATH\tWhere commands and Pythons are looked for. Under sudo it is that of the shell in which sudo was typed."
#define MANUAL_SUDO \
	"SUDO_UID, SUDO_GID, SUDO_USER, DOAS_USER\tThe user behind root, to whom the files belong, and as whom programs run."

#endif
