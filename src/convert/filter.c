// SPDX-License-Identifier: GPL-2.0-only
#include "convert/filter.h"

#include <string.h>

static bool has_id(const struct convert_ids *ids, int64_t value)
{
	for (size_t i = 0; i < ids->count; i++)
		if (ids->values[i] == value)
			return true;
	return !ids->count;
}

/* As in perf, a sample without a time passes. */
static bool is_in_time(const struct convert_times *times, uint64_t time)
{
	for (size_t i = 0; time && i < times->count; i++)
		if (time >= times->values[i].from &&
		    (!times->values[i].to || time <= times->values[i].to))
			return true;
	return !times->count || !time;
}

bool filter_record(const struct convert_options *options,
		   const struct record *record)
{
	return is_in_time(&options->times, record->time) &&
	       has_id(&options->pids, (int32_t)record->pid) &&
	       has_id(&options->tids, (int32_t)record->tid) &&
	       has_id(&options->cpus, record->cpu);
}

bool filter_comm(const struct convert_options *options, const char *comm)
{
	for (size_t i = 0; comm && i < options->comms.count; i++)
		if (!strcmp(options->comms.values[i], comm))
			return true;
	return !options->comms.count;
}
