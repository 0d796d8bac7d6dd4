// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/framework/help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd/framework/wrap.h"

static const char about[] =
	"kaa shows where a Python program spends its time: in Python, native and kernel\n"
	"functions, in one call graph. Neither the program nor its CPython is changed.\n";

void help_format_overview(struct strbuf *out)
{
	strbuf_puts(out, "usage: kaa <command> [<options>]\n\n");
	strbuf_puts(out, about);
	strbuf_puts(out, "\nCommands:\n");
	for (const struct command *const *c = commands; *c; c++)
		strbuf_printf(out, "    %-10s %s\n", (*c)->name,
			      (*c)->summary);
	strbuf_puts(out, "\n'kaa help <command>' shows the help of a command.\n");
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
	strbuf_puts(out, "\nExamples:\n");
	for (; *examples; examples++) {
		const char *tab = strchr(*examples, '\t');

		if (!tab)
			strbuf_printf(out, "    %s\n", *examples);
		else
			strbuf_printf(out, "    %.*s\n        %s\n",
				      (int)(tab - *examples), *examples,
				      tab + 1);
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

/*
 * Text for man(7): a backslash is an escape, '-' a hyphen, and a line must not
 * begin with a control character.
 */
static void roff(struct strbuf *out, const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			strbuf_puts(out, "\\&");
		if (*text == '\\')
			strbuf_puts(out, "\\e");
		else if (*text == '-')
			strbuf_puts(out, "\\-");
		else
			strbuf_putc(out, *text);
		line_start = *text == '\n';
	}
}

static void roff_line(struct strbuf *out, const char *macro, const char *text)
{
	strbuf_puts(out, macro);
	roff(out, text);
	strbuf_putc(out, '\n');
}

static void man_option_names(const struct option *option, struct strbuf *out)
{
	bool optional = option->flags &
			(OPTION_ARG_STUCK | OPTION_ARG_UNLESS_LAST);

	strbuf_puts(out, ".TP\n\\fB");
	if (option->short_name)
		strbuf_printf(out, "\\-%c", option->short_name);
	if (option->short_name && option->long_name)
		strbuf_puts(out, "\\fR, \\fB");
	if (option->long_name) {
		strbuf_puts(out, "\\-\\-");
		roff(out, option->long_name);
	}
	strbuf_puts(out, "\\fR");
	if (option->argument) {
		strbuf_puts(out, optional ? " [\\fI" : " \\fI");
		roff(out, option->argument);
		strbuf_puts(out, optional ? "\\fR]" : "\\fR");
	}
	strbuf_putc(out, '\n');
}

static void man_options(const struct option *option, struct strbuf *out)
{
	strbuf_puts(out, ".SH OPTIONS\n");
	for (; option && option->type != OPTION_END; option++) {
		if (option->flags & OPTION_HIDDEN)
			continue;
		if (option->type == OPTION_GROUP) {
			roff_line(out, ".SS ", option->help);
			continue;
		}
		man_option_names(option, out);
		roff_line(out, "", option->help);
	}
	strbuf_puts(out, ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nhelp\n");
}

static void man_examples(const char *const *examples, struct strbuf *out)
{
	strbuf_puts(out, ".SH EXAMPLES\n");
	for (; *examples; examples++) {
		size_t length = strcspn(*examples, "\t");
		_cleanup_free_ char *line = strndup(*examples, length);

		strbuf_puts(out, ".TP\n\\fB");
		roff(out, line ? line : "");
		strbuf_puts(out, "\\fR\n");
		roff_line(out, "",
			  (*examples)[length] ? *examples + length + 1 : "");
	}
}

static void man_description(const char *text, struct strbuf *out)
{
	strbuf_puts(out, ".SH DESCRIPTION\n");
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t length = end ? (size_t)(end - text) : strlen(text);
		_cleanup_free_ char *paragraph = strndup(text, length);

		roff_line(out, ".PP\n", paragraph ? paragraph : "");
		text += length;
		text += strspn(text, "\n");
	}
}

void help_format_man(const struct command *command, struct strbuf *out)
{
	strbuf_puts(out, ".TH KAA\\-");
	for (const char *c = command->name; *c; c++)
		strbuf_putc(out, (char)toupper((unsigned char)*c));
	strbuf_puts(out, " 1 \"\" \"kaa " KAA_VERSION "\"\n");
	strbuf_printf(out, ".SH NAME\nkaa\\-%s \\- ", command->name);
	roff_line(out, "", command->summary);
	strbuf_puts(out, ".SH SYNOPSIS\n.nf\n");
	for (size_t i = 0; command->usage[i]; i++) {
		strbuf_printf(out, "\\fBkaa %s\\fR ", command->name);
		roff_line(out, "", command->usage[i]);
	}
	strbuf_puts(out, ".fi\n");
	if (command->description)
		man_description(command->description, out);
	man_options(command->options, out);
	if (command->examples)
		man_examples(command->examples, out);
}

static void completion_words(const struct command *command, struct strbuf *out)
{
	const struct option *option = command->options;

	strbuf_printf(out, "\t%s) words='--help", command->name);
	for (; option && option->type != OPTION_END; option++) {
		if (option->type != OPTION_GROUP && option->long_name &&
		    !(option->flags & OPTION_HIDDEN))
			strbuf_printf(out, " --%s", option->long_name);
	}
	if (strcmp(command->name, "help") == 0)
		strbuf_puts(out, " '\"$commands\"'");
	strbuf_puts(out, "' ;;\n");
}

void help_format_completion(struct strbuf *out)
{
	strbuf_puts(out, "# bash completion of kaa\n"
			 "_kaa()\n{\n"
			 "\tlocal word=${COMP_WORDS[COMP_CWORD]} words= commands='");
	for (const struct command *const *c = commands; *c; c++)
		strbuf_printf(out, "%s%s", c == commands ? "" : " ",
			      (*c)->name);
	strbuf_puts(out, "'\n"
			 "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
			 "\t\tCOMPREPLY=($(compgen -W \"$commands\" -- \"$word\"))\n"
			 "\t\treturn\n"
			 "\tfi\n"
			 "\tcase ${COMP_WORDS[1]} in\n");
	for (const struct command *const *c = commands; *c; c++)
		completion_words(*c, out);
	strbuf_puts(out, "\tesac\n"
			 "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
			 "}\n"
			 "complete -o default -F _kaa kaa\n");
}
