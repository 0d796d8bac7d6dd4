// SPDX-License-Identifier: GPL-2.0-only
#include "collect/recorder.h"

#include <linux/perf_event.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/faults.h"
#include "base/strbuf.h"
#include "base/clock.h"
#include "collect/clocks.h"
#include "collect/code_spans.h"
#include "collect/cpu_time.h"
#include "collect/def_files.h"
#include "collect/exits.h"
#include "collect/file_features.h"
#include "collect/launched_python.h"
#include "collect/loaded_programs.h"
#include "collect/long_waits.h"
#include "collect/loop.h"
#include "collect/name_writer.h"
#include "collect/output.h"
#include "collect/python_threads.h"
#include "collect/pythons.h"
#include "collect/rings.h"
#include "collect/round.h"
#include "collect/sample_writer.h"
#include "collect/tracepoints.h"
#include "collect/tracking.h"
#include "collect/unended.h"
#include "perfdata/features.h"
#include "perfdata/kaa_stream.h"
#include "sys/proc.h"
#include "sys/task_stat.h"

enum {
	/* Where processes begin all the time, there is always something new. */
	CATCH_UP_ROUNDS = 8,
	MMAP_THRESHOLD = 128 << 10,
};

/* The parts, each of which knows those above it alone. */
struct recorder {
	struct recorder_options options;
	struct notes notes;
	struct def_files def_files;
	struct code_table codes;
	struct source_state *source;
	struct source_refusal refusal;
	struct sampler sampler;
	struct output output;
	/* TRACING_DATA from the start, the others at the end. */
	struct features features;
	struct rings rings;
	struct kernel_code kernel;
	struct loaded_programs programs;
	struct pythons pythons;
	struct source_hashes hashes;
	struct exits exits;
	struct tracking tracking;
	struct name_writer names;
	struct python_threads threads;
	struct sample_writer samples;
	struct round round;
	struct cpu_time cpu_time;
	struct loop loop;
	struct long_waits long_waits;
	struct unended unended;
	/* Since the events were enabled, in ns. */
	int64_t time;
	bool image_written;
};

/* --- opening --- */

static struct error *event_opened(void *arg, const struct perf_event_attr *attr,
				  bool by_cpu, int fd)
{
	struct source_state *source = arg;

	return source->source->ring->event_opened(source, attr, by_cpu, fd);
}

static bool follow(void *arg, const struct pid_vec *threads, bool on_exec)
{
	struct source_state *source = arg;

	return source->source->ring->follow(source, threads, on_exec);
}

static bool has_tracepoints(const struct sampler_options *options)
{
	for (size_t i = 0; i < options->event_count; i++)
		if (options->events[i].attr.type == PERF_TYPE_TRACEPOINT)
			return true;
	return false;
}

/* No events: the source takes the samples. */
static struct error *open_polled(struct recorder *recorder)
{
	const struct source_poll *polls = recorder->source->source->polls;
	struct sampler_options *options = &recorder->options.sampler;
	struct error *error;

	if (options->rate_by_default)
		options->frequency = options->time == TIME_OF_TASKS ?
					     POLLER_ASYNC_RATE :
					     POLLER_DEFAULT_RATE;
	error = sampler_open_own(&recorder->sampler, options,
				 polls->producer(recorder->source));
	return error ? error :
		       polls->attach(recorder->source, &recorder->sampler);
}

/* Events and the source, which needs them and gives them records. */
static struct error *open_events(struct recorder *recorder)
{
	const struct recorder_options *options = &recorder->options;
	bool off_cpu = clocks_has_off_cpu(&options->sampler);
	const struct source_setup setup = { .codes = &recorder->codes,
					    .notes = &recorder->notes,
					    .owner = recorder->names.names.owner,
					    .cpu_clocks = off_cpu ||
						    clocks_can_be_by_cpu(
							    &options->sampler),
					    .off_cpu = off_cpu,
					    .tracepoints = has_tracepoints(
						    &options->sampler),
					    .only_time = options->only_time,
					    .left_to_kaa = !options->python,
					    .sampler = &options->sampler };
	struct sampler_walker walker;
	const struct source_ring *ring;
	struct error *error = python_source_open(
		options->python, options->sampler.callchain, &setup,
		&recorder->source, &recorder->refusal);

