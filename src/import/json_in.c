// SPDX-License-Identifier: GPL-2.0-only
#include "import/json_in.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/strbuf.h"

/* With malloc()'s own, and where a container has each: jansson's jansson_private.h. */
enum { OBJECT_BYTES = 256, LIST_BYTES = 128, NUMBER_BYTES = 40, STRING_BYTES = 64 };

/* Where the string ends whose first character is text[at]. */
static size_t string_end(const char *text, size_t size, size_t at)
{
	while (at < size && text[at] != '"')
		at += text[at] == '\\' ? 2 : 1;
	return at;
}

uint64_t json_in_memory(const char *text, size_t size)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < size; i++) {
		size_t begin = i;

		if (text[i] == '{')
			sum += OBJECT_BYTES;
		else if (text[i] == '[')
			sum += LIST_BYTES;
		else if (text[i] == ',')
			sum += NUMBER_BYTES;
		else if (text[i] == '"') {
			i = string_end(text, size, i + 1);
			sum += STRING_BYTES + (i - begin);
		}
	}
	return sum;
}

void json_in_fail(struct json_in *in, const char *format, ...)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	va_list args;

	if (in->error)
		return;
	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	in->error = text.failed ? error_no_memory() :
				  error_create(ERROR_FORMAT, "'%s': %s",
					       in->path, text.data);
}

const json_t *json_in_object(struct json_in *in, const json_t *object,
			     const char *where, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_object(value))
		json_in_fail(in, "%s%s%s is missing, or no object", where,
			     *where ? "." : "", key);
	return value;
}

const json_t *json_in_list(struct json_in *in, const json_t *object,
			   const char *where, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_array(value))
		json_in_fail(in, "%s%s%s is missing, or no list", where,
			     *where ? "." : "", key);
	return value;
}

uint32_t json_in_index(struct json_in *in, const json_t *list, const char *name,
		       size_t i, size_t count, bool none)
{
	const json_t *value = json_array_get(list, i);
	json_int_t number = json_integer_value(value);

	if (none && (!value || json_is_null(value) ||
		     (json_is_integer(value) && number < 0)))
		return UINT32_MAX;
	if (json_is_integer(value) && number >= 0 && (uint64_t)number < count)
		return (uint32_t)number;
	if (json_is_integer(value))
		json_in_fail(in, "%s[%zu] is %" PRId64
			     ", but there are only %zu to choose from",
			     name, i, (int64_t)number, count);
	else
		json_in_fail(in, "%s[%zu] is missing, or no number", name, i);
	return UINT32_MAX;
}

const char *json_in_text(const json_t *value)
{
	const char *text = json_string_value(value);

	return text ? text : "";
}

uint64_t json_in_number(const json_t *value, uint64_t scale)
{
	double real = json_number_value(value) * (double)scale;
	uint64_t made;

	if (json_is_integer(value)) {
		if (json_integer_value(value) <= 0)
			return 0;
		return __builtin_mul_overflow(
			       (uint64_t)json_integer_value(value), scale,
			       &made) ?
			       UINT64_MAX :
			       made;
	}
	if (!(real > 0))
		return 0;
	return real < 9e18 ? (uint64_t)(real + 0.5) : UINT64_MAX;
}
