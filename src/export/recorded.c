// SPDX-License-Identifier: GPL-2.0-only
#include "export/recorded.h"

/* Without a clock that both know, by when the file was written. */
static uint64_t wall_time(const struct metadata *m,
			  const struct export_times *times)
{
	if (m->clock.wall_ns)
		return m->clock.wall_ns + (times->first - m->clock.ns);
	if (m->recorded <= 0)
		return 0;
	return (uint64_t)m->recorded * 1000000000 -
	       (times->last - times->first);
}

struct export_times export_groups_times(const struct export_groups *g)
{
	const struct profile *profile = g->stacks->profile;
	struct export_times times = { .first = UINT64_MAX };

	vec_for_each(group, &g->all) {
		uint32_t first = g->rows[group->first];
		uint32_t last = g->rows[group->first + group->count - 1];

		if (profile->samples.time[first] < times.first)
			times.first = profile->samples.time[first];
		if (profile->samples.time[last] > times.last)
			times.last = profile->samples.time[last];
	}
	if (profile->recordings.count)
		times.wall = wall_time(&profile->recordings.data[0].metadata,
				       &times);
	return times;
}

void export_command(const struct metadata *metadata, struct strbuf *out)
{
	for (size_t i = 0; i < metadata->command.count; i++)
		strbuf_printf(out, "%s%s", i ? " " : "",
			      metadata->command.data[i]);
}
