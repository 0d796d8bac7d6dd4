/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Completion scripts of shells, made of the table of commands.
 *
 * A script is a fixed part, kaa.bash and so on beside this file, and the tables
 * of commands, options and values that the fixed part asks. Nothing of kaa runs
 * when a user completes. What a script reads of the machine, the numbers and
 * names of processes, it only compares and shows.
 *
 * How to add a shell: a row in COMPLETION_SHELLS, its two files, one line for
 * each of them in src/cmd/meson.build, where the script is to be installed in
 * meson.build, and what it offers in tests/cli/test_completion.py.
 */
#ifndef KAA_CMD_COMPLETION_COMPLETION_H
#define KAA_CMD_COMPLETION_COMPLETION_H

#include "base/error.h"
#include "base/strbuf.h"

#define COMPLETION_SHELLS(X) \
	X(bash)              \
	X(zsh)               \
	X(fish)

#define COMPLETION_DECLARE(name) \
	void completion_format_##name(struct strbuf *out);
COMPLETION_SHELLS(COMPLETION_DECLARE)
#undef COMPLETION_DECLARE

/* ERROR_INVALID_ARGUMENT if there is no script for the shell. */
struct error *completion_format(const char *shell, struct strbuf *out);
/* The shells: words, each with a blank behind it. */
void completion_words(struct strbuf *out);

#endif
