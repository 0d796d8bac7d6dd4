// SPDX-License-Identifier: GPL-2.0-only
#include "collect/recorder.h"

#include <stdlib.h>
#include <unistd.h>

#include "collect/recorder_end.h"
#include "collect/recorder_internal.h"
#include "collect/recorder_loop.h"
#include "collect/recorder_round.h"
#include "collect/recorder_tasks.h"
#include "collect/tracepoints.h"

enum {
	/* Where processes begin all the time, there is always something new. */
	CATCH_UP_ROUNDS = 8,
};

/* A recording without what perf needs is still good for kaa. */
static struct error *describe_tracepoints(struct recorder *recorder)
{
	struct error *error = tracepoints_describe(
		recorder->options.sampler.root,
		&recorder->sampler.kernel_events, &recorder->features);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!error || error->code == ERROR_NO_MEMORY)
		return error;
	error_format(error, &text);
	error_destroy(error);
	notes_tell(&recorder->notes, "stock perf will not open the file: %s",
		   text.data);
	return NULL;
}

static struct error *open_output(struct recorder *recorder)
{
	const struct recorder_options *options = &recorder->options;
	const struct sampler *sampler = &recorder->sampler;
	const struct output_options output = {
		.path = options->output,
		.file = 1,
		.uid = options->uid,
		.gid = options->gid,
		.events = &sampler->kernel_events,
		.event_count = options->sampler.event_count,
		.tasks = sampler->kernel_events.list
				 .data[sampler_tasks_index(sampler)],
		.callchain = options->sampler.callchain,
		.user_only = sampler->user_only,
	};

	return output_open(&recorder->output, &output);
}

static struct error *open_parts(struct recorder *recorder)
{
	const struct recorder_options *options = &recorder->options;
	const struct source_setup setup = { .codes = &recorder->codes,
					    .notes = &recorder->notes,
					    .owner = recorder->names.owner };
	struct error *error = python_source_open(
		options->python, options->sampler.callchain, &setup,
		&recorder->source, &recorder->refusal);

	if (!error)
		error = sampler_open(&recorder->sampler, &options->sampler,
				     recorder_python(recorder)->ring != NULL);
	if (!error && recorder_python(recorder)->ring)
		error = recorder_python(recorder)->ring->attach(
			recorder->source, &recorder->sampler);
	if (!error)
		error = recorder_watch_rings(recorder);
	if (!error)
		error = process_table_create(&recorder->processes);
	if (!error)
		error = stack_builder_init(&recorder->stacks, &recorder->codes,
					   options->sampler.stack_size);
	recorder->stacks.source = recorder->source;
	if (!error)
		error = open_output(recorder);
	recorder->codes.file = recorder->names.file = recorder->output.file;
	if (!error)
		error = describe_tracepoints(recorder);
	if (!error)
		error = perfdata_writer_tracing_data(recorder->output.writer,
						     &recorder->features);
	return error;
}

struct error *recorder_open(const struct recorder_options *options,
			    notes_sink *message, struct recorder **ret)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	struct error *error;

	if (!recorder)
		return error_no_memory();
	recorder->options = *options;
	recorder->notes.sink = message;
	recorder->epoll_fd = recorder->signal_fd = -1;
	recorder->status = -1;
	recorder->output.bytes = (struct strbuf)STRBUF_INIT;
	recorder->task_bytes = (struct strbuf)STRBUF_INIT;
	recorder->names.owner =
		options->uid >= 0 ? (uid_t)options->uid : (uid_t)-1;
	code_table_init(&recorder->codes);
	recorder->codes.def_files = &recorder->def_files;
	error = open_parts(recorder);
	if (error) {
		recorder_destroy(recorder);
		return error;
	}
	*ret = recorder;
	return NULL;
}

const struct python_source *recorder_python(const struct recorder *recorder)
{
	return recorder->source->source;
}

const struct source_refusal *
recorder_refusal(const struct recorder *recorder)
{
	return recorder->refusal.why ? &recorder->refusal : NULL;
}

bool recorder_user_only(const struct recorder *recorder)
{
	return recorder->sampler.user_only;
}

/*
 * A child that was forked before the walker was told of its parent is not known
 * to it; its record tells, which was written before. Nor is what that child forks
 * meanwhile: hence again, until nothing is new.
 */
static struct error *catch_up(struct recorder *recorder)
{
	struct error *error = NULL;

	for (int i = 0; !error && i < CATCH_UP_ROUNDS; i++) {
		error = recorder_run_round(recorder);
		if (!recorder->tasks.count)
			break;
	}
	return error;
}

struct error *recorder_run(struct recorder *recorder)
{
	struct error *error = recorder_open_signals(recorder);

	/* What starts while the others are looked at has records of its own. */
	if (!error && !recorder->options.sampler.enable_on_exec)
		error = sampler_enable_tasks(&recorder->sampler);
	if (!error)
		error = recorder_synthesize(recorder);
	if (!error && !recorder->options.sampler.enable_on_exec)
		error = catch_up(recorder);
	if (!error)
		error = recorder_start(recorder);
	if (!error)
		error = recorder_loop(recorder);
	sampler_disable(&recorder->sampler);
	if (recorder_python(recorder)->ring)
		recorder_python(recorder)->ring->stop(recorder->source);
	if (!error)
		error = recorder_run_round(recorder);
	return error;
}

struct error *recorder_finish(struct recorder *recorder,
			      struct recorder_result *ret)
{
	struct error *error = recorder_finish_file(recorder);

	recorder_write_image(recorder, !error);
	recorder_wait_for_command(recorder);
	*ret = (struct recorder_result){
		.stacks = recorder->stacks.stats,
		.samples = recorder->output.samples,
		.lost = recorder_lost_samples(recorder),
		.broken_codes = recorder->codes.broken,
		.file_size = perfdata_writer_file_size(recorder->output.writer),
		.status = recorder->status,
		.stopped_by = recorder->stopped_by,
		.image = recorder->image_written ?
				 recorder->output.image_path :
				 NULL,
	};
	return error;
}

void recorder_destroy(struct recorder *recorder)
{
	if (!recorder)
		return;
	python_source_close(recorder->source);
	sampler_close(&recorder->sampler);
	error_destroy(recorder->refusal.why);
	error_destroy(recorder->unreadable_why);
	output_close(&recorder->output);
	features_deinit(&recorder->features);
	stack_builder_deinit(&recorder->stacks);
	code_table_deinit(&recorder->codes);
	def_files_deinit(&recorder->def_files);
	name_table_deinit(&recorder->names);
	target_list_deinit(&recorder->targets);
	if (recorder->processes) {
		size_t files = process_table_file_count(recorder->processes);

		for (size_t i = 0; i < files; i++)
			module_put(process_table_file(recorder->processes, i));
		process_table_destroy(recorder->processes);
	}
	vec_deinit(&recorder->codes_done);
	vec_deinit(&recorder->tasks);
	vec_deinit(&recorder->image_wanted);
	vec_deinit(&recorder->ended);
	strbuf_deinit(&recorder->task_bytes);
	map_deinit(&recorder->refusals_told);
	free(recorder->heads);
	if (recorder->epoll_fd >= 0)
		close(recorder->epoll_fd);
	if (recorder->signal_fd >= 0)
		close(recorder->signal_fd);
	free(recorder);
}
