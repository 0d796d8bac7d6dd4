// SPDX-License-Identifier: GPL-2.0-only
#include "profile/symbol_word.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX	      "py::"
#define PREFIX_LENGTH (sizeof(PREFIX) - 1)

/* A part of a word. */
struct part {
	const char *text;
	size_t length;
};

#define TASK	  "task"
#define TASK_FILE "<asyncio>"

/* A task has whatever name the program gave it: its file tells where that ends. */
static const char *end_of_task(const char *qualname)
{
	const char *colon;

	if (strncmp(qualname, TASK " ", strlen(TASK " ")) != 0)
		return NULL;
	colon = strrchr(qualname, ':');
	return colon && !strcmp(colon + 1, TASK_FILE) ? colon : NULL;
}

bool python_symbol_parse(const char *symbol, struct python_symbol *ret)
{
	const char *qualname, *colon;

	if (strncmp(symbol, PREFIX, PREFIX_LENGTH) != 0)
		return false;
	qualname = symbol + PREFIX_LENGTH;
	colon = end_of_task(qualname);
	if (!colon)
		colon = strchr(qualname, ':');
	/* A C++ namespace may be called py, too: py::Box::spin(int). */
	if (!colon || colon == qualname || !colon[1] || colon[1] == ':')
		return false;
	*ret = (struct python_symbol){ qualname, (size_t)(colon - qualname),
				       colon + 1 };
	return true;
}

void python_symbol_keep_last(struct python_symbol *symbol)
{
	const char *dot = memrchr(symbol->qualname, '.', symbol->qualname_length);

	if (!dot)
		return;
	symbol->qualname_length -= (size_t)(dot + 1 - symbol->qualname);
	symbol->qualname = dot + 1;
}

bool task_symbol_parse(const char *symbol, const char **name, size_t *length)
{
	const size_t n = strlen(TASK);
	struct python_symbol python;

	if (!python_symbol_parse(symbol, &python) ||
	    strcmp(python.file, TASK_FILE) != 0 ||
	    python.qualname_length < n || memcmp(python.qualname, TASK, n) != 0)
		return false;
	*name = NULL;
	if (python.qualname_length > n + 1 && python.qualname[n] == ' ') {
		*name = python.qualname + n + 1;
		*length = python.qualname_length - n - 1;
	}
	return true;
}

/* The number behind the last colon; 0: none that a line could have. */
static uint32_t line_of(const char *text, size_t *length)
{
	const char *colon = strrchr(text, ':');
	unsigned long line;
	char *end;

	if (!colon || colon == text || !isdigit((unsigned char)colon[1]))
		return 0;
	line = strtoul(colon + 1, &end, 10);
	if (*end || !line || line > INT32_MAX)
		return 0;
	*length = (size_t)(colon - text);
	return (uint32_t)line;
}

struct symbol_word symbol_word_init(const char *text, bool exact)
{
	struct symbol_word word = { .text = text,
				    .name = text,
				    .exact = exact };

	if (strncmp(text, PREFIX, PREFIX_LENGTH) == 0)
		word.name += PREFIX_LENGTH;
	word.length = strlen(word.name);
	word.line = line_of(word.name, &word.length);
	/* Scripts were recorded by what stood on the command line. */
	if (word.length > 2 && strncmp(word.name, "./", 2) == 0) {
		word.name += 2;
		word.length -= 2;
	}
	return word;
}

/* The text ends with the part, all of it or from a separator on. */
static bool ends_with(const char *text, size_t length, char separator,
		      struct part part)
{
	if (!part.length || part.length > length ||
	    memcmp(text + length - part.length, part.text, part.length) != 0)
		return false;
	return part.length == length ||
	       text[length - part.length - 1] == separator;
}

static bool is_file(const struct python_symbol *symbol, struct part part)
{
	return ends_with(symbol->file, strlen(symbol->file), '/', part);
}

/* Else it is a function's name: scripts may be called as functions are. */
static bool looks_like_file(struct part part)
{
	for (size_t i = 0; i < part.length; i++)
		if (strchr("./<", part.text[i]))
			return true;
	return false;
}

/* Removes what the text ends with. */
static bool chop(const char *text, size_t *length, const char *suffix)
{
	size_t n = strlen(suffix);

	if (*length <= n || memcmp(text + *length - n, suffix, n) != 0)
		return false;
	*length -= n;
	return true;
}