	if (error)
		return error;
	if (recorder->source->source->polls)
		return open_polled(recorder);
	ring = recorder->source->source->ring;
	if (ring)
		walker = (struct sampler_walker){ follow, event_opened,
						  recorder->source };
	error = sampler_open(&recorder->sampler, &options->sampler,
			     ring ? &walker : NULL);
	if (error || !ring)
		return error;
	return ring->attach(recorder->source, &recorder->sampler);
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

static struct error *open_output(struct recorder *recorder)
{
	const struct recorder_options *options = &recorder->options;
	const struct sampler *sampler = &recorder->sampler;
	const struct output_options output = {
		.path = options->output,
		.file = 1,
		.uid = options->uid,
		.gid = options->gid,
		.compression = options->compression,
		.events = &sampler->kernel_events,
		.event_count = options->sampler.event_count,
		.callchain = options->sampler.callchain,
		.user_only = sampler->user_only,
	};
	struct error *error = output_open(&recorder->output, &output);

	if (error)
		return error;
	recorder->codes.file = recorder->output.file;
	recorder->names.names.file = recorder->output.file;
	error = describe_tracepoints(recorder);
	if (error)
		return error;
	return perfdata_writer_tracing_data(recorder->output.writer,
					    &recorder->features);
}

/* What a part needs of the others. */
static void connect(struct recorder *recorder)
{
	const struct recorder_options *options = &recorder->options;
	bool gives_trampolines = recorder_gives_trampolines(options);

	source_hashes_init(&recorder->hashes);
	recorder->pythons = (struct pythons){
		.source = recorder->source,
		.output = &recorder->output,
		.notes = &recorder->notes,
		.hashes = &recorder->hashes,
		.root = options->sampler.root,
		.could_have_trampolines = gives_trampolines,
	};
	recorder->tracking = (struct tracking){
		.events = &recorder->sampler.kernel_events,
		.output = &recorder->output,
		.pythons = &recorder->pythons,
		.threads = &recorder->threads,
		.exits = &recorder->exits,
	};
	recorder->exits = (struct exits){
		.output = &recorder->output,
		.by_cpu = recorder->sampler.clocks_by_cpu ||
			  options->system_wide,
	};
	recorder->names.output = &recorder->output;
	recorder->threads.output = &recorder->output;
	recorder->threads.root = options->sampler.root;
	recorder->threads.from_beginning = clocks_has_off_cpu(&options->sampler);
	recorder->samples = (struct sample_writer){
		.events = &recorder->sampler.kernel_events,
		.tracking = &recorder->tracking,
		.names = &recorder->names,
		.threads = &recorder->threads,
		.cpu_time = &recorder->cpu_time,
		.output = &recorder->output,
		.notes = &recorder->notes,
		.long_waits = &recorder->long_waits,
		.callchain = options->sampler.callchain,
	};
	recorder->long_waits.thread = (struct waiting_thread){
		.root = options->sampler.root,
		.source = recorder->source,
		.codes = &recorder->codes,
	};
	recorder->unended = (struct unended){
		.sampler = &recorder->sampler,
		.source = recorder->source,
		.codes = &recorder->codes,
		.tracking = &recorder->tracking,
		.samples = &recorder->samples,
	};
	recorder->round = (struct round){
		.source = recorder->source,
		.rings = &recorder->rings,
		.tracking = &recorder->tracking,
		.samples = &recorder->samples,
		.names = &recorder->names,
		.threads = &recorder->threads,
		.cpu_time = &recorder->cpu_time,
		.output = &recorder->output,
		.long_waits = &recorder->long_waits,
	};
	recorder->cpu_time = (struct cpu_time){
		.sampler = &recorder->sampler,
		.source = recorder->source,
		.output = &recorder->output,
	};
	recorder->loop.cpu_time = &recorder->cpu_time;
	recorder->loop.sampler = &recorder->sampler;
	recorder->loop.round = &recorder->round;
	recorder->loop.launch = options->launch;
	recorder->loop.records_launch = options->records_launch;
	recorder->loop.gives_trampolines =
		gives_trampolines && recorder->source->source->gives_trampolines;
	recorder->loop.delay_ms = options->delay_ms;
	recorder->loop.duration_ms = options->duration_ms;
}

static struct error *open_waits(struct recorder *recorder)
{
	struct waits *waits = &recorder->samples.waits;
	struct error *error =
		waits_init(waits, recorder->options.sampler.root);

	recorder->long_waits.tracking = &recorder->tracking;
	if (!error && !waits->schedule_start)
		notes_tell(&recorder->notes,
			   "the kernel hides its names from this user: off-cpu says 'waiting' and not which system call; root has them, and a kaa with cap_syslog, too");
	return error;
}

static struct error *open_parts(struct recorder *recorder)
{
	struct error *error = open_events(recorder);

