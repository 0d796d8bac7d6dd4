// SPDX-License-Identifier: GPL-2.0-only
#include "collect/clocks.h"

#include <string.h>

#include "perfdata/kaa_stream.h"

enum {
	NS_PER_S = 1000000000,
};

bool clocks_is_clock(const struct sampler_options *options, size_t index)
{
	const struct perf_event_attr *attr = &options->events[index].attr;

	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

bool clocks_is_off_cpu(const struct sampler_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       event->attr.config == PERF_COUNT_SW_BPF_OUTPUT &&
	       !strncmp(event->name, KAA_OFF_CPU, strlen(KAA_OFF_CPU));
}

bool clocks_has_off_cpu(const struct sampler_options *options)
{
	for (size_t i = 0; i < options->event_count; i++)
		if (clocks_is_off_cpu(&options->events[i]))
			return true;
	return false;
}

bool clocks_is_alone(const struct sampler_options *options, size_t index)
{
	bool leads = index + 1 < options->event_count &&
		     options->events[index + 1].joins_group;

	return clocks_is_clock(options, index) && !leads &&
	       !options->events[index].joins_group;
}

bool clocks_can_be_by_cpu(const struct sampler_options *options)
{
	if (!options->cpu_clocks || !options->threads.count ||
	    !options->inherit)
		return false;
	for (size_t i = 0; i < options->event_count; i++)
		if (clocks_is_alone(options, i))
			return true;
	return false;
}

bool clocks_has_frequency(const struct sampler_options *options, size_t index)
{
	const struct sampler_event *event = &options->events[index];

	return event->has_period ? event->attr.freq : options->frequency != 0;
}

uint64_t clocks_period(const struct sampler_options *options, size_t index)
{
	const struct sampler_event *event = &options->events[index];
	uint64_t frequency = event->has_period ? event->attr.sample_freq :
						 options->frequency;
	uint64_t period = event->has_period ? event->attr.sample_period :
					      options->period;

	if (clocks_has_frequency(options, index))
		period = frequency ? NS_PER_S / frequency : 0;
	return period > CLOCKS_PERIOD_MIN ? period : CLOCKS_PERIOD_MIN;
}
