/* SPDX-License-Identifier: GPL-2.0-only */
/* The page with all views: its script and style, and the data, or where it is had from. */
#ifndef KAA_EXPORT_HTML_H
#define KAA_EXPORT_HTML_H

#include <stdio.h>

#include "base/error.h"
#include "base/strbuf.h"

/*
 * What a page may do, a Content-Security-Policy. HTML_FILE_POLICY: nothing but its
 * own script and style. HTML_SERVED_POLICY: ask its server for the data, too.
 */
extern const char html_file_policy[];
extern const char html_served_policy[];

/*
 * title: clean (export/page_data.h). data: what page_data_put() gave, or NULL: the
 * page asks for "data" beside it. ERROR_UNSUPPORTED: kaa was built without its page.
 */
struct error *html_put(const struct strbuf *title, const struct strbuf *data,
		       FILE *out);

#endif