/* a.b is a/b.py or a/b/__init__.py. */
static bool is_module(const char *file, struct part part)
{
	size_t length = strlen(file);

	if (!chop(file, &length, "/__init__.py") &&
	    !chop(file, &length, ".py"))
		return false;
	if (!part.length || part.length > length)
		return false;
	file += length - part.length;
	for (size_t i = 0; i < part.length; i++)
		if ((file[i] == '/' ? '.' : file[i]) != part.text[i])
			return false;
	return part.length == length || file[-1] == '/';
}

static bool is_function(const struct python_symbol *symbol, struct part part)
{
	size_t n = symbol->qualname_length;
	struct part module;

	if (ends_with(symbol->qualname, n, '.', part))
		return true;
	if (part.length < n + 2 ||
	    !ends_with(part.text, part.length, '.',
		       (struct part){ symbol->qualname, n }))
		return false;
	module = (struct part){ part.text, part.length - n - 1 };
	return is_module(symbol->file, module);
}

/* "function:file" */
static bool is_function_of_file(const struct python_symbol *symbol,
				struct part part)
{
	const char *colon = memchr(part.text, ':', part.length);
	size_t n = colon ? (size_t)(colon - part.text) : 0;

	return colon && is_function(symbol, (struct part){ part.text, n }) &&
	       is_file(symbol, (struct part){ colon + 1,
					      part.length - n - 1 });
}

bool symbol_word_has_line_in(const struct symbol_word *word,
			     const char *symbol)
{
	const struct part part = { word->name, word->length };
	struct python_symbol python;

	return word->line && !word->exact && symbol &&
	       python_symbol_parse(symbol, &python) &&
	       (is_file(&python, part) || is_function_of_file(&python, part));
}

bool symbol_word_calls_file(const struct symbol_word *word, const char *symbol)
{
	const struct part part = { word->name, word->length };
	struct python_symbol python;

	return symbol && !word->line && !word->exact &&
	       looks_like_file(part) && python_symbol_parse(symbol, &python) &&
	       is_file(&python, part);
}

const char *symbol_link_suffix(const char *symbol)
{
	const char *at = strstr(symbol, SYMBOL_LINK_MARK);

	return at == symbol ? NULL : at;
}

static bool is_linked(const char *symbol, const char *name)
{
	const char *suffix = symbol_link_suffix(symbol);
	size_t n = strlen(name);

	return suffix && n == (size_t)(suffix - symbol) &&
	       !memcmp(symbol, name, n);
}

size_t symbol_module_length(const char *name)
{
	const char *const marks[] = { ".cpython-", ".abi3.so" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		const char *end = strstr(name, marks[i]);

		if (end && end > name)
			return (size_t)(end - name);
	}
	return strlen(name);
}

/* "_json.cpython-311-x86_64-linux-gnu.so+0x1a0" is _json+0x1a0. */
static bool is_in_module(const char *symbol, const char *name)
{
	size_t length = symbol_module_length(symbol);
	const char *place = strrchr(symbol, '+');

	return symbol[length] && place && !strncmp(symbol, name, length) &&
	       !strcmp(name + length, place);
}

bool symbol_word_calls_def(const struct symbol_word *word, const char *symbol,
			   const struct symbol_lines *lines)
{
	static const char module[] = "<module>";
	struct python_symbol python;

	if (!lines->def || word->line < lines->def ||
	    (word->line > lines->def && word->line >= lines->body) ||
	    !symbol_word_has_line_in(word, symbol))
		return false;
	return python_symbol_parse(symbol, &python) &&
	       (python.qualname_length != strlen(module) ||
		memcmp(python.qualname, module, strlen(module)) != 0);
}

bool symbol_word_calls(const struct symbol_word *word, const char *symbol,
		       const struct symbol_lines *lines)
{
	const struct part part = { word->name, word->length };
	struct python_symbol python;

	if (!symbol)
		return false;
	if (!strcmp(word->text, symbol))
		return true;
	if (word->exact)
		return false;
	if (word->line)
		return (word->line == lines->line &&
			symbol_word_has_line_in(word, symbol)) ||
		       symbol_word_calls_def(word, symbol, lines);
	if (!python_symbol_parse(symbol, &python))
		return is_linked(symbol, word->text) ||
		       is_in_module(symbol, word->text);
	return is_function(&python, part) ||
	       is_function_of_file(&python, part) ||
	       symbol_word_calls_file(word, symbol);
}
