/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of functions for formats in which a function is what it is called: a
 * reader takes two functions with one file and one name for one. Of two that
 * would be called the same the later gets the line of its def, or a number.
 */
#ifndef KAA_EXPORT_UNIQUE_H
#define KAA_EXPORT_UNIQUE_H

#include "base/strbuf.h"
#include "export/stacks.h"
#include "profile/texts.h"

/* Zero-initialise, but for the text: STRBUF_INIT. */
struct export_unique {
	struct texts keys;
	struct strbuf text;
};

/*
 * To out, as characters that may be shown: foreign controls and what is no UTF-8
 * become U+FFFD. False when memory runs out.
 */
bool export_unique_name(struct export_unique *unique,
			const struct export_stacks *stacks,
			const struct export_function *function,
			struct strbuf *out);
void export_unique_deinit(struct export_unique *unique);

/* Appends a foreign text in the same way. */
void export_put_printable(struct strbuf *out, const char *text);

#endif
