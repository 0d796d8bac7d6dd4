/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarative command-line options with perf's conventions.
 *
 * A command describes its options in a const table that ends with OPT_END().
 * Each entry names a field of the command's settings struct, checked against
 * the entry's type at compile time; options_parse() fills the fields.
 *
 *	struct record_settings {
 *		bool quiet;
 *		const char *output;
 *		struct option_list events;
 *	};
 *	static const struct option options[] = {
 *		OPT_GROUP("Output"),
 *		OPT_STRING('o', "output", struct record_settings, output,
 *			   "<file>", "where to write the recording"),
 *		OPT_BOOL('q', "quiet", struct record_settings, quiet,
 *			 "print no summary"),
 *		OPT_LIST('e', "event", struct record_settings, events,
 *			 "<event>", "what to sample"),
 *		OPT_END(),
 *	};
 *
 * What a user may type:
 *	-q -v -vv -qv		short options, bundled
 *	-o FILE -oFILE		a short option's argument, apart or stuck
 *	--output FILE --output=FILE
 *	--out FILE		any abbreviation that only one option has
 *	--no-quiet		every option's opposite (see below); of an
 *				option named no-X this is --X
 *	--			ends the options
 *
 * --no-X sets a bool to false, a count to 0, a string to NULL, empties a list,
 * sets a number to 0, and calls a parse function with negated = true. An entry
 * with OPTION_NO_NEGATE has no such form.
 *
 * Optional arguments, as perf has them:
 *	OPTION_ARG_STUCK	only -gARG or --call-graph=ARG is an argument
 *	OPTION_ARG_UNLESS_LAST	the next word too, unless there is none or it
 *				begins with '-': -g caller
 * Without an argument the entry's default_argument is used (may be NULL).
 */
#ifndef KAA_CMD_FRAMEWORK_OPTIONS_H
#define KAA_CMD_FRAMEWORK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

enum option_type {
	OPTION_END,
	/* A heading in help; only `help` is set. */
	OPTION_GROUP,
	/* bool */
	OPTION_BOOL,
	/* int, plus one each time */
	OPTION_COUNT,
	/* const char *, borrowed from argv */
	OPTION_STRING,
	/* struct option_list, one more element each time, borrowed from argv */
	OPTION_LIST,
	/* uint64_t, decimal or 0x hexadecimal */
	OPTION_U64,
	/* option.parse is called */
	OPTION_CALL,
	/* There is none of that name, but people try it; `help` says what to use. */
	OPTION_ABSENT,
};

enum {
	OPTION_ARG_STUCK = 1 << 0,
	OPTION_ARG_UNLESS_LAST = 1 << 1,
	OPTION_NO_NEGATE = 1 << 2,
	/* Understood, but in no help, manual or completion. */
	OPTION_HIDDEN = 1 << 3,
};

struct option;

/*
 * Stores arg in settings. arg is NULL if the option takes none, if it was
 * negated, or if its optional argument is absent and has no default. Errors
 * need not name the option: options_parse() does.
 */
typedef struct error *option_parse_fn(void *settings,
				      const struct option *option,
				      const char *arg, bool negated);

/* Appends words, each with a blank behind it. */
typedef void option_words_fn(struct strbuf *out);

struct option {
	enum option_type type;
	/* 0 if there is none. */
	char short_name;
	/* Without dashes; NULL if there is none. */
	const char *long_name;
	/* The argument's name in help, "<file>"; NULL: takes no argument. */
	const char *argument;
	/* A line of help, lower case, no period; "%s" stands for the values. */
	const char *help;
	/*
	 * The words that the argument can be, or can have between commas, if it
	 * is one of a fixed set that its name in help does not spell out, as
	 * "relative|absolute" does; else NULL. For completion and help
	 * (cmd/framework/value.h).
	 */
	option_words_fn *values;
	unsigned int flags;
	/* Of the field in the settings struct. */
	size_t offset;
	const char *default_argument;
	option_parse_fn *parse;
	/* Of a bool that tells that the option was given, plus 1; 0: none. */
	size_t given;
};

/* Words, borrowed from argv. Free with vec_deinit(). */
struct option_list VEC_BODY(const char *);

