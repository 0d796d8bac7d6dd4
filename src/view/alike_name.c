// SPDX-License-Identifier: GPL-2.0-only
#include "view/alike_name.h"

#include <stddef.h>
#include <string.h>

#include "base/map.h"
#include "view/text.h"

enum { NUMBERS_MAX = 64 };

static const char digits[] = "0123456789";

static uint64_t bit_of(unsigned int number)
{
	return UINT64_C(1) << (number < NUMBERS_MAX ? number : NUMBERS_MAX - 1);
}

uint64_t alike_name_hash(const char *name)
{
	uint64_t hash = 0;

	while (*name) {
		size_t n = strspn(name, digits);

		hash = hash_combine(hash, n ? 0 : (unsigned char)*name);
		name += n ? n : 1;
	}
	return hash;
}

uint64_t alike_name_differing(const char *a, const char *b)
{
	unsigned int number = 0;
	uint64_t differing = 0;

	while (*a && *b) {
		size_t m = strspn(a, digits), n = strspn(b, digits);

		if (m && n) {
			if (m != n || memcmp(a, b, n) != 0)
				differing |= bit_of(number);
			number++;
		}
		a += m ? m : 1;
		b += n ? n : 1;
	}
	return differing;
}

void alike_name_put(const char *name, uint64_t differing, struct strbuf *out)
{
	for (unsigned int number = 0; *name; number++) {
		size_t before = strcspn(name, digits);
		size_t n = strspn(name + before, digits);

		text_append(out, name, before);
		name += before;
		if (n && differing & bit_of(number))
			strbuf_putc(out, 'N');
		else
			text_append(out, name, n);
		name += n;
	}
}
