/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of a process of which each page is read once: a thread has to hold still for
 * as long as its variables are read, and these are thousands of small pieces on a few
 * hundred pages. What a page had when it was read is what it has, until
 * page_memory_clear(). Not thread-safe.
 */
#ifndef KAA_DUMP_PAGE_MEMORY_H
#define KAA_DUMP_PAGE_MEMORY_H

#include "base/map.h"
#include "base/strbuf.h"
#include "python/layout.h"

enum {
	PAGE_MEMORY_PAGE = 4096,
	/* Of more pages each piece is read by itself. */
	PAGE_MEMORY_PAGES_MAX = 4096,
};

struct page_memory {
	/* Borrowed. */
	const struct py_memory *memory;
	/* The number of a page to where it begins in the bytes. */
	struct map pages;
	struct strbuf bytes;
};

#define PAGE_MEMORY_INIT(memory_) \
	{ .memory = (memory_), .bytes = STRBUF_INIT }

/* For struct py_memory; arg: a struct page_memory. */
bool page_memory_read(void *arg, uint64_t address, void *buf, size_t size);
/* Forgets what was read. */
void page_memory_clear(struct page_memory *pages);
void page_memory_deinit(struct page_memory *pages);

#endif
