// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/event_meaning.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "perfdata/kaa_stream.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Of hardware events: the low half names the event, the high half a PMU. */
#define HARDWARE_EVENT 0xffffffffu

static const struct event_meaning software[] = {
	[PERF_COUNT_SW_CPU_CLOCK] = { EVENT_ON_CPU, EVENT_NANOSECONDS },
	[PERF_COUNT_SW_TASK_CLOCK] = { EVENT_ON_CPU, EVENT_NANOSECONDS },
	[PERF_COUNT_SW_PAGE_FAULTS] = { .data = EVENT_DATA_ADDRESS },
	[PERF_COUNT_SW_PAGE_FAULTS_MIN] = { .data = EVENT_DATA_ADDRESS },
	[PERF_COUNT_SW_PAGE_FAULTS_MAJ] = { .data = EVENT_DATA_ADDRESS },
	[PERF_COUNT_SW_DUMMY] = { EVENT_DUMMY },
	[PERF_COUNT_SW_BPF_OUTPUT] = { .data = EVENT_DATA_BYTES },
};

static const struct event_meaning hardware[] = {
	[PERF_COUNT_HW_CPU_CYCLES] = { EVENT_ON_CPU },
	[PERF_COUNT_HW_BUS_CYCLES] = { EVENT_ON_CPU },
	[PERF_COUNT_HW_REF_CPU_CYCLES] = { EVENT_ON_CPU },
};

static const struct {
	const char *name;
	enum event_kind kind;
} scheduler_times[] = {
	{ "sched:sched_stat_runtime", EVENT_ON_CPU },
	{ "sched:sched_stat_wait", EVENT_WAIT },
	{ "sched:sched_stat_sleep", EVENT_WAIT },
	{ "sched:sched_stat_iowait", EVENT_WAIT },
	{ "sched:sched_stat_blocked", EVENT_WAIT },
};

static struct event_meaning of_tracepoint(const char *name)
{
	struct event_meaning meaning = { .data = EVENT_DATA_FIELDS };
	/* Modifiers may stand behind it: "sched:sched_stat_wait:u". */
	const char *colon = strchr(name, ':');
	size_t n = colon ? strcspn(colon + 1, ":") + (size_t)(colon + 1 - name) :
			   strlen(name);

	for (size_t i = 0; i < COUNT(scheduler_times); i++) {
		if (strlen(scheduler_times[i].name) != n ||
		    memcmp(scheduler_times[i].name, name, n))
			continue;
		meaning.kind = scheduler_times[i].kind;
		meaning.unit = EVENT_NANOSECONDS;
	}
	return meaning;
}

static struct event_meaning of_software(uint64_t config, const char *name)
{
	struct event_meaning meaning = {};

	if (config < COUNT(software))
		meaning = software[config];
	if (config != PERF_COUNT_SW_BPF_OUTPUT)
		return meaning;
	if (!strcmp(name, KAA_EVENT_NAME))
		meaning.kind = EVENT_STREAM;
	if (!strcmp(name, KAA_OFF_CPU))
		meaning = (struct event_meaning){ EVENT_WAIT, EVENT_NANOSECONDS,
						  EVENT_DATA_WAIT };
	return meaning;
}

/* Only its flags may be other bits. */
static bool is_imported(const struct perf_event_attr *attr)
{
	return (attr->config1 & ~0xffull) == KAA_IMPORTED;
}

/* Polled, or imported as if it were. */
static bool is_polled(const struct perf_event_attr *attr, const char *name)
{
	return attr->config1 == KAA_POLLED ||
	       attr->config1 == KAA_POLLED_NATIVE ||
	       (is_imported(attr) && (!strcmp(name, KAA_WALL_CLOCK) ||
				      !strcmp(name, KAA_ASYNC_CLOCK) ||
				      !strcmp(name, KAA_GIL_CLOCK)));
}

/* kaa itself has given the name. */
static struct event_meaning of_polled(uint64_t how, const char *name)
{
	struct event_meaning meaning = { EVENT_ON_CPU, EVENT_NANOSECONDS,
					 .is_polled = true,
					 .python_only = how == KAA_POLLED };

	if (!strcmp(name, KAA_WALL_CLOCK))
		meaning.kind = EVENT_WALL;
	if (!strcmp(name, KAA_ASYNC_CLOCK))
		meaning.kind = EVENT_TASKS;
	if (!strcmp(name, KAA_GIL_CLOCK))
		meaning.kind = EVENT_GIL;
	return meaning;
}

static struct event_meaning of_attribute(const struct perf_event_attr *attr,
					 const char *name)
{
	uint64_t counter = attr->config & HARDWARE_EVENT;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		return counter < COUNT(hardware) ? hardware[counter] :
						   (struct event_meaning){};
	case PERF_TYPE_SOFTWARE:
		if (attr->config == PERF_COUNT_SW_CPU_CLOCK &&
		    is_polled(attr, name))
			return of_polled(attr->config1, name);
		return of_software(attr->config, name);
	case PERF_TYPE_TRACEPOINT:
		return of_tracepoint(name);
	default:
		return (struct event_meaning){};
	}
}

struct event_meaning event_meaning(const struct perf_event_attr *attr,
				   const char *name)
{
	struct event_meaning meaning = of_attribute(attr, name);

	if (!is_imported(attr))
		return meaning;
	meaning.is_imported = true;
	meaning.python_only |= (attr->config1 & KAA_IMPORTED_PYTHON_ONLY) != 0;
	if (attr->config1 & KAA_IMPORTED_TIME)
		meaning.kind = EVENT_OCCURRENCE;
	return meaning;
}
