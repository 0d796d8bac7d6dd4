// SPDX-License-Identifier: GPL-2.0-only
#include "import/event_attr.h"

#include <string.h>

#include "perfdata/kaa_stream.h"

struct known_event {
	const char *name;
	uint32_t type;
	uint64_t config;
};

/* As perf calls them (perfdata/events.h). */
static const struct known_event counted[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
};

/* Of ns, which other tools do not have. */
static const struct known_event timed[] = {
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	/* kaa polls them. */
	{ KAA_WALL_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ KAA_GIL_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ KAA_ASYNC_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ KAA_OFF_CPU, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT },
	/* Its name says whether the thread ran. */
	{ "sched", PERF_TYPE_TRACEPOINT, 0 },
};

/* name may have modifiers behind it: "cycles:u". */
static const struct known_event *find(const struct known_event *events,
				      size_t count, const char *name)
{
	size_t n = strcspn(name, ":");

	for (size_t i = 0; i < count; i++)
		if (strlen(events[i].name) == n &&
		    !memcmp(events[i].name, name, n))
			return &events[i];
	return NULL;
}

static void set_time(struct perf_event_attr *attr, const char *name)
{
	const struct known_event *event =
		find(timed, sizeof(timed) / sizeof(*timed), name);

	attr->type = event ? event->type : PERF_TYPE_SOFTWARE;
	attr->config = event ? event->config : PERF_COUNT_SW_CPU_CLOCK;
	if (!event)
		attr->config1 |= KAA_IMPORTED_TIME;
}

static void set_count(struct perf_event_attr *attr, const char *name,
		      uint32_t number)
{
	const struct known_event *event =
		find(counted, sizeof(counted) / sizeof(*counted), name);

	attr->type = event ? event->type : PERF_TYPE_RAW;
	attr->config = event ? event->config : number;
}

struct perf_event_attr import_event_attr(const struct import_model *model,
					 uint32_t number)
{
	const struct import_event *event = &model->events.data[number];
	const char *name = model->texts.all.data[event->name];
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.sample_period = event->period ? event->period : 1,
		.config1 = KAA_IMPORTED |
			   (event->python_only ? KAA_IMPORTED_PYTHON_ONLY : 0),
		.freq = event->is_freq,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			       PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
		.sample_id_all = 1,
		.mmap = !number,
		.mmap2 = !number,
		.comm = !number,
		.task = !number,
	};

	if (event->unit == EVENT_NANOSECONDS)
		set_time(&attr, name);
	else
		set_count(&attr, name, number);
	return attr;
}
