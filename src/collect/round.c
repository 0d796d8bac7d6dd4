// SPDX-License-Identifier: GPL-2.0-only
#include "collect/round.h"

#include <linux/perf_event.h>

#include "collect/sampler.h"

enum {
	/* Ended maps and processes are remembered that long, in ns. */
	REMEMBER_NS = 2000000000,
	/* Between two times that these are looked through. */
	FORGET_EACH_NS = 500000000,
};

/* Between two looks at the memory that files take. */
#define SHED_EACH_NS UINT64_C(10000000000)

/* Is it a record that the source wrote into the ring? */
static bool is_sources(const struct round *round,
		       const struct perf_event_header *header)
{
	const struct sampler *sampler = round->rings->sampler;
	const struct event *event;

	if (header->type != PERF_RECORD_SAMPLE || !round->source->source->ring)
		return false;
	event = events_of_record(&sampler->kernel_events, header, header->size);
	return event && event->index == sampler_walker_index(sampler);
}

/* What the source has to know ahead of all samples. */
static struct error *look_ahead(void *arg, size_t cpu,
				const struct perf_event_header *header)
{
	struct round *round = arg;
	struct record record;
	struct error *error;

	(void)cpu;
	if (!is_sources(round, header))
		return NULL;
	error = record_decode(&round->rings->sampler->kernel_events, header,
			      header->size, &record);
	if (error)
		return error;
	return round->source->source->ring->take(round->source,
						 record.sample.raw,
						 record.sample.raw_size);
}

static struct error *handle(void *arg, size_t cpu,
			    const struct perf_event_header *header)
{
	struct round *round = arg;
	struct record record;
	struct error *error;

	if (is_sources(round, header)) {
		error = record_decode(&round->rings->sampler->kernel_events,
				      header, header->size, &record);
		if (error)
			return error;
		return round->source->source->ring->add(round->source, cpu,
							record.sample.raw,
							record.sample.raw_size);
	}
	if (header->type == PERF_RECORD_SAMPLE)
		return sample_writer_handle(round->samples, cpu, header);
	/* Something was lost in between. */
	python_source_broken(round->source, cpu);
	return tracking_handle(round->tracking, header, header->size);
}

static struct error *name_ended(struct round *round)
{
	struct error *error = NULL;

	vec_for_each(pid, &round->tracking->ended)
		if (!error)
			error = name_writer_put_process(round->names, *pid);
	vec_clear(&round->tracking->ended);
	return error;
}

static bool knows(void *arg, uint32_t pid)
{
	return process_table_find(arg, pid, UINT64_MAX);
}

/*
 * Before code objects of this pass are taken: theirs may be of processes of which
 * nobody has heard. Of all that have code so far the task records were handled.
 */
static void forget_code(const struct round *round)
{
	code_table_forget(round->samples->stacks.codes, knows,
			  round->tracking->processes);
}

/* What is in the rings by now; last: nothing more comes into this round. */
static struct error *pass(struct round *round, bool last)
{
	const struct python_source *source = round->source->source;
	struct error *error;

	if (source->begin_round)
		source->begin_round(round->source);
	rings_snapshot(round->rings);
	if (last)
		cpu_time_begin_round(round->cpu_time);
	error = tracking_drain(round->tracking, round->rings);
	if (!error && source->ring) {
		forget_code(round);
		error = rings_look_ahead(round->rings, look_ahead, round);
	}
	if (!error)
		error = rings_handle(round->rings, handle, round);
	if (!error)
		error = name_ended(round);
	return error ? error : python_threads_end_round(round->threads);
}

struct error *round_pass(struct round *round)
{
	return pass(round, false);
}

struct error *round_run(struct round *round)
{
	struct error *error = pass(round, true);

	if (!error)
		error = name_writer_put_vdso(round->names);
	if (!error)
		error = sample_writer_end_round(round->samples);
	if (error)
		return error;
	error = long_waits_look(round->long_waits);
	if (error)
		return error;
	cpu_time_end_round(round->cpu_time);
	error = exits_end_round(round->tracking->exits);
	return error ? error : output_round(round->output);
}

/* The latest record is of a task where nothing is sampled for long. */
void round_forget(struct round *round)
{
	uint64_t latest = round->output->latest;

	if (latest < REMEMBER_NS || latest < round->forgot + FORGET_EACH_NS)
		return;
	round->forgot = latest;
	tracking_forget(round->tracking, latest - REMEMBER_NS);
	if (latest < round->shed + SHED_EACH_NS)
		return;
	round->shed = latest;
	if (target_files_shed(&round->tracking->targets.files))
		native_stack_forget(&round->samples->stacks.native);
}
