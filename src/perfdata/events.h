/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of a recording: attribute, name and ids of each.
 *
 * The kernel gives every open event (one for each CPU and thread) an id; a
 * record carries the id of the event that made it. The table maps an id to
 * its event, and knows where in a raw record id and time stand. Reader, writer
 * and recorder share it.
 *
 * An event, once added, keeps its address until events_deinit(). Reading from
 * several threads is safe while nobody adds.
 *
 * Field order of samples and of the sample_id trailer: Linux uapi
 * perf_event.h, PERF_RECORD_SAMPLE and struct sample_id.
 */
#ifndef KAA_PERFDATA_EVENTS_H
#define KAA_PERFDATA_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "perfdata/event_meaning.h"

/* The most events one table takes. */
#define EVENTS_MAX 65536

/* A field that this event's records do not have. */
#define EVENT_NO_FIELD 0xff

struct event {
	uint32_t index;
	struct perf_event_attr attr;
	/* Owned, never NULL. */
	char *name;
	/* Of attr and name. */
	struct event_meaning meaning;
	VEC(uint64_t) ids;

	/*
	 * Byte offset of the field from the start of a sample's body, or back
	 * from the end of another record (8: the last 8 bytes).
	 */
	uint8_t sample_id_pos;
	uint8_t sample_time_pos;
	uint8_t trailer_id_pos;
	uint8_t trailer_time_pos;
	/* Bytes of the sample_id trailer; 0 without attr.sample_id_all. */
	uint8_t trailer_size;
};

/* Zero-initialise to start. */
struct events {
	VEC(struct event *) list;
	/* id -> index */
	struct map by_id;
};

void events_deinit(struct events *events);

/*
 * Adds an event with a copy of attr and name; a NULL name becomes one made
 * from attr's type and config ("cycles", "cpu-clock", "raw 0x..."). *ret may
 * be NULL.
 */
struct error *events_add(struct events *events,
			 const struct perf_event_attr *attr, const char *name,
			 struct event **ret);
/* Adds an id of an event. An id that another event has is ERROR_FORMAT. */
struct error *events_add_id(struct events *events, struct event *event,
			    uint64_t id);
struct error *event_set_name(struct event *event, const char *name);

/* The event with this id, or NULL. */
struct event *events_find(const struct events *events, uint64_t id);

/*
 * Where a raw kernel record of `size` bytes ends, of that event. That is size, but for
 * KSYMBOL and BPF_EVENT records: where several events are told of the same program,
 * Linux makes each record a trailer longer than the one before, and leaves there
 * what was in the buffer (perf_event_ksymbol_output(), perf_event_bpf_output() of
 * kernel/events/core.c do not restore the size, at least from 5.1 to 6.18).
 */
size_t events_record_end(const struct event *event,
			 const struct perf_event_header *header, size_t size);

/*
 * The event that made a raw record of type < 64 (kernel records), by the id in
 * it. The first event when there is only one, when the record carries id 0
 * (synthesised) or no id. NULL if the table is empty or does not know the id.
 * `size` bytes are there, with the header, which need not say so.
 */
struct event *events_of_record(const struct events *events,
			       const struct perf_event_header *header,
			       size_t size);

/*
 * The time of a raw kernel record; 0 if it carries none. Cheaper than
 * record_decode().
 */
uint64_t events_record_time(const struct events *events,
			    const struct perf_event_header *header,
			    size_t size);

#endif
