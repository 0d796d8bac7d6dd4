// SPDX-License-Identifier: GPL-2.0-only
#include "collect/recorder_samples.h"

#include <linux/perf_event.h>
#include <string.h>

#include "collect/recorder_internal.h"
#include "collect/recorder_names.h"

/* Sees to it that the image is mapped before the sample. */
static struct error *need_image(struct recorder *recorder,
				struct target *target, uint64_t time)
{
	/* An exec came since, and it is a mapping of its own that ended there. */
	if (time < target->since)
		return output_map_image(&recorder->output, time - 1,
					target->pid, target->pid);
	if (target->image_in != recorder->output.file) {
		target->image_in = recorder->output.file;
		target->image_time = time;
		if (!vec_push(&recorder->image_wanted, target))
			return error_no_memory();
	}
	/* Another CPU's ring may hold an earlier sample. */
	if (time < target->image_time)
		target->image_time = time;
	return NULL;
}

struct error *recorder_map_images(struct recorder *recorder)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < recorder->image_wanted.count; i++) {
		struct target *target = recorder->image_wanted.data[i];
		uint64_t time = output_time_before(&recorder->output,
						   target->image_time);

		if (time <= target->since)
			time = target->since + 1;
		error = output_map_image(&recorder->output, time, target->pid,
					 target->pid);
	}
	vec_clear(&recorder->image_wanted);
	return error;
}

struct error *recorder_put_codes(struct recorder *recorder)
{
	const struct strbuf *payloads = &recorder->stacks.payloads;
	uint64_t time = output_time_before(&recorder->output,
					   recorder->output.round_earliest);
	struct error *error = NULL;
	uint32_t size;

	for (size_t at = 0; !error && at < payloads->len; at += 4 + size) {
		memcpy(&size, payloads->data + at, sizeof(size));
		error = output_payload(&recorder->output, time, 0,
				       payloads->data + at + 4, size);
	}
	strbuf_clear(&recorder->stacks.payloads);
	return error;
}

/* Markers, too, are addresses in the image. */
static bool has_python_address(const struct stack_builder *stacks)
{
	return stacks->pythons.count || stacks->converted ||
	       (stacks->merged.flags &
		(MERGE_NOT_ALIGNED | MERGE_UNREADABLE | MERGE_TRUNCATED));
}

/* The very instruction is a trampoline's: then it, too, is a Python frame. */
static bool hit_trampoline(const struct stack_builder *stacks,
			   const struct record *sample)
{
	return stacks->converted &&
	       (sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
		       PERF_RECORD_MISC_USER &&
	       kaa_in_range(stacks->natives.data[0].ip);
}

struct error *recorder_handle_sample(struct recorder *recorder, size_t cpu,
				     const struct record *sample)
{
	struct source_state *source = recorder->source;
	const struct python_stack *python = NULL;
	struct record moved = *sample;
	struct process *process;
	struct target *target;
	struct error *error = process_table_get(
		recorder->processes, sample->pid, sample->time, &process);

	if (!error)
		error = target_get(&recorder->targets, process, &target);
	if (!error)
		target = target_of(target, sample->time);
	if (!error && source->source->stack)
		error = source->source->stack(source, cpu, target, sample,
					      &python);
	if (!error)
		error = stack_build(&recorder->stacks, target, sample, python,
				    output_chain_room(&recorder->output,
						      sample));
	if (!error && has_python_address(&recorder->stacks))
		error = need_image(recorder, target, sample->time);
	if (!error)
		error = recorder_wish_names(recorder, sample, target);
	if (error)
		return error;
	if (source->source->sampled)
		source->source->sampled(source, target);
	if (hit_trampoline(&recorder->stacks, sample))
		moved.sample.ip = recorder->stacks.natives.data[0].ip;
	return output_sample(&recorder->output, &moved,
			     recorder->stacks.chain.data,
			     recorder->stacks.chain.count);
}

struct error *recorder_keep_sample(struct recorder *recorder,
				   const struct perf_event_header *header,
				   const struct record *record)
{
	output_note_sample(&recorder->output, record->pid, record->time);
	recorder->stacks.stats.samples++;
	return output_raw(&recorder->output, record->time, header, header->size);
}
