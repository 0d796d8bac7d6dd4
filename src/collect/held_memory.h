/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of a process while a thread of it holds still: what is near each other is
 * read at once, and no page twice. What other threads change meanwhile may be old.
 */
#ifndef KAA_COLLECT_HELD_MEMORY_H
#define KAA_COLLECT_HELD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/remote_memory.h"

struct held_memory;

/* NULL: there is no memory. */
struct held_memory *held_memory_create(void);
void held_memory_destroy(struct held_memory *memory);
/* Forgets all. remote: borrowed. */
void held_memory_begin(struct held_memory *memory, struct remote_memory *remote);
/* For struct py_memory; memory: a struct held_memory. */
bool held_memory_read(void *memory, uint64_t address, void *buf, size_t size);

#endif
