// SPDX-License-Identifier: GPL-2.0-only
#include "collect/held_memory.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, PAGES = 256 };

struct page {
	uint64_t address;
	/* Of the look that read it. */
	uint64_t look;
	uint8_t bytes[PAGE];
};

struct held_memory {
	struct remote_memory *remote;
	uint64_t look;
	struct page pages[PAGES];
};

struct held_memory *held_memory_create(void)
{
	return calloc(1, sizeof(struct held_memory));
}

void held_memory_destroy(struct held_memory *memory)
{
	free(memory);
}

void held_memory_begin(struct held_memory *memory, struct remote_memory *remote)
{
	memory->remote = remote;
	memory->look++;
}

static const struct page *find_page(struct held_memory *memory,
				    uint64_t address)
{
	struct page *page = &memory->pages[address / PAGE % PAGES];

	if (page->look == memory->look && page->address == address)
		return page;
	page->look = 0;
	if (!remote_memory_read_all(memory->remote, address, page->bytes, PAGE))
		return NULL;
	page->look = memory->look;
	page->address = address;
	return page;
}

bool held_memory_read(void *arg, uint64_t address, void *buf, size_t size)
{
	struct held_memory *memory = arg;
	uint8_t *to = buf;

	if (size > PAGE || address + size < address)
		return remote_memory_read_all(memory->remote, address, buf,
					      size);
	while (size) {
		size_t at = address % PAGE;
		size_t n = size < PAGE - at ? size : PAGE - at;
		const struct page *page = find_page(memory, address - at);

		if (!page)
			return false;
		memcpy(to, page->bytes + at, n);
		to += n;
		address += n;
		size -= n;
	}
	return true;
}
