/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of functions for formats in which a function is what it is called: a
 * reader takes two functions with one file and one name for one. Of two that
 * would be called the same the later gets the line of its def, or a number.
 */
#ifndef KAA_EXPORT_UNIQUE_H
#define KAA_EXPORT_UNIQUE_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "export/stacks.h"

/* By function; owned. */
struct export_names VEC_BODY(char *);

/*
 * Characters that may be shown: foreign controls and what is no UTF-8 become
 * U+FFFD. *ret is to be freed even on failure.
 */
struct error *export_names_create(const struct export_stacks *stacks,
				  struct export_names *ret);
void export_names_deinit(struct export_names *names);

/* Appends a foreign text in the same way. */
void export_put_printable(struct strbuf *out, const char *text);

#endif