	/* Later kaa may have become another user, who may not ask. */
	if (!error)
		error = loaded_programs_read(&recorder->programs);
	if (error)
		return error;
	recorder->kernel = kernel_code_find(recorder->options.sampler.root);
	connect(recorder);
	if (clocks_has_off_cpu(&recorder->options.sampler))
		error = open_waits(recorder);
	if (error)
		return error;
	error = rings_init(&recorder->rings, &recorder->sampler);
	if (error)
		return error;
	error = cpu_time_open(&recorder->cpu_time);
	if (error)
		return error;
	error = loop_open(&recorder->loop);
	if (error)
		return error;
	error = tracking_init(&recorder->tracking);
	if (error)
		return error;
	recorder->threads.processes = recorder->tracking.processes;
	error = sample_writer_init(&recorder->samples, recorder->source,
				   &recorder->codes,
				   recorder->options.sampler.stack_size);
	if (error)
		return error;
	return open_output(recorder);
}

/*
 * Sections of files come and go, and each is read whole. Left to itself, malloc
 * puts larger and larger ones into the heap, which then never shrinks.
 */
static void keep_heap_small(void)
{
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	mallopt(M_TRIM_THRESHOLD, 2 * MMAP_THRESHOLD);
}

struct error *recorder_open(const struct recorder_options *options,
			    notes_sink *message, struct recorder **ret)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	struct error *error;

	if (!recorder)
		return error_no_memory();
	keep_heap_small();
	recorder->options = *options;
	recorder->notes.sink = message;
	recorder->output.bytes = (struct strbuf)STRBUF_INIT;
	recorder->rings = (struct rings)RINGS_INIT;
	recorder->loop = (struct loop)LOOP_INIT;
	recorder->names.names.owner =
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

bool recorder_clocks_by_cpu(const struct recorder *recorder)
{
	return recorder->sampler.clocks_by_cpu;
}

/* --- recording --- */

static struct error *synthesize(struct recorder *recorder)
{
	const struct recorder_options *options = &recorder->options;
	const struct tracking_start start = {
		.root = options->sampler.root,
		.system_wide = options->system_wide,
		.processes = &options->processes,
		.kernel = &recorder->kernel,
		.programs = &recorder->programs,
		.data_maps = options->sampler.callchain == CALLCHAIN_DWARF,
	};

	return tracking_synthesize(&recorder->tracking, &start);
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
		error = round_run(&recorder->round);
		if (!recorder->rings.tasks.count)
			break;
	}
	return error;
}

/* What nobody has woken by now has no sample yet. */
static struct error *write_unended(struct recorder *recorder)
{
	struct error *error;

	if (!clocks_has_off_cpu(&recorder->options.sampler))
		return NULL;
	error = unended_write(&recorder->unended);
	return error ? error : round_run(&recorder->round);
}

struct error *recorder_run(struct recorder *recorder)
{
	const struct source_ring *ring = recorder->source->source->ring;
	bool on_exec = recorder->options.sampler.enable_on_exec;
	struct error *error = loop_open_signals(&recorder->loop);
	int64_t began;

	/* What starts while the others are looked at has records of its own. */
	if (!error && !on_exec)
		error = sampler_enable_tasks(&recorder->sampler);
	if (!error)
		error = synthesize(recorder);
	if (!error && !on_exec)
		error = catch_up(recorder);
	if (!error && recorder->options.program)
		error = launched_python_prepare(
			&recorder->tracking.targets.files,
			recorder->options.program);
	if (!error)
		error = loop_start(&recorder->loop);
	began = clock_ns(CLOCK_MONOTONIC) +
		(int64_t)recorder->options.delay_ms * 1000000;
	if (!error)
		error = loop_run(&recorder->loop);
	recorder->time = clock_ns(CLOCK_MONOTONIC) - began;
	sampler_disable(&recorder->sampler);
	cpu_time_end(&recorder->cpu_time);
	if (ring && ring->stop)
		ring->stop(recorder->source);
	if (!error)
		error = round_run(&recorder->round);
	return error ? error : write_unended(recorder);
}

/* --- the end --- */

