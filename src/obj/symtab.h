/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sorted table of named address ranges: what ELF symbol tables, perf maps
 * and kallsyms all become.
 *
 * Fill with symtab_add(), then symtab_finish() once, then look up. Symbols
 * then never move, so that `const struct symbol *` is a stable handle as long
 * as the table lives; names live as long.
 *
 * Looking up is thread-safe once finished.
 */
#ifndef KAA_OBJ_SYMTAB_H
#define KAA_OBJ_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/* More symbols than this are ERROR_LIMIT. */
#define SYMTAB_COUNT_MAX (64u << 20)

struct symbol {
	/* [start, end); never empty once finished. */
	uint64_t start;
	uint64_t end;
	/* As in the file: still mangled. Never NULL. */
	const char *name;
	/* Private: the nearest symbol before that reaches over start, or -1. */
	uint32_t outer;
	/* STT_*, STB_* of ELF. */
	uint8_t type;
	uint8_t binding : 7;
	/* The file does not say where it ends: end is where the next one starts. */
	uint8_t is_open : 1;
	/* Free for the filler: kallsyms keeps the module here. */
	uint16_t group;
};

/* Zero-initialise to start. */
struct symtab {
	struct symbol *symbols;
	size_t count;
	size_t capacity;
	struct arena names;
};

void symtab_deinit(struct symtab *tab);

/*
 * Adds [start, start + size); the name is copied (len bytes; bytes below space
 * become '?', so that a name never breaks a line). size 0 means: up to the
 * next symbol.
 */
struct error *symtab_add(struct symtab *tab, uint64_t start, uint64_t size,
			 const char *name, size_t len, uint8_t type,
			 uint8_t binding, uint16_t group);

/* Such a copy, for symtab_add_borrowed(); NULL when memory runs out. */
char *symtab_copy_name(struct arena *arena, const char *name, size_t len);
/*
 * The same with a name that is not copied: the caller keeps it as it is as long
 * as the table lives. Bytes below space are the caller's affair.
 */
struct error *symtab_add_borrowed(struct symtab *tab, uint64_t start,
				  uint64_t size, const char *name, uint8_t type,
				  uint8_t binding, uint16_t group);

enum symtab_overlap {
	/*
	 * ELF: of symbols that start at one address one stays, the same that
	 * perf shows: with a size over without, typed over STT_NOTYPE, strong
	 * over weak, global over local, fewer leading underscores, longer
	 * name. Else nested symbols stay, the inner one wins.
	 */
	SYMTAB_BEST_ALIAS,
	/*
	 * kallsyms: of symbols that start at one address the one added last
	 * stays, the same that perf shows.
	 */
	SYMTAB_LAST_ALIAS,
	/* Perf map: where ranges overlap, the one added last wins. */
	SYMTAB_LAST_WINS,
};

/*
 * Sorts and settles overlaps. A symbol of size 0 ends at the next start of its
 * group, the last one of a group at most tail bytes on.
 */
struct error *symtab_finish(struct symtab *tab, enum symtab_overlap overlap,
			    uint64_t tail);

/* The innermost symbol that covers addr, or NULL. */
const struct symbol *symtab_find(const struct symtab *tab, uint64_t addr);
/* Where symbols end before addr, which none covers, and where the next begins: narrows both. */
void symtab_narrow_gap(const struct symtab *tab, uint64_t addr, uint64_t *start,
		       uint64_t *end);
/* The first symbol of that name (linear), or NULL. */
const struct symbol *symtab_find_name(const struct symtab *tab,
				      const char *name);

#endif
