/* SPDX-License-Identifier: GPL-2.0-only */
/* "1 sample", "2 samples": printf("%u sample%s", n, plural(n)). */
#ifndef KAA_BASE_PLURAL_H
#define KAA_BASE_PLURAL_H

#include <stdint.h>

static inline const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

#endif
