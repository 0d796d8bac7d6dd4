// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/completion/completion.h"

#include "cmd/completion/brief.h"
#include "cmd/framework/value.h"

static const char script[] =
#include "cmd/completion/kaa.fish.inc"
	;

/* " -x -a '(...)'" */
static void put_value(const struct option *option, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	struct value value;

	value_of(option, &value);
	switch (value.kind) {
	case VALUE_NONE:
		break;
	case VALUE_WORDS:
		strbuf_printf(&words, value.several ? "(__kaa_list %s)" : "%s",
			      value.words.data);
		strbuf_puts(out, value.only_stuck ? " -f -a " : " -x -a ");
		brief_quote(words.data, out);
		break;
	case VALUE_FILE:
		strbuf_puts(out, " -r -F");
		break;
	case VALUE_DIRECTORY:
		strbuf_puts(out, " -x -a '(__fish_complete_directories)'");
		break;
	case VALUE_PROCESS:
		strbuf_puts(out, " -x -a '(__kaa_running /proc/*/comm)'");
		break;
	case VALUE_THREAD:
		strbuf_puts(out, " -x -a '(__kaa_running /proc/*/task/*/comm)'");
		break;
	case VALUE_TEXT:
		strbuf_puts(out, " -x");
		break;
	}
	value_deinit(&value);
}

static void put_option(const struct command *command,
		       const struct option *option, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf help = STRBUF_INIT;

	brief_help(option, &help);
	strbuf_printf(out, "complete -c kaa -n '__kaa_in %s'", command->name);
	if (option->short_name)
		strbuf_printf(out, " -s %c", option->short_name);
	if (option->long_name)
		strbuf_printf(out, " -l %s", option->long_name);
	put_value(option, out);
	strbuf_puts(out, " -d ");
	brief_quote(help.data, out);
	strbuf_putc(out, '\n');
	if (option_has_opposite(option))
		strbuf_printf(out, "complete -c kaa -n '__kaa_in_opposite %s' -l no-%s\n",
			      command->name, option->long_name);
}

static void put_operands(const struct command *command, struct strbuf *out)
{
	static const char *const offers[] = {
		[OPERAND_PROGRAMS] = "'(__fish_complete_command)'",
		[OPERAND_COMMANDS] = "\"$__kaa_commands\"",
	};
	enum operand_kind kind = operand_of(command);

	strbuf_printf(out, "complete -c kaa -n '__kaa_in %s' -s h -l help -d 'show help'\n",
		      command->name);
	if (kind == OPERAND_PROGRAMS || kind == OPERAND_COMMANDS)
		strbuf_printf(out, "complete -c kaa -n '__kaa_at_operand %s' -x -a %s\n",
			      command->name, offers[kind]);
	if (kind == OPERAND_FILES)
		strbuf_printf(out, "complete -c kaa -n '__kaa_at_operand %s' -F\n",
			      command->name);
}

/* Which options have their argument in the next word. */
static void put_takers(struct strbuf *out)
{
	strbuf_puts(out, "function __kaa_takes --argument-names typed\n"
			 "\tswitch $typed\n\t\tcase ''");
	for (const struct command *const *c = commands; *c; c++) {
		const struct option *o = (*c)->options;

		for (; o && o->type != OPTION_END; o++) {
			if (!option_is_shown(o) || !o->argument ||
			    o->flags & OPTION_ARG_STUCK)
				continue;
			if (o->short_name)
				strbuf_printf(out, " '%s -%c'", (*c)->name,
					      o->short_name);
			if (o->long_name)
				strbuf_printf(out, " '%s --%s'", (*c)->name,
					      o->long_name);
		}
	}
	strbuf_puts(out, "\n\t\t\treturn 0\n\tend\n\treturn 1\nend\n\n");
}

static void put_lists(struct strbuf *out)
{
	strbuf_puts(out, "set -g __kaa_commands");
	for (const struct command *const *c = commands; *c; c++)
		strbuf_printf(out, " %s", (*c)->name);
	/* Those that start a program. */
	strbuf_puts(out, "\nset -g __kaa_starters");
	for (const struct command *const *c = commands; *c; c++)
		if (operand_of(*c) == OPERAND_COMMAND_LINE)
			strbuf_printf(out, " %s", (*c)->name);
	strbuf_puts(out, "\n\n");
}

void completion_format_fish(struct strbuf *out)
{
	put_takers(out);
	put_lists(out);
	strbuf_puts(out, script);
	for (const struct command *const *c = commands; *c; c++) {
		const struct option *option = (*c)->options;

		strbuf_printf(out, "\ncomplete -c kaa -n __kaa_at_command -a %s -d ",
			      (*c)->name);
		brief_quote((*c)->summary, out);
		strbuf_putc(out, '\n');
		put_operands(*c, out);
		for (; option && option->type != OPTION_END; option++)
			if (option_is_shown(option))
				put_option(*c, option, out);
	}
}
