// SPDX-License-Identifier: GPL-2.0-only
#include "explore/python_block.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { TAB = 8 };

/* A place in the text. */
struct scan {
	const char *text;
	size_t end;
	size_t at;
	/* From 1, of `at`. */
	size_t line;
};

/* A logical line: it goes on within brackets, strings, and after a backslash. */
struct statement {
	size_t first;
	size_t last;
	size_t indent;
	/* Of its first word. */
	const char *text;
	size_t length;
	/* A block follows. */
	bool ends_with_colon;
};

static bool has_more(const struct scan *s)
{
	return s->at < s->end;
}

static char step(struct scan *s)
{
	char c = s->text[s->at++];

	s->line += c == '\n';
	return c;
}

/* --- Words -------------------------------------------------------------- */

static void skip_comment(struct scan *s)
{
	while (has_more(s) && s->text[s->at] != '\n')
		s->at++;
}

static bool is_triple(const struct scan *s, char quote)
{
	return s->end - s->at >= 2 && s->text[s->at] == quote &&
	       s->text[s->at + 1] == quote;
}

/* Behind the quote that begins it. A broken one ends with its line. */
static void skip_string(struct scan *s, char quote)
{
	bool triple = is_triple(s, quote);

	s->at += triple ? 2 : 0;
	while (has_more(s)) {
		char c = s->text[s->at];

		if (c == '\n' && !triple)
			return;
		(void)step(s);
		if (c == '\\' && has_more(s)) {
			(void)step(s);
		} else if (c == quote && !triple) {
			return;
		} else if (c == quote && is_triple(s, quote)) {
			s->at += 2;
			return;
		}
	}
}

static void skip_backslash(struct scan *s)
{
	if (has_more(s) && s->text[s->at] == '\r')
		s->at++;
	if (has_more(s))
		(void)step(s);
}

/* --- Statements --------------------------------------------------------- */

/* Columns before the first word of a line, which the scan is at afterwards. */
static size_t skip_indent(struct scan *s)
{
	size_t column = 0;

	for (; has_more(s); s->at++) {
		char c = s->text[s->at];

		if (c == '\t')
			column += TAB - column % TAB;
		else if (c == '\f')
			column = 0;
		else if (c == ' ')
			column++;
		else if (c != '\r')
			break;
	}
	return column;
}

/* To the end of the line that ends it. */
static void skip_statement(struct scan *s, struct statement *statement)
{
	size_t depth = 0;
	char last = 0;

	while (has_more(s)) {
		char c = step(s);

		if (c == '\n' && !depth)
			break;
		if (c == '#')
			skip_comment(s);
		else if (c == '"' || c == '\'')
			skip_string(s, c);
		else if (c == '\\')
			skip_backslash(s);
		else if (strchr("([{", c) && c)
			depth++;
		else if (strchr(")]}", c) && c)
			depth -= depth > 0;
		if (c != '#' && !isspace((unsigned char)c))
			last = c;
	}
	statement->last = s->line - (s->at && s->text[s->at - 1] == '\n');
	statement->ends_with_colon = last == ':';
}

/* False: there is none any more. Blank lines and comments are none. */
static bool next_statement(struct scan *s, struct statement *ret)
{
	size_t begin;

	do {
		ret->indent = skip_indent(s);
		if (!has_more(s))
			return false;
		if (s->text[s->at] == '#')
			skip_comment(s);
		if (has_more(s) && s->text[s->at] != '\n')
			break;
		if (has_more(s))
			(void)step(s);
	} while (true);
	begin = s->at;
	ret->first = s->line;
	ret->text = s->text + begin;
	skip_statement(s, ret);
	ret->length = s->at - begin;
	return true;
}

static bool begins_with(const struct statement *statement, const char *word)
{
	size_t n = strlen(word);

	return statement->length > n && !memcmp(statement->text, word, n) &&
	       isspace((unsigned char)statement->text[n]);
}

static bool is_definition(const struct statement *s)
{
	return begins_with(s, "def") || begins_with(s, "class") ||
	       begins_with(s, "async");
}

/* --- Blocks ------------------------------------------------------------- */

static struct scan scan_from(const struct source *source, size_t line)
{
	return (struct scan){ .text = source->text.data,
			      .end = source->text.len,
			      .at = source->starts.data[line - 1],
			      .line = line };
}

/* The statement that the line is in. */
static struct python_block find_statement(const struct source *source,
					  size_t line)
{
	struct scan scan = scan_from(source, 1);
	struct statement s;

	while (next_statement(&scan, &s) && s.first <= line)
		if (s.last >= line)
			return (struct python_block){ s.first, s.first,
						      s.last };
	return (struct python_block){ line, line, line };
}

struct python_block python_block_find(const struct source *source, size_t line)
{
	struct python_block block = { line, line, line };
	struct statement definition, s;
	struct scan scan;

	if (!line || line > source->starts.count)
		return block;
	scan = scan_from(source, line);
	do {
		if (!next_statement(&scan, &definition))
			return block;
	} while (definition.text[0] == '@');
	if (!is_definition(&definition))
		return find_statement(source, line);
	block.header_last = block.last = definition.last;
	while (definition.ends_with_colon && next_statement(&scan, &s) &&
	       s.indent > definition.indent)
		block.last = s.last;
	return block;
}
