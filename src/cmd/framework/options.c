// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/framework/options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cmd/framework/wrap.h"

enum {
	/* Shorter words are in any text. */
	HELP_WORD_MIN = 4,
};

/* The parsing of one command line. */
struct parse {
	const struct option *options;
	void *settings;
	/* Words not looked at yet. */
	char **next;
	size_t left;
};

/* How the user wrote an option, for errors. */
struct spelling {
	char text[80];
};

static struct spelling spell_short(char name)
{
	struct spelling s;

	snprintf(s.text, sizeof(s.text), "-%c", name);
	return s;
}

static struct spelling spell_long(const struct option *option, bool negated)
{
	struct spelling s;

	snprintf(s.text, sizeof(s.text), "--%s%s", negated ? "no-" : "",
		 option->long_name);
	return s;
}

struct error *option_parse_u64(const char *text, uint64_t *ret)
{
	char *end;
	uint64_t value;
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

	errno = 0;
	/* strtoull takes signs and blanks, which make no sense here. */
	if (!isdigit((unsigned char)text[0]))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' is not a number", text);
	value = strtoull(text, &end, hex ? 16 : 10);
	if (*end || end == text)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' is not a number", text);
	if (errno == ERANGE)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' is too large", text);
	*ret = value;
	return NULL;
}

struct error *option_parse_percent(const char *text, double *ret)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' is not a percentage", text);
	*ret = value;
	return NULL;
}

static void *field(const struct parse *p, const struct option *option)
{
	return (char *)p->settings + option->offset;
}

static struct error *store_list(struct option_list *list, const char *arg,
				bool negated)
{
	if (negated)
		vec_clear(list);
	else if (!vec_push(list, arg))
		return error_no_memory();
	return NULL;
}

static struct error *store_u64(uint64_t *value, const char *arg, bool negated)
{
	if (!negated)
		return option_parse_u64(arg, value);
	*value = 0;
	return NULL;
}

static struct error *store(const struct parse *p, const struct option *option,
			   const char *arg, bool negated)
{
	switch (option->type) {
	case OPTION_BOOL:
		*(bool *)field(p, option) = !negated;
		return NULL;
	case OPTION_COUNT:
		if (negated)
			*(int *)field(p, option) = 0;
		else
			++*(int *)field(p, option);
		return NULL;
	case OPTION_STRING:
		*(const char **)field(p, option) = negated ? NULL : arg;
		return NULL;
	case OPTION_LIST:
		return store_list(field(p, option), arg, negated);
	case OPTION_U64:
		return store_u64(field(p, option), arg, negated);
	case OPTION_CALL:
		return option->parse(p->settings, option, arg, negated);
	case OPTION_END:
	case OPTION_GROUP:
	case OPTION_ABSENT:
		break;
	}
	return NULL;
}

/* Stores, and puts the option's spelling in front of an error's message. */
static struct error *store_named(const struct parse *p,
				 const struct option *option,
				 struct spelling spelling, const char *arg,
				 bool negated)
{
	struct error *inner = store(p, option, arg, negated);
	struct error *error;

	if (option->given)
		*(bool *)((char *)p->settings + option->given - 1) = true;
	if (!inner || inner == error_no_memory())
		return inner;
	error = error_create(inner->code, "option '%s': %s", spelling.text,
			     inner->message);
	error_destroy(inner);
	return error;
}

/* The next word is an argument, and not an option or missing? */
static bool next_is_argument(const struct parse *p)
{
	return p->left > 0 && p->next[0][0] != '-';
}

/* What a long option's text means. */
struct long_match {
	const struct option *option;
	bool negated;
	/* A second option that the abbreviation fits; NULL: none. */
	const struct option *other;
	bool other_negated;
	bool exact;
};

static struct long_match find_long(const struct option *options,
				   const char *word, size_t length);

/* "-p $PID --duration 3" with an empty variable: the next word is an option. */
static bool next_is_long_option(const struct parse *p)
{
	const char *word = p->next[0];

	return !strncmp(word, "--", 2) &&
	       find_long(p->options, word + 2, strcspn(word + 2, "=")).exact;
}

/*
 * Finds the argument of an option: `stuck` (may be NULL), the next word, or
 * the default.
 */
static struct error *find_argument(struct parse *p, const struct option *option,
				   struct spelling spelling, const char *stuck,
				   const char **arg)
{
	if (stuck) {
		*arg = stuck;
	} else if (option->flags & OPTION_ARG_STUCK) {
		*arg = option->default_argument;
	} else if ((option->flags & OPTION_ARG_UNLESS_LAST) &&
		   !next_is_argument(p)) {
		*arg = option->default_argument;
	} else if (p->left > 0 && !next_is_long_option(p)) {
		*arg = *p->next++;
		p->left--;
	} else {
		return error_create(ERROR_INVALID_ARGUMENT,
				    p->left > 0 ?
					    "option '%s' needs an argument, %s, before '%s'" :
					    "option '%s' needs an argument, %s",
				    spelling.text, option->argument,
				    p->left > 0 ? p->next[0] : "");
	}
	return NULL;
}

