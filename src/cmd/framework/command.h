/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command is data: main() finds it in the table, parses its options into its
 * settings and calls it. Help, manual page and shell completion are made from
 * the same struct.
 *
 * How to add a command `foo`:
 *  1. src/cmd/foo.c: a settings struct, an option table (cmd/framework/options.h), a run
 *     function, and `const struct command command_foo = { ... };`. Copy
 *     version.c for the smallest one.
 *  2. src/cmd/commands.c: one line in COMMANDS, in the order of `kaa help`.
 *  3. src/cmd/meson.build: 'foo.c' and, if need be, a dependency.
 *  4. tests/cli/test_cli.py covers its help by itself; add tests/cli/test_foo.py
 *     for what it does.
 *
 * Exit codes of kaa:
 *	0	done
 *	1	failed; one line on stderr says what, with the subject
 *	2	`doctor`: a Python or process that was named could not be examined
 *	129	the command line makes no sense (as perf and git have it)
 *	126, 127	`record`: the command could not be run, was not found (as
 *		shells have it)
 *	else	`record`: the exit status of the recorded command; 128 and its
 *		signal if it died of one. If that was SIGINT, kaa dies of it.
 *
 * Errors: run() returns them and prints nothing; main() prints each once as
 * `kaa foo: 'subject': message`. ERROR_INVALID_ARGUMENT exits with 129, any
 * other with 1. What is no failure goes through cmd/framework/message.h.
 */
#ifndef KAA_CMD_FRAMEWORK_COMMAND_H
#define KAA_CMD_FRAMEWORK_COMMAND_H

#include <stddef.h>

#include "base/error.h"
#include "cmd/framework/options.h"

enum {
	EXIT_CODE_FAILED = 1,
	/* The recorded command died of SIGINT: so does kaa. */
	EXIT_CODE_INTERRUPTED = -1,
	EXIT_CODE_USAGE = 129,
};

struct command {
	const char *name;
	/* One line for `kaa help`; lower case, no period. */
	const char *summary;
	/*
	 * Command lines without "kaa foo", NULL-terminated:
	 * { "[<options>] [--] <command>", NULL }
	 */
	const char *const *usage;
	/* Paragraphs for `kaa help foo`, separated by empty lines; or NULL. */
	const char *description;
	/* NULL: no options. -h and --help are always there. */
	const struct option *options;
	/* OPTIONS_* of cmd/framework/options.h. */
	unsigned int options_flags;
	/*
	 * "command line" or "command line\twhat it does", NULL-terminated; or
	 * NULL.
	 */
	const char *const *examples;
	/*
	 * For the manual page, "NAME\twhat it is or does", NULL-terminated; or
	 * NULL: the files that the command reads and writes, and the variables
	 * of the environment that it looks at.
	 */
	const char *const *files;
	const char *const *environment;
	/* Size of the settings struct; main() hands it over zeroed. */
	size_t settings_size;
	/* Sets the defaults that are not zero; or NULL. */
	void (*set_defaults)(void *settings);
	/*
	 * Does the work. args: the words that are no options. *exit_code is 0
	 * on entry; with an error, what is put there replaces the code that
	 * the error has. EXIT_CODE_INTERRUPTED: kaa dies of SIGINT. main()
	 * flushes stdout afterwards and reports a failed write.
	 */
	struct error *(*run)(void *settings, const struct arguments *args,
			     int *exit_code);
	/* Frees what the settings own; called after run, or NULL. */
	void (*deinit)(void *settings);
};

/* All commands, NULL-terminated, in the order of `kaa help`. */
extern const struct command *const commands[];

/* NULL if there is none of that name. */
const struct command *command_find(const char *name);

/* ERROR_INVALID_ARGUMENT that suggests the nearest names. */
struct error *command_unknown(const char *name);

/* All of kaa: returns the exit code. argv[0] is the program's name. */
int command_main(int argc, char **argv);

#endif
