/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slots of anonymous executable memory, each with a trampoline in it. Internal
 * to src/agent; called with the agent's lock held.
 *
 * Memory comes in arenas: filled with trampolines while it can be written, then
 * made executable for good. At no time is a page both. Arenas are never unmapped and
 * a slot is handed out once: its address means one thing as long as the process
 * lives. The child of a fork has what its parent had, and goes on from there.
 */
#ifndef KAA_AGENT_CODE_MEMORY_H
#define KAA_AGENT_CODE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define AGENT_ARENAS_MAX 64

struct agent_arena {
	uint8_t *start;
	size_t size;
};

/* All zeros but for stride: empty. */
struct agent_code_memory {
	/* Bytes from slot to slot; 0: the trampoline's own stride. */
	uint32_t stride;
	uint32_t arena_count;
	struct agent_arena arenas[AGENT_ARENAS_MAX];
	/* Bytes of the last arena that are handed out. */
	size_t used;
};

/*
 * Sees to it that the next slot is there. ENOTSUP: no trampoline for this
 * machine; ENOMEM; EACCES or EPERM: the system allows no new code.
 */
int agent_code_memory_reserve(struct agent_code_memory *memory);

/* A slot that was never handed out; NULL with errno set as above. */
void *agent_code_memory_take(struct agent_code_memory *memory);

/* The start of the slot around address, NULL if none was handed out there. */
const void *agent_code_memory_slot_of(const struct agent_code_memory *memory,
				      const void *address);

#endif
