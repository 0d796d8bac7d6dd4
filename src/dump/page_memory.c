// SPDX-License-Identifier: GPL-2.0-only
#include "dump/page_memory.h"

#include <string.h>

/* NULL: it cannot be read as a whole, or there is no room. Valid until the next call. */
static const uint8_t *read_page(struct page_memory *pages, uint64_t number)
{
	struct strbuf *bytes = &pages->bytes;
	size_t start = bytes->len;

	if (pages->pages.count == PAGE_MEMORY_PAGES_MAX)
		return NULL;
	strbuf_fill(bytes, 0, PAGE_MEMORY_PAGE);
	if (!bytes->failed &&
	    pages->memory->read(pages->memory->arg, number * PAGE_MEMORY_PAGE,
				bytes->data + start, PAGE_MEMORY_PAGE) &&
	    map_insert(&pages->pages, number, start, NULL))
		return (const uint8_t *)bytes->data + start;
	if (!bytes->failed)
		strbuf_truncate(bytes, start);
	return NULL;
}

static const uint8_t *find_page(struct page_memory *pages, uint64_t number)
{
	const uint64_t *start = map_find(&pages->pages, number);

	return start ? (const uint8_t *)pages->bytes.data + *start :
		       read_page(pages, number);
}

bool page_memory_read(void *arg, uint64_t address, void *buf, size_t size)
{
	struct page_memory *pages = arg;
	uint8_t *to = buf;

	while (size) {
		uint64_t within = address % PAGE_MEMORY_PAGE;
		size_t n = PAGE_MEMORY_PAGE - within;
		const uint8_t *page =
			find_page(pages, address / PAGE_MEMORY_PAGE);

		if (!page)
			return pages->memory->read(pages->memory->arg, address,
						   to, size);
		if (n > size)
			n = size;
		memcpy(to, page + within, n);
		to += n;
		address += n;
		size -= n;
	}
	return true;
}

void page_memory_clear(struct page_memory *pages)
{
	map_clear(&pages->pages);
	strbuf_clear(&pages->bytes);
}

void page_memory_deinit(struct page_memory *pages)
{
	map_deinit(&pages->pages);
	strbuf_deinit(&pages->bytes);
}
