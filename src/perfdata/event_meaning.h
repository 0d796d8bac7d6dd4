/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an event means: decided here for all readers of a recording.
 *
 * Sources: Linux uapi perf_event.h for types and configs. The kernel's software
 * clocks count ns (kernel/events/core.c, perf_swevent_hrtimer); of the
 * tracepoints, those of scheduler statistics do, too: __perf_count() in
 * include/trace/events/sched.h makes a sample's period the ns that the thread
 * ran or waited. Other tracepoints have a period of 1.
 *
 * An event's attribute names what the kernel counts. Its name is what somebody
 * called it, and decides only where nothing else tells: a tracepoint has
 * another number on each machine, and kaa's stream is one of many possible
 * bpf-outputs. What kaa polls is a cpu-clock whose config1 no kernel has, and
 * what it imports has such a config1.
 */
#ifndef KAA_PERFDATA_EVENT_MEANING_H
#define KAA_PERFDATA_EVENT_MEANING_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "base/event_kind.h"

/* What stands in a sample beside what it has in common with all others. */
enum event_data {
	EVENT_DATA_NONE,
	/* ADDR is the place in memory that was touched. */
	EVENT_DATA_ADDRESS,
	/* RAW has the fields of the tracepoint. */
	EVENT_DATA_FIELDS,
	/* RAW has what a BPF program wrote. */
	EVENT_DATA_BYTES,
	/* A wait: in kaa's rings RAW says how long it was, in a file the period does. */
	EVENT_DATA_WAIT,
};

struct event_meaning {
	enum event_kind kind;
	enum event_unit unit;
	enum event_data data;
	/* kaa has looked from time to time; no event of the kernel has. */
	bool is_polled;
	/* Stacks have Python frames alone, whatever runs below them. */
	bool python_only;
	/* Not kaa, nor perf, has taken the samples: another tool's file was imported. */
	bool is_imported;
};

/* name: as the recording has it. What is not known is an occurrence. */
struct event_meaning event_meaning(const struct perf_event_attr *attr,
				   const char *name);

#endif
