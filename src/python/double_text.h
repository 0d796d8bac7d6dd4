/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Floating-point numbers as Python's repr() has them: the fewest digits that tell a
 * number from all others of its width.
 */
#ifndef KAA_PYTHON_DOUBLE_TEXT_H
#define KAA_PYTHON_DOUBLE_TEXT_H

#include "base/strbuf.h"

/* As float.__repr__. */
void py_double_put(struct strbuf *out, double value);
/* One of 32 bits, as numpy writes it within an array: 0.1, not 0.10000000149011612. */
void py_single_put(struct strbuf *out, float value);

#endif
