/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slots of anonymous executable memory, each with a trampoline in it. Internal
 * to src/agent; called with the agent's lock held.
 *
 * Memory comes in arenas: filled with trampolines while it can be written, then
 * made executable for good. At no time is a page both. Arenas are never unmapped and
 * a slot is handed out once: its address means one thing as long as the process
 * lives.
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
	/* The first arenas, which a fork left to this process. */
	uint32_t inherited;
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

/*
 * In the child of a fork: what is handed out from now on is in arenas of its own.
 * perf names an arena for the process that mapped it: a slot that the child
 * would take from an inherited one would be looked up in the parent's perf map
 * (tools/perf/util/map.c, map__new(); maps are copied at a fork).
 */
void agent_code_memory_forked(struct agent_code_memory *memory);

/* The start of the slot around address, NULL if none was handed out there. */
const void *agent_code_memory_slot_of(const struct agent_code_memory *memory,
				      const void *address);

#endif