/* All that the command ran was to be recorded; of a poller that came late, more than it saw. */
static uint64_t command_ran(const struct recorder *recorder)
{
	const struct recorder_options *options = &recorder->options;

	return options->records_launch && options->sampler.inherit &&
			       !options->delay_ms &&
			       options->sampler.time == TIME_ON_CPU ?
		       loop_command_ran(&recorder->loop) :
		       0;
}

static struct poll_counts poll_counts(const struct recorder *recorder)
{
	const struct source_poll *polls = recorder->source->source->polls;
	struct poll_counts counts = {};

	if (!polls)
		return counts;
	polls->counts(recorder->source, &counts);
	if (counts.ran && counts.ran < command_ran(recorder))
		counts.ran = command_ran(recorder);
	return counts;
}

static struct cpu_time_result time_result(const struct recorder *recorder)
{
	const struct poll_counts counts = poll_counts(recorder);

	if (!recorder->source->source->polls)
		return cpu_time_result(&recorder->cpu_time);
	return (struct cpu_time_result){
		.ran = counts.ran,
		.without_samples = counts.ran > counts.given ?
					   counts.ran - counts.given :
					   0,
		.by_chance = fault_polled_by_chance(counts.ran),
	};
}

/*
 * Of polled threads all, else what is known of the command's first one: its wait at the
 * beginning or the end may not be all within the recording.
 */
static uint64_t kept_off(const struct recorder *recorder)
{
	uint64_t time = recorder->time > 0 ? (uint64_t)recorder->time : 0;
	uint64_t first;

	if (recorder->source->source->polls)
		return poll_counts(recorder).kept_off;
	first = loop_kept_off(&recorder->loop);
	return first < time ? first : time;
}

static bool is_by_clock(const struct recorder *recorder)
{
	enum sampled_time time = recorder->options.sampler.time;

	return time == TIME_BY_CLOCK || time == TIME_OF_TASKS;
}

static uint64_t wall_time_without_samples(const struct recorder *recorder)
{
	return is_by_clock(recorder) ? poll_counts(recorder).untold : 0;
}

static uint64_t wall_time_with_samples(const struct recorder *recorder)
{
	return wall_time_without_samples(recorder) ? poll_counts(recorder).told :
						     0;
}

/* Of time that the kernel does not count. */
static struct poll_counts coarse(const struct recorder *recorder)
{
	return recorder->options.sampler.time == TIME_ON_CPU ?
		       (struct poll_counts){} :
		       poll_counts(recorder);
}

/* As long a part of the recorded time as it was of the time between the first and the last tick. */
static uint64_t recorder_kept_off(const struct recorder *recorder)
{
	const struct poll_counts counts = coarse(recorder);

	return counts.ticked ? (uint64_t)((double)counts.own_kept_off /
					  (double)counts.ticked *
					  (double)recorder->time) :
			       0;
}

/* By wall time the kernel's account tells what they would have shown. */
static uint64_t late_samples(const struct recorder *recorder)
{
	return is_by_clock(recorder) ? 0 : poll_counts(recorder).late;
}

/* By polling, whatever tells what they would have shown. */
static uint64_t not_taken(const struct recorder *recorder)
{
	const struct poll_counts counts = poll_counts(recorder);

	return counts.late + counts.rejected;
}

/*
 * Samples that found no room, as near to the truth as the counters are. The
 * kernel writes LOST records only before the next record of the same ring, and
 * counts per event only for the threads that were there at the start: the
 * larger number is nearer to the truth.
 */
static uint64_t lost_samples(const struct recorder *recorder)
{
	const struct source_ring *ring = recorder->source->source->ring;
	uint64_t counted = sampler_lost(&recorder->sampler, false);

	if (ring && ring->lost)
		counted += ring->lost(recorder->source);
	if (counted < recorder->tracking.lost)
		counted = recorder->tracking.lost;
	return counted + recorder->samples.mixed_up;
}

/* Of processes, their files and threads. */
static uint64_t lost_tasks(const struct recorder *recorder)
{
	uint64_t counted = sampler_lost(&recorder->sampler, true);

	return counted > recorder->tracking.lost_tasks ?
		       counted :
		       recorder->tracking.lost_tasks;
}

/* Looks at threads, and threads: more than that there are some says nothing. */
static uint64_t not_followed(const struct recorder *recorder)
{
	const struct poll_counts polled = poll_counts(recorder);

	return polled.missed + polled.too_many +
	       time_result(recorder).missed;
}

static struct error *put_names(struct recorder *recorder)
{
	struct error *error = name_writer_put_all(&recorder->names);

