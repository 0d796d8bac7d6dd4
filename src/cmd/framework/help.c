// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/framework/help.h"

#include <stdio.h>
#include <string.h>

#include "cmd/framework/wrap.h"
#include "view/own_command.h"

const char help_about[] =
	"kaa shows where a Python program spends its time: in Python, native and kernel\n"
	"functions, in one call graph. Neither the program nor its CPython is changed.\n";

void help_format_overview(struct strbuf *out)
{
	strbuf_puts(out, "usage: kaa <command> [<options>]\n\n");
	strbuf_puts(out, help_about);
	strbuf_puts(out, "\nCommands:\n");
	for (const struct command *const *c = commands; *c; c++)
		strbuf_printf(out, "    %-10s %s\n", (*c)->name,
			      (*c)->summary);
	own_command_puts(out,
			 "\n'kaa help <command>' shows the help of a command.\n");
}

void help_format_usage(const struct command *command, struct strbuf *out)
{
	for (size_t i = 0; command->usage[i]; i++)
		strbuf_printf(out, "%s kaa %s%s%s\n", i ? "   or:" : "usage:",
			      command->name, command->usage[i][0] ? " " : "",
			      command->usage[i]);
}

static void format_examples(const char *const *examples, struct strbuf *out)
{
	enum own_command_root root = own_command_root();

	strbuf_puts(out, "\nExamples:\n");
	for (; *examples; examples++) {
		const char *tab = strchr(*examples, '\t');

		strbuf_puts(out, "    ");
		own_command_example(out, *examples,
				    tab ? (size_t)(tab - *examples) :
					  strlen(*examples),
				    root);
		strbuf_putc(out, '\n');
		if (tab)
			strbuf_printf(out, "        %s\n", tab + 1);
	}
}

void help_format_command(const struct command *command, struct strbuf *out)
{
	const struct option *options = command->options;

	help_format_usage(command, out);
	strbuf_printf(out, "\nkaa %s: %s.\n", command->name, command->summary);
	if (command->description) {
		strbuf_putc(out, '\n');
		wrap_text(out, command->description, 0);
	}
	if (options && options->type != OPTION_GROUP)
		strbuf_puts(out, "\nOptions:\n");
	options_format_help(options, out);
	if (command->examples)
		format_examples(command->examples, out);
}
