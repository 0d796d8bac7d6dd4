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