static const struct option *find_short(const struct option *options, char name)
{
	for (; options->type != OPTION_END; options++) {
		if (options->type != OPTION_GROUP &&
		    options->type != OPTION_ABSENT &&
		    options->short_name == name)
			return options;
	}
	return NULL;
}

/* What to use instead of an option that many look for; NULL: few do. */
static const char *instead_of(const struct option *options, char short_name,
			      const char *long_name)
{
	for (; options->type != OPTION_END; options++)
		if (options->type == OPTION_ABSENT &&
		    (long_name ? !strcmp(options->long_name, long_name) :
				 options->short_name == short_name))
			return options->help;
	return NULL;
}

/* "-f" for -F */
static struct error *unknown_short(struct parse *p, char name,
				   const char *word)
{
	char other = (char)(isupper((unsigned char)name) ?
				    tolower((unsigned char)name) :
				    toupper((unsigned char)name));
	const char *instead = instead_of(p->options, name, NULL);
	const char near_name[] = { other, '\0' };
	_cleanup_strbuf_ struct strbuf near = STRBUF_INIT;
	struct nearest nearest = { .word = near_name, .prefix = "-" };

	if (instead)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "unknown option '-%c': %s", name, instead);
	if (other != name && find_short(p->options, other))
		nearest_add(&nearest, near_name);
	nearest_format(&nearest, &near);
	return error_create(ERROR_INVALID_ARGUMENT,
			    "unknown option '-%c'%s%s%s%s", name,
			    word[2] ? " in '" : "", word[2] ? word : "",
			    word[2] ? "'" : "", near.data);
}

/* One word of bundled short options: "-vvo" or "-oFILE". */
static struct error *parse_short(struct parse *p, const char *word, bool *help)
{
	for (const char *c = word + 1; *c; c++) {
		const struct option *option = find_short(p->options, *c);
		struct spelling spelling = spell_short(*c);
		const char *arg = NULL;
		struct error *error;

		if (!option && *c == 'h') {
			*help = true;
			return NULL;
		}
		if (!option)
			return unknown_short(p, *c, word);
		if (option->argument) {
			error = find_argument(p, option, spelling,
					      c[1] ? c + 1 : NULL, &arg);
			if (error)
				return error;
		}
		error = store_named(p, option, spelling, arg, false);
		if (error || option->argument)
			return error;
	}
	return NULL;
}

static void match_name(struct long_match *match, const struct option *option,
		       const char *name, const char *prefix, const char *word,
		       size_t length, bool negated)
{
	size_t prefix_length = strlen(prefix);
	char full[128];

	if (snprintf(full, sizeof(full), "%s%s", prefix, name) >=
		    (int)sizeof(full) ||
	    strncmp(full, word, length) != 0)
		return;
	/* "--n" abbreviates no opposite: it says nothing of the option. */
	if (length < prefix_length)
		return;
	if (strlen(full) == length) {
		*match = (struct long_match){ .option = option,
					      .negated = negated,
					      .exact = true };
	} else if (match->exact) {
		return;
	} else if (!match->option) {
		match->option = option;
		match->negated = negated;
	} else if (match->option != option || match->negated != negated) {
		match->other = option;
		match->other_negated = negated;
	}
}

static struct long_match find_long(const struct option *options,
				   const char *word, size_t length)
{
	struct long_match match = {};

	for (; options->type != OPTION_END; options++) {
		const char *name = options->long_name;

		if (options->type == OPTION_GROUP ||
		    options->type == OPTION_ABSENT || !name)
			continue;
		match_name(&match, options, name, "", word, length, false);
		if (options->flags & OPTION_NO_NEGATE)
			continue;
		match_name(&match, options, name, "no-", word, length, true);
		if (strncmp(name, "no-", 3) == 0)
			match_name(&match, options, name + 3, "", word, length,
				   true);
	}
	return match;
}

static bool is_shown(const struct option *option)
{
	return option->type != OPTION_GROUP && option->long_name &&
	       !(option->flags & OPTION_HIDDEN);
}

/* Options that are not called so: those whose help has the word. */
static void add_by_help(const struct option *options, struct nearest *nearest)
{
	if (strlen(nearest->word) < HELP_WORD_MIN)
		return;
	for (; options->type != OPTION_END; options++)
		if (is_shown(options) && nearest->count < NEAREST_MAX &&
		    strstr(options->help, nearest->word))
			nearest->names[nearest->count++] = options->long_name;
}

static struct error *unknown_long(const struct option *options,
				  const char *word, size_t length)
{
	_cleanup_free_ char *name = strndup(word, length);
	_cleanup_strbuf_ struct strbuf near = STRBUF_INIT;
	struct nearest nearest = { .word = name, .prefix = "--" };
	const char *instead;

	if (!name)
		return error_no_memory();
	instead = instead_of(options, 0, name);
	if (instead)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "unknown option '--%s': %s", name, instead);
	for (const struct option *o = options; o->type != OPTION_END; o++)
		if (is_shown(o))
			nearest_add(&nearest, o->long_name);
	if (!nearest.count)
		add_by_help(options, &nearest);
	nearest_format(&nearest, &near);
	return error_create(ERROR_INVALID_ARGUMENT, "unknown option '--%s'%s",
			    name, near.data);
}

