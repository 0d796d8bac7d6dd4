/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that was made while the program ran, kept for when it can no longer be read.
 *
 * The recorder unwinds a sample after it was taken. Code in no file is then gone if
 * the process has ended, and so are the callers of each frame in it. Trampolines of
 * `-X perf` are such code. What is looked at is kept, with the page around it: a
 * neighbour is likely to be called before the end.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_KEPT_CODE_H
#define KAA_COLLECT_KEPT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/remote_memory.h"

enum {
	KEPT_PAGE = 4096,
	/* A power of two. A page takes the place of another one. */
	KEPT_PAGES = 64,
};

struct kept_page {
	uint64_t address;
	uint8_t bytes[KEPT_PAGE];
};

/* Zero-initialise. */
struct kept_code {
	/* By the number of the page; NULL: none yet. Owned. */
	struct kept_page *pages[KEPT_PAGES];
};

void kept_code_deinit(struct kept_code *kept);
/*
 * Reads code as it is now, and keeps it. False: it can not all be read. Without
 * memory of our own nothing is kept.
 */
bool kept_code_read(struct kept_code *kept, struct remote_memory *memory,
		    uint64_t address, void *buf, size_t size);
/* The same as it was when it was last read; false: some of it never was. */
bool kept_code_remember(const struct kept_code *kept, uint64_t address,
			void *buf, size_t size);

#endif
