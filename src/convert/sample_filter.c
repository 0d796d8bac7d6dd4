// SPDX-License-Identifier: GPL-2.0-only
#include "convert/sample_filter.h"

#include "base/thread_match.h"

/* As in perf, a sample without a time passes. */
static bool is_in_time(const struct convert_times *times, uint64_t time)
{
	for (size_t i = 0; time && i < times->count; i++)
		if (time >= times->values[i].from &&
		    (!times->values[i].to || time <= times->values[i].to))
			return true;
	return !times->count || !time;
}

/*
 * The part of a span that lies in one of them. It ends at *time and is *length ns
 * long, and so does the part.
 */
static bool clip_span(const struct convert_times *times, uint64_t *time,
		      uint64_t *length)
{
	uint64_t begin = *time - *length, end = *time;

	*length = 0;
	for (size_t i = 0; i < times->count; i++) {
		const struct convert_time *t = &times->values[i];
		uint64_t from = begin > t->from ? begin : t->from;
		uint64_t to = t->to && t->to < end ? t->to : end;

		if (from >= to)
			continue;
		*length += to - from;
		*time = to;
	}
	return *length;
}

static bool filter_time(const struct convert_options *options,
			const struct record *record, uint64_t *time,
			uint64_t *period)
{
	enum event_kind kind = record->event->meaning.kind;
	bool is_span = kind == EVENT_WAIT || kind == EVENT_WALL;

	/* A length that cannot be is a damaged file's. */
	if (!is_span || options->whole_spans || !options->times.count ||
	    !*time || !*period || *period > *time)
		return is_in_time(&options->times, *time);
	return clip_span(&options->times, time, period);
}

bool filter_record(const struct convert_options *options,
		   const struct record *record, uint64_t *time,
		   uint64_t *period)
{
	return filter_time(options, record, time, period) &&
	       id_list_passes(&options->pids, (int32_t)record->pid) &&
	       id_list_passes(&options->tids, (int32_t)record->tid) &&
	       id_list_passes(&options->cpus, record->cpu);
}

bool filter_names(const struct convert_options *options, const char *comm,
		  const char *name)
{
	return thread_list_passes(&options->comms, comm) ||
	       thread_list_passes(&options->comms, name);
}
