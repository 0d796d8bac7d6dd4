/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an option's argument can be, for completion. It follows from the row of
 * the option:
 *
 *	.values			one of these words
 *	"a|b|c", "<a|b>"	one of these words; "<n>|max": "max", or a number
 *	"<file>", "<path>"	a file
 *	"<dir>"			a directory
 *	"<pid>", "<pid>,..."	a process that runs; "<tid>" a thread. "<pid,...>"
 *				is a number in a recording, which is text.
 *	anything else		text that nobody can guess
 *
 * With a comma in the argument's name there can be several, between commas.
 */
#ifndef KAA_CMD_FRAMEWORK_VALUE_H
#define KAA_CMD_FRAMEWORK_VALUE_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "cmd/framework/command.h"

enum value_kind {
	/* The option takes no argument. */
	VALUE_NONE,
	VALUE_TEXT,
	VALUE_WORDS,
	VALUE_FILE,
	VALUE_DIRECTORY,
	VALUE_PROCESS,
	VALUE_THREAD,
};

/* Free with value_deinit(). */
struct value {
	enum value_kind kind;
	bool several;
	/* Only in the word of the option itself, as in --name=value. */
	bool only_stuck;
	/* The option can stand without it. */
	bool optional;
	/* Of VALUE_WORDS: each with a blank behind it. */
	struct strbuf words;
};

void value_of(const struct option *option, struct value *ret);
void value_deinit(struct value *value);

/* What the words are that stand behind the options of a command. */
enum operand_kind {
	/* None, or text. */
	OPERAND_NONE,
	/* A program and its own arguments. */
	OPERAND_COMMAND_LINE,
	/* Programs. */
	OPERAND_PROGRAMS,
	/* Commands of kaa. */
	OPERAND_COMMANDS,
	/* Files, and what kaa alone knows. */
	OPERAND_FILES,
};

/* By the first line of its usage, and its options_flags. */
enum operand_kind operand_of(const struct command *command);

/* Does help show it? Not a heading, and not hidden. */
bool option_is_shown(const struct option *option);
/* Is there a form --no-X of it that says something? */
bool option_has_opposite(const struct option *option);

#endif
