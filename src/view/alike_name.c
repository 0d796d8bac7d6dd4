// SPDX-License-Identifier: GPL-2.0-only
#include "view/alike_name.h"

#include <string.h>

#include "base/map.h"
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

uint64_t alike_name_hash(const char *name, size_t n)
{
	uint64_t hash = 0;

	for (size_t i = 0, part; i < n; i += part ? part : 1) {
		part = digits(name + i, n - i);
		hash = hash_combine(hash, part ? 0 : (unsigned char)name[i]);
	}
	return hash;
}

uint64_t alike_name_differing(const char *a, size_t m, const char *b, size_t n)
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

void alike_name_put(const char *name, size_t n, uint64_t differing,
		    struct strbuf *out)
{
	size_t from = 0, part;
	unsigned int number = 0;

	for (size_t i = 0; i < n; i += part ? part : 1) {
		part = digits(name + i, n - i);
		if (!part || !(differing & bit_of(number++)))
			continue;
		text_append(out, name + from, i - from);
		strbuf_putc(out, 'N');
		from = i + part;
	}
	text_append(out, name + from, n - from);
}
