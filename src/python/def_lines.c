// SPDX-License-Identifier: GPL-2.0-only
#include "python/def_lines.h"

#include <string.h>

#include "base/strbuf.h"

enum {
	/* The compiler allows fewer levels of indentation. */
	SCOPES_MAX = 100,
	TAB = 8,
};

struct scope {
	unsigned int indent;
	/* Length of the qualified name's part before the names in it. */
	size_t outer;
};

struct scanner {
	struct py_def_lines *lines;
	const char *at;
	const char *end;
	uint32_t line;
	/* Line of the first decorator of what follows, or 0. */
	uint32_t decorated;
	unsigned int depth;
	struct scope scopes[SCOPES_MAX];
	/* What a name in the innermost scope begins with. */
	struct strbuf prefix;
	bool failed;
};

static void add(struct scanner *s, const char *name, size_t size, uint32_t line)
{
	bool is_new;
	uint64_t *place = map_insert(&s->lines->lines, hash_bytes(name, size),
				     line, &is_new);

	if (!place)
		s->failed = true;
	else if (!is_new)
		*place = 0;
}

/* --- tokens --- */

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
}

/* At a quote: to behind the string, over its lines. */
static void skip_string(struct scanner *s)
{
	char quote = *s->at;
	bool triple = s->end - s->at >= 3 && s->at[1] == quote &&
		      s->at[2] == quote;

	s->at += triple ? 3 : 1;
	for (; s->at < s->end; s->at++) {
		if (*s->at == '\n' && !triple)
			return;
		if (*s->at == '\\' && s->end - s->at > 1)
			s->at++;
		else if (*s->at == quote &&
			 (!triple || (s->end - s->at >= 3 &&
				      s->at[1] == quote && s->at[2] == quote)))
			break;
		s->line += *s->at == '\n';
	}
	if (s->at < s->end)
		s->at += triple ? 3 : 1;
}

/* To behind the newline that ends the logical line. */
static void skip_logical_line(struct scanner *s)
{
	unsigned int brackets = 0;

	while (s->at < s->end) {
		char c = *s->at;

		if (c == '"' || c == '\'') {
			skip_string(s);
			continue;
		}
		if (c == '#') {
			const char *newline = memchr(s->at, '\n',
						     (size_t)(s->end - s->at));

			s->at = newline ? newline : s->end;
			continue;
		}
		s->at++;
		if (c == '(' || c == '[' || c == '{')
			brackets++;
		else if ((c == ')' || c == ']' || c == '}') && brackets)
			brackets--;
		else if (c == '\\' && s->at < s->end && *s->at == '\r')
			s->at++;
		if (c == '\\' && s->at < s->end && *s->at == '\n') {
			s->line++;
			s->at++;
		} else if (c == '\n') {
			s->line++;
			if (!brackets)
				return;
		}
	}
}

/* A word and the blanks behind it, if it stands here. */
static bool take_word(struct scanner *s, const char *word)
{
	size_t size = strlen(word);

	if ((size_t)(s->end - s->at) <= size || memcmp(s->at, word, size) ||
	    (s->at[size] != ' ' && s->at[size] != '\t'))
		return false;
	s->at += size;
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
	return true;
}

static size_t take_name(struct scanner *s, const char **ret)
{
	*ret = s->at;
	while (s->at < s->end && is_name(*s->at))
		s->at++;
	return (size_t)(s->at - *ret);
}

/* --- statements --- */

static void enter(struct scanner *s, unsigned int indent, bool is_class,
		  uint32_t line)
{
	const char *name;
	size_t size = take_name(s, &name), outer = s->prefix.len;

	if (!size)
		return;
	strbuf_append(&s->prefix, name, size);
	if (!s->prefix.failed)
		add(s, s->prefix.data, s->prefix.len, line);
	if (s->depth == SCOPES_MAX) {
		strbuf_truncate(&s->prefix, outer);
		return;
	}
	strbuf_puts(&s->prefix, is_class ? "." : ".<locals>.");
	s->scopes[s->depth++] = (struct scope){ indent, outer };
}

/* A function of that name, made anywhere, may be called so. */
static void note_global(struct scanner *s)
{
	const char *name;
	size_t size;

	while ((size = take_name(s, &name)) > 0) {
		add(s, name, size, 0);
		add(s, name, size, 0);
		while (s->at < s->end &&
		       (*s->at == ' ' || *s->at == ',' || *s->at == '\t'))
			s->at++;
	}
}

static void statement(struct scanner *s, unsigned int indent)
{
	uint32_t line = s->decorated ? s->decorated : s->line;

	while (s->depth && s->scopes[s->depth - 1].indent >= indent)
		strbuf_truncate(&s->prefix, s->scopes[--s->depth].outer);
	if (*s->at == '@') {
		s->decorated = line;
		return;
	}
	s->decorated = 0;
	if (take_word(s, "class"))
		enter(s, indent, true, line);
	else if (take_word(s, "global"))
		note_global(s);
	else if ((take_word(s, "async"), take_word(s, "def")))
		enter(s, indent, false, line);
}

static unsigned int take_indent(struct scanner *s)
{
	unsigned int indent = 0;

	for (; s->at < s->end; s->at++) {
		if (*s->at == ' ')
			indent++;
		else if (*s->at == '\t')
			indent = (indent / TAB + 1) * TAB;
		else if (*s->at == '\f')
			indent = 0;
		else if (*s->at != '\r')
			break;
	}
	return indent;
}

static void skip_mark(struct scanner *s)
{
	if (s->end - s->at >= 3 && !memcmp(s->at, "\xef\xbb\xbf", 3))
		s->at += 3;
}

bool py_def_lines_scan(struct py_def_lines *lines, struct bytes source)
{
	struct scanner s = { .lines = lines,
			     .at = (const char *)source.data,
			     .end = (const char *)source.data + source.size,
			     .line = 1,
			     .prefix = STRBUF_INIT };

	add(&s, "<module>", 8, 1);
	if (source.size)
		skip_mark(&s);
	while (source.size && s.at < s.end && !s.failed) {
		unsigned int indent = take_indent(&s);

		if (s.at < s.end && *s.at != '\n' && *s.at != '#')
			statement(&s, indent);
		skip_logical_line(&s);
	}
	s.failed = s.failed || s.prefix.failed;
	strbuf_deinit(&s.prefix);
	return !s.failed;
}

uint32_t py_def_lines_find(const struct py_def_lines *lines,
			   const char *qualname)
{
	const uint64_t *line =
		map_find(&lines->lines, hash_string(qualname));

	return line ? (uint32_t)*line : 0;
}

void py_def_lines_deinit(struct py_def_lines *lines)
{
	map_deinit(&lines->lines);
}
