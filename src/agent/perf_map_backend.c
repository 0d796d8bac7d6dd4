// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backend "perf": a line for each slot in /tmp/perf-<pid>.map, as CPython
 * writes it.
 *
 * Sources: linux tools/perf/Documentation/jit-interface.txt; CPython's
 * PyUnstable_WritePerfMapEntry() in Python/sysmodule.c.
 */
#include <inttypes.h>
#include <stdio.h>

#include "agent/announce.h"
#include "agent/backend.h"
#include "agent/code_memory.h"
#include "agent/files.h"
#include "agent/trampoline.h"

static struct agent_file map_file = AGENT_FILE_INIT;
static struct agent_code_memory memory;
static struct agent_announcer announcer;

static int map_open(void)
{
	uint64_t size;
	int error;

	agent_subject_set("");
	error = agent_code_memory_reserve(&memory);
	if (error)
		return error;
	announcer.failed = 0;
	return agent_file_open(&map_file, AGENT_FILE_SHARED_LOG, "perf-",
			       ".map", &size);
}

static void *map_take(void)
{
	return agent_code_memory_take(&memory);
}

static int map_announce(const void *slot, const struct agent_symbol *symbol)
{
	char range[40];
	struct iovec parts[] = {
		{ range, 0 },
		{ (char *)symbol->name, symbol->name_size },
		{ (char *)"\n", 1 },
	};

	if (announcer.failed)
		return agent_announced(&announcer, announcer.failed);
	parts[0].iov_len = (size_t)snprintf(range, sizeof(range),
					    "%" PRIxPTR " %" PRIx32 " ",
					    (uintptr_t)slot,
					    agent_trampoline()->code_size);
	return agent_announced(&announcer,
			       agent_file_append(&map_file, parts, 3));
}

static void map_close(void)
{
	agent_file_close(&map_file);
}

static void map_forked(void)
{
	agent_file_forget(&map_file);
	agent_code_memory_forked(&memory);
}

static const void *map_slot_of(const void *address)
{
	return agent_code_memory_slot_of(&memory, address);
}

const struct agent_backend agent_backend_perf_map = {
	.name = "perf",
	.open = map_open,
	.take = map_take,
	.announce = map_announce,
	.close = map_close,
	.forked = map_forked,
	.slot_of = map_slot_of,
};
