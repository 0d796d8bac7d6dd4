// SPDX-License-Identifier: GPL-2.0-only
#include "python/double_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* Decimal digits that tell any double, and any float, from all others. */
	DOUBLE_DIGITS = 17,
	SINGLE_DIGITS = 9,
	TEXT_SIZE = 40,
};

static bool is_same(const char *text, double value, bool single)
{
	return single ? strtof(text, NULL) == (float)value :
			strtod(text, NULL) == value;
}

/* The fewest digits that are this number: d.ddde+xx. */
static int shortest(double value, bool single, char text[TEXT_SIZE])
{
	int max = single ? SINGLE_DIGITS : DOUBLE_DIGITS;
	int digits = 1;

	while (snprintf(text, TEXT_SIZE, "%.*e", digits - 1, value),
	       !is_same(text, value, single) && digits < max)
		digits++;
	return digits;
}

/* With an exponent below 1e-4, and from 1e16 on. */
static void put_number(struct strbuf *out, double value, bool single)
{
	char text[TEXT_SIZE];
	int digits, exponent;

	if (isnan(value) || isinf(value)) {
		strbuf_puts(out, isnan(value) ? "nan" :
				 value < 0    ? "-inf" :
						"inf");
		return;
	}
	digits = shortest(value, single, text);
	exponent = atoi(strchr(text, 'e') + 1);
	if (exponent < -4 || exponent >= 16) {
		strbuf_puts(out, text);
		return;
	}
	strbuf_printf(out, "%.*f",
		      digits - 1 > exponent ? digits - 1 - exponent : 1, value);
}

void py_double_put(struct strbuf *out, double value)
{
	put_number(out, value, false);
}

void py_single_put(struct strbuf *out, float value)
{
	put_number(out, (double)value, true);
}
