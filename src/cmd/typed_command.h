/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command that `kaa record` and `kaa run` were given: what execvp() will
 * find; or a Python script that is no command by itself, as in `kaa record
 * orders.py`, and is run by the Python of its first line or of the PATH.
 */
#ifndef KAA_CMD_TYPED_COMMAND_H
#define KAA_CMD_TYPED_COMMAND_H

#include "base/error.h"
#include "base/vec.h"
#include "cmd/framework/options.h"
#include "sys/invoker.h"

/* What a name on the PATH stands for. */
struct typed_search {
	char *name;
	char *file;
	/* In the shell before sudo, if that is another; or NULL. */
	char *shell_file;
};

struct typed_command {
	/* What to run; a NULL that count does not count is behind the last. */
	VEC(char *) words;
	/* The file that the first word stands for. */
	char *file;
	/*
	 * The program that runs then: that file, or the interpreter of a script's first
	 * line, or what env looks for in it. NULL: not found. Interpreters that are
	 * scripts, too, are not followed.
	 */
	char *program;
	/*
	 * Under sudo or doas: the first word, or the Python that env looks for if
	 * that is a script with such a first line. Neither: NULLs.
	 */
	struct typed_search searched;
	/* Of a script that is no command: "is not executable" or the like. */
	const char *why;
	/* Before a script's name: what runs it, and its argument or NULL. */
	char *interpreter;
	char *argument;
};

/*
 * With the rights of the invoker, on path (NULL: the environment's). Says so if
 * it is a script that Python runs. The words are borrowed from args and *ret.
 * ERROR_NOT_FOUND, or another error for what is there and cannot be run.
 */
struct error *typed_command_find(const struct arguments *args,
				 const struct invoker *invoker,
				 const char *path, struct typed_command *ret);
void typed_command_deinit(struct typed_command *command);

/*
 * Says which program runs, if the shell before sudo would run another by that
 * name, or if its PATH is not known.
 */
void typed_command_tell(const struct typed_command *command,
			const struct invoker *invoker);

/* Of a command that was not started, as shells have it. */
int typed_command_exit_code(const struct error *error);

#endif
