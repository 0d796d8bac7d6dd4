/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring buffer that the kernel shares for an event, or one that kaa fills itself.
 *
 * The kernel appends records at `head`, user space frees them by moving the
 * tail. Positions count up for ever; the place in the buffer is the position
 * modulo its size. Source: Linux uapi perf_event.h, struct
 * perf_event_mmap_page.
 *
 * Not thread-safe; one reader a ring.
 */
#ifndef KAA_COLLECT_RING_H
#define KAA_COLLECT_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	/* Bytes of data, a power of two. */
	uint64_t size;
	/* Next position to be read. */
	uint64_t tail;
	/* Where a record that wraps around is put together. */
	uint64_t *scratch;
};

/*
 * Maps the ring of an event's descriptor. size: bytes wanted, a power of two;
 * halved as long as the kernel refuses it for the user's share of locked
 * memory, down to min_size.
 */
struct error *ring_map(struct ring *ring, int fd, size_t size,
		       size_t min_size);
void ring_unmap(struct ring *ring);

/*
 * A ring in memory of kaa's own, which ring_write() fills instead of the kernel, in
 * a thread of its own. size: a power of two, of pages.
 */
struct error *ring_create(struct ring *ring, size_t size);
/* Appends whole records; false: no room, and nothing is written. One writer. */
bool ring_write(struct ring *ring, const void *records, size_t size);

/* Position behind the last whole record; the tail of a ring that is not mapped. */
uint64_t ring_head(const struct ring *ring);

/*
 * The record at a position in [tail, end), 8-byte aligned and valid until the
 * next call or until it is freed; NULL if what is there is no record that ends
 * by `end`.
 */
const struct perf_event_header *ring_record(struct ring *ring,
					    uint64_t position, uint64_t end);

/* Frees everything before position. */
void ring_advance(struct ring *ring, uint64_t position);

#endif
