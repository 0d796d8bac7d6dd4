// SPDX-License-Identifier: GPL-2.0-only
#include "collect/recorder_round.h"

#include <linux/perf_event.h>

#include "collect/recorder_internal.h"
#include "collect/recorder_names.h"
#include "collect/recorder_samples.h"
#include "collect/recorder_tasks.h"

/* Is it a record that the source wrote into the ring? */
static bool is_sources(const struct recorder *recorder,
		       const struct perf_event_header *header)
{
	const struct event *event;

	if (header->type != PERF_RECORD_SAMPLE || !recorder->source->source->ring)
		return false;
	event = events_of_record(&recorder->sampler.kernel_events, header);
	return event && event->index == sampler_walker_index(&recorder->sampler);
}

/* Takes the code objects that are in a ring, ahead of all samples. */
static struct error *take_codes(struct recorder *recorder, size_t cpu)
{
	struct ring *ring = &recorder->sampler.cpus.data[cpu].samples;
	struct source_state *source = recorder->source;
	uint64_t position = recorder->codes_done.data[cpu];
	uint64_t end = ring_head(ring);
	const struct perf_event_header *header;
	struct error *error = NULL;
	struct record record;

	if (position < ring->tail)
		position = ring->tail;
	while (!error && position < end &&
	       (header = ring_record(ring, position, end))) {
		uint64_t next = position + header->size;

		if (is_sources(recorder, header)) {
			error = record_decode(&recorder->sampler.kernel_events,
					      header, header->size, &record);
			if (!error)
				error = source->source->ring->take(
					source, record.sample.raw,
					record.sample.raw_size);
		}
		position = next;
	}
	recorder->codes_done.data[cpu] = position;
	return error;
}

/*
 * Linux fills one struct perf_sample_data in for all events that a page fault or
 * another software event hits on a CPU (do_perf_sw_event()): the sample of the
 * event that was opened first has the id, and parts, of that which was opened
 * last, perhaps by somebody else.
 */
static void drop_mixed_up(struct recorder *recorder, struct error *error)
{
	error_destroy(error);
	if (!recorder->mixed_up++)
		notes_tell(
			&recorder->notes,
			"samples are lost: another program records the same events, and the kernel mixes up the samples of the two");
}

/* What the source has said so far belongs to no later sample. */
static void break_ring(struct recorder *recorder, size_t cpu)
{
	if (recorder->source->source->ring)
		recorder->source->source->ring->broken(recorder->source, cpu);
}

static struct error *handle_user_sample(struct recorder *recorder, size_t cpu,
					const struct perf_event_header *header)
{
	enum callchain_mode mode = recorder->options.sampler.callchain;
	struct record record;
	struct error *error = record_decode(&recorder->sampler.kernel_events,
					    header, header->size, &record);

	if (error) {
		drop_mixed_up(recorder, error);
		break_ring(recorder, cpu);
		return NULL;
	}
	if (record.time > recorder->latest)
		recorder->latest = record.time;
	if (mode == CALLCHAIN_NONE || mode == CALLCHAIN_DWARF)
		return recorder_keep_sample(recorder, header, &record);
	return recorder_handle_sample(recorder, cpu, &record);
}

static struct error *handle_ring_record(struct recorder *recorder, size_t cpu,
					const struct perf_event_header *header)
{
	struct source_state *source = recorder->source;
	struct record record;
	struct error *error;

	if (is_sources(recorder, header)) {
		error = record_decode(&recorder->sampler.kernel_events, header,
				      header->size, &record);
		return error ? error :
			       source->source->ring->add(
				       source, cpu, record.sample.raw,
				       record.sample.raw_size);
	}
	if (header->type == PERF_RECORD_SAMPLE)
		return handle_user_sample(recorder, cpu, header);
	break_ring(recorder, cpu);
	return recorder_handle_raw(recorder, header, header->size);
}

static struct error *handle_ring(struct recorder *recorder, size_t index)
{
	struct ring *ring = &recorder->sampler.cpus.data[index].samples;
	uint64_t end = recorder->heads[index];
	const struct perf_event_header *header;
	struct error *error = NULL;

	while (!error && ring->tail < end) {
		uint64_t next;

		header = ring_record(ring, ring->tail, end);
		if (!header)
			return error_create(ERROR_FORMAT,
					    "the kernel's event buffer is damaged");
		next = ring->tail + header->size;
		error = handle_ring_record(recorder, index, header);
		ring_advance(ring, next);
	}
	return error;
}

struct error *recorder_run_round(struct recorder *recorder)
{
	size_t count = recorder->sampler.cpus.count;
	struct source_state *source = recorder->source;
	struct error *error;

	if (source->source->begin_round)
		source->source->begin_round(source);
	for (size_t i = 0; i < count; i++)
		recorder->heads[i] =
			ring_head(&recorder->sampler.cpus.data[i].samples);
	error = recorder_drain_tasks(recorder);
	for (size_t i = 0; !error && i < count && source->source->ring; i++)
		error = take_codes(recorder, i);
	for (size_t i = 0; !error && i < count; i++)
		error = handle_ring(recorder, i);
	if (!error)
		error = recorder_name_ended(recorder);
	if (!error)
		error = recorder_map_images(recorder);
	if (!error)
		error = recorder_put_codes(recorder);
	if (!error)
		error = output_round(&recorder->output);
	return error;
}
