// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/framework/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "cmd/framework/absent.h"
#include "cmd/framework/help.h"
#include "cmd/framework/message.h"
#include "cmd/subject_word.h"
#include "view/own_command.h"

/* In the order of `kaa help`. */
#define COMMANDS(X)   \
	X(record)     \
	X(report)     \
	X(top)        \
	X(annotate)   \
	X(diff)       \
	X(flamegraph) \
	X(view)       \
	X(script)     \
	X(export)     \
	X(import)     \
	X(inject)     \
	X(run)        \
	X(activate)   \
	X(dump)       \
	X(doctor)     \
	X(help)       \
	X(version)

#define DECLARE(name) extern const struct command command_##name;
COMMANDS(DECLARE)
#undef DECLARE

#define ROW(name) &command_##name,
const struct command *const commands[] = { COMMANDS(ROW) NULL };
#undef ROW

const struct command *command_find(const char *name)
{
	for (const struct command *const *c = commands; *c; c++) {
		if (strcmp((*c)->name, name) == 0)
			return *c;
	}
	return NULL;
}

struct error *command_unknown(const char *name)
{
	_cleanup_strbuf_ struct strbuf near = STRBUF_INIT;
	struct nearest nearest = { .word = name };
	const char *instead = absent_command(name);

	if (instead)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "there is no command '%s' yet: %s", name,
				    instead);
	for (const struct command *const *c = commands; *c; c++)
		nearest_add(&nearest, (*c)->name);
	nearest_format(&nearest, &near);
	return error_create(ERROR_INVALID_ARGUMENT,
			    "'%s' is not a command%s", name,
			    nearest.count ? near.data : ": see 'kaa help'");
}

static struct error *unknown_word(const char *word, bool more)
{
	_cleanup_strbuf_ struct strbuf meant = STRBUF_INIT;

	if (absent_command(word) || !subject_word_command(word, more, &meant))
		return command_unknown(word);
	return error_create(ERROR_INVALID_ARGUMENT,
			    "'%s' is not a command: did you mean '%s'?", word,
			    meant.data);
}

static int exit_code_of(const struct error *error)
{
	return error->code == ERROR_INVALID_ARGUMENT ? EXIT_CODE_USAGE :
						       EXIT_CODE_FAILED;
}

/* Reports the error, frees it, and says with which code to exit. */
static int fail(struct error *error)
{
	int code = exit_code_of(error);

	message_error(error);
	error_destroy(error);
	return code;
}

static int fail_with_usage(const struct command *command, struct error *error)
{
	_cleanup_strbuf_ struct strbuf usage = STRBUF_INIT, see = STRBUF_INIT;
	int code = fail(error);

	help_format_usage(command, &usage);
	strbuf_printf(&see, "see 'kaa help %s'\n", command->name);
	own_command_puts(&usage, see.data);
	fputs(usage.data, stderr);
	return code;
}

/* A full disk shows only when the buffer is written. */
static struct error *flush_stdout(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return NULL;
	return error_os(errno, "standard output", "cannot write");
}

static struct error *print_help(const struct command *command)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	help_format_command(command, &text);
	fputs(text.data, stdout);
	return strbuf_error(&text);
}

static int run_command(const struct command *command, void *settings,
		       struct arguments *args)
{
	bool help = false;
	int exit_code = 0, failed;
	struct error *error, *flush_error;

	error = options_parse(command->options, command->options_flags,
			      settings, args, &help);
	if (error)
		return fail_with_usage(command, error);
	error = help ? print_help(command) :
		       command->run(settings, args, &exit_code);
	flush_error = flush_stdout();
	if (!error)
		error = flush_error;
	else
		error_destroy(flush_error);
	if (!error)
		return exit_code;
	failed = fail(error);
	return exit_code ? exit_code : failed;
}

static int call_command(const struct command *command, int argc, char **argv)
{
	struct arguments args = { (size_t)argc, argv };
	_cleanup_free_ void *settings = calloc(1, command->settings_size + 1);
	int exit_code;

	if (!settings)
		return fail(error_no_memory());
	if (command->set_defaults)
		command->set_defaults(settings);
	exit_code = run_command(command, settings, &args);
	if (command->deinit)
		command->deinit(settings);
	return exit_code;
}

/* `kaa` alone and what stands for a command: --version, -h, --help. */
static const char *command_word(const char *word)
{
	if (!word || strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)
		return "help";
	if (strcmp(word, "-V") == 0 || strcmp(word, "-v") == 0 ||
	    strcmp(word, "--version") == 0)
		return "version";
	return word;
}

int command_main(int argc, char **argv)
{
	const char *word = command_word(argc > 1 ? argv[1] : NULL);
	const struct command *command = command_find(word);
	_cleanup_free_ char *prefix = NULL;
	int skipped = argc > 1 ? 2 : argc;
	int exit_code;

	if (!command && word[0] == '-')
		return fail(error_create(
			ERROR_INVALID_ARGUMENT,
			"unknown option '%s': options follow a command; see 'kaa help'",
			word));
	if (!command)
		return fail(unknown_word(word, argc > 2));
	if (asprintf(&prefix, "kaa %s", command->name) < 0)
		return fail(error_no_memory());
	message_set_prefix(prefix);
	exit_code = call_command(command, argc - skipped, argv + skipped);
	message_set_prefix("kaa");
	return exit_code;
}
