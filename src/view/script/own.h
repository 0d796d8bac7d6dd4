/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Own time of a sample (docs/own-time.md): its innermost Python frame, and what
 * the time below it was spent in.
 */
#ifndef KAA_VIEW_SCRIPT_OWN_H
#define KAA_VIEW_SCRIPT_OWN_H

#include "base/strbuf.h"
#include "convert/convert.h"
#include "perfdata/event_meaning.h"

/* "py::Orders.dedupe:/srv/orders.py"; "-": there is no Python frame. */
void script_put_own_symbol(struct strbuf *out, const struct convert_stack *stack);
/* "/srv/orders.py:37", without a line only the file; "-" as above. */
void script_put_own_line(struct strbuf *out, const struct convert_stack *stack);
/*
 * "interpreter", "import", "native:list_contains", "kernel:read()"; without a
 * Python frame what the native ones tell. Names of functions may have blanks.
 * event: what the sample is of.
 */
void script_put_spent(struct strbuf *out, const struct convert_stack *stack,
		      const struct event_meaning *event);

#endif
