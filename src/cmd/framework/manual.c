// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/framework/manual.h"

#include <ctype.h>
#include <string.h>

#include "cmd/framework/help.h"
#include "cmd/framework/value.h"

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

/* A line of the table as a sentence: it begins in lower case there, and has no end. */
static void put_sentence(const char *text, const char *end, struct strbuf *out)
{
	strbuf_putc(out, (char)toupper((unsigned char)*text));
	roff(out, text + (*text != '\0'));
	strbuf_printf(out, "%s\n", end);
}

/* "name\ttext" as a paragraph with a tag. */
static void put_row(const char *row, struct strbuf *out)
{
	size_t length = strcspn(row, "\t");
	_cleanup_free_ char *name = strndup(row, length);

	strbuf_puts(out, ".TP\n\\fB");
	roff(out, name ? name : "");
	strbuf_puts(out, "\\fR\n");
	roff_line(out, "", row[length] ? row + length + 1 : "");
}

static void put_rows(const char *title, const char *const *rows,
		     struct strbuf *out)
{
	if (!rows)
		return;
	strbuf_printf(out, ".SH %s\n", title);
	for (; *rows; rows++)
		put_row(*rows, out);
}

static void put_head(const char *name, const char *summary, struct strbuf *out)
{
	strbuf_puts(out, ".TH ");
	for (const char *c = name; *c; c++)
		strbuf_printf(out, "%s%c", *c == '-' ? "\\" : "",
			      toupper((unsigned char)*c));
	/* No date: the same source makes the same page on every day. */
	strbuf_puts(out, " 1 \"\" \"kaa " KAA_VERSION "\"\n.SH NAME\n");
	roff(out, name);
	roff_line(out, " \\- ", summary);
}

static void put_synopsis(const struct command *command, struct strbuf *out)
{
	strbuf_puts(out, ".SH SYNOPSIS\n.nf\n");
	for (size_t i = 0; command->usage[i]; i++) {
		strbuf_printf(out, "\\fBkaa %s\\fR%s", command->name,
			      command->usage[i][0] ? " " : "");
		roff_line(out, "", command->usage[i]);
	}
	strbuf_puts(out, ".fi\n");
}

static void put_description(const char *text, struct strbuf *out)
{
	const char *before = "";

	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t length = end ? (size_t)(end - text) : strlen(text);
		_cleanup_free_ char *paragraph = strndup(text, length);

		/* The last one may end with a line feed. */
		if (!end && paragraph && length &&
		    paragraph[length - 1] == '\n')
			paragraph[length - 1] = '\0';
		roff_line(out, before, paragraph ? paragraph : "");
		before = ".PP\n";
		text += length;
		text += strspn(text, "\n");
	}
}

static void put_option_names(const struct option *option, struct strbuf *out)
{
	struct value value;

	value_of(option, &value);
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
		strbuf_printf(out, "%s%s%s\\fI", value.only_stuck ? "" : " ",
			      value.optional ? "[" : "",
			      value.only_stuck && option->long_name ? "=" : "");
		roff(out, option->argument);
		strbuf_puts(out, value.optional ? "\\fR]" : "\\fR");
	}
	strbuf_putc(out, '\n');
	value_deinit(&value);
}

/* "sort keys..." and then all words, where the help does not have them. */
static void put_option_text(const struct option *option, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf help = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;

	option_format_help(option, &help);
	roff_line(out, "", help.data);
	if (!option->values || strstr(option->help, "%s"))
		return;
	option->values(&words);
	if (words.len)
		words.data[words.len - 1] = '\0';
	roff_line(out, ".IP\nKnown are: ", words.data);
}

static void put_options(const struct option *option, struct strbuf *out)
{
	strbuf_puts(out, ".SH OPTIONS\n");
	for (; option && option->type != OPTION_END; option++) {
		if (option->type == OPTION_GROUP) {
			roff_line(out, ".SS ", option->help);
		} else if (option_is_shown(option)) {
			put_option_names(option, out);
			put_option_text(option, out);
		}
	}
	strbuf_puts(out, ".SS Help\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n"
			 "show the options on the terminal\n");
}

