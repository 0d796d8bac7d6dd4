// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/completion/completion.h"

#include "cmd/completion/brief.h"
#include "cmd/framework/value.h"

static const char script[] =
#include "cmd/completion/kaa.bash.inc"
	;

static const char *const kinds[] = {
	[VALUE_NONE] = "",	     [VALUE_TEXT] = "text",
	[VALUE_WORDS] = "words",     [VALUE_FILE] = "file",
	[VALUE_DIRECTORY] = "directory", [VALUE_PROCESS] = "process",
	[VALUE_THREAD] = "thread",
};

static const char *const operands[] = {
	[OPERAND_NONE] = "",
	[OPERAND_COMMAND_LINE] = "command_line",
	[OPERAND_PROGRAMS] = "programs",
	[OPERAND_COMMANDS] = "commands",
	[OPERAND_FILES] = "files",
};

/* "-o|--output) value=file ;;", unless the option takes no argument. */
static void put_value(const struct option *option, struct strbuf *out)
{
	struct value value;

	value_of(option, &value);
	if (value.kind != VALUE_NONE) {
		strbuf_puts(out, "\t\t");
		if (option->short_name)
			strbuf_printf(out, "-%c%s", option->short_name,
				      option->long_name ? "|" : "");
		if (option->long_name)
			strbuf_printf(out, "--%s", option->long_name);
		strbuf_printf(out, ") value=%s", kinds[value.kind]);
		strbuf_puts(out, value.several ? " several=1" : "");
		strbuf_puts(out, value.only_stuck ? " only_stuck=1" : "");
		strbuf_puts(out, value.optional ? " optional=1" : "");
		if (value.words.len) {
			strbuf_puts(out, " choices=");
			brief_quote(value.words.data, out);
		}
		strbuf_puts(out, " ;;\n");
	}
	value_deinit(&value);
}

/* short=, options= and opposites= of a command. */
static void put_names(const struct option *options, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf opposites = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;

	strbuf_puts(out, "\t\tshort='-h");
	for (; options && options->type != OPTION_END; options++) {
		if (!option_is_shown(options))
			continue;
		if (options->short_name)
			strbuf_printf(out, " -%c", options->short_name);
		if (options->long_name)
			strbuf_printf(&names, " --%s", options->long_name);
		if (option_has_opposite(options))
			strbuf_printf(&opposites, " --no-%s",
				      options->long_name);
	}
	strbuf_printf(out, "'\n\t\toptions='--help%s'\n\t\topposites='%s'\n",
		      names.data, opposites.data);
}

static void put_command(const struct command *command, struct strbuf *out)
{
	const struct option *option = command->options;

	strbuf_printf(out, "\t%s)\n\t\toperands=%s\n", command->name,
		      operands[operand_of(command)]);
	put_names(option, out);
	strbuf_puts(out, "\t\tcase $2 in\n");
	for (; option && option->type != OPTION_END; option++)
		if (option_is_shown(option))
			put_value(option, out);
	strbuf_puts(out, "\t\tesac\n\t\t;;\n");
}

void completion_format_bash(struct strbuf *out)
{
	strbuf_puts(out, "_kaa_commands()\n{\n\tcommands='");
	for (const struct command *const *c = commands; *c; c++)
		strbuf_printf(out, "%s%s", c == commands ? "" : " ",
			      (*c)->name);
	strbuf_puts(out, "'\n}\n\n"
			 "# COMMAND OPTION: what follows them.\n"
			 "_kaa_table()\n{\n"
			 "\tvalue= several= only_stuck= optional= choices=\n"
			 "\tcase $1 in\n");
	for (const struct command *const *c = commands; *c; c++)
		put_command(*c, out);
	strbuf_puts(out, "\tesac\n}\n\n");
	strbuf_puts(out, script);
}
