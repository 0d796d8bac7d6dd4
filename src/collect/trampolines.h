/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trampolines of one program in one process, by its perf map: which Python
 * function an address in anonymous executable memory is.
 *
 * The map (/tmp/perf-PID.map, see symbolize/perf_map_file.h) grows while the
 * program runs, each line before the trampoline runs for the first time. So it
 * is read on when an address is not known, at most once a round, from where the
 * reading ended before. A slot is never used twice in a process; of
 * lines for one address, which an earlier program with the same pid may have
 * left, the last one counts.
 *
 * A forked child has its parent's memory, and a map of its own with what it
 * announced itself: what that does not have is looked up in the parent's. So these stay
 * as long as any child's.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_TRAMPOLINES_H
#define KAA_COLLECT_TRAMPOLINES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "collect/code_spans.h"
#include "obj/symtab.h"

enum {
	/* Bytes of a trampoline that are kept. */
	TRAMPOLINE_CODE_MAX = 32,
	/* Larger maps are refused: a million functions. */
	TRAMPOLINE_MAP_MAX = 128 << 20,
};

struct trampolines {
	uint32_t pid;
	/* Owner of the map when the process is gone; (uid_t)-1: unknown. */
	uid_t owner;
	/* Who has them: their target, and their children. */
	unsigned int owners;
	/* The process it was forked from, NULL: none. */
	struct trampolines *parent;
	bool parent_sought;
	/* Pieces of the map, each finished, the newest last. */
	VEC(struct symtab) pieces;
	/* Start of a symbol to index in the code table; what samples hit. */
	struct map codes;
	/* The file that was read last, and how far. */
	uint64_t device;
	uint64_t inode;
	uint64_t read_to;
	/* When it was read last. */
	uint64_t round;
	/* The program is gone; what its file says now may be another's. */
	bool frozen;
	/* Why there is a map that is not used, or NULL. */
	struct error *refusal;
	/* What a trampoline looks like here, for when its memory is gone. */
	uint8_t code[TRAMPOLINE_CODE_MAX];
	size_t code_size;
};

struct error *trampolines_create(uint32_t pid, uid_t owner,
				 struct trampolines **ret);
/* The one owner's that the caller is. */
void trampolines_destroy(struct trampolines *trampolines);

/*
 * The code object whose trampoline holds the address, or *ret NULL. A map that
 * is not there or not to be trusted has no names; fails for want of memory
 * alone. round: any number that changes from round to round, not 0.
 */
struct error *trampolines_find(struct trampolines *trampolines,
			       uint64_t address, uint64_t round,
			       struct code_table *codes, struct code **ret);

/* Forked in this recording; parent NULL: from what has no trampolines. */
void trampolines_set_parent(struct trampolines *trampolines,
			    struct trampolines *parent);

/* Reads what there is, for the last time. */
struct error *trampolines_freeze(struct trampolines *trampolines);

/* Bytes of memory at a trampoline, to be used when it can no longer be read. */
void trampolines_set_code(struct trampolines *trampolines, const void *code,
			  size_t size);
/*
 * Code at known trampolines, as it was; what lies between them is zero. False if
 * there are none in that range.
 */
bool trampolines_read_code(const struct trampolines *trampolines,
			   uint64_t address, void *buf, size_t size);

#endif
