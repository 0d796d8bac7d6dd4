// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>

#include "cmd/completion/completion.h"
#include "cmd/framework/command.h"
#include "cmd/framework/help.h"
#include "cmd/framework/manual.h"

struct help_settings {
	bool man;
	const char *completion;
};

static const struct option help_options[] = {
	OPT_BOOL(0, "man", struct help_settings, man,
		 "print the manual page of kaa or of the command, for man -l -",
		 .flags = OPTION_NO_NEGATE),
	OPT_STRING(0, "completion", struct help_settings, completion,
		   "<shell>", "print a completion script for this shell: %s",
		   .values = completion_words,
		   .flags = OPTION_NO_NEGATE),
	OPT_END(),
};

static struct error *format_help(const struct help_settings *settings,
				 const struct arguments *args,
				 struct strbuf *out)
{
	const struct command *command;

	if (settings->completion)
		return completion_format(settings->completion, out);
	if (args->count > 1)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "name only one command");
	if (args->count == 0) {
		if (settings->man)
			manual_format_overview(out);
		else
			help_format_overview(out);
		return NULL;
	}
	command = command_find(args->values[0]);
	if (!command)
		return command_unknown(args->values[0]);
	if (settings->man)
		manual_format(command, out);
	else
		help_format_command(command, out);
	return NULL;
}

static struct error *run(void *settings, const struct arguments *args,
			 int *exit_code)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error = format_help(settings, args, &text);

	(void)exit_code;
	if (!error)
		error = strbuf_error(&text);
	if (!error)
		fwrite(text.data, 1, text.len, stdout);
	return error;
}

const struct command command_help = {
	.name = "help",
	.summary = "show help for kaa or one of its commands",
	.usage = (const char *const[]){ "[--man] [<command>]",
					"--completion <shell>", NULL },
	.options = help_options,
	.examples =
		(const char *const[]){
			"kaa help doctor",
			"kaa help --man doctor | man -l -",
			"eval \"$(kaa help --completion bash)\"\tcomplete the words of kaa in this bash; in zsh with zsh",
			"kaa help --completion fish | source\tdo so in fish",
			NULL },
	.settings_size = sizeof(struct help_settings),
	.run = run,
};
