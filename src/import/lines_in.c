// SPDX-License-Identifier: GPL-2.0-only
#include "import/lines_in.h"

#include <inttypes.h>
#include <string.h>

struct lines_in lines_in_init(const struct import_input *input)
{
	return (struct lines_in){ .path = input->path,
				  .at = input->data,
				  .end = input->data + input->size };
}

bool lines_in_next(struct lines_in *lines, struct line *ret)
{
	size_t left = (size_t)(lines->end - lines->at);
	const char *end;

	if (!left)
		return false;
	end = memchr(lines->at, '\n', left);
	*ret = (struct line){ lines->at,
			      end ? (size_t)(end - lines->at) : left };
	lines->at = end ? end + 1 : lines->end;
	if (ret->size && ret->text[ret->size - 1] == '\r')
		ret->size--;
	lines->number++;
	return true;
}

struct error *lines_in_error(const struct lines_in *lines, const char *what)
{
	return error_create(ERROR_FORMAT, "'%s', line %" PRIu64 ": %s",
			    lines->path, lines->number, what);
}

bool lines_in_number(const char *text, size_t size, uint64_t *ret)
{
	uint64_t value = 0;

	if (!size || size > 18)
		return false;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(text[i] - '0');
	}
	*ret = value;
	return true;
}

/* Is the word at the beginning? What is behind it then. */
static bool take_word(struct line *line, const char *word)
{
	size_t n = strlen(word);

	if (line->size < n || memcmp(line->text, word, n))
		return false;
	*line = (struct line){ line->text + n, line->size - n };
	return true;
}

/* Up to the character, and what stands behind it. */
static bool take_number(struct line *line, char end, int64_t *ret)
{
	const char *at = memchr(line->text, end, line->size);
	size_t n = at ? (size_t)(at - line->text) : 0;
	uint64_t number;

	if (!at)
		return false;
	*ret = lines_in_number(line->text, n, &number) && number <= INT32_MAX ?
		       (int64_t)number :
		       0;
	*line = (struct line){ at + 1, line->size - n - 1 };
	return true;
}

bool lines_in_thread(const char *text, size_t size, int64_t *tid,
		     struct line *name)
{
	struct line line = { text, size };

	if (!take_word(&line, "thread (") || !take_number(&line, ')', tid) ||
	    (line.size && !take_word(&line, ": ")))
		return false;
	/* Where nothing else tells it from others, all of it is the name. */
	*name = *tid || line.size ? line : (struct line){ text, size };
	return true;
}

bool lines_in_process(const char *text, size_t size, int64_t *pid,
		      struct line *name)
{
	struct line line = { text, size };

	if (!take_word(&line, "process ") || !take_number(&line, ':', pid) ||
	    !*pid)
		return false;
	if (take_word(&line, "\"") && line.size &&
	    line.text[line.size - 1] == '"')
		line.size--;
	*name = line;
	return true;
}
