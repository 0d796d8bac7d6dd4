/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An ELF image of code that a process made: its rows and its symbols.
 *
 * The image is foreign and may be of another kind than it says: what does not
 * fit is left out. In one that has no segments (ET_REL) the compiler has put the
 * address of each section into its header; symbols are relative to these, and
 * .eh_frame is right only where it lies in the process.
 *
 * Not thread-safe: lookups of rows build them.
 */
#ifndef KAA_COLLECT_MADE_OBJECT_H
#define KAA_COLLECT_MADE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "sys/remote_memory.h"
#include "unwind/cfi.h"

/* Addresses in the process, end exclusive. */
struct made_range {
	uint64_t start;
	uint64_t end;
};

struct made_symbol {
	struct made_range range;
	const char *name;
};

struct made_object {
	VEC(struct made_range) code;
	/* Functions. */
	VEC(struct made_symbol) symbols;
	/* NULL: it has no rows. Its vaddrs are addresses in the process. */
	struct cfi_table *cfi;
	/* When it was last seen registered, and what names it: struct made_code. */
	uint64_t round;
	uint64_t identity;
	/* Its .eh_frame does not lead into its code: not relocated yet. */
	bool is_early;
	/* How often it was made before. */
	uint32_t retries;
	/* That it takes, roughly, and its image. */
	uint64_t bytes;
	/* Private. */
	struct arena names;
	uint8_t *eh_frame;
};

/*
 * Fails for want of memory only; an image that is no ELF file of this machine
 * gives an object without code.
 */
struct error *made_object_create(struct bytes image,
				 struct remote_memory *memory,
				 struct made_object **ret);
void made_object_destroy(struct made_object *object);

bool made_object_has(const struct made_object *object, uint64_t address);
/* The function that the address lies in, or NULL. */
const struct made_symbol *made_object_symbol(const struct made_object *object,
					     uint64_t address);

#endif
