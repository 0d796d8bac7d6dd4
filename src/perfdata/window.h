/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A part of a file, mapped for reading: bytes that nobody asks for are never
 * copied, nor read if the file is not in memory.
 *
 * Touching what a file has lost since (it became shorter, its disk fails) ends
 * a process by SIGBUS. While there are windows, a handler sees to it that the
 * rest of the window reads as zeros then, and `lost` says so. A SIGBUS that is
 * about no window takes its course. Windows are opened and closed by one thread.
 */
#ifndef KAA_PERFDATA_WINDOW_H
#define KAA_PERFDATA_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window {
	/* NULL: not open. */
	const uint8_t *data;
	size_t size;
	/* Not all of it is the file's. */
	volatile bool lost;
	struct window *next;
	struct window **link;
};

/*
 * Maps `size` bytes from offset, a multiple of the page size, on. The window
 * must stay where it is until it is closed. False if the file cannot be mapped.
 */
bool window_open(struct window *window, int fd, uint64_t offset, size_t size);
/* Legal on one that is not open. */
void window_close(struct window *window);
size_t window_page_size(void);

#endif