/* offsetof() that does not compile if the field has another type. */
#define OPTION_FIELD_(settings, field, expected)                           \
	(offsetof(settings, field) +                                       \
	 sizeof(char[__builtin_types_compatible_p(                         \
			     __typeof__(((settings *)0)->field), expected) \
			     ? 1                                           \
			     : -1]) -                                      \
	 1)

/* For option.given. */
#define OPTION_GIVEN(settings, field) \
	(OPTION_FIELD_(settings, field, bool) + 1)

#define OPT_END() { .type = OPTION_END }
#define OPT_GROUP(title) { .type = OPTION_GROUP, .help = (title) }
#define OPT_BOOL(s, l, settings, field, text, ...)                        \
	{ .type = OPTION_BOOL, .short_name = (s), .long_name = (l),       \
	  .offset = OPTION_FIELD_(settings, field, bool), .help = (text), \
	  __VA_ARGS__ }
#define OPT_COUNT(s, l, settings, field, text, ...)                      \
	{ .type = OPTION_COUNT, .short_name = (s), .long_name = (l),     \
	  .offset = OPTION_FIELD_(settings, field, int), .help = (text), \
	  __VA_ARGS__ }
#define OPT_STRING(s, l, settings, field, arg, text, ...)              \
	{ .type = OPTION_STRING, .short_name = (s), .long_name = (l),  \
	  .argument = (arg), .help = (text),                           \
	  .offset = OPTION_FIELD_(settings, field, const char *),      \
	  __VA_ARGS__ }
#define OPT_LIST(s, l, settings, field, arg, text, ...)                 \
	{ .type = OPTION_LIST, .short_name = (s), .long_name = (l),     \
	  .argument = (arg), .help = (text),                            \
	  .offset = OPTION_FIELD_(settings, field, struct option_list), \
	  __VA_ARGS__ }
#define OPT_U64(s, l, settings, field, arg, text, ...)                      \
	{ .type = OPTION_U64, .short_name = (s), .long_name = (l),          \
	  .argument = (arg), .offset = OPTION_FIELD_(settings, field, uint64_t), \
	  .help = (text), __VA_ARGS__ }
/*
 * arg NULL: the option takes no argument. Further designated initialisers may
 * follow: OPT_CALL('g', "call-graph", parse_g, "<tokens>", "...",
 * .flags = OPTION_ARG_UNLESS_LAST, .default_argument = "graph")
 */
#define OPT_CALL(s, l, fn, arg, text, ...)                          \
	{ .type = OPTION_CALL, .short_name = (s), .long_name = (l), \
	  .argument = (arg), .help = (text), .parse = (fn), __VA_ARGS__ }

/* Shown nowhere, and nothing abbreviates it. At the end of a table. */
#define OPT_ABSENT(s, l, text)                                        \
	{ .type = OPTION_ABSENT, .short_name = (s), .long_name = (l), \
	  .help = (text), .flags = OPTION_HIDDEN }
/* Of a command that reads a recording. */
#define OPTION_ABSENT_MODE                                           \
	"it is chosen for the recording: 'kaa record --mode wall COMMAND'"

/* What remains of argv; always ends with a NULL that count does not count. */
struct arguments {
	size_t count;
	char **values;
};

enum {
	/*
	 * The first word that is no option ends the options: it begins
	 * another program's command line. Else options may stand anywhere.
	 */
	OPTIONS_STOP_AT_NON_OPTION = 1 << 0,
};

/*
 * Parses args, fills settings, and leaves in args what is no option, in order
 * (the array is changed in place; a leading "--" is removed). *help becomes
 * true if -h or --help was met, and parsing stops there.
 *
 * Errors (ERROR_INVALID_ARGUMENT) are about what the user typed: unknown (with
 * near names), ambiguous (with the candidates), argument missing or not wanted.
 */
struct error *options_parse(const struct option *options, unsigned int flags,
			    void *settings, struct arguments *args, bool *help);

/* Appends the option's line of help, with its values. */
void option_format_help(const struct option *option, struct strbuf *out);
/* Appends the options' help, in two columns, with their groups. */
void options_format_help(const struct option *options, struct strbuf *out);

/* A number as OPT_U64 takes it, for parse functions. */
struct error *option_parse_u64(const char *text, uint64_t *ret);
/* A percentage, 0 or more. */
struct error *option_parse_percent(const char *text, double *ret);

#endif
