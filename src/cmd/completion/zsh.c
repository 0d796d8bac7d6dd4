// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/completion/completion.h"

#include "cmd/completion/brief.h"
#include "cmd/framework/value.h"

static const char script[] =
#include "cmd/completion/kaa.zsh.inc"
	;

/* Text of a spec of _arguments: a colon and a bracket end it. */
static void put_escaped(const char *text, struct strbuf *out)
{
	for (; *text; text++) {
		if (*text == ':' || *text == ']' || *text == '[' ||
		    *text == '\\')
			strbuf_putc(out, '\\');
		strbuf_putc(out, *text);
	}
}

/* ":<name>: action" */
static void put_action(const struct option *option, const struct value *value,
		       struct strbuf *out)
{
	strbuf_puts(out, value->optional ? "::" : ":");
	put_escaped(option->argument, out);
	strbuf_putc(out, ':');
	switch (value->kind) {
	case VALUE_WORDS:
		strbuf_printf(out, value->several ? " _kaa_list %s" : "(%s)",
			      value->words.data);
		break;
	case VALUE_FILE:
		strbuf_puts(out, "_files");
		break;
	case VALUE_DIRECTORY:
		strbuf_puts(out, "_files -/");
		break;
	case VALUE_PROCESS:
		strbuf_puts(out, "_kaa_processes");
		break;
	case VALUE_THREAD:
		strbuf_puts(out, "_kaa_threads");
		break;
	case VALUE_NONE:
	case VALUE_TEXT:
		strbuf_putc(out, ' ');
		break;
	}
}

static bool is_repeated(const struct option *option)
{
	return option->type == OPTION_LIST || option->type == OPTION_COUNT;
}

/* name: "-o" or "--output". */
static void put_spec(const struct option *option, const char *name,
		     struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf spec = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf help = STRBUF_INIT;
	bool is_long = name[1] == '-';
	struct value value;

	value_of(option, &value);
	brief_help(option, &help);
	if (is_repeated(option))
		strbuf_putc(&spec, '*');
	else if (option->short_name && option->long_name)
		strbuf_printf(&spec, "(-%c --%s)", option->short_name,
			      option->long_name);
	strbuf_puts(&spec, name);
	if (value.kind != VALUE_NONE)
		strbuf_puts(&spec, value.only_stuck ? is_long ? "=-" : "-" :
				   is_long	    ? "=" :
						      "+");
	strbuf_putc(&spec, '[');
	put_escaped(help.data, &spec);
	strbuf_putc(&spec, ']');
	if (value.kind != VALUE_NONE)
		put_action(option, &value, &spec);
	strbuf_puts(out, " \\\n\t\t\t");
	brief_quote(spec.data, out);
	value_deinit(&value);
}

static void put_option(const struct option *option, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	if (option->short_name) {
		strbuf_printf(&name, "-%c", option->short_name);
		put_spec(option, name.data, out);
		strbuf_clear(&name);
	}
	if (option->long_name) {
		strbuf_printf(&name, "--%s", option->long_name);
		put_spec(option, name.data, out);
	}
}

/* Only where --no- was typed already: they would be half of the list. */
static void put_opposites(const struct option *option, struct strbuf *out)
{
	strbuf_puts(out, "\t\t[[ $PREFIX != --no-* ]] || opposites=(");
	for (; option && option->type != OPTION_END; option++)
		if (option_has_opposite(option))
			strbuf_printf(out, " --no-%s", option->long_name);
	strbuf_puts(out, " )\n");
}

static void put_command(const struct command *command, struct strbuf *out)
{
	static const char *const operands[] = {
		[OPERAND_NONE] = "",
		[OPERAND_COMMAND_LINE] =
			" \\\n\t\t\t'(-)*:: :_kaa_started'",
		[OPERAND_PROGRAMS] = " \\\n\t\t\t'*: :_kaa_program'",
		[OPERAND_COMMANDS] =
			" \\\n\t\t\t'*: :_kaa_describe_commands'",
		[OPERAND_FILES] = " \\\n\t\t\t'*:file:_files'",
	};
	enum operand_kind kind = operand_of(command);
	const struct option *option = command->options;

	strbuf_printf(out, "\t%s)\n", command->name);
	put_opposites(option, out);
	strbuf_printf(out, "\t\t_arguments -s -S %s: $opposites"
			   " \\\n\t\t\t'(-h --help)-h[show help]'"
			   " \\\n\t\t\t'(-h --help)--help[show help]'",
		      kind == OPERAND_COMMAND_LINE ? "-A '-*' " : "");
	for (; option && option->type != OPTION_END; option++)
		if (option_is_shown(option))
			put_option(option, out);
	strbuf_puts(out, operands[kind]);
	strbuf_puts(out, "\n\t\t;;\n");
}

void completion_format_zsh(struct strbuf *out)
{
	strbuf_puts(out, "#compdef kaa\n\n_kaa_commands()\n{\n\tkaa_commands=(\n");
	for (const struct command *const *c = commands; *c; c++) {
		_cleanup_strbuf_ struct strbuf row = STRBUF_INIT;

		strbuf_printf(&row, "%s:%s", (*c)->name, (*c)->summary);
		strbuf_puts(out, "\t\t");
		brief_quote(row.data, out);
		strbuf_putc(out, '\n');
	}
	strbuf_puts(out, "\t)\n}\n\n_kaa_arguments()\n{\n"
			 "\tlocal -a opposites\n\tcase $1 in\n");
	for (const struct command *const *c = commands; *c; c++)
		put_command(*c, out);
	strbuf_puts(out, "\tesac\n}\n\n");
	strbuf_puts(out, script);
}
