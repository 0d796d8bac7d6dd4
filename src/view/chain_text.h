/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call chains of one entry as text: perf's tree, flat and folded forms.
 */
#ifndef KAA_VIEW_CHAIN_TEXT_H
#define KAA_VIEW_CHAIN_TEXT_H

#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "profile/calltree.h"
#include "profile/chains.h"
#include "view/report_options.h"

struct chain_text {
	const struct calltree *tree;
	const struct report_options *options;
	struct strbuf *out;
	struct chains chains;
	/* Which levels of the tree go on below the line being drawn. */
	VEC(bool) live;
	/* The same as perf has it: level i is bit i modulo 32. */
	uint32_t perf_live;
	/* Columns left of the tree. */
	size_t margin;
	/* Scratch: branches with chains that end there. */
	VEC(uint32_t) ends;
};

/* tree, options and out are borrowed until chain_text_deinit(). */
struct error *chain_text_init(struct chain_text *text,
			      const struct calltree *tree,
			      const struct report_options *options,
			      struct strbuf *out);
void chain_text_deinit(struct chain_text *text);
/* Appends the chains of an entry of the tree to out, if any are to be shown. */
struct error *chain_text_entry(struct chain_text *text, uint32_t entry);

/* The name of one step, as the chains of a report have it. */
void chain_step_text(const struct calltree *tree,
		     const struct report_options *options, uint32_t location,
		     struct strbuf *out);

#endif
