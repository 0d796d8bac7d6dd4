/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From content to handle: a hash table of 32-bit handles whose keys live in
 * the caller's columns. Handles are only ever added. Not thread-safe.
 */
#ifndef KAA_PROFILE_INDEX_H
#define KAA_PROFILE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_slot {
	uint32_t hash;
	/* UINT32_MAX: free. */
	uint32_t handle;
};

struct index {
	struct index_slot *slots;
	size_t count;
	/* Zero or a power of two. */
	size_t capacity;
};

/* True if the entry `handle` of the caller's column has the content of key. */
typedef bool (*index_equal_fn)(const void *column, uint32_t handle,
			       const void *key);

/* The handle with this content, or UINT32_MAX. */
uint32_t index_find(const struct index *index, uint64_t hash,
		    index_equal_fn equal, const void *column, const void *key);
/*
 * Adds a handle that index_find() did not find. False when memory runs out;
 * the index is then unchanged.
 */
bool index_add(struct index *index, uint64_t hash, uint32_t handle);
/* Makes room for count handles in all. False when memory runs out. */
bool index_reserve(struct index *index, size_t count);
void index_deinit(struct index *index);

#endif
