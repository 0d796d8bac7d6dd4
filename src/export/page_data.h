/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile as the page with all views reads it: named columns of numbers, one
 * behind the other (docs/page.md has the columns).
 *
 *	"kaapage1"
 *	u32 number of columns, u32 0
 *	of each: name, NUL-padded to 24 bytes; u32 bytes of an element, u32 0;
 *		 u64 elements; u64 where they begin
 *	the elements, little-endian, each column at a multiple of 8
 *
 * All texts are clean: valid UTF-8, without controls and marks that turn the
 * direction of writing, and of a bounded length.
 */
#ifndef KAA_EXPORT_PAGE_DATA_H
#define KAA_EXPORT_PAGE_DATA_H

#include "base/error.h"
#include "base/strbuf.h"
#include "export/format.h"

/* Appends to *out. title: what the page is called, a clean text. */
struct error *page_data_put(const struct profile *profile,
			    const struct export_options *options,
			    struct strbuf *out, struct strbuf *title);

#endif
