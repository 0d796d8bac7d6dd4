// SPDX-License-Identifier: GPL-2.0-only
#include "explore/line_pairs.h"

#include <string.h>

#include "base/cleanup.h"

enum {
	/* Lines that differ, and pairs of them that are looked at. */
	LINES_MAX = 60000,
	PAIRS_MAX = 16 << 20,
};

/* The part of both texts that is compared: lines from..to-1, from 0. */
struct span {
	const struct source *before;
	const struct source *after;
	size_t from;
	/* Lines at the end that are equal are not in it. */
	size_t n;
	size_t m;
};

static bool is_equal(const struct span *s, size_t i, size_t k)
{
	size_t na, nb;
	const char *a = source_line(s->before, i + 1, &na);
	const char *b = source_line(s->after, k + 1, &nb);

	return na == nb && !memcmp(a, b, na);
}

static void pair_ends(struct span *s, struct line_pairs *ret)
{
	size_t all_n = s->before->starts.count;
	size_t all_m = s->after->starts.count;
	size_t end = 0;

	while (s->from < all_n && s->from < all_m &&
	       is_equal(s, s->from, s->from)) {
		ret->data[s->from + 1] = (uint32_t)s->from + 1;
		s->from++;
	}
	while (end < all_n - s->from && end < all_m - s->from &&
	       is_equal(s, all_n - end - 1, all_m - end - 1)) {
		ret->data[all_n - end] = (uint32_t)(all_m - end);
		end++;
	}
	s->n = all_n - s->from - end;
	s->m = all_m - s->from - end;
}

/*
 * longest[i][k]: how many lines can be paired from the i-th and the k-th line of
 * the span on.
 */
static struct error *pair_middle(const struct span *s, struct line_pairs *ret)
{
	size_t width = s->m + 1, i = 0, k = 0;
	_cleanup_free_ uint16_t *longest = NULL;

	if (s->n > LINES_MAX || s->m > LINES_MAX ||
	    (s->n + 1) * width > PAIRS_MAX)
		return NULL;
	longest = calloc((s->n + 1) * width, sizeof(*longest));
	if (!longest)
		return error_no_memory();
	for (i = s->n; i-- > 0;) {
		for (k = s->m; k-- > 0;) {
			uint16_t *at = &longest[i * width + k];

			if (is_equal(s, s->from + i, s->from + k))
				*at = (uint16_t)(at[width + 1] + 1);
			else
				*at = at[width] > at[1] ? at[width] : at[1];
		}
	}
	for (i = k = 0; i < s->n && k < s->m;) {
		const uint16_t *at = &longest[i * width + k];

		if (is_equal(s, s->from + i, s->from + k))
			ret->data[s->from + ++i] =
				(uint32_t)(s->from + ++k);
		else if (at[width] >= at[1])
			i++;
		else
			k++;
	}
	return NULL;
}

struct error *line_pairs_find(const struct source *before,
			      const struct source *after,
			      struct line_pairs *ret)
{
	struct span span = { .before = before, .after = after };

	const uint32_t *last = vec_slot(ret, before->starts.count);

	if (!last)
		return error_no_memory();
	pair_ends(&span, ret);
	return pair_middle(&span, ret);
}
