// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/event_source.h"

struct event_name {
	const char *name;
	uint32_t type;
	uint32_t config;
};

#define HW(name, config) { name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config }
#define SW(name, config) { name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config }
/* Names of perf-list(1). */
static const struct event_name event_names[] = {
	HW("cycles", CPU_CYCLES),
	HW("cpu-cycles", CPU_CYCLES),
	HW("instructions", INSTRUCTIONS),
	HW("cache-references", CACHE_REFERENCES),
	HW("cache-misses", CACHE_MISSES),
	HW("branches", BRANCH_INSTRUCTIONS),
	HW("branch-instructions", BRANCH_INSTRUCTIONS),
	HW("branch-misses", BRANCH_MISSES),
	HW("bus-cycles", BUS_CYCLES),
	HW("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HW("idle-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HW("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	HW("idle-cycles-backend", STALLED_CYCLES_BACKEND),
	HW("ref-cycles", REF_CPU_CYCLES),
	SW("cpu-clock", CPU_CLOCK),
	SW("task-clock", TASK_CLOCK),
	SW("page-faults", PAGE_FAULTS),
	SW("faults", PAGE_FAULTS),
	SW("context-switches", CONTEXT_SWITCHES),
	SW("cs", CONTEXT_SWITCHES),
	SW("cpu-migrations", CPU_MIGRATIONS),
	SW("migrations", CPU_MIGRATIONS),
	SW("minor-faults", PAGE_FAULTS_MIN),
	SW("major-faults", PAGE_FAULTS_MAJ),
	SW("alignment-faults", ALIGNMENT_FAULTS),
	SW("emulation-faults", EMULATION_FAULTS),
	SW("dummy", DUMMY),
	SW("bpf-output", BPF_OUTPUT),
	/* kaa's own, by name alone (docs/off-cpu.md). */
	SW("off-cpu", BPF_OUTPUT),
	/* PERF_COUNT_SW_CGROUP_SWITCHES, Linux 5.13 */
	{ "cgroup-switches", PERF_TYPE_SOFTWARE, 11 },
};
#undef HW
#undef SW

/* In the order of enum perf_hw_cache_id. */
static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
				      "iTLB",	   "branch",	"node" };
/* In the order of perf_hw_cache_op_id: name of the accesses, of the misses. */
static const char *const cache_ops[][2] = {
	{ "loads", "load-misses" },
	{ "stores", "store-misses" },
	{ "prefetches", "prefetch-misses" },
};

enum { CACHES = 7, CACHE_OPS = 3, CACHE_NAMES = CACHES * CACHE_OPS * 2 };

struct cache_event {
	char name[40];
	uint64_t config;
};

/* The i-th of CACHE_NAMES. */
static struct cache_event cache_event(unsigned int i)
{
	unsigned int miss = i % 2, op = i / 2 % CACHE_OPS;
	unsigned int cache = i / 2 / CACHE_OPS;
	struct cache_event event = {
		.config = cache | op << 8 | miss << 16,
	};

	snprintf(event.name, sizeof(event.name), "%s-%s", caches[cache],
		 cache_ops[op][miss]);
	return event;
}

static bool cache_by_name(const char *name, struct event_choice *event)
{
	for (unsigned int i = 0; i < CACHE_NAMES; i++) {
		struct cache_event known = cache_event(i);

		if (strcmp(known.name, name) != 0)
			continue;
		event->type = PERF_TYPE_HW_CACHE;
		event->config = known.config;
		return true;
	}
	return false;
}

/* "r" and up to 16 hexadecimal digits */
static bool raw_by_name(const char *name, struct event_choice *event)
{
	char *end;
	uint64_t config;

	if (name[0] != 'r' || !isxdigit((unsigned char)name[1]) ||
	    strlen(name) > 17)
		return false;
	config = strtoull(name + 1, &end, 16);
	if (*end)
		return false;
	event->type = PERF_TYPE_RAW;
	event->config = config;
	return true;
}

bool event_by_name(const char *name, struct event_choice *event)
{
	for (size_t i = 0; i < sizeof(event_names) / sizeof(*event_names);
	     i++) {
		if (strcmp(event_names[i].name, name) != 0)
			continue;
		event->type = event_names[i].type;
		event->config = event_names[i].config;
		return true;
	}
	return cache_by_name(name, event) || raw_by_name(name, event);
}

/* nearest_add() borrows its names: those of the caches need a home. */
static const char *cache_name(unsigned int i)
{
	static _Thread_local struct cache_event names[CACHE_NAMES];

	names[i] = cache_event(i);
	return names[i].name;
}

void event_words(struct strbuf *out)
{
	for (size_t i = 0; i < sizeof(event_names) / sizeof(*event_names); i++)
		strbuf_printf(out, "%s ", event_names[i].name);
	for (unsigned int i = 0; i < CACHE_NAMES; i++)
		strbuf_printf(out, "%s ", cache_event(i).name);
}

void event_names_near(struct nearest *nearest)
{
	for (size_t i = 0; i < sizeof(event_names) / sizeof(*event_names); i++)
		nearest_add(nearest, event_names[i].name);
	for (unsigned int i = 0; i < CACHE_NAMES; i++)
		nearest_add(nearest, cache_name(i));
}