	if (!error)
		error = name_writer_put_removed(
			&recorder->names, &recorder->tracking.targets.files);
	if (!error)
		error = name_writer_put_hashes(&recorder->names, &recorder->hashes,
					       &recorder->codes);
	if (error || recorder->options.sampler.callchain != CALLCHAIN_DWARF)
		return error;
	return name_writer_put_source(&recorder->names, recorder->source);
}

static struct error *put_summary(struct recorder *recorder)
{
	const struct stack_stats *s = &recorder->samples.stacks.stats;
	const struct cpu_time_result time = time_result(recorder);
	const struct kaa_counter counters[] = {
		{ { FAULT_SAMPLES, strlen(FAULT_SAMPLES) }, s->samples },
		{ { "lost", 4 }, lost_samples(recorder) },
		{ { "truncated", 9 }, s->truncated },
		{ { "unreadable", 10 }, s->unreadable },
		{ { "not aligned", 11 }, s->not_aligned },
		{ { "missing native", 14 }, s->missing_native },
		/* Left out where they are not known, or there are none. */
		{ { "CPU time in us", 14 }, time.ran / 1000 },
		{ { FAULT_WITHOUT_SAMPLES, strlen(FAULT_WITHOUT_SAMPLES) },
		  time.without_samples / 1000 },
		{ { FAULT_WALL_WITHOUT_SAMPLES,
		    strlen(FAULT_WALL_WITHOUT_SAMPLES) },
		  wall_time_without_samples(recorder) / 1000 },
		{ { FAULT_WALL_WITH_SAMPLES, strlen(FAULT_WALL_WITH_SAMPLES) },
		  wall_time_with_samples(recorder) / 1000 },
		{ { FAULT_KEPT_OFF, strlen(FAULT_KEPT_OFF) },
		  kept_off(recorder) / 1000 },
		{ { FAULT_UNENDED_WAITS, strlen(FAULT_UNENDED_WAITS) },
		  recorder->unended.time / 1000 },
		{ { FAULT_LATE, strlen(FAULT_LATE) }, late_samples(recorder) },
		{ { FAULT_RECORDER_KEPT_OFF, strlen(FAULT_RECORDER_KEPT_OFF) },
		  recorder_kept_off(recorder) / 1000 },
		{ { FAULT_TICKS_APART, strlen(FAULT_TICKS_APART) },
		  coarse(recorder).ticks_apart / 1000 },
		{ { FAULT_LEFT_OUT, strlen(FAULT_LEFT_OUT) },
		  not_taken(recorder) - late_samples(recorder) },
		{ { FAULT_COUNTER_TASKS, strlen(FAULT_COUNTER_TASKS) },
		  lost_tasks(recorder) },
		{ { FAULT_COUNTER_CODES, strlen(FAULT_COUNTER_CODES) },
		  recorder->codes.broken },
		{ { FAULT_COUNTER_NO_LINES, strlen(FAULT_COUNTER_NO_LINES) },
		  recorder->codes.without_lines },
		{ { FAULT_COUNTER_UNFOLLOWED, strlen(FAULT_COUNTER_UNFOLLOWED) },
		  not_followed(recorder) },
		{ { FAULT_COUNTER_MADE, strlen(FAULT_COUNTER_MADE) },
		  recorder->tracking.targets.files.left_out_code },
		{ { FAULT_TIME, strlen(FAULT_TIME) },
		  recorder->time > 0 ? (uint64_t)recorder->time / 1000 : 0 },
	};
	enum { ALWAYS = 6, ALL = sizeof(counters) / sizeof(counters[0]) };
	struct kaa_counter put[ALL];
	size_t count = 0;
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	struct error *error;

	for (size_t i = 0; i < ALL; i++)
		if (i < ALWAYS || counters[i].value ||
		    (i < ALWAYS + 2 && time.ran))
			put[count++] = counters[i];
	error = kaa_encode_summary(put, count, &payload);

	if (error)
		return error;
	return output_payload(&recorder->output,
			      output_time_last(&recorder->output), 0,
			      payload.data, payload.len);
}

/* As perf writes it, for all readers; of which event they are is not told apart. */
static struct error *put_lost(struct recorder *recorder)
{
	struct output *output = &recorder->output;
	const struct record record = {
		.type = PERF_RECORD_LOST_SAMPLES,
		.pid = output->first_pid,
		.tid = output->first_pid,
		.time = output_time_last(output),
		.id = output->events.list.data[0]->ids.data[0],
		.lost = { .lost = lost_samples(recorder) },
	};

