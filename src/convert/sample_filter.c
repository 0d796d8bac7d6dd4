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

bool filter_record(const struct convert_options *options,
		   const struct record *record)
{
	return is_in_time(&options->times, record->time) &&
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
