/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of a made-up process, which the walk reads as it does a real one's, and
 * what it finds there. For one test program each: asserts by cmocka.
 */
#ifndef KAA_TESTS_MADE_WORLD_H
#define KAA_TESTS_MADE_WORLD_H

#include <string.h>

#include "assert_ok.h"
#include "python/user_walk.h"

enum {
	WORLD_BASE = 0x100000,
	WORLD_SIZE_MAX = 0x80000,
};

struct world {
	/* From WORLD_BASE on; what lies behind size cannot be read. */
	uint8_t bytes[WORLD_SIZE_MAX];
	size_t size;
	struct user_walk_thread thread;
	/* Of the last walk: its stack, how often it read, the code objects it told. */
	struct walker_stack stack;
	size_t reads;
	size_t codes;
};

/* Empty memory of a thread of this version of CPython. */
static inline void world_init(struct world *w, uint32_t version, size_t size)
{
	memset(w, 0, sizeof(*w));
	w->size = size;
	assert_ok(py_layout_find(version, &w->thread.process.layout));
}

static inline void put(struct world *w, uint64_t address, uint64_t value)
{
	memcpy(w->bytes + (address - WORLD_BASE), &value, sizeof(value));
}

static inline void put_int(struct world *w, uint64_t address, int32_t value)
{
	memcpy(w->bytes + (address - WORLD_BASE), &value, sizeof(value));
}

static inline void put_byte(struct world *w, uint64_t address, uint8_t value)
{
	w->bytes[address - WORLD_BASE] = value;
}

static inline bool world_read(void *arg, uint64_t address, void *buf, size_t size)
{
	struct world *w = arg;

	w->reads++;
	if (address < WORLD_BASE || address - WORLD_BASE > w->size ||
	    size > w->size - (address - WORLD_BASE))
		return false;
	memcpy(buf, w->bytes + (address - WORLD_BASE), size);
	return true;
}

static inline bool world_take(void *arg, const void *record, size_t size)
{
	const struct walker_header *header = record;
	struct world *w = arg;

	if (header->type == WALKER_STACK)
		memcpy(&w->stack, record, size);
	w->codes += header->type == WALKER_CODE;
	return true;
}

static inline void world_walk(struct world *w, struct user_walk *walk)
{
	struct py_memory memory = { world_read, w };
	struct user_walk_output output = { world_take, w };

	w->reads = w->codes = 0;
	assert_int_equal(user_walk_thread(walk, &w->thread, &memory, &output),
			 USER_WALK_STACK);
}

#endif