	return record.lost.lost ? output_record(output, &record) : NULL;
}

/* What stands behind the samples. */
static struct error *put_end(struct recorder *recorder)
{
	struct error *error = put_names(recorder);

	if (!error)
		error = put_summary(recorder);
	if (!error)
		error = put_lost(recorder);
	if (!error)
		error = exits_end(&recorder->exits);
	return error ? error : output_round(&recorder->output);
}

/* And the header, also where there was no room for all records: who recorded, and how. */
static struct error *finish_file(struct recorder *recorder)
{
	const struct recording_program program = {
		.argc = recorder->options.argc,
		.argv = recorder->options.argv,
		.version = recorder->options.version,
	};
	struct error *early = put_end(recorder);
	struct error *error = file_features_fill(&recorder->features, &program,
						 &recorder->options.sampler,
						 &recorder->output);

	if (!error)
		error = perfdata_writer_finish(recorder->output.writer,
					       &recorder->features);
	if (!early)
		return error;
	error_destroy(error);
	return early;
}

/* What kaa itself does not need does not make a recording fail. */
static void write_image(struct recorder *recorder, bool report)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error = output_image(
		&recorder->output, &recorder->codes, &recorder->image_written);

	if (error && report) {
		error_format(error, &text);
		notes_tell(&recorder->notes,
			   "other tools will not show the names of Python functions: %s",
			   text.data);
	}
	error_destroy(error);
}

struct error *recorder_finish(struct recorder *recorder,
			      struct recorder_result *ret)
{
	struct error *error = finish_file(recorder);

	write_image(recorder, !error);
	loop_wait_for_command(&recorder->loop);
	*ret = (struct recorder_result){
		.cpu_time = time_result(recorder),
		.polled = poll_counts(recorder),
		.stacks = recorder->samples.stacks.stats,
		.samples = recorder->output.samples,
		.lost = lost_samples(recorder),
		.lost_tasks = lost_tasks(recorder),
		.not_taken = not_taken(recorder),
		.load = recorder->rings.load,
		.late_threads = recorder->sampler.late_threads,
		.waits = { recorder->unended.threads, recorder->unended.time },
		.python_ran = recorder->pythons.any,
		.unopened_files = recorder->tracking.targets.files.unopened,
		.left_out_code = recorder->tracking.targets.files.left_out_code,
		.broken_codes = recorder->codes.broken,
		.without_lines = recorder->codes.without_lines,
		.codes_full = code_table_is_full(&recorder->codes),
		.file_size = perfdata_writer_file_size(recorder->output.writer),
		.status = recorder->loop.status,
		.stopped_by = recorder->loop.stopped_by,
		.image = recorder->image_written ?
				 recorder->output.image_path :
				 NULL,
	};
	return error;
}

static bool has_pid(const pid_t *list, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == pid)
			return true;
	return false;
}

size_t recorder_running(const struct recorder *recorder, pid_t except,
			pid_t *ret, size_t room)
{
	const struct tracking *tracking = &recorder->tracking;
	size_t count = 0;

	vec_for_each(target, &tracking->targets.all) {
		uint32_t pid = (*target)->pid;

		if (count == room)
			break;
		if ((pid_t)pid <= 0 || (pid_t)pid == except ||
		    has_pid(ret, count, (pid_t)pid) ||
		    process_table_has_ended(tracking->processes, pid, pid,
					    UINT64_MAX - 1) ||
		    !process_lives(NULL, (pid_t)pid))
			continue;
		ret[count++] = (pid_t)pid;
	}
	return count;
}

void recorder_destroy(struct recorder *recorder)
{
	if (!recorder)
		return;
	python_source_close(recorder->source);
	error_destroy(recorder->refusal.why);
	cpu_time_close(&recorder->cpu_time);
	sampler_close(&recorder->sampler);
	loop_deinit(&recorder->loop);
	rings_deinit(&recorder->rings);
	loaded_programs_deinit(&recorder->programs);
	output_close(&recorder->output);
	features_deinit(&recorder->features);
	long_waits_deinit(&recorder->long_waits);
	sample_writer_deinit(&recorder->samples);
	name_writer_deinit(&recorder->names);
	python_threads_deinit(&recorder->threads);
	tracking_deinit(&recorder->tracking);
	exits_deinit(&recorder->exits);
	pythons_deinit(&recorder->pythons);
	code_table_deinit(&recorder->codes);
	def_files_deinit(&recorder->def_files);
	free(recorder);
}
