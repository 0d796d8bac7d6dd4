// SPDX-License-Identifier: GPL-2.0-only
#include "collect/recorder_names.h"

#include <linux/perf_event.h>

#include "collect/recorder_internal.h"

static struct error *put_symbol(void *arg, const struct kaa_symbol *symbol)
{
	struct recorder *recorder = arg;
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	struct error *error = kaa_encode_symbol(symbol, &payload);

	if (error)
		return error;
	return output_payload(&recorder->output,
			      output_time_last(&recorder->output), 0,
			      payload.data, payload.len);
}

struct error *recorder_wish_names(struct recorder *recorder,
				  const struct record *sample,
				  const struct target *target)
{
	const struct stack_builder *stacks = &recorder->stacks;
	size_t count = stacks->natives.count;
	struct error *error = NULL;

	for (size_t i = 0; !error && i < stacks->chain.count; i++) {
		uint64_t ip = stacks->chain.data[i];

		if (ip == (uint64_t)PERF_CONTEXT_USER)
			break;
		if (ip < PERFDATA_CONTEXT_MAX)
			error = name_table_kernel(&recorder->names, ip);
	}
	for (size_t i = 0; !error && i < count; i++) {
		uint64_t ip = stacks->natives.data[i].ip;
		const struct process_map *map;

		if (i + 1 < count && (sample->has & PERF_SAMPLE_REGS_USER) &&
		    !(stacks->frames[i].flags &
		      (UNWIND_FRAME_TRAMPOLINE | UNWIND_FRAME_BY_FP)))
			continue;
		map = process_map_at(target->process, ip, sample->time);
		if (map && (map->file->path[0] != '/' ||
			    map->file->path[1] == '/'))
			error = name_table_user(&recorder->names, sample->pid,
						ip);
	}
	return error;
}

struct error *recorder_name_ended(struct recorder *recorder)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < recorder->ended.count; i++)
		error = name_table_tell_process(&recorder->names,
						recorder->ended.data[i],
						put_symbol, recorder);
	vec_clear(&recorder->ended);
	return error;
}

struct error *recorder_name_all(struct recorder *recorder)
{
	struct source_state *source = recorder->source;
	struct error *error = name_table_tell_all(&recorder->names, put_symbol,
						  recorder);

	if (error || recorder->options.sampler.callchain != CALLCHAIN_DWARF ||
	    !source->source->put_names)
		return error;
	return source->source->put_names(source, &recorder->targets,
					 &recorder->names, put_symbol,
					 recorder);
}
