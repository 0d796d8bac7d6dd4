/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of a thread of a Python process at one moment, as far as a walk reads
 * it, and what the program itself says of its stack.
 *
 *	struct memory_image_head
 *	pieces, each a struct memory_image_piece and its bytes
 *	the stack as lines "NAME\tFILE\tLINE", innermost first; before them a line of
 *	words: "plain" if the names are without what they are in
 *
 * All little-endian. tests/tools/make-memory-images writes them; their bytes may
 * also be those of a fuzzer.
 */
#ifndef KAA_TESTS_MEMORY_IMAGE_H
#define KAA_TESTS_MEMORY_IMAGE_H

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "python/layout.h"
#include "python/user_walk.h"

#define MEMORY_IMAGE_MAGIC 0x31306d656d61616bull /* "kaamem01" */

struct memory_image_head {
	uint64_t magic;
	/* PY_VERSION_HEX */
	uint32_t version;
	uint32_t pieces;
	uint64_t runtime;
	uint64_t code_type;
	uint64_t thread_pointer;
	uint64_t registers[USER_WALK_REGISTERS];
};

struct memory_image_piece {
	uint64_t address;
	uint64_t size;
};

enum { MEMORY_IMAGE_PIECES_MAX = 4096 };

struct memory_image {
	struct user_walk_thread thread;
	/* By address, and none overlaps another. */
	struct memory_image_bytes {
		struct memory_image_piece at;
		const uint8_t *bytes;
	} pieces[MEMORY_IMAGE_PIECES_MAX];
	size_t piece_count;
	/* One that cannot be read, by its number; none: SIZE_MAX. */
	size_t hole;
	/* Not terminated; points into the bytes that the image is of. */
	const char *stack;
	size_t stack_size;
};

/* The bytes at address in a piece, or NULL. */
static inline const uint8_t *memory_image_at(const struct memory_image *image,
					     size_t piece, uint64_t address)
{
	uint64_t start = image->pieces[piece].at.address;

	if (piece == image->hole || address < start ||
	    address - start >= image->pieces[piece].at.size)
		return NULL;
	return image->pieces[piece].bytes + (address - start);
}

/* The first piece that may have the address. */
static inline size_t memory_image_from(const struct memory_image *image,
				       uint64_t address)
{
	size_t first = 0, end = image->piece_count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;
		const struct memory_image_piece *at = &image->pieces[middle].at;

		if (at->address + at->size > address)
			end = middle;
		else
			first = middle + 1;
	}
	return first;
}

/* py_memory.read of an image. Pieces may follow each other. */
static inline bool memory_image_read(void *arg, uint64_t address, void *buf,
				     size_t size)
{
	const struct memory_image *image = arg;
	uint8_t *to = buf;

	for (size_t i = memory_image_from(image, address);
	     size && i < image->piece_count; i++) {
		const uint8_t *bytes = memory_image_at(image, i, address);
		size_t n;

		if (!bytes)
			break;
		n = image->pieces[i].bytes + image->pieces[i].at.size - bytes;
		if (n > size)
			n = size;
		memcpy(to, bytes, n);
		to += n;
		address += n;
		size -= n;
	}
	return !size;
}

static inline int memory_image_compare(const void *x, const void *y)
{
	const struct memory_image_bytes *a = x, *b = y;

	if (a->at.address != b->at.address)
		return a->at.address < b->at.address ? -1 : 1;
	return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

/* What two pieces have is the first one's. */
static inline void memory_image_sort(struct memory_image *image)
{
	uint64_t end = 0;

	qsort(image->pieces, image->piece_count, sizeof(*image->pieces),
	      memory_image_compare);
	for (size_t i = 0; i < image->piece_count; i++) {
		struct memory_image_bytes *piece = &image->pieces[i];
		uint64_t known = end > piece->at.address ?
					 end - piece->at.address :
					 0;

		if (known >= piece->at.size) {
			piece->at.address = end;
			piece->at.size = 0;
			continue;
		}
		piece->at.address += known;
		piece->at.size -= known;
		piece->bytes += known;
		end = piece->at.address + piece->at.size;
	}
}

static inline bool memory_image_pieces(struct memory_image *image,
				       struct reader *r, uint32_t count)
{
	if (count > MEMORY_IMAGE_PIECES_MAX)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct memory_image_piece *at = &image->pieces[i].at;

		if (!reader_u64(r, &at->address) || !reader_u64(r, &at->size))
			return false;
		image->pieces[i].bytes = reader_bytes(r, at->size);
		if (!image->pieces[i].bytes ||
		    at->address + at->size < at->address)
			return false;
	}
	image->piece_count = count;
	memory_image_sort(image);
	return true;
}

/* From 3.13 on the layout is what the image has at _PyRuntime. */
static inline struct error *memory_image_layout(struct memory_image *image,
						uint32_t version)
{
	struct walker_process *process = &image->thread.process;
	uint8_t bytes[PY_DEBUG_OFFSETS_MAX] = {};

	if (PY_SERIES(version) < PY_SERIES_DEBUG_OFFSETS)
		return py_layout_find(version, &process->layout);
	memory_image_read(image, process->runtime, bytes, sizeof(bytes));
	return py_layout_from_debug_offsets(
		(struct bytes){ bytes, sizeof(bytes) }, version,
		&process->layout);
}

/* ERROR_FORMAT: no image. *image points into bytes. */
static inline struct error *memory_image_open(struct bytes bytes,
					      struct memory_image *image)
{
	struct reader r = reader_init(bytes.data, bytes.size);
	const uint8_t *raw = reader_bytes(&r, sizeof(struct memory_image_head));
	struct memory_image_head head;

	if (raw)
		memcpy(&head, raw, sizeof(head));
	if (!raw || head.magic != MEMORY_IMAGE_MAGIC ||
	    !memory_image_pieces(image, &r, head.pieces))
		return error_create(ERROR_FORMAT, "no image of memory");
	image->thread = (struct user_walk_thread){
		.process = { .runtime = head.runtime,
			     .code_type = head.code_type },
		.thread_pointer = head.thread_pointer,
		.pid = 1,
		.tid = 1,
	};
	memcpy(image->thread.registers, head.registers, sizeof(head.registers));
	image->hole = SIZE_MAX;
	image->stack_size = reader_left(&r);
	image->stack = (const char *)reader_bytes(&r, image->stack_size);
	return memory_image_layout(image, head.version);
}

#endif
