// SPDX-License-Identifier: GPL-2.0-only
#include "collect/recorder.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

#include "collect/recorder_end.h"
#include "collect/recorder_internal.h"
#include "collect/recorder_loop.h"
#include "collect/recorder_round.h"
#include "collect/recorder_tasks.h"
#include "collect/source_bpf.h"
#include "collect/source_trampoline.h"
#include "collect/tracepoints.h"

enum {
	/* Where processes begin all the time, there is always something new. */
	CATCH_UP_ROUNDS = 8,
};

static struct error *open_walker(struct recorder *recorder)
{
	struct error *error;

	if (recorder->options.python == &python_source_none ||
	    recorder->options.python == &python_source_trampoline ||
	    recorder->options.sampler.callchain == CALLCHAIN_NONE ||
	    recorder->options.sampler.callchain == CALLCHAIN_DWARF)
		return NULL;
	error = walker_create(&recorder->walker);
	if (error && !recorder->options.python &&
	    error->code != ERROR_NO_MEMORY) {
		recorder->no_walker = error;
		return NULL;
	}
	return error;
}

static bool is_tracepoint(const struct sampler_event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT;
}

/* True if an event before this one is of the same tracepoint. */
static bool is_attached(const struct sampler_options *options, size_t index)
{
	const struct sampler_event *events = options->events;

	for (size_t i = 0; i < index; i++)
		if (is_tracepoint(&events[i]) &&
		    events[i].attr.config == events[index].attr.config)
			return true;
	return false;
}

/*
 * A tracepoint runs its programs once, for all events that listen to it; other
 * events run theirs each.
 */
static struct error *attach_events(struct recorder *recorder)
{
	const struct sampler_options *options = &recorder->options.sampler;
	struct error *error = NULL;

	for (size_t i = 0; !error && i < options->event_count; i++)
		if (is_tracepoint(&options->events[i]) && !is_attached(options, i))
			error = walker_attach_tracepoint(
				recorder->walker, options->events[i].attr.config);
	vec_for_each(entry, &recorder->sampler.fds)
		if (!error && entry->event < options->event_count &&
		    !is_tracepoint(&options->events[entry->event]))
			error = walker_attach(recorder->walker, entry->fd);
	return error;
}

static struct error *attach_walker(struct recorder *recorder)
{
	struct sampler *sampler = &recorder->sampler;
	struct error *error = NULL;

	if (!recorder->walker)
		return NULL;
	for (size_t i = 0; !error && i < sampler->cpus.count; i++)
		if (sampler->cpus.data[i].walker_fd >= 0)
			error = walker_set_output(
				recorder->walker, sampler->cpus.data[i].cpu,
				sampler->cpus.data[i].walker_fd);
	if (!error)
		error = attach_events(recorder);
	return error ? error : walker_watch_exits(recorder->walker);
}

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

static struct error *open_parts(struct recorder *recorder)
{
	const struct recorder_options *options = &recorder->options;
	struct error *error = open_walker(recorder);

	if (!error)
		error = sampler_open(&recorder->sampler, &options->sampler,
				     recorder->walker != NULL);
	if (!error)
		error = attach_walker(recorder);
	if (!error)
		error = recorder_watch_rings(recorder);
	if (!error)
		error = process_table_create(&recorder->processes);
	if (!error)
		error = stack_builder_init(&recorder->stacks, &recorder->codes,
					   options->sampler.stack_size);
	recorder->stacks.owner = recorder->names.owner;
	recorder->stacks.walks = recorder->walker != NULL;
	recorder->stacks.trampolines = recorder_python(recorder) ==
				       &python_source_trampoline;
	if (!error)
		error = output_open(&recorder->output, options->output,
				    &recorder->sampler, options->uid,
				    options->gid);
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
	if (recorder->walker)
		return &python_source_bpf;
	if (recorder->options.python == &python_source_trampoline ||
	    recorder->no_walker)
		return &python_source_trampoline;
	return &python_source_none;
}

const struct error *recorder_no_walker(const struct recorder *recorder)
{
	return recorder->no_walker;
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
	if (recorder->walker)
		walker_detach_tracepoints(recorder->walker);
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
	walker_destroy(recorder->walker);
	sampler_close(&recorder->sampler);
	error_destroy(recorder->no_walker);
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
	vec_for_each(cpu, &recorder->cpus)
		python_stack_deinit(&cpu->python);
	vec_deinit(&recorder->cpus);
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
