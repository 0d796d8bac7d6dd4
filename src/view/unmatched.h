/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What filters asked for that the recording does not have, and what it has
 * instead: a line for each word of --comms, --pid, --tid, --dsos, --symbols and
 * the like that found nothing. All append to *out, names sanitized.
 */
#ifndef KAA_VIEW_UNMATCHED_H
#define KAA_VIEW_UNMATCHED_H

#include <stdint.h>

#include "base/lists.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "view/symbol_near.h"

/* Something that a recording has, by name or by number. */
struct unmatched_thing {
	int64_t id;
	/* Of a number what it is called; may be NULL. Borrowed. */
	const char *name;
	uint64_t weight;
};

typedef VEC(struct unmatched_thing) unmatched_thing_vec;

/*
 * Words that are not among the names of things, which are put in another order.
 * none is how a line begins: "no file is called".
 */
void unmatched_names(const char *none, const struct name_list *words,
		     unmatched_thing_vec *things, struct strbuf *out);
/* Numbers that are not among those of things, likewise. */
void unmatched_ids(const char *none, const struct id_list *ids,
		   unmatched_thing_vec *things, struct strbuf *out);
/* If the word was at no such place; none as symbol_near_format() has it. */
void unmatched_symbol(const struct symbol_near *near, enum symbol_place wanted,
		      const char *none, struct strbuf *out);

#endif
