// SPDX-License-Identifier: GPL-2.0-only
#include "view/alike_name.h"

#include <string.h>

#include "view/text.h"

enum { NUMBERS_MAX = 64 };

static uint64_t bit_of(unsigned int number)
{
	return UINT64_C(1) << (number < NUMBERS_MAX ? number : NUMBERS_MAX - 1);
}

/* How many digits it begins with. */
static size_t digits(const char *s, size_t n)
{
	size_t count = 0;

	while (count < n && s[count] >= '0' && s[count] <= '9')
		count++;
	return count;
}

/* The same for names that are alike. */
static uint64_t hash_of(uint64_t owner, const char *name, size_t n)
{
	uint64_t hash = owner;

	for (size_t i = 0, part; i < n; i += part ? part : 1) {
		part = digits(name + i, n - i);
		hash = hash_combine(hash, part ? 0 : (unsigned char)name[i]);
	}
	return hash;
}

static uint64_t differing_of(const char *a, size_t m, const char *b, size_t n)
{
	unsigned int number = 0;
	uint64_t differing = 0;
	size_t i = 0, j = 0;

	while (i < m && j < n) {
		size_t of_a = digits(a + i, m - i), of_b = digits(b + j, n - j);

		if (of_a && of_b) {
			if (of_a != of_b || memcmp(a + i, b + j, of_a) != 0)
				differing |= bit_of(number);
			number++;
		}
		i += of_a ? of_a : 1;
		j += of_b ? of_b : 1;
	}
	return differing;
}

struct error *alike_names_add(struct alike_names *names, uint64_t owner,
			      const char *text, size_t length)
{
	const struct alike_name first = { .text = text,
					  .length = length,
					  .row = ALIKE_NO_ROW };
	uint64_t *at = map_insert(&names->index, hash_of(owner, text, length),
				  names->list.count, NULL);
	struct alike_name *name;

	if (!at || (*at == names->list.count && !vec_push(&names->list, first)))
		return error_no_memory();
	name = &names->list.data[*at];
	name->count++;
	name->differing |= differing_of(name->text, name->length, text, length);
	return NULL;
}

struct alike_name *alike_names_find(const struct alike_names *names,
				    uint64_t owner, const char *text,
				    size_t length)
{
	const uint64_t *at =
		map_find(&names->index, hash_of(owner, text, length));

	return at ? &names->list.data[*at] : NULL;
}

void alike_names_deinit(struct alike_names *names)
{
	vec_deinit(&names->list);
	map_deinit(&names->index);
}

void alike_name_put(const char *text, size_t length, uint64_t differing,
		    struct strbuf *out)
{
	size_t from = 0, part;
	unsigned int number = 0;

	for (size_t i = 0; i < length; i += part ? part : 1) {
		part = digits(text + i, length - i);
		if (!part || !(differing & bit_of(number++)))
			continue;
		text_append(out, text + from, i - from);
		strbuf_putc(out, 'N');
		from = i + part;
	}
	text_append(out, text + from, length - from);
}
