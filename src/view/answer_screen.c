// SPDX-License-Identifier: GPL-2.0-only
#include "view/answer_screen.h"

#include <inttypes.h>
#include <stdio.h>

void answer_put_count(struct answer *a, uint64_t n)
{
	char digits[32];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			strbuf_putc(&a->text, ',');
		strbuf_putc(&a->text, digits[i]);
	}
}

void answer_end_line(struct answer *a)
{
	strbuf_trim_end(&a->text);
	strbuf_putc(&a->text, '\n');
}

double answer_share(const struct answer *a, uint64_t period)
{
	return a->own->all.period ? 100.0 * (double)period /
					    (double)a->own->all.period :
				    0;
}
