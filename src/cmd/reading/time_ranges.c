// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/time_ranges.h"

#include <stdlib.h>
#include <string.h>

enum {
	RANGES_MAX = 4096,
};

bool time_ranges_need_bounds(const char *text)
{
	return strchr(text, '%') != NULL;
}

static struct error *add(struct time_ranges *ret, const struct convert_time *t)
{
	if (ret->count >= RANGES_MAX)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--time takes no more than %d ranges",
				    RANGES_MAX);
	return vec_push(ret, *t) ? NULL : error_no_memory();
}

/* Seconds with up to nine decimals to ns; an empty text leaves *ret. */
static struct error *parse_seconds(const char *text, size_t n, uint64_t *ret)
{
	uint64_t value = 0;
	int decimals = -1;

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '.' && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (text[i] < '0' || text[i] > '9' || decimals >= 9 ||
		    value > UINT64_MAX / 100)
			return error_create(ERROR_INVALID_ARGUMENT,
					    "'%.*s' is not a time in seconds",
					    (int)n, text);
		value = value * 10 + (uint64_t)(text[i] - '0');
		decimals += decimals >= 0;
	}
	for (decimals = decimals < 0 ? 0 : decimals; decimals < 9; decimals++) {
		if (value > UINT64_MAX / 10)
			return error_create(ERROR_INVALID_ARGUMENT,
					    "the time '%.*s' is too large", (int)n, text);
		value *= 10;
	}
	if (n)
		*ret = value;
	return NULL;
}

/* "from,to": the next word of text, which it then lies behind. */
static struct error *parse_span(const char **text, struct convert_time *ret)
{
	const char *word = *text;
	size_t length = strcspn(word, " "), from = strcspn(word, ", ");
	struct error *error;

	if (word[from] != ',')
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--time takes <from>,<to> in seconds, or a part such as 10%%/2 or 0%%-10%%, not '%s'",
				    word);
	error = parse_seconds(word, from, &ret->from);
	if (!error)
		error = parse_seconds(word + from + 1, length - from - 1,
				      &ret->to);
	*text = word + length;
	return error;
}

static struct error *parse_spans(const char *text, struct time_ranges *ret)
{
	struct error *error = NULL;
	struct convert_time last = {};

	do {
		struct convert_time span = {};

		text += strspn(text, " ");
		error = parse_span(&text, &span);
		if (error)
			return error;
		if ((span.to && span.to < span.from) ||
		    (ret->count && last.to >= span.from) ||
		    (ret->count && !last.to))
			return error_create(ERROR_INVALID_ARGUMENT,
					    "the ranges of --time must be in order and must not overlap");
		last = span;
		error = add(ret, &span);
	} while (!error && text[strspn(text, " ")]);
	return error;
}

/* "12.5%" to 0.125; *end is what follows the sign. */
static bool parse_percent(const char *text, const char **end, double *ret)
{
	char *stop;
	double value = strtod(text, &stop);

	if (stop == text || *stop != '%' || !(value >= 0 && value <= 100))
		return false;
	*end = stop + 1;
	*ret = value / 100;
	return true;
}

/* "10%", "10%/2", "0%-10%": from and to as parts of the whole. */
static bool parse_part(const char *text, double *from, double *to)
{
	const char *rest;
	double percent;
	char *end;
	long i = 1;

	if (!parse_percent(text, &rest, &percent))
		return false;
	if (*rest == '-') {
		*from = percent;
		return parse_percent(rest + 1, &rest, to) && !*rest;
	}
	if (*rest == '/') {
		i = strtol(rest + 1, &end, 10);
		if (end == rest + 1)
			return false;
		rest = end;
	}
	*from = percent * (double)(i - 1);
	*to = percent * (double)i;
	return !*rest && percent > 0;
}

static struct convert_time part_of(uint64_t first, uint64_t last, double from,
				   double to)
{
	double total = (double)(last - first);
	struct convert_time t = { first + (uint64_t)(from * total + 0.5),
				  first + (uint64_t)(to * total + 0.5) };

	/* A part ends before the next one begins. */
	if (t.to > t.from && t.to != last)
		t.to--;
	return t;
}

static struct error *parse_parts(char *text, uint64_t first, uint64_t last,
				 struct time_ranges *ret)
{
	struct error *error = NULL;
	char *word;

	while (!error && (word = strsep(&text, ","))) {
		struct convert_time part;
		double from, to;

		if (!parse_part(word, &from, &to) || from < 0 || to > 1)
			return error_create(ERROR_INVALID_ARGUMENT,
					    "'%s' is not a part of a recording such as 10%%/2 or 0%%-10%%",
					    word);
		part = part_of(first, last, from, to);
		error = add(ret, &part);
	}
	return error;
}

struct error *time_ranges_parse(const char *text, uint64_t first, uint64_t last,
				struct time_ranges *ret)
{
	struct error *error;
	char *copy;

	if (!time_ranges_need_bounds(text))
		return parse_spans(text, ret);
	if (last < first)
		last = first;
	copy = strdup(text);
	if (!copy)
		return error_no_memory();
	error = parse_parts(copy, first, last, ret);
	free(copy);
	return error;
}