static void put_examples(const char *const *examples, struct strbuf *out)
{
	if (!examples)
		return;
	strbuf_puts(out, ".SH EXAMPLES\n");
	for (size_t i = 0; examples[i]; i++) {
		size_t length = strcspn(examples[i], "\t");
		_cleanup_free_ char *line = strndup(examples[i], length);

		strbuf_puts(out, i ? ".PP\n" : "");
		if (examples[i][length])
			put_sentence(examples[i] + length + 1, ":", out);
		strbuf_puts(out, ".RS 4\n.nf\n\\fB");
		roff(out, line ? line : "");
		strbuf_puts(out, "\\fR\n.fi\n.RE\n");
	}
}

static const char *const status[] = {
	"0\tThe command did what it was asked to.",
	"1\tIt failed. One line on standard error says what, and for which file or process.",
	"129\tThe command line makes no sense.", NULL
};
/* Where the command starts a program, and where it ends as that does. */
static const char status_of_start[] =
	"126, 127\tThe program could not be run, or was not found.";
static const char status_of_program[] =
	"any other\tThe exit status of the program; 128 and the number of the signal if a signal ended it.";

/* command: NULL for kaa(1). It is the user who ends `kaa top`. */
static void put_status(const struct command *command, struct strbuf *out)
{
	put_rows("EXIT STATUS", status, out);
	if (!command || operand_of(command) != OPERAND_COMMAND_LINE)
		return;
	put_row(status_of_start, out);
	if (strcmp(command->name, "top") != 0)
		put_row(status_of_program, out);
}

/* Commands that perf has, too, with the same name and purpose. */
static bool perf_has(const char *name)
{
	static const char *const names[] = { "annotate", "diff",   "inject", "record",
					     "report",	 "script", "top" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* self: whose page it is; NULL: kaa(1). */
static void put_see_also(const struct command *self, struct strbuf *out)
{
	strbuf_puts(out, ".SH SEE ALSO\n");
	if (self)
		strbuf_puts(out, "\\fBkaa\\fR(1),\n");
	for (const struct command *const *c = commands; *c; c++)
		if (*c != self)
			strbuf_printf(out, "\\fBkaa\\-%s\\fR(1),\n", (*c)->name);
	if (self && perf_has(self->name))
		strbuf_printf(out, "\\fBperf\\-%s\\fR(1),\n", self->name);
	strbuf_puts(out, "\\fBperf\\fR(1)\n");
}

void manual_format(const struct command *command, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	strbuf_printf(&name, "kaa-%s", command->name);
	put_head(name.data, command->summary, out);
	put_synopsis(command, out);
	strbuf_puts(out, ".SH DESCRIPTION\n");
	if (command->description)
		put_description(command->description, out);
	else
		put_sentence(command->summary, ".", out);
	put_options(command->options, out);
	put_examples(command->examples, out);
	put_status(command, out);
	put_rows("FILES", command->files, out);
	put_rows("ENVIRONMENT", command->environment, out);
	put_see_also(command, out);
}

static const char *const overview_examples[] = {
	"sudo kaa record -F 999 -g python3 my_script.py\trecord a program",
	"sudo kaa record -g -p 1234 --duration 10\trecord a running process for ten seconds",
	"kaa report\tsee where the time went",
	"kaa doctor python3\task what this machine allows", NULL
};
static const char *const overview_files[] = { MANUAL_FILE_RECORDING,
					      MANUAL_FILE_IMAGE, NULL };

/* Each row once, of all commands. */
static void put_all_variables(struct strbuf *out)
{
	strbuf_puts(out, ".SH ENVIRONMENT\n");
	for (const struct command *const *c = commands; *c; c++) {
		const char *const *row = (*c)->environment;

		for (; row && *row; row++) {
			_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

			put_row(*row, &text);
			if (!strstr(out->data, text.data))
				strbuf_puts(out, text.data);
		}
	}
}

void manual_format_overview(struct strbuf *out)
{
	put_head("kaa", "show where a Python program spends its time", out);
	strbuf_puts(out, ".SH SYNOPSIS\n\\fBkaa\\fR <command> [<options>]\n"
			 ".SH DESCRIPTION\n");
	roff(out, help_about);
	strbuf_puts(out, "The recording is an ordinary perf.data file, which perf reads, too.\n"
			 ".SH COMMANDS\n");
	for (const struct command *const *c = commands; *c; c++) {
		strbuf_printf(out, ".TP\n\\fBkaa\\-%s\\fR(1)\n", (*c)->name);
		roff_line(out, "", (*c)->summary);
	}
	put_examples(overview_examples, out);
	put_status(NULL, out);
	put_rows("FILES", overview_files, out);
	put_all_variables(out);
	put_see_also(NULL, out);
}
