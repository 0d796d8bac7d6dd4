// SPDX-License-Identifier: GPL-2.0-only
#include "collect/sample_writer.h"

#include <string.h>

#include "perfdata/kaa_stream.h"

struct error *sample_writer_init(struct sample_writer *writer,
				 struct source_state *source,
				 struct code_table *codes, uint32_t stack_size)
{
	struct error *error =
		stack_builder_init(&writer->stacks, codes, stack_size);

	writer->stacks.source = source;
	return error;
}

void sample_writer_deinit(struct sample_writer *writer)
{
	stack_builder_deinit(&writer->stacks);
	vec_deinit(&writer->image_wanted);
	waits_deinit(&writer->waits);
}

/* Sees to it that the image is mapped before the sample. */
static struct error *need_image(struct sample_writer *writer,
				struct target *target, uint64_t time)
{
	/* An exec came since, and it is a mapping of its own that ended there. */
	if (time < target->since)
		return output_map_image(writer->output, time - 1,
					target->pid, target->pid);
	if (target->image_in != writer->output->file) {
		target->image_in = writer->output->file;
		target->image_time = time;
		if (!vec_push(&writer->image_wanted, target))
			return error_no_memory();
	}
	/* Another CPU's ring may hold an earlier sample. */
	if (time < target->image_time)
		target->image_time = time;
	return NULL;
}

static struct error *map_images(struct sample_writer *writer)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < writer->image_wanted.count; i++) {
		struct target *target = writer->image_wanted.data[i];
		uint64_t time = output_time_before(writer->output,
						   target->image_time);

		if (time <= target->since)
			time = target->since + 1;
		error = output_map_image(writer->output, time, target->pid,
					 target->pid);
	}
	vec_clear(&writer->image_wanted);
	return error;
}

/*
 * Ahead of all samples that may need them; but not of the exec of the process that
 * they stand under, or readers see a process of its own that ended there.
 */
static uint64_t codes_time(const struct sample_writer *writer)
{
	const struct output *output = writer->output;
	uint64_t earliest = output->round_earliest;
	uint64_t time = output_time_before(output, earliest);
	struct process *process =
		process_table_find(writer->tracking->processes,
				   output->first_pid, earliest);
	struct target *target = process ? target_find(process) : NULL;

	if (!target)
		return time;
	target = target_of(target, earliest);
	if (time <= target->since)
		time = target->since + 1;
	return time < earliest ? time : earliest - 1;
}

static struct error *put_codes(struct sample_writer *writer)
{
	const struct strbuf *payloads = &writer->stacks.payloads;
	uint64_t time = codes_time(writer);
	struct error *error = NULL;
	uint32_t size;

	for (size_t at = 0; !error && at < payloads->len; at += 4 + size) {
		memcpy(&size, payloads->data + at, sizeof(size));
		error = output_payload(writer->output, time, 0,
				       payloads->data + at + 4, size);
	}
	strbuf_clear(&writer->stacks.payloads);
	return error;
}

/* Of a stack that cannot be had, or in which there is no Python frame. */
static bool has_marker_alone(const struct stack_builder *stacks)
{
	const struct merge_chain *merged = &stacks->merged;

	return merged->addresses.count &&
	       (merged->addresses.data[0] == KAA_MARKER_MISSING_NATIVE ||
		merged->addresses.data[0] == KAA_MARKER_NO_PYTHON);
}

