/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `kaa report`: the text report, in the layout of `perf report --stdio`.
 *
 * One section an event, entries by weight, each with its call chains. The
 * layout was taken from the output of perf 7.2; what the numbers mean stands in
 * profile/calltree.h and profile/chains.h.
 *
 * A Python function is an entry like any other: Shared Object is the name of
 * the profile's Python DSO, Symbol is `[.] py::<qualname>:<filename>`. All lines of a
 * function are one entry and one step of a chain; lines show with the call
 * graph key srcline (`py::f:/x.py x.py:12`) or the sort key srcline.
 *
 * What perf gets wrong is right here, unless options.quirks has it: kernel
 * callers are [k], an unresolved address is one entry however a sample came to
 * it, and filters look at the entry and not at the leaf that led to it.
 *
 * The report ends with comment lines on what is missing from it (lost samples,
 * truncated stacks, unresolved addresses ...), only as far as there is any.
 *
 * Control characters in names are shown as '?'.
 */
#ifndef KAA_VIEW_REPORT_H
#define KAA_VIEW_REPORT_H

#include <stdio.h>

#include "base/error.h"
#include "profile/calltree.h"
#include "profile/location.h"
#include "profile/profile.h"
#include "view/entry_order.h"
#include "view/report_options.h"

/*
 * Writes the report to out. ERROR_OS if out takes no more. The profile may be
 * aggregated, but not if the time is a sort key; it has the label for the CPU if
 * that is one.
 */
struct error *report_write(const struct profile *profile,
			   const struct report_options *options, FILE *out);

/* --- For other views of the same report -------------------------------- */

/* Takes out of the options what the profile cannot show; arranges them. */
void report_settle(const struct profile *profile,
		   struct report_options *options);
/*
 * Settles what the words of --symbols and the text of --symbol-filter choose,
 * once for all keys; report_drop_choices() frees it.
 */
struct error *report_choose(const struct profile *profile,
			    struct report_options *options);
void report_drop_choices(struct report_options *options);
/* How the texts of the options find functions. */
enum symbol_rule report_symbol_rule(const struct report_options *options);
/* What makes entries and steps, in terms of the model. */
struct error *report_locate(const struct profile *profile,
			    const struct report_options *options,
			    struct locations **ret);
/*
 * For calltree_options.parents; to be freed, and untouched without
 * REPORT_PARENT.
 */
struct error *report_parents(const struct profile *profile,
			     const struct report_options *options,
			     uint32_t **ret);
/*
 * For --percentage relative: makes what is listed 100 %, but in call graphs. The
 * number of samples, and the threshold of call graphs, are those before
 * --symbol-filter, as in perf.
 */
void report_take_listed(struct calltree *tree, const entry_vec *entries);
/* enum context_key */
unsigned int report_context_keys(const struct report_options *options);
/* Not below --percent-limit. */
bool report_is_heavy_enough(const struct report_options *options,
			    const struct calltree *tree,
			    const struct calltree_entry *entry);

#endif
