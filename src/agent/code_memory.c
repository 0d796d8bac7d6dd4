// SPDX-License-Identifier: GPL-2.0-only
#include "agent/code_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "agent/announce.h"
#include "agent/trampoline.h"

/* The first arena; each is twice the one before, up to the largest. */
#define SMALLEST_ARENA ((size_t)64 << 10)
#define LARGEST_ARENA ((size_t)4 << 20)

static size_t arena_size(uint32_t index)
{
	size_t size = SMALLEST_ARENA;

	while (index-- && size < LARGEST_ARENA)
		size *= 2;
	return size;
}

static bool is_full(const struct agent_code_memory *memory)
{
	if (!memory->arena_count)
		return true;
	return memory->used + memory->stride >
	       memory->arenas[memory->arena_count - 1].size;
}

static int map_arena(uint32_t stride, size_t size, uint8_t **ret)
{
	void *start = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int error;

	if (start == MAP_FAILED)
		return errno;
	agent_trampoline_fill(agent_trampoline(), stride, start, size);
	__builtin___clear_cache(start, (char *)start + size);
	if (mprotect(start, size, PROT_READ | PROT_EXEC)) {
		error = errno;
		munmap(start, size);
		return error;
	}
	*ret = start;
	return 0;
}

int agent_code_memory_reserve(struct agent_code_memory *memory)
{
	struct agent_arena *arena = &memory->arenas[memory->arena_count];
	int error;

	if (!agent_trampoline())
		return ENOTSUP;
	if (!memory->stride)
		memory->stride = agent_trampoline()->stride;
	if (!is_full(memory))
		return 0;
	if (memory->arena_count == AGENT_ARENAS_MAX)
		return ENOMEM;
	arena->size = arena_size(memory->arena_count - memory->inherited);
	error = map_arena(memory->stride, arena->size, &arena->start);
	if (error)
		return error;
	memory->arena_count++;
	memory->used = 0;
	return 0;
}

void agent_code_memory_forked(struct agent_code_memory *memory)
{
	memory->inherited = memory->arena_count;
	if (memory->arena_count)
		memory->used = memory->arenas[memory->arena_count - 1].size;
}

void *agent_code_memory_take(struct agent_code_memory *memory)
{
	int error = agent_code_memory_reserve(memory);
	uint8_t *slot;

	if (error) {
		agent_subject_set("");
		errno = error;
		return NULL;
	}
	slot = memory->arenas[memory->arena_count - 1].start + memory->used;
	memory->used += memory->stride;
	return slot;
}

const void *agent_code_memory_slot_of(const struct agent_code_memory *memory,
				      const void *address)
{
	for (uint32_t i = 0; i < memory->arena_count; i++) {
		const struct agent_arena *arena = &memory->arenas[i];
		bool is_last = i == memory->arena_count - 1;
		uintptr_t at = (uintptr_t)address - (uintptr_t)arena->start;

		if (at < (is_last ? memory->used : arena->size))
			return arena->start + at / memory->stride *
						      memory->stride;
	}
	return NULL;
}
