// SPDX-License-Identifier: GPL-2.0-only
#include "agent/code_table.h"

#include <stdlib.h>

/* 64 KiB; up to 2 MiB memory is less dear than time; places have 32 bits. */
enum { FIRST_LOG2 = 10, SPARSE_LOG2 = 15, LAST_LOG2 = 26 };

static const struct code_entry nothing;

void codes_hide(struct codes *codes)
{
	codes->shown = false;
	codes->view.last = 0;
	codes->view.entries = &nothing;
}

static struct codes_view view_of(const struct code_entry *entries, uint32_t log2)
{
	return (struct codes_view){
		.entries = entries,
		.last = (((uint64_t)1 << log2) - 1) * sizeof(*entries),
	};
}

void codes_show(struct codes *codes)
{
	codes->shown = true;
	if (!codes->entries)
		return;
	codes->view = view_of(codes->entries, codes->log2);
}

void codes_init(struct codes *codes)
{
	*codes = (struct codes){};
	codes_hide(codes);
}

void codes_deinit(struct codes *codes)
{
	struct code_entry *entries = codes->entries;

	codes_init(codes);
	free(entries);
}

static size_t capacity(const struct codes *codes)
{
	return codes->entries ? (size_t)1 << codes->log2 : 0;
}

/* Where the address is or would be. There is always a free entry. */
static struct code_entry *place(struct code_entry *entries, uint32_t log2,
				uintptr_t code)
{
	const struct codes_view view = view_of(entries, log2);
	uint64_t at = codes_place(&view, code);

	while (codes_at(&view, at)->code &&
	       (codes_at(&view, at)->code & ~(uintptr_t)1) != code)
		at = codes_next_place(&view, at);
	return &entries[at / sizeof(*entries)];
}

static bool grow(struct codes *codes)
{
	uint32_t log2 = codes->entries ? codes->log2 + 1 : FIRST_LOG2;
	struct code_entry *old = codes->entries, *entries;
	size_t count = capacity(codes);
	void *memory;

	if (log2 > LAST_LOG2 || posix_memalign(&memory, sizeof(*entries),
					sizeof(*entries) << log2))
		return false;
	entries = memory;
	for (size_t i = 0; i < (size_t)1 << log2; i++)
		entries[i] = (struct code_entry){};
	for (size_t i = 0; i < count; i++)
		if (old[i].code)
			*place(entries, log2, old[i].code & ~(uintptr_t)1) =
				old[i];
	codes->entries = entries;
	codes->log2 = log2;
	if (codes->shown)
		codes_show(codes);
	free(old);
	return true;
}

struct code_entry *codes_find(struct codes *codes, uintptr_t code)
{
	struct code_entry *entry;

	if (!codes->entries)
		return NULL;
	entry = place(codes->entries, codes->log2, code);
	return entry->code ? entry : NULL;
}

/*
 * Up to a quarter in use, then up to a half: of nine entries one is not where it is
 * looked for first, later of four.
 */
static bool is_full(const struct codes *codes)
{
	size_t share = codes->log2 > SPARSE_LOG2 ? 2 : 4;

	return codes->count * share >= capacity(codes);
}

struct code_entry *codes_insert(struct codes *codes, uintptr_t code)
{
	struct code_entry *entry = codes_find(codes, code);

	if (entry)
		return entry;
	if (is_full(codes) && !grow(codes))
		return NULL;
	entry = place(codes->entries, codes->log2, code);
	entry->code = code;
	codes->count++;
	return entry;
}

void codes_forget_announced(struct codes *codes)
{
	for (size_t i = 0; i < capacity(codes); i++)
		if (codes->entries[i].code)
			codes->entries[i].code |= 1;
}

struct code_entry *codes_next(struct codes *codes, struct code_entry *entry)
{
	struct code_entry *end = codes->entries + capacity(codes);

	entry = entry ? entry + 1 : codes->entries;
	while (entry < end && !entry->code)
		entry++;
	return entry < end ? entry : NULL;
}
