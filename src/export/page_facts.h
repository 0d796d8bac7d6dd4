/* SPDX-License-Identifier: GPL-2.0-only */
/* What a page says of the recording as a whole: facts, and what is wrong with it. */
#ifndef KAA_EXPORT_PAGE_FACTS_H
#define KAA_EXPORT_PAGE_FACTS_H

#include "export/format.h"
#include "export/page_columns.h"

/* Adds fact.*, note.* and page.*; appends to *title, unclean. */
struct error *page_facts_add(const struct profile *profile,
			     const struct export_options *options,
			     struct page_columns *columns, struct strbuf *title);

#endif
