// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/events.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const hardware_names[] = {
	[PERF_COUNT_HW_CPU_CYCLES] = "cycles",
	[PERF_COUNT_HW_INSTRUCTIONS] = "instructions",
	[PERF_COUNT_HW_CACHE_REFERENCES] = "cache-references",
	[PERF_COUNT_HW_CACHE_MISSES] = "cache-misses",
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "branches",
	[PERF_COUNT_HW_BRANCH_MISSES] = "branch-misses",
	[PERF_COUNT_HW_BUS_CYCLES] = "bus-cycles",
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
	[PERF_COUNT_HW_REF_CPU_CYCLES] = "ref-cycles",
};

static const char *const software_names[] = {
	[PERF_COUNT_SW_CPU_CLOCK] = "cpu-clock",
	[PERF_COUNT_SW_TASK_CLOCK] = "task-clock",
	[PERF_COUNT_SW_PAGE_FAULTS] = "page-faults",
	[PERF_COUNT_SW_CONTEXT_SWITCHES] = "context-switches",
	[PERF_COUNT_SW_CPU_MIGRATIONS] = "cpu-migrations",
	[PERF_COUNT_SW_PAGE_FAULTS_MIN] = "minor-faults",
	[PERF_COUNT_SW_PAGE_FAULTS_MAJ] = "major-faults",
	[PERF_COUNT_SW_ALIGNMENT_FAULTS] = "alignment-faults",
	[PERF_COUNT_SW_EMULATION_FAULTS] = "emulation-faults",
	[PERF_COUNT_SW_DUMMY] = "dummy",
	[PERF_COUNT_SW_BPF_OUTPUT] = "bpf-output",
	[PERF_COUNT_SW_CGROUP_SWITCHES] = "cgroup-switches",
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static char *default_name(const struct perf_event_attr *attr)
{
	const char *name = NULL;
	char text[64];

	if (attr->type == PERF_TYPE_HARDWARE &&
	    attr->config < ARRAY_SIZE(hardware_names))
		name = hardware_names[attr->config];
	else if (attr->type == PERF_TYPE_SOFTWARE &&
		 attr->config < ARRAY_SIZE(software_names))
		name = software_names[attr->config];
	if (name)
		return strdup(name);
	if (attr->type == PERF_TYPE_RAW)
		snprintf(text, sizeof(text), "raw 0x%" PRIx64,
			 (uint64_t)attr->config);
	else
		snprintf(text, sizeof(text), "unknown attr type: %" PRIu32,
			 (uint32_t)attr->type);
	return strdup(text);
}

/* Bytes of the fields in `before` that type has, 8 each. */
static uint8_t words(uint64_t type, uint64_t before)
{
	return (uint8_t)(8 * __builtin_popcountll(type & before));
}

static void set_sample_positions(struct event *event, uint64_t type)
{
	const uint64_t up_to_addr = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				    PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;

	event->sample_id_pos = EVENT_NO_FIELD;
	if (type & PERF_SAMPLE_IDENTIFIER)
		event->sample_id_pos = 0;
	else if (type & PERF_SAMPLE_ID)
		event->sample_id_pos = words(type, up_to_addr);

	event->sample_time_pos = EVENT_NO_FIELD;
	if (type & PERF_SAMPLE_TIME)
		event->sample_time_pos =
			words(type, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
					    PERF_SAMPLE_TID);
}

static void set_trailer_positions(struct event *event, uint64_t type)
{
	const uint64_t after_id = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
				  PERF_SAMPLE_IDENTIFIER;
	const uint64_t after_time = PERF_SAMPLE_ID | after_id;

	event->trailer_id_pos = EVENT_NO_FIELD;
	event->trailer_time_pos = EVENT_NO_FIELD;
	if (!event->attr.sample_id_all)
		return;
	event->trailer_size = words(type, PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
						  after_time);
	if (type & PERF_SAMPLE_IDENTIFIER)
		event->trailer_id_pos = 8;
	else if (type & PERF_SAMPLE_ID)
		event->trailer_id_pos = 8 + words(type, after_id);
	if (type & PERF_SAMPLE_TIME)
		event->trailer_time_pos = 8 + words(type, after_time);
}

static void event_destroy(struct event *event)
{
	if (!event)
		return;
	free(event->name);
	vec_deinit(&event->ids);
	free(event);
}

DEFINE_CLEANUP(event, struct event *, event_destroy);

void events_deinit(struct events *events)
{
	vec_for_each(event, &events->list)
		event_destroy(*event);
	vec_deinit(&events->list);
	map_deinit(&events->by_id);
}

struct error *events_add(struct events *events,
			 const struct perf_event_attr *attr, const char *name,
			 struct event **ret)
{
	_cleanup_(cleanup_event_) struct event *event = NULL;

	if (events->list.count >= EVENTS_MAX)
		return error_create(ERROR_LIMIT, "more than %d events",
				    EVENTS_MAX);
	event = calloc(1, sizeof(*event));
	if (!event)
		return error_no_memory();
	event->index = (uint32_t)events->list.count;
	event->attr = *attr;
	event->name = name ? strdup(name) : default_name(attr);
	if (!event->name)
		return error_no_memory();
	event->meaning = event_meaning(attr, event->name);
	set_sample_positions(event, attr->sample_type);
	set_trailer_positions(event, attr->sample_type);
	if (!vec_push(&events->list, event))
		return error_no_memory();
	if (ret)
		*ret = event;
	event = NULL;
	return NULL;
}

struct error *events_add_id(struct events *events, struct event *event,
			    uint64_t id)
{
	bool is_new;
	uint64_t *index;

	if (!vec_reserve(&event->ids, 1))
		return error_no_memory();
	index = map_insert(&events->by_id, id, event->index, &is_new);
	if (!index)
		return error_no_memory();
	if (!is_new)
		return error_create(ERROR_FORMAT,
				    "two events with the id %" PRIu64, id);
	event->ids.data[event->ids.count++] = id;
	return NULL;
}

struct error *event_set_name(struct event *event, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return error_no_memory();
	free(event->name);
	event->name = copy;
	event->meaning = event_meaning(&event->attr, copy);
	return NULL;
}

struct event *events_find(const struct events *events, uint64_t id)
{
	const uint64_t *index = map_find(&events->by_id, id);

	return index ? events->list.data[*index] : NULL;
}

/* Of a BPF_EVENT record, with its header; of a KSYMBOL record up to the name. */
enum { PROGRAM_BODY_END = 24 };

/* Where the body of a KSYMBOL record ends: a name, a NUL, and up to 7 more. */
static size_t ksymbol_body_end(const struct perf_event_header *header,
			       size_t size)
{
	const char *name = (const char *)header + PROGRAM_BODY_END;
	size_t room = size - PROGRAM_BODY_END;

	return PROGRAM_BODY_END + strnlen(name, room) / 8 * 8 + 8;
}

size_t events_record_end(const struct event *event,
			 const struct perf_event_header *header, size_t size)
{
	size_t end = size;

	if (size >= PROGRAM_BODY_END) {
		if (header->type == PERF_RECORD_KSYMBOL)
			end = ksymbol_body_end(header, size) +
			      event->trailer_size;
		else if (header->type == PERF_RECORD_BPF_EVENT)
			end = PROGRAM_BODY_END + event->trailer_size;
	}
	return end < size ? end : size;
}

/*
 * The u64 at pos of a record: from the body's start in a sample, back from the
 * end in others. False if the record has no such field.
 */
static bool field_at(const struct event *event,
		     const struct perf_event_header *header, size_t size,
		     uint8_t sample_pos, uint8_t trailer_pos, uint64_t *ret)
{
	const uint8_t *start = (const uint8_t *)header;
	uint64_t raw;
	size_t at, end;

	if (header->type == PERF_RECORD_SAMPLE) {
		if (sample_pos == EVENT_NO_FIELD)
			return false;
		at = sizeof(*header) + sample_pos;
	} else {
		end = events_record_end(event, header, size);
		if (trailer_pos == EVENT_NO_FIELD ||
		    end < sizeof(*header) + trailer_pos)
			return false;
		at = end - trailer_pos;
	}
	if (at + sizeof(raw) > size)
		return false;
	memcpy(&raw, start + at, sizeof(raw));
	*ret = le64toh(raw);
	return true;
}

struct event *events_of_record(const struct events *events,
			       const struct perf_event_header *header,
			       size_t size)
{
	struct event *first;
	uint64_t id;

	if (!events->list.count)
		return NULL;
	first = events->list.data[0];
	if (events->list.count == 1)
		return first;
	if (!field_at(first, header, size, first->sample_id_pos,
		      first->trailer_id_pos, &id) ||
	    id == 0)
		return first;
	return events_find(events, id);
}

uint64_t events_record_time(const struct events *events,
			    const struct perf_event_header *header, size_t size)
{
	const struct event *event = events_of_record(events, header, size);
	uint64_t time;

	if (!event ||
	    !field_at(event, header, size, event->sample_time_pos,
		      event->trailer_time_pos, &time))
		return 0;
	return time;
}
