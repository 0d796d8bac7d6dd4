// SPDX-License-Identifier: GPL-2.0-only
#include "collect/stack_memory.h"

#include <stddef.h>
#include <string.h>

enum {
	/* Pages of one generation. */
	GENERATION_LEAST = 1024,
	GENERATION_MOST = 65536,
	/* One that lasts longer, in ms, need not be larger. */
	GENERATION_MS = 1000,
};

/* --- pages --- */

static void generation_deinit(struct page_generation *generation)
{
	arena_deinit(&generation->bytes);
	map_deinit(&generation->by_key);
}

void page_store_deinit(struct page_store *store)
{
	generation_deinit(&store->now);
	generation_deinit(&store->before);
}

struct error *page_store_add(struct page_store *store, const void *record,
			     size_t size)
{
	const struct walker_bytes *raw = record;
	uint64_t *place;
	bool is_new;
	void *copy;

	if (size < sizeof(*raw))
		return NULL;
	place = map_insert(&store->now.by_key, raw->key, 0, &is_new);
	if (!place)
		return error_no_memory();
	if (!is_new)
		return NULL;
	copy = arena_alloc(&store->now.bytes, WALKER_PAGE);
	if (!copy)
		return error_no_memory();
	memcpy(copy, raw->bytes, WALKER_PAGE);
	*place = (uintptr_t)copy;
	return NULL;
}

bool page_store_is_full(const struct page_store *store)
{
	size_t limit = store->limit ? store->limit : GENERATION_LEAST;

	return store->now.by_key.count >= limit;
}

void page_store_turn(struct page_store *store, int64_t now)
{
	size_t count = store->now.by_key.count;
	bool soon = store->began && now - store->began < GENERATION_MS;

	store->limit = soon ? 2 * count : count / 2;
	if (store->limit < GENERATION_LEAST)
		store->limit = GENERATION_LEAST;
	if (store->limit > GENERATION_MOST)
		store->limit = GENERATION_MOST;
	store->began = now;
	generation_deinit(&store->before);
	store->before = store->now;
	store->now = (struct page_generation){};
}

static const uint8_t *find_page(const struct page_store *store, uint64_t key)
{
	const uint64_t *place = map_find(&store->now.by_key, key);

	if (!place)
		place = map_find(&store->before.by_key, key);
	return place ? (const uint8_t *)(uintptr_t)*place : NULL;
}

/* --- of one sample --- */

void stack_memory_clear(struct stack_memory *memory)
{
	vec_clear(&memory->keys);
	memory->pid = memory->tid = 0;
	memory->given = false;
}

void stack_memory_deinit(struct stack_memory *memory)
{
	vec_deinit(&memory->keys);
}

struct error *stack_memory_set(struct stack_memory *memory, const void *record,
			       size_t size)
{
	const struct walker_memory *raw = record;
	size_t fixed = offsetof(struct walker_memory, keys);

	stack_memory_clear(memory);
	if (size < fixed || raw->count > WALKER_MAX_PAGES ||
	    raw->count * sizeof(raw->keys[0]) > size - fixed)
		return NULL;
	if (!vec_reserve(&memory->keys, raw->count))
		return error_no_memory();
	if (raw->count)
		memcpy(memory->keys.data, raw->keys,
		       raw->count * sizeof(raw->keys[0]));
	memory->keys.count = raw->count;
	memory->pid = raw->header.pid;
	memory->tid = raw->tid;
	memory->stack_pointer = raw->stack_pointer;
	memory->start = raw->start;
	memory->left = raw->left;
	memory->left_size = raw->left_size;
	memory->left_copy = raw->left_copy;
	return NULL;
}

/* Whether the record is of that sample. */
static bool give(struct stack_memory *memory, uint32_t pid, uint32_t tid,
		 uint64_t stack_pointer, bool is_tracepoint)
{
	if (memory->pid != pid || memory->tid != tid) {
		stack_memory_clear(memory);
		return false;
	}
	if (memory->stack_pointer != stack_pointer ||
	    (memory->given && !is_tracepoint))
		return false;
	memory->given = true;
	return true;
}

const struct stack_memory *stack_memory_of(struct stack_memory *memory,
					   uint32_t pid, uint32_t tid,
					   uint64_t stack_pointer,
					   bool is_tracepoint)
{
	return give(memory, pid, tid, stack_pointer, is_tracepoint) &&
			       memory->keys.count ?
		       memory :
		       NULL;
}

const struct stack_memory *stack_memory_left(struct stack_memory *memory,
					     uint32_t pid, uint32_t tid,
					     uint64_t stack_pointer,
					     bool is_tracepoint)
{
	return give(memory, pid, tid, stack_pointer, is_tracepoint) &&
			       memory->left ?
		       memory :
		       NULL;
}

size_t stack_memory_missing(const struct stack_memory *memory, uint64_t *pages,
			    size_t max)
{
	size_t count = 0;

	for (size_t i = 0; i < memory->keys.count && count < max; i++)
		if (!memory->keys.data[i])
			pages[count++] = memory->start + i * WALKER_PAGE;
	return count;
}

/* As many of the bytes as one page has; 0: it is not there. */
static size_t read_in_page(const struct stack_memory *memory, uint64_t address,
			   void *ret, size_t size)
{
	uint64_t offset = address - memory->start;
	uint64_t index = offset / WALKER_PAGE;
	size_t at = offset % WALKER_PAGE;
	const uint8_t *page;

	if (index >= memory->keys.count || !memory->keys.data[index])
		return 0;
	page = find_page(memory->pages, memory->keys.data[index]);
	if (!page)
		return 0;
	if (size > WALKER_PAGE - at)
		size = WALKER_PAGE - at;
	memcpy(ret, page + at, size);
	return size;
}

bool stack_memory_read(const struct stack_memory *memory, uint64_t address,
		       uint64_t *ret)
{
	uint8_t bytes[sizeof(*ret)];
	size_t have = read_in_page(memory, address, bytes, sizeof(bytes));

	if (!have)
		return false;
	if (have < sizeof(bytes) &&
	    read_in_page(memory, address + have, bytes + have,
			 sizeof(bytes) - have) != sizeof(bytes) - have)
		return false;
	memcpy(ret, bytes, sizeof(bytes));
	return true;
}
