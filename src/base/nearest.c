// SPDX-License-Identifier: GPL-2.0-only
#include "base/nearest.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

static int min3(int a, int b, int c)
{
	int m = a < b ? a : b;

	return m < c ? m : c;
}

/* 0 equal, 1 equal but for case, 2 different. */
static int replace_cost(char a, char b)
{
	if (a == b)
		return 0;
	return tolower((unsigned char)a) == tolower((unsigned char)b) ? 1 : 2;
}

int edit_distance(const char *a, const char *b)
{
	size_t m = strlen(a);
	size_t n = strlen(b);
	/* The row before the last, the last row, and the one being made. */
	int rows[3][NEAREST_MAX_LENGTH + 1];
	int *before = rows[0], *last = rows[1], *row = rows[2];

	if (m > NEAREST_MAX_LENGTH || n > NEAREST_MAX_LENGTH)
		return INT_MAX;
	for (size_t j = 0; j <= n; j++)
		last[j] = 2 * (int)j;
	for (size_t i = 1; i <= m; i++) {
		int *freed = before;

		row[0] = 2 * (int)i;
		for (size_t j = 1; j <= n; j++) {
			row[j] = min3(last[j] + 2, row[j - 1] + 2,
				      last[j - 1] +
					      replace_cost(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && before[j - 2] + 2 < row[j])
				row[j] = before[j - 2] + 2;
		}
		before = last;
		last = row;
		row = freed;
	}
	return last[n];
}

/* How far a name may be off: a third of the word, at least one edit. */
static int distance_limit(const char *word)
{
	size_t edits = strlen(word) / 3;

	return 2 * (edits < 1 ? 1 : (int)edits);
}

/*
 * A word that begins the name is near, however much is missing. One that goes on
 * behind the name is, too, but less than where letters are mistaken.
 */
static int distance(const char *word, const char *name)
{
	size_t length = strlen(word), of_name = strlen(name);
	int d = edit_distance(word, name), limit = distance_limit(word);

	if (length >= 3 && strncmp(word, name, length) == 0)
		return 1;
	if (of_name >= 3 && d > limit && strncmp(word, name, of_name) == 0)
		return limit;
	return d;
}

void nearest_add(struct nearest *nearest, const char *name)
{
	nearest_add_typed(nearest, name, name);
}

void nearest_add_typed(struct nearest *nearest, const char *name,
		       const char *typed)
{
	int d = distance(nearest->word, typed);
	size_t i;

	if (d > distance_limit(nearest->word))
		return;
	for (i = 0; i < nearest->count; i++) {
		if (strcmp(nearest->names[i], name) == 0)
			return;
	}
	if (nearest->count < NEAREST_MAX)
		nearest->count++;
	else if (nearest->distances[NEAREST_MAX - 1] <= d)
		return;
	for (i = nearest->count - 1; i > 0 && nearest->distances[i - 1] > d;
	     i--) {
		nearest->names[i] = nearest->names[i - 1];
		nearest->distances[i] = nearest->distances[i - 1];
	}
	nearest->names[i] = name;
	nearest->distances[i] = d;
}

void nearest_format(const struct nearest *nearest, struct strbuf *out)
{
	for (size_t i = 0; i < nearest->count; i++) {
		if (i == 0)
			strbuf_puts(out, ": did you mean ");
		else
			strbuf_puts(out,
				    i + 1 == nearest->count ? " or " : ", ");
		strbuf_printf(out, "'%s%s'",
			      nearest->prefix ? nearest->prefix : "",
			      nearest->names[i]);
	}
	if (nearest->count > 0)
		strbuf_putc(out, '?');
}
