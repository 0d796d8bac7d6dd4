// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "python/look/facts.h"

void python_config_deinit(struct python_config *config)
{
	free(config->frame_pointer_variable);
	*config = (struct python_config){};
}

/* A piece of the text. */
struct span {
	const char *start;
	size_t length;
};

static bool span_is(struct span span, const char *text)
{
	return span.length == strlen(text) &&
	       memcmp(span.start, text, span.length) == 0;
}

static bool span_has(struct span span, const char *text)
{
	return memmem(span.start, span.length, text, strlen(text)) != NULL;
}

/*
 * "'KEY': value" at the start of a line: how pprint and json write a
 * dictionary. Lines that go on with a value begin with another string.
 */
static bool split_entry(struct span line, struct span *key, struct span *value)
{
	const char *pos = line.start;
	const char *end = line.start + line.length;
	const char *quote;

	while (pos < end && strchr(" \t{", *pos))
		pos++;
	if (pos == end || (*pos != '\'' && *pos != '"'))
		return false;
	quote = memchr(pos + 1, *pos, (size_t)(end - pos - 1));
	if (!quote || end - quote < 2 || quote[1] != ':')
		return false;
	*key = (struct span){ pos + 1, (size_t)(quote - pos - 1) };
	*value = (struct span){ quote + 2, (size_t)(end - quote - 2) };
	return true;
}

/* 1 and '1' are yes. */
static enum answer answer_of(struct span value)
{
	while (value.length && strchr(" '\"", *value.start)) {
		value.start++;
		value.length--;
	}
	return value.length && *value.start == '1' ? ANSWER_YES : ANSWER_NO;
}

/* --enable-experimental-jit, but not =no and not =interpreter. */
static bool configures_jit(struct span value)
{
	static const char option[] = "--enable-experimental-jit";
	const char *found = memmem(value.start, value.length, option,
				   strlen(option));
	struct span rest;

	if (!found)
		return false;
	rest.start = found + strlen(option);
	rest.length = (size_t)(value.start + value.length - rest.start);
	return !(rest.length >= 3 && memcmp(rest.start, "=no", 3) == 0) &&
	       !(rest.length >= 4 && memcmp(rest.start, "=int", 4) == 0);
}

/* Takes what one line says about the variable `key`. */
static struct error *take_line(struct span key, struct span value,
			       struct python_config *config)
{
	if (span_is(key, "PY_HAVE_PERF_TRAMPOLINE"))
		config->perf_trampoline = answer_of(value);
	else if (span_is(key, "Py_GIL_DISABLED"))
		config->free_threaded = answer_of(value);
	else if (span_is(key, "CONFIG_ARGS") && configures_jit(value))
		config->jit = ANSWER_YES;
	if (!config->frame_pointer_variable &&
	    span_has(value, "no-omit-frame-pointer")) {
		config->frame_pointer_variable = strndup(key.start, key.length);
		if (!config->frame_pointer_variable)
			return error_no_memory();
	}
	return NULL;
}

struct error *python_config_parse(struct bytes text, struct python_config *ret)
{
	/* A variable that a build does not have is off. */
	struct python_config config = {
		.perf_trampoline = ANSWER_NO,
		.free_threaded = ANSWER_NO,
		.jit = ANSWER_NO,
	};
	const char *pos = (const char *)text.data;
	const char *end = pos + text.size;
	struct span key = { "", 0 };

	while (pos < end) {
		const char *newline = memchr(pos, '\n', (size_t)(end - pos));
		struct span line = { pos, (size_t)((newline ? newline : end) -
						   pos) };
		struct span value = line;
		struct error *error;

		config.known |= split_entry(line, &key, &value);
		error = take_line(key, value, &config);
		if (error) {
			python_config_deinit(&config);
			return error;
		}
		pos = newline ? newline + 1 : end;
	}
	*ret = config;
	return NULL;
}
