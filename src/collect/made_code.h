/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code that a process made and registered with the GDB JIT interface, as
 * LLVM's compilers do: each a small ELF image (collect/made_object.h), in a
 * list that begins at `__jit_debug_descriptor` of the compiler's library.
 *
 * The list belongs to the process, which changes it at any time. It is read
 * anew when its head, its first entry or the beginning of that entry's image has
 * changed. Its length, the images and what is kept of
 * them are bounded. A list that changes while it is read, or that cannot be
 * read on, is read again. What is gone from it is freed once a whole list was read.
 *
 * Source: GDB manual, "JIT Compilation Interface".
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_MADE_CODE_H
#define KAA_COLLECT_MADE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "collect/made_object.h"
#include "sys/remote_memory.h"

#define MADE_CODE_DESCRIPTOR "__jit_debug_descriptor"

/* A range of an object's code, among all of them by their starts. */
struct made_place {
	uint64_t start;
	uint64_t end;
	/* The greatest end up to this one. */
	uint64_t reach;
	/* Its index in objects. */
	size_t object;
};

/* Zero-initialise. */
struct made_code {
	/* Where descriptors lie in the process. */
	VEC(uint64_t) descriptors;
	/* In the order in which they came. */
	VEC(struct made_object *) objects;
	VEC(struct made_place) places;
	/* Identity of an entry and its image, to its object's index. */
	struct map by_identity;
	/* The objects of this round, and of one that was not finished. */
	uint64_t round;
	/* Of the heads at that round; 0: to be read again. */
	uint64_t heads;
	/* A list was longer than what one look reads. */
	bool is_cut;
	/* Rows of some image were not relocated at that round. */
	bool is_early;
	/* Bytes of the images that objects are made of, and of what is kept of them. */
	uint64_t bytes;
	/* Images that the last look found, and that are too large or too many; at least. */
	uint32_t left_out;
};

void made_code_deinit(struct made_code *code);

/* One more descriptor, unless it is known. Fails for want of memory only. */
struct error *made_code_add(struct made_code *code, uint64_t descriptor);
/*
 * Looks at the lists; *changed says that there may be other code now, and that what
 * made_code_at() gave before may be no more. Fails for want of memory only.
 */
struct error *made_code_refresh(struct made_code *code,
				struct remote_memory *memory, bool *changed);
/* What is registered at an address, or NULL; of several that came last. */
const struct made_object *made_code_at(const struct made_code *code,
				       uint64_t address);

#endif
