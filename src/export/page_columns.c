// SPDX-License-Identifier: GPL-2.0-only
#include "export/page_columns.h"

#include <string.h>

#include "view/printable.h"

#define MAGIC	 "kaapage1"
#define ELLIPSIS "\xe2\x80\xa6"

enum { ROW_BYTES = PAGE_NAME_BYTES + 24, HEAD_BYTES = 16, ALIGN = 8 };

void page_columns_deinit(struct page_columns *columns)
{
	vec_deinit(&columns->all);
	strbuf_deinit(&columns->bytes);
	strbuf_deinit(&columns->clean);
	texts_deinit(&columns->texts);
}

static void pad(struct strbuf *out)
{
	strbuf_fill(out, 0, (ALIGN - out->len % ALIGN) % ALIGN);
}

struct error *page_column_add(struct page_columns *c, const char *name,
			      const void *data, size_t element, size_t count)
{
	const struct page_column column = { .name = name,
					    .element = (uint32_t)element,
					    .count = count,
					    .begin = c->bytes.len };

	strbuf_append(&c->bytes, data, element * count);
	pad(&c->bytes);
	return vec_push(&c->all, column) ? strbuf_error(&c->bytes) :
					   error_no_memory();
}

struct error *page_column_add_numbers(struct page_columns *c, const char *name,
				      const struct page_numbers *numbers)
{
	return page_column_add(c, name, numbers->data ? numbers->data : (void *)"",
			       sizeof(*numbers->data), numbers->count);
}

struct error *page_column_add_member(struct page_columns *c, const char *name,
				     const void *structs, size_t size,
				     size_t offset, size_t count)
{
	struct page_numbers numbers = {};
	struct error *error = NULL;

	if (!vec_reserve(&numbers, count))
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		memcpy(&numbers.data[i],
		       (const char *)structs + i * size + offset,
		       sizeof(*numbers.data));
	numbers.count = count;
	error = page_column_add_numbers(c, name, &numbers);
	vec_deinit(&numbers);
	return error;
}

void page_text_clean(struct strbuf *out, const char *text, size_t n)
{
	const char *s;
	size_t size;

	for (size_t count = 0; n; count++) {
		size_t taken = printable_character(text, n, &s, &size);

		if (count == PAGE_TEXT_MAX) {
			strbuf_puts(out, ELLIPSIS);
			return;
		}
		strbuf_append(out, *text == '\t' ? "\t" : s,
			      *text == '\t' ? 1 : size);
		text += taken;
		n -= taken;
	}
}

struct error *page_text(struct page_columns *c, const char *text, uint32_t *ret)
{
	struct error *error;

	strbuf_clear(&c->clean);
	page_text_clean(&c->clean, text, strlen(text));
	error = strbuf_error(&c->clean);
	return error ? error : texts_intern(&c->texts, c->clean.data, ret);
}

static struct error *add_texts(struct page_columns *c)
{
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	struct page_numbers ends = {};
	struct error *error = NULL;

	vec_for_each(text, &c->texts.all) {
		strbuf_puts(&all, *text);
		if (!vec_push(&ends, (uint32_t)all.len))
			error = error_no_memory();
		if (error)
			break;
	}
	if (!error)
		error = strbuf_error(&all);
	if (!error)
		error = page_column_add_numbers(c, "text.end", &ends);
	if (!error)
		error = page_column_add(c, "text.bytes", all.data, 1, all.len);
	vec_deinit(&ends);
	return error;
}

static void put_head(const struct page_columns *c, struct strbuf *out)
{
	const uint32_t head[] = { (uint32_t)c->all.count, 0 };
	uint64_t data = HEAD_BYTES + c->all.count * ROW_BYTES;

	strbuf_append(out, MAGIC, strlen(MAGIC));
	strbuf_append(out, head, sizeof(head));
	vec_for_each(column, &c->all) {
		const uint32_t element[] = { column->element, 0 };
		const uint64_t place[] = { column->count, data + column->begin };

		strbuf_puts(out, column->name);
		strbuf_fill(out, 0, PAGE_NAME_BYTES - strlen(column->name));
		strbuf_append(out, element, sizeof(element));
		strbuf_append(out, place, sizeof(place));
	}
}

struct error *page_columns_write(struct page_columns *c, struct strbuf *out)
{
	struct error *error = add_texts(c);

	if (error)
		return error;
	put_head(c, out);
	strbuf_append(out, c->bytes.data, c->bytes.len);
	return strbuf_error(out);
}