/* Markers, too, are addresses in the image. */
static bool has_python_address(const struct stack_builder *stacks)
{
	return stacks->pythons.count || stacks->converted ||
	       stacks->native.gaps || stacks->state || has_marker_alone(stacks) ||
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

/*
 * The chain is all that is known of where the thread was: who wrote the sample was
 * elsewhere, the poller or the walker.
 */
static void begin_at_leaf(const struct stack_builder *stacks,
			  struct record *sample)
{
	bool in_kernel = stacks->chain.count &&
			 stacks->chain.data[0] == (uint64_t)PERF_CONTEXT_KERNEL;

	if (stacks->chain.count < 2)
		return;
	sample->sample.ip = stacks->chain.data[1];
	sample->misc &= (uint16_t)~PERF_RECORD_MISC_CPUMODE_MASK;
	sample->misc |= in_kernel ? PERF_RECORD_MISC_KERNEL :
				    PERF_RECORD_MISC_USER;
}

/* What the source has beside a sample; *offset: where that is in the output. */
struct beside {
	const struct python_stack *python;
	struct sample_memory memory;
};

static struct error *write_stack(struct sample_writer *writer,
				 struct target *target,
				 const struct record *sample,
				 const struct beside *beside, size_t *offset)
{
	struct stack_builder *stacks = &writer->stacks;
	struct source_state *source = stacks->source;
	const struct python_stack *python = beside->python;
	struct record moved = *sample;
	struct error *error =
		stack_build(stacks, target, sample, python, &beside->memory,
			    output_chain_room(writer->output, sample));

	if (!error && has_python_address(stacks))
		error = need_image(writer, target, sample->time);
	if (!error)
		error = name_writer_wish(writer->names, stacks, sample, target);
	if (!error && (python || stacks->converted))
		error = python_threads_sampled(
			writer->threads, target, sample,
			python ? python->thread_pointer : 0);
	if (error)
		return error;
	if (source->source->sampled)
		source->source->sampled(source, target);
	if (hit_trampoline(stacks, sample))
		moved.sample.ip = stacks->natives.data[0].ip;
	if (source->source->polls ||
	    sample->event->meaning.data == EVENT_DATA_WAIT)
		begin_at_leaf(stacks, &moved);
	*offset = writer->output->bytes.len;
	return output_sample(writer->output, &moved, stacks->chain.data,
			     stacks->chain.count);
}

/*
 * What the walker has read, which is NULL or torn where Python has taken the thread's
 * frames away before the wait was over: then what was read while it lasted.
 */
static const struct python_stack *
of_wait(const struct sample_writer *writer, const struct record *sample,
	const struct python_stack *walked)
{
	const struct python_stack *earlier;

	if (sample->event->meaning.data != EVENT_DATA_WAIT ||
	    (walked && !(walked->flags & WALKER_UNREADABLE)))
		return walked;
	earlier = long_waits_find(writer->long_waits, sample->pid, sample->tid,
				  writer->waits.since);
	return earlier ? earlier : walked;
}

static struct error *write_chain(struct sample_writer *writer, size_t cpu,
				 const struct record *sample)
{
	struct source_state *source = writer->stacks.source;
	struct beside beside = {};
	struct target *target;
	size_t offset;
	struct error *error = tracking_target(writer->tracking, sample->pid,
					      sample->time, &target);

	if (!error && source->source->stack)
		error = source->source->stack(source, cpu, target, sample,
					      &beside.python);
	beside.python = of_wait(writer, sample, beside.python);
	if (source->source->memory)
		source->source->memory(source, cpu, sample, &beside.memory);
	if (!error)
		error = write_stack(writer, target, sample, &beside, &offset);
	return error ? error :
		       cpu_time_sampled(writer->cpu_time, sample->event->index,
					cpu, offset);
}

static struct error *keep(struct sample_writer *writer, size_t cpu,
			  const struct perf_event_header *header,
			  const struct record *record)
{
	struct target *target;
	size_t offset;
	struct error *error = tracking_target(writer->tracking, record->pid,
					      record->time, &target);

	if (error)
		return error;
	offset = writer->output->bytes.len;
	output_note_sample(writer->output, record->pid, record->time);
	writer->stacks.stats.samples++;
	error = output_raw(writer->output, record->time, header, header->size);
	return error ? error :
		       cpu_time_sampled(writer->cpu_time, record->event->index,
					cpu, offset);
}

/*
 * Linux fills one struct perf_sample_data in for all events that a page fault or
 * another software event hits on a CPU (do_perf_sw_event()): the sample of the
 * event that was opened first has the id, and parts, of that which was opened
 * last, perhaps by somebody else.
 */
static void drop_mixed_up(struct sample_writer *writer, struct error *error)
{
	error_destroy(error);
	if (!writer->mixed_up++)
		notes_tell(
			writer->notes,
			"samples are lost: another program records the same events, and the kernel mixes up the samples of the two");
}

struct error *sample_writer_handle(struct sample_writer *writer, size_t cpu,
				   const struct perf_event_header *header)
{
	struct record record;
	struct error *error = record_decode(writer->events, header,
					    header->size, &record);

	if (error) {
		drop_mixed_up(writer, error);
		python_source_broken(writer->stacks.source, cpu);
		return NULL;
	}
	if (record.event->meaning.data == EVENT_DATA_WAIT &&
	    !waits_take(&writer->waits, &record))
		return NULL;
	if (record.time > writer->latest)
		writer->latest = record.time;
	exits_sampled(writer->tracking->exits, record.tid, record.time);
	if (writer->callchain == CALLCHAIN_NONE ||
	    writer->callchain == CALLCHAIN_DWARF)
		return keep(writer, cpu, header, &record);
	return write_chain(writer, cpu, &record);
}

struct error *sample_writer_waiting(struct sample_writer *writer,
				    struct target *target, struct record *sample,
				    const struct python_stack *python)
{
	const struct beside beside = { .python = python };
	size_t offset;

	if (!waits_take(&writer->waits, sample))
		return NULL;
	if (sample->time > writer->latest)
		writer->latest = sample->time;
	return write_stack(writer, target, sample, &beside, &offset);
}

struct error *sample_writer_end_round(struct sample_writer *writer)
{
	struct error *error = map_images(writer);

	return error ? error : put_codes(writer);
}
