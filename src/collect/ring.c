// SPDX-License-Identifier: GPL-2.0-only
#include "collect/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The largest record, rounded up. */
enum { RECORD_ROOM = 65536 };

struct error *ring_map(struct ring *ring, int fd, size_t size, size_t min_size)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t *scratch = malloc(RECORD_ROOM);
	void *page;

	if (!scratch)
		return error_no_memory();
	do {
		page = mmap(NULL, page_size + size, PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);
	} while (page == MAP_FAILED && (errno == EPERM || errno == ENOMEM) &&
		 size > min_size && (size /= 2));
	if (page == MAP_FAILED) {
		int errnum = errno;

		free(scratch);
		return error_os(errnum, NULL,
				"cannot map an event buffer of %zu KiB; raise kernel.perf_event_mlock_kb or ulimit -l",
				size / 1024);
	}
	*ring = (struct ring){
		.page = page,
		.data = (const uint8_t *)page + page_size,
		.size = size,
		.scratch = scratch,
	};
	return NULL;
}

struct error *ring_create(struct ring *ring, size_t size)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t *scratch = malloc(RECORD_ROOM);
	void *page;

	if (!scratch)
		return error_no_memory();
	page = mmap(NULL, page_size + size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED) {
		free(scratch);
		return error_no_memory();
	}
	*ring = (struct ring){
		.page = page,
		.data = (const uint8_t *)page + page_size,
		.size = size,
		.scratch = scratch,
	};
	return NULL;
}

bool ring_write(struct ring *ring, const void *records, size_t size)
{
	uint8_t *data = (uint8_t *)ring->page + (ring->data -
						 (const uint8_t *)ring->page);
	uint64_t head = ring->page->data_head;
	uint64_t tail = __atomic_load_n(&ring->page->data_tail,
					__ATOMIC_ACQUIRE);
	uint64_t at = head & (ring->size - 1), until_wrap = ring->size - at;

	if (size > ring->size - (head - tail))
		return false;
	if (size <= until_wrap) {
		memcpy(data + at, records, size);
	} else {
		memcpy(data + at, records, until_wrap);
		memcpy(data, (const uint8_t *)records + until_wrap,
		       size - until_wrap);
	}
	__atomic_store_n(&ring->page->data_head, head + size,
			 __ATOMIC_RELEASE);
	return true;
}

void ring_unmap(struct ring *ring)
{
	if (ring->page)
		munmap(ring->page,
		       (size_t)(ring->data - (const uint8_t *)ring->page) +
			       ring->size);
	free(ring->scratch);
	*ring = (struct ring){};
}

uint64_t ring_head(const struct ring *ring)
{
	if (!ring->page)
		return ring->tail;
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

const struct perf_event_header *ring_record(struct ring *ring,
					    uint64_t position, uint64_t end)
{
	uint64_t at = position & (ring->size - 1);
	const struct perf_event_header *header;
	uint64_t until_wrap = ring->size - at;
	size_t size;

	if (end - position < sizeof(*header))
		return NULL;
	/* Records are 8-byte aligned, so that a header never wraps. */
	header = (const void *)(ring->data + at);
	size = header->size;
	if (size < sizeof(*header) || size > end - position)
		return NULL;
	if (size <= until_wrap)
		return header;
	memcpy(ring->scratch, header, until_wrap);
	memcpy((uint8_t *)ring->scratch + until_wrap, ring->data,
	       size - until_wrap);
	return (const void *)ring->scratch;
}

void ring_advance(struct ring *ring, uint64_t position)
{
	ring->tail = position;
	__atomic_store_n(&ring->page->data_tail, position, __ATOMIC_RELEASE);
}
