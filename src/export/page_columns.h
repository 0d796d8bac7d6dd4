/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of page_data.h, and the texts that they name by number. */
#ifndef KAA_EXPORT_PAGE_COLUMNS_H
#define KAA_EXPORT_PAGE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "profile/texts.h"

enum {
	PAGE_NAME_BYTES = 24,
	/* Characters of a name, and of a line of source, that are kept. */
	PAGE_TEXT_MAX = 2000,
};

struct page_numbers VEC_BODY(uint32_t);

struct page_column {
	const char *name;
	uint32_t element;
	uint64_t count;
	/* Of the bytes in page_columns.bytes. */
	uint64_t begin;
};

/* Zero-initialise, but for the buffers: PAGE_COLUMNS_INIT. */
struct page_columns {
	VEC(struct page_column) all;
	struct strbuf bytes;
	struct texts texts;
	struct strbuf clean;
};

#define PAGE_COLUMNS_INIT { .bytes = STRBUF_INIT, .clean = STRBUF_INIT }

void page_columns_deinit(struct page_columns *columns);

/* Adds a column; the name is a literal. */
struct error *page_column_add(struct page_columns *columns, const char *name,
			      const void *data, size_t element, size_t count);
struct error *page_column_add_numbers(struct page_columns *columns,
				      const char *name,
				      const struct page_numbers *numbers);
/* The same of a member of `count` structs, a uint32_t `offset` bytes into each. */
struct error *page_column_add_member(struct page_columns *columns,
				     const char *name, const void *structs,
				     size_t size, size_t offset, size_t count);

/* The number of a text; foreign bytes. */
struct error *page_text(struct page_columns *columns, const char *text,
			uint32_t *ret);
/* Appends what may be shown of n bytes, at most PAGE_TEXT_MAX characters. */
void page_text_clean(struct strbuf *out, const char *text, size_t n);

/* Adds the columns of all texts, and writes everything to *out. */
struct error *page_columns_write(struct page_columns *columns,
				 struct strbuf *out);

#endif
