/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a code object to what runs it: an open hash by the object's address.
 *
 * Memory of a freed code object is used again, so an entry holds what the code
 * object was too, with a reference to each object: while the entry keeps them
 * alive no other object has their addresses, so equal pointers are equal contents.
 * From 3.11 on that is qualified name, filename and first line, all that a
 * symbol is made of; before, name, filename, instructions and first line, and the
 * qualified name found for them.
 *
 * A table belongs to one interpreter from 3.12 on, before to the process. It is
 * read and changed under that GIL alone, so it needs no lock. What the eval hook
 * reads is `view`, which is an empty table while the agent is off, and from a
 * fork until the child's first call: then the hook asks agent.c.
 */
#ifndef KAA_AGENT_CODE_TABLE_H
#define KAA_AGENT_CODE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A cache line. */
struct code_entry {
	/* 0: free. Bit 0 set: not known to profilers, no code object's address. */
	uintptr_t code;
	/* References; co_qualname from 3.11 on, before co_name. */
	void *name;
	void *filename;
	/* co_code up to 3.10, else NULL. */
	void *bytes;
	/*
	 * Called as a trampoline is: a slot, or agent_call_plainly() if there is
	 * none to be had.
	 */
	void *call;
	/* A reference; what the symbol says. */
	void *qualname;
	int first_line;
	/* Whose slot it is. */
	uint8_t backend;
} __attribute__((aligned(64)));

struct codes_view {
	const struct code_entry *entries;
	/* The place of the last entry, in bytes from the first. */
	uint64_t last;
};

struct codes {
	struct codes_view view;
	/* The table itself, whether seen or not; NULL at the start. */
	struct code_entry *entries;
	uint32_t log2;
	bool shown;
	size_t count;
};

/*
 * Where an address is looked for first, as are all places in bytes from the first
 * entry: multiplicative hashing, by bits from the middle of the product, so that the
 * shift is a constant.
 */
static inline uint64_t codes_place(const struct codes_view *view, uintptr_t code)
{
	return code * 0x9e3779b97f4a7c15u >> 32 & view->last;
}

static inline uint64_t codes_next_place(const struct codes_view *view,
					uint64_t place)
{
	return (place + sizeof(struct code_entry)) & view->last;
}

static inline const struct code_entry *
codes_at(const struct codes_view *view, uint64_t place)
{
	return (const struct code_entry *)((const char *)view->entries + place);
}

/* The entry with this address, or NULL. */
static inline const struct code_entry *
codes_find_in(const struct codes_view *view, uintptr_t code)
{
	uint64_t place = codes_place(view, code);
	const struct code_entry *entry = codes_at(view, place);

	/* As a rule it is there: a loop would cost more. */
	if (__builtin_expect(entry->code == code, 1))
		return entry;
	while (entry->code) {
		place = codes_next_place(view, place);
		entry = codes_at(view, place);
		if (entry->code == code)
			return entry;
	}
	return NULL;
}

void codes_init(struct codes *codes);
/* Forgets the table; the references are the caller's matter. */
void codes_deinit(struct codes *codes);

/* Whether the hook sees the entries. Hiding only writes some words. */
void codes_show(struct codes *codes);
void codes_hide(struct codes *codes);

/* The entry of a code object's address, known to profilers or not, or NULL. */
struct code_entry *codes_find(struct codes *codes, uintptr_t code);
/*
 * The entry of an address, a new one (all zeros but for `code`) if there is
 * none. NULL if memory runs out. Entries may move.
 */
struct code_entry *codes_insert(struct codes *codes, uintptr_t code);

/* No entry is known to profilers any more. */
void codes_forget_announced(struct codes *codes);

/* for (entry = codes_next(codes, NULL); entry; entry = codes_next(codes, entry)) */
struct code_entry *codes_next(struct codes *codes, struct code_entry *entry);

static inline bool code_entry_announced(const struct code_entry *entry)
{
	return !(entry->code & 1);
}

#endif