static struct error *ambiguous_long(const struct long_match *match,
				    const char *word, size_t length)
{
	struct spelling a = spell_long(match->option, match->negated);
	struct spelling b = spell_long(match->other, match->other_negated);

	return error_create(ERROR_INVALID_ARGUMENT,
			    "option '--%.*s' could be '%s' or '%s'",
			    (int)length, word, a.text, b.text);
}

static bool is_help(const char *word, size_t length)
{
	return length > 0 && length <= 4 && strncmp("help", word, length) == 0;
}

/* "name" or "name=argument", without the dashes. */
static struct error *parse_long(struct parse *p, const char *word, bool *help)
{
	const char *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : strlen(word);
	struct long_match match = find_long(p->options, word, length);
	struct spelling spelling;
	const char *arg = NULL;
	struct error *error;

	if (!match.exact && !equals && is_help(word, length) &&
	    (!match.option || length == 4)) {
		*help = true;
		return NULL;
	}
	if (!match.option)
		return unknown_long(p->options, word, length);
	if (match.other)
		return ambiguous_long(&match, word, length);
	spelling = spell_long(match.option, match.negated);
	if (match.negated || !match.option->argument) {
		if (equals)
			return error_create(ERROR_INVALID_ARGUMENT,
					    "option '%s' takes no argument",
					    spelling.text);
	} else {
		error = find_argument(p, match.option, spelling,
				      equals ? equals + 1 : NULL, &arg);
		if (error)
			return error;
	}
	return store_named(p, match.option, spelling, arg, match.negated);
}

struct error *options_parse(const struct option *options, unsigned int flags,
			    void *settings, struct arguments *args, bool *help)
{
	static const struct option none[] = { OPT_END() };
	struct parse p = { options ? options : none, settings, args->values,
			   args->count };
	bool wants_help = false;
	size_t kept = 0;

	while (p.left > 0 && !wants_help) {
		char *word = *p.next++;
		struct error *error;

		p.left--;
		if (strcmp(word, "--") == 0)
			break;
		if (word[0] != '-' || !word[1]) {
			args->values[kept++] = word;
			if (flags & OPTIONS_STOP_AT_NON_OPTION)
				break;
			continue;
		}
		error = word[1] == '-' ? parse_long(&p, word + 2, &wants_help) :
					 parse_short(&p, word, &wants_help);
		if (error)
			return error;
	}
	while (p.left-- > 0)
		args->values[kept++] = *p.next++;
	args->values[kept] = NULL;
	args->count = kept;
	if (wants_help)
		*help = true;
	return NULL;
}

/* "    -o, --output <file>" */
static void format_names(const struct option *option, struct strbuf *out)
{
	strbuf_puts(out, "    ");
	if (option->short_name)
		strbuf_printf(out, "-%c", option->short_name);
	if (option->short_name && option->long_name)
		strbuf_puts(out, ", ");
	if (option->long_name)
		strbuf_printf(out, "--%s", option->long_name);
	if (!option->argument)
		return;
	if (option->flags & OPTION_ARG_STUCK)
		strbuf_printf(out, "[%s%s]", option->long_name ? "=" : "",
			      option->argument);
	else if (option->flags & OPTION_ARG_UNLESS_LAST)
		strbuf_printf(out, " [%s]", option->argument);
	else
		strbuf_printf(out, " %s", option->argument);
}

void option_format_help(const struct option *option, struct strbuf *out)
{
	const char *place = option->values ? strstr(option->help, "%s") : NULL;
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;

	if (!place) {
		strbuf_puts(out, option->help);
		return;
	}
	option->values(&words);
	strbuf_append(out, option->help, (size_t)(place - option->help));
	for (const char *word = words.data; *word;) {
		size_t n = strcspn(word, " ");

		strbuf_append(out, word, n);
		word += n + (word[n] == ' ');
		strbuf_puts(out, *word ? ", " : "");
	}
	strbuf_puts(out, place + 2);
}

void options_format_help(const struct option *options, struct strbuf *out)
{
	const size_t column = 34;

	for (; options && options->type != OPTION_END; options++) {
		_cleanup_strbuf_ struct strbuf help = STRBUF_INIT;
		size_t start = out->len;
		size_t used;

		if (options->flags & OPTION_HIDDEN)
			continue;
		if (options->type == OPTION_GROUP) {
			strbuf_printf(out, "\n%s:\n", options->help);
			continue;
		}
		format_names(options, out);
		used = out->len - start;
		if (used + 2 > column) {
			strbuf_putc(out, '\n');
			used = 0;
		}
		strbuf_fill(out, ' ', column - used);
		option_format_help(options, &help);
		wrap_text(out, help.data, column);
	}
}
