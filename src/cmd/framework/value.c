// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/framework/value.h"

#include <string.h>

static const struct {
	const char *argument;
	enum value_kind kind;
} names[] = {
	{ "<file>", VALUE_FILE },	 { "<path>", VALUE_FILE },
	{ "<dir>", VALUE_DIRECTORY },	 { "<pid>", VALUE_PROCESS },
	{ "<pid>,...", VALUE_PROCESS }, { "<tid>", VALUE_THREAD },
	{ "<tid>,...", VALUE_THREAD },
};

/* "a|b|c" and "<a|b|c>", but not "<n>(s|ms)". */
static void add_alternatives(const char *argument, struct strbuf *out)
{
	size_t length = strlen(argument);

	if (!strchr(argument, '|') || strchr(argument, '('))
		return;
	if (argument[0] == '<' && argument[length - 1] == '>') {
		argument++;
		length -= 2;
	}
	while (length) {
		const char *end = memchr(argument, '|', length);
		size_t n = end ? (size_t)(end - argument) : length;

		if (n && argument[0] != '<')
			strbuf_printf(out, "%.*s ", (int)n, argument);
		n += end != NULL;
		argument += n;
		length -= n;
	}
}

void value_of(const struct option *option, struct value *ret)
{
	const char *argument = option->argument;

	*ret = (struct value){ .words = STRBUF_INIT };
	if (!argument)
		return;
	ret->kind = VALUE_TEXT;
	ret->several = strchr(argument, ',') != NULL;
	ret->only_stuck = option->flags & OPTION_ARG_STUCK;
	ret->optional = option->flags &
			(OPTION_ARG_STUCK | OPTION_ARG_UNLESS_LAST);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i].argument, argument))
			ret->kind = names[i].kind;
	if (option->values)
		option->values(&ret->words);
	else
		add_alternatives(argument, &ret->words);
	if (ret->words.len)
		ret->kind = VALUE_WORDS;
}

void value_deinit(struct value *value)
{
	strbuf_deinit(&value->words);
}

/* "<x>" that neither stands for options nor is an option's argument. */
static const char *first_operand(const char *usage)
{
	const char *options = "<options>";
	const char *at = strchr(usage, '<');

	if (at && !strncmp(at, options, strlen(options)))
		at = strchr(at + 1, '<');
	if (!at || (at >= usage + 3 && at[-1] == ' ' && at[-3] == '-'))
		return NULL;
	return at;
}

enum operand_kind operand_of(const struct command *command)
{
	const char *operand = first_operand(command->usage[0]);

	if (command->options_flags & OPTIONS_STOP_AT_NON_OPTION)
		return OPERAND_COMMAND_LINE;
	if (!operand)
		return OPERAND_NONE;
	if (!strncmp(operand, "<python>", strlen("<python>")))
		return OPERAND_PROGRAMS;
	if (!strncmp(operand, "<command>", strlen("<command>")))
		return OPERAND_COMMANDS;
	return OPERAND_FILES;
}

bool option_is_shown(const struct option *option)
{
	return option->type != OPTION_GROUP &&
	       !(option->flags & OPTION_HIDDEN);
}

bool option_has_opposite(const struct option *option)
{
	return option_is_shown(option) && option->long_name &&
	       strncmp(option->long_name, "no-", 3) != 0 &&
	       !option->argument && !(option->flags & OPTION_NO_NEGATE) &&
	       (option->type == OPTION_BOOL || option->type == OPTION_CALL);
}
