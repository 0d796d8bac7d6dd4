/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an event measures, in the words that recordings and profiles share.
 * perfdata/event_meaning.h decides it.
 */
#ifndef KAA_BASE_EVENT_KIND_H
#define KAA_BASE_EVENT_KIND_H

#include <stdbool.h>

/* What a sample of the event stands for. */
enum event_kind {
	/* Something that happened: a page fault, a switch, a call. */
	EVENT_OCCURRENCE,
	/* A moment on a CPU, so that many samples tell where time goes. */
	EVENT_ON_CPU,
	/* A time in which the thread did not run. */
	EVENT_WAIT,
	/* A moment of a thread, whether it ran or not. */
	EVENT_WALL,
	/* kaa's own records, which a reader takes in and does not show. */
	EVENT_STREAM,
	/* Nothing: the event is there for records that are no samples. */
	EVENT_DUMMY,
	/* A moment in which the thread had Python's GIL, whether it ran or not. */
	EVENT_GIL,
	/* A moment of a task of asyncio, whether it ran or waited. */
	EVENT_TASKS,
};

/* What the period of a sample counts. */
enum event_unit {
	/* How often it happened, or what a counter of the CPU counts. */
	EVENT_COUNT,
	EVENT_NANOSECONDS,
	EVENT_BYTES,
};

/* It goes on while a thread, or a task, does not run. */
static inline bool event_kind_is_wall(enum event_kind kind)
{
	return kind == EVENT_WALL || kind == EVENT_TASKS;
}

/* kaa reads them from outside, by the clock; a recording has no other event beside one. */
static inline bool event_kind_is_by_clock(enum event_kind kind)
{
	return event_kind_is_wall(kind) || kind == EVENT_GIL;
}

/* Samples of the event are to be shown. */
static inline bool event_kind_is_shown(enum event_kind kind)
{
	return kind != EVENT_STREAM && kind != EVENT_DUMMY;
}

#endif
