// SPDX-License-Identifier: GPL-2.0-only
#include "collect/kept_code.h"

#include <stdlib.h>
#include <string.h>

/* The part of a range that lies in its first page. */
static size_t in_page(uint64_t address, size_t size)
{
	size_t rest = KEPT_PAGE - address % KEPT_PAGE;

	return size < rest ? size : rest;
}

static size_t index_of(uint64_t page)
{
	return page / KEPT_PAGE % KEPT_PAGES;
}

static struct kept_page *find(const struct kept_code *kept, uint64_t page)
{
	struct kept_page *found = kept->pages[index_of(page)];

	return found && found->address == page ? found : NULL;
}

/* The page, read if it is new; NULL: it can not be read, or memory ran out. */
static struct kept_page *keep_page(struct kept_code *kept,
				   struct remote_memory *memory, uint64_t page)
{
	struct kept_page **place = &kept->pages[index_of(page)];
	struct kept_page *new = find(kept, page);

	if (new)
		return new;
	new = malloc(sizeof(*new));
	if (!new)
		return NULL;
	new->address = page;
	if (!remote_memory_read_all(memory, page, new->bytes, KEPT_PAGE)) {
		free(new);
		return NULL;
	}
	free(*place);
	*place = new;
	return new;
}

bool kept_code_read(struct kept_code *kept, struct remote_memory *memory,
		    uint64_t address, void *buf, size_t size)
{
	const uint8_t *bytes = buf;

	if (!remote_memory_read_all(memory, address, buf, size))
		return false;
	for (size_t done = 0, part; done < size; done += part) {
		uint64_t at = address + done;
		struct kept_page *page =
			keep_page(kept, memory, at - at % KEPT_PAGE);

		part = in_page(at, size - done);
		/* What was made anew since. */
		if (page)
			memcpy(page->bytes + at % KEPT_PAGE, bytes + done,
			       part);
	}
	return true;
}

bool kept_code_remember(const struct kept_code *kept, uint64_t address,
			void *buf, size_t size)
{
	uint8_t *bytes = buf;

	for (size_t done = 0, part; done < size; done += part) {
		uint64_t at = address + done;
		const struct kept_page *page = find(kept, at - at % KEPT_PAGE);

		if (!page)
			return false;
		part = in_page(at, size - done);
		memcpy(bytes + done, page->bytes + at % KEPT_PAGE, part);
	}
	return true;
}

void kept_code_deinit(struct kept_code *kept)
{
	for (size_t i = 0; i < KEPT_PAGES; i++)
		free(kept->pages[i]);
}
