// SPDX-License-Identifier: GPL-2.0-only
#include "convert/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/thread_match.h"
#include "convert/chain_stacks.h"
#include "convert/dwarf.h"
#include "convert/frame_names.h"
#include "convert/header.h"
#include "convert/sample_filter.h"
#include "convert/thread_table.h"
#include "convert/timeline.h"
#include "obj/kallsyms.h"
#include "perfdata/kaa_stream.h"
#include "process/process.h"

enum {
	/* Bytes that resolved stacks and frames may hold. */
	CACHE_LIMIT = 256 << 20,
	/* Records between two times that the past is forgotten. */
	FORGET_EVERY = 4096,
	/* Bytes of --kallsyms, at most. */
	KALLSYMS_MAX = 256 << 20,
	COUNTERS_MAX = 4096,
};

/* Samples may come this much after what they depend on; ns. */
#define FORGET_SLACK 5000000000u

struct converter {
	struct perfdata_reader *reader;
	const struct convert_options *options;
	struct process_table *table;
	struct names names;
	struct stacks stacks;
	struct dwarf dwarf;
	bool dwarf_ready;
	/* The chain of a sample that was unwound here. */
	address_vec words;
	struct convert_stats stats;
	struct seen_tasks seen_tasks;
	struct thread_table threads;
	/* By pid that of the process that started it. */
	struct map parents;
	/* What the recorder counted. */
	struct faults recorder;
	bool has_summary;
	/* The kaa stream was read before the samples. */
	bool stream_read;
	/* For processes whose set of maps has no number. */
	uint64_t last_space;
	uint64_t records;
	/* Where the sample is that the callback has. */
	struct place place;
	/* See converter_forget_stacks(). */
	bool forgets_stacks;
	convert_record_fn *on_record;
	void *on_record_arg;
};

struct perfdata_reader *converter_reader(struct converter *converter)
{
	return converter->reader;
}

struct dso_store *converter_dsos(struct converter *converter)
{
	return converter->names.store;
}

bool converter_is_python(const struct converter *converter,
			 const struct dso *dso)
{
	return dso == converter->names.python_dso ||
	       dso == converter->names.no_python_dso;
}

const struct name_list *converter_comms(const struct converter *converter)
{
	return &converter->options->comms;
}

const struct seen_tasks *converter_seen_tasks(const struct converter *converter)
{
	return &converter->seen_tasks;
}

struct convert_stats converter_stats(const struct converter *converter)
{
	struct convert_stats stats = converter->stats;
	struct process_stats tasks = process_table_stats(converter->table);

	stats.broken_chains = converter->stacks.broken;
	stats.missing_jitdumps = converter->names.jits.stats.missing;
	stats.dropped_tasks = tasks.over_limit + tasks.malformed;
	return stats;
}

static bool has_stream(const struct perfdata_reader *reader)
{
	vec_for_each(event, &perfdata_reader_events(reader)->list)
		if ((*event)->meaning.kind == EVENT_STREAM)
			return true;
	return false;
}

static struct error *add_python(struct metadata *metadata,
				const struct names_python *python)
{
	struct metadata_python copy = { .version = python->version };
	struct error *error =
		metadata_copy(metadata, python->path, &copy.path);

	if (error)
		return error;
	return vec_push(&metadata->pythons, copy) ? NULL : error_no_memory();
}

static struct error *add_script(struct metadata *metadata,
				const struct metadata_script *script)
{
	struct metadata_script copy = *script;
	struct error *error =
		metadata_copy(metadata, script->script, &copy.script);

	if (error)
		return error;
	return vec_push(&metadata->scripts, copy) ? NULL : error_no_memory();
}

static struct error *add_source(struct metadata *metadata,
				const struct metadata_source *source)
{
	struct metadata_source copy = *source;
	struct error *error =
		metadata_copy(metadata, source->path, &copy.path);

	if (error)
		return error;
	return vec_push(&metadata->sources, copy) ? NULL : error_no_memory();
}

struct error *converter_metadata(const struct converter *converter,
				 struct metadata *ret)
{
	struct error *error = convert_header(converter->reader, ret);

	ret->has_python_frames = has_stream(converter->reader);
	vec_for_each(python, &converter->names.pythons)
		if (!error)
			error = add_python(ret, python);
	vec_for_each(script, &converter->names.scripts)
		if (!error)
			error = add_script(ret, script);
	vec_for_each(source, &converter->names.sources)
		if (!error)
			error = add_source(ret, source);
	metadata_sort_sources(ret);
	return error;
}

/* That the data is packed stands in the file from the beginning. */
static bool has_features(const struct perfdata_reader *reader)
{
	const struct features *features = perfdata_reader_features(reader);

	for (enum feature bit = 0; bit < FEATURE_MAX; bit++)
		if (bit != FEATURE_COMPRESSED && features_have(features, bit))
			return true;
	return false;
}

/*
 * The summary and the features stand at the end, these also where a full disk has no room
 * for that. The sizes in the header say nothing of it: they are kept right while kaa
 * records, for who reads a recording that goes on.
 */
static bool lacks_summary(const struct converter *converter,
			  const struct faults *found)
{
	return !perfdata_reader_is_pipe(converter->reader) &&
	       has_stream(converter->reader) && !converter->has_summary &&
	       !faults_lack_end(found);
}

/* Of what is no recording of kaa's, as an import, nobody has counted anything. */
static bool is_of_recorder(const struct converter *converter)
{
	return perfdata_reader_stats(converter->reader)
		->records[PERFDATA_FINISHED_INIT];
}

static struct error *add_lack_of_end(const struct converter *converter,
				     struct faults *ret)
{
	if (!lacks_summary(converter, ret))
		return NULL;
	if (!has_features(converter->reader))
		return faults_add(ret, FAULT_UNFINISHED, 1, NULL);
	return is_of_recorder(converter) ?
		       faults_add(ret, FAULT_ENDED_EARLY, 1, NULL) :
		       NULL;
}

struct error *converter_faults(const struct converter *converter,
			       struct faults *ret)
{
	const struct convert_stats stats = converter_stats(converter);
	const struct faults *recorder = &converter->recorder;
	const struct fault all[] = {
		{ FAULT_BROKEN_CHAINS, stats.broken_chains, NULL },
		{ FAULT_BROKEN_STREAM, stats.broken_stream, NULL },
		{ FAULT_DROPPED_TASKS, stats.dropped_tasks, NULL },
	};
	struct error *error = perfdata_reader_faults(converter->reader, ret);

	if (!error)
		error = add_lack_of_end(converter, ret);
	if (!error)
		error = faults_add_all(ret, all, sizeof(all) / sizeof(*all));
	if (!error)
		error = jits_faults(&converter->names.jits, ret);
	return error ? error : faults_add_all(ret, recorder->list.data,
					      recorder->list.count);
}

struct error *converter_stack_faults(const struct converter *converter,
				     struct faults *ret)
{
	const struct convert_stats *stats = &converter->stats;
	const struct fault all[] = {
		{ FAULT_TRUNCATED_STACKS, stats->truncated, NULL },
		{ FAULT_NOT_ALIGNED, stats->not_aligned, NULL },
		{ FAULT_MISSING_NATIVE, stats->missing_native, NULL },
		{ FAULT_UNREADABLE_PYTHON, stats->unreadable, NULL },
		{ FAULT_INCOMPLETE_UNWINDS, stats->unwound_incomplete, NULL },
		{ FAULT_UNNAMED_FRAMES, stats->unresolved, NULL },
	};

	return faults_add_all(ret, all, sizeof(all) / sizeof(*all));
}

bool converter_jit_code(const struct converter *converter, const char *path,
			uint64_t start, uint64_t end, const char *name,
			struct jit_image *ret)
{
	const struct jit_dump *dump;
	const struct jit_code *code = jits_code(&converter->names.jits, path,
						start, end, name, &dump);

	if (!code)
		return false;
	*ret = jit_dump_image(dump, code);
	return true;
}

const char *converter_last_comm(const struct converter *converter, int32_t pid,
				int32_t tid)
{
	return process_table_comm_at(converter->table, (uint32_t)pid,
				     (uint32_t)tid, UINT64_MAX);
}

int32_t converter_parent(const struct converter *converter, int32_t pid)
{
	const uint64_t *parent = map_find(&converter->parents, (uint32_t)pid);

	return parent ? (int32_t)*parent : 0;
}

/* --- The kaa stream ----------------------------------------------------- */

/* What has words of its own. */
static bool is_kind(const struct kaa_counter *counter, enum fault_kind *ret)
{
	static const struct {
		const char *name;
		enum fault_kind kind;
	} kinds[] = {
		{ FAULT_COUNTER_TASKS, FAULT_LOST_TASKS },
		{ FAULT_COUNTER_UNFOLLOWED, FAULT_UNFOLLOWED },
		{ FAULT_COUNTER_CODES, FAULT_LEFT_OUT_CODES },
		{ FAULT_COUNTER_NO_LINES, FAULT_CODES_WITHOUT_LINES },
		{ FAULT_COUNTER_MADE, FAULT_LEFT_OUT_MADE },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (counter->name.len != strlen(kinds[i].name) ||
		    memcmp(counter->name.data, kinds[i].name,
			   counter->name.len) != 0)
			continue;
		*ret = kinds[i].kind;
		return true;
	}
	return false;
}

static struct error *add_counter(struct converter *c,
				 const struct kaa_counter *counter)
{
	enum fault_kind kind;
	const char *name;

	if (is_kind(counter, &kind))
		return faults_add(&c->recorder, kind, counter->value, NULL);
	name = arena_strndup(&c->names.arena, counter->name.data,
			     counter->name.len);
	return name ? faults_add(&c->recorder, FAULT_OF_RECORDER,
				 counter->value, name) :
		      error_no_memory();
}

static struct error *add_summary(struct converter *c,
				 struct kaa_summary *summary)
{
	struct kaa_counter counter;
	struct error *error = NULL;

	c->has_summary = true;
	while (!error && c->recorder.list.count < COUNTERS_MAX &&
	       kaa_summary_next(summary, &counter))
		error = add_counter(c, &counter);
	return error;
}

/* A payload that breaks its format is counted and left out. */
static struct error *apply_stream(struct converter *c,
				  const struct record *record)
{
	struct kaa_payload payload;
	struct error *error;

	if (!(record->has & PERF_SAMPLE_RAW))
		return NULL;
	error = kaa_stream_decode(record->sample.raw, record->sample.raw_size,
				  &payload);
	if (!error && payload.type == KAA_SUMMARY)
		error = add_summary(c, &payload.summary);
	else if (!error && payload.type == KAA_THREAD)
		error = thread_table_add(&c->threads, &payload.thread);
	else if (!error)
		error = names_add_payload(&c->names, &payload);
	if (error && error->code != ERROR_NO_MEMORY) {
		c->stats.broken_stream++;
		error_destroy(error);
		return NULL;
	}
	return error;
}

/*
 * Names of code made at run time stand behind the samples that need them: the
 * stream is read first, where the file can be read twice.
 */
static struct error *read_stream(struct converter *c, int fd, const char *path)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	const struct record *record;
	struct error *error;
	char again[64];
	int second;

	if (perfdata_reader_is_pipe(c->reader) || !has_stream(c->reader))
		return NULL;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
	second = open(again, O_RDONLY | O_CLOEXEC);
	if (second < 0)
		return NULL;
	error = perfdata_reader_open_fd(second, path, &reader);
	if (error)
		return error;
	while (!(error = perfdata_reader_next(reader, &record)) && record) {
		if (record->type != PERF_RECORD_SAMPLE || !record->event ||
		    record->event->meaning.kind != EVENT_STREAM)
			continue;
		error = apply_stream(c, record);
		if (error)
			return error;
	}
	c->stream_read = true;
	return error;
}

/* --- Opening ------------------------------------------------------------ */

static struct error *add_kallsyms(struct converter *c,
				  const struct kallsyms *syms)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < syms->symtab.count; i++) {
		const struct symbol *s = &syms->symtab.symbols[i];
		struct symbol_range range = {
			.pid = SYMBOLIZE_KERNEL,
			.start = s->start,
			.size = s->end - s->start,
			.to = SYMBOLIZE_FOREVER,
			.name = s->name,
			.dso_name = syms->modules[s->group],
		};

		error = symbolizer_add_range(c->names.symbolizer, &range);
	}
	return error;
}

static struct error *read_kallsyms(struct converter *c, const char *path)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct kallsyms syms = {};
	struct error *error;
	int errnum;

	if (fd < 0)
		return error_os(errno, path, "cannot open");
	errnum = strbuf_read(&text, fd, KALLSYMS_MAX);
	if (errnum == EFBIG)
		return error_at(ERROR_LIMIT, path, KALLSYMS_MAX,
				"too large for kallsyms");
	if (errnum)
		return errnum == ENOMEM ? error_no_memory() :
					  error_os(errnum, path, "cannot read");
	error = kallsyms_parse(&text, &syms);
	if (error)
		return error;
	error = add_kallsyms(c, &syms);
	kallsyms_deinit(&syms);
	return error;
}

static struct error *converter_init(struct converter *c, int fd,
				    const char *path)
{
	struct error *error;

	error = perfdata_reader_open_fd(fd, path, &c->reader);
	if (error)
		return error;
	error = process_table_create(&c->table);
	if (error)
		return error;
	if (c->options->quirks.own_names_only)
		process_table_own_names_only(c->table);
	error = names_init(&c->names, c->options, c->table,
			   perfdata_reader_features(c->reader));
	if (error)
		return error;
	c->stacks.names = &c->names;
	c->stacks.options = c->options;
	if (c->options->kallsyms) {
		error = read_kallsyms(c, c->options->kallsyms);
		if (error)
			return error;
	}
	return read_stream(c, fd, path);
}

struct error *converter_open_fd(int fd, const char *path,
				const struct convert_options *options,
				struct converter **ret)
{
	struct converter *c = calloc(1, sizeof(*c));
	struct error *error;

	if (!c) {
		close(fd);
		return error_no_memory();
	}
	c->options = options;
	error = converter_init(c, fd, path);
	if (error) {
		converter_destroy(c);
		return error;
	}
	*ret = c;
	return NULL;
}

struct error *converter_open(const char *path,
			     const struct convert_options *options,
			     struct converter **ret)
{
	int fd = STDIN_FILENO;

	if (!strcmp(path, "-"))
		fd = dup(STDIN_FILENO);
	else
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_os(errno, path, "cannot open");
	return converter_open_fd(fd, path, options, ret);
}

void converter_destroy(struct converter *c)
{
	if (!c)
		return;
	stacks_deinit(&c->stacks);
	dwarf_deinit(&c->dwarf);
	names_deinit(&c->names);
	process_table_destroy(c->table);
	perfdata_reader_destroy(c->reader);
	vec_deinit(&c->words);
	faults_deinit(&c->recorder);
	seen_tasks_deinit(&c->seen_tasks);
	thread_table_deinit(&c->threads);
	map_deinit(&c->parents);
	free(c);
}

/* --- Samples ------------------------------------------------------------ */

static enum address_mode mode_of_cpu(uint16_t cpumode)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		return ADDRESS_KERNEL;
	case PERF_RECORD_MISC_USER:
		return ADDRESS_USER;
	default:
		return ADDRESS_OTHER;
	}
}

static enum address_mode mode_of(const struct record *record)
{
	return mode_of_cpu(record_cpumode(record));
}

/* The recorded part of a chain that stands before its user part. */
static struct error *copy_kernel_part(struct converter *c,
				      const struct record_sample *sample)
{
	for (size_t i = 0; i < sample->callchain_count; i++) {
		if (sample->callchain[i] == (uint64_t)PERF_CONTEXT_USER)
			break;
		if (!vec_push(&c->words, sample->callchain[i]))
			return error_no_memory();
	}
	return NULL;
}

static struct error *unwind_chain(struct converter *c,
				  const struct record *record,
				  struct process *process, struct chain *chain)
{
	struct error *error = NULL;
	bool complete = false;

	if (!c->dwarf_ready) {
		error = dwarf_init(&c->dwarf, &c->names.images,
				   &c->names.jits);
		c->dwarf.names = &c->names;
		if (error)
			return error;
		c->dwarf_ready = true;
	}
	vec_clear(&c->words);
	if (record->has & PERF_SAMPLE_CALLCHAIN)
		error = copy_kernel_part(c, &record->sample);
	if (error)
		return error;
	if (!vec_push(&c->words, (uint64_t)PERF_CONTEXT_USER))
		return error_no_memory();
	error = dwarf_unwind(&c->dwarf, record, process, &c->words, &complete);
	if (error)
		return error;
	c->stats.unwound++;
	c->stats.unwound_incomplete += !complete;
	chain->words = c->words.data;
	chain->count = c->words.count;
	chain->style = complete ? CHAIN_UNWOUND : CHAIN_UNWOUND_INCOMPLETE;
	return NULL;
}

static struct error *find_chain(struct converter *c,
				const struct record *record,
				struct process *process, struct chain *chain)
{
	const struct record_sample *sample = &record->sample;

	if (dwarf_has_stack(record))
		return unwind_chain(c, record, process, chain);
	chain->style = CHAIN_RECORDED;
	if ((record->has & PERF_SAMPLE_CALLCHAIN) && sample->callchain_count) {
		chain->mode = ADDRESS_USER;
		chain->words = sample->callchain;
		chain->count = sample->callchain_count;
		return NULL;
	}
	chain->mode = mode_of(record);
	chain->words = &sample->ip;
	chain->count = (record->has & PERF_SAMPLE_IP) ? 1 : 0;
	return NULL;
}

static struct error *find_place(struct converter *c,
				const struct record *record,
				struct place *ret)
{
	struct process *process;
	struct error *error;

	error = process_table_get(c->table, record->pid, record->time,
				  &process);
	if (error)
		return error;
	*ret = (struct place){ .process = process,
			       .pid = record->pid,
			       .time = record->time,
			       .space = process_generation(process,
							   record->time) };
	if (!ret->space)
		ret->space = (1ull << 63) + ++c->last_space;
	return NULL;
}

static void count_stack(struct converter *c, const struct convert_stack *stack)
{
	c->stats.samples++;
	c->stats.steps += stack->count;
	c->stats.truncated += !!(stack->flags & PROFILE_SAMPLE_TRUNCATED);
	c->stats.not_aligned += !!(stack->flags & PROFILE_SAMPLE_NOT_ALIGNED);
	c->stats.missing_native +=
		!!(stack->flags & PROFILE_SAMPLE_MISSING_NATIVE);
	c->stats.unreadable +=
		!!(stack->flags & PROFILE_SAMPLE_UNREADABLE_PYTHON);
	c->stats.unresolved += stack->unresolved;
}

static uint16_t sample_flags(const struct convert_sample *sample,
			     const struct record *record)
{
	uint16_t flags = sample->stack->flags;
	enum address_mode mode = mode_of(record);

	if (!sample->has_chain)
		flags &= (uint16_t)~PROFILE_SAMPLE_NO_USER_STACK;
	/* None of its samples has native frames, so none lacks them. */
	if (sample->event->meaning.python_only)
		flags &= (uint16_t)~PROFILE_SAMPLE_MISSING_NATIVE;
	if (mode == ADDRESS_KERNEL)
		flags |= PROFILE_SAMPLE_KERNEL;
	else if (mode == ADDRESS_USER)
		flags |= PROFILE_SAMPLE_USER;
	return flags;
}

/* perf script forgets a thread when it ends, though not all samples are in. */
const char *converter_comm(struct converter *c, uint32_t pid, uint32_t tid,
			   uint64_t time)
{
	if (c->options->names_end &&
	    process_table_has_ended(c->table, pid, tid, time))
		return NULL;
	return process_table_comm_at(c->table, pid, tid, time);
}

struct error *converter_frame(struct converter *c, uint64_t address,
			      uint16_t cpumode, struct convert_frame **ret)
{
	return names_frame(&c->names, &c->place, address, mode_of_cpu(cpumode),
			   false, ret);
}

const char *converter_kernel_name(struct converter *c, uint64_t time,
				  uint64_t *address)
{
	const struct place place = { .pid = PROCESS_KERNEL, .time = time };
	struct convert_frame *frame;
	struct error *error = names_frame(&c->names, &place, *address,
					  ADDRESS_KERNEL, false, &frame);

	if (error) {
		error_destroy(error);
		return NULL;
	}
	*address -= convert_frame_offset(frame);
	return frame->name;
}

void converter_on_record(struct converter *c, convert_record_fn *fn, void *arg)
{
	c->on_record = fn;
	c->on_record_arg = arg;
}

void converter_forget_stacks(struct converter *c)
{
	c->forgets_stacks = true;
}

static void trim_stacks(struct converter *c)
{
	size_t limit = c->options->cache_limit ? c->options->cache_limit :
						 CACHE_LIMIT;

	stacks_trim(&c->stacks, c->forgets_stacks ? 0 : limit);
	c->forgets_stacks = false;
}

static struct error *find_stack(struct converter *c,
				const struct record *record,
				struct convert_stack **ret)
{
	struct chain chain = {};
	struct error *error;

	trim_stacks(c);
	error = find_place(c, record, &c->place);
	if (!error)
		error = find_chain(c, record, c->place.process, &chain);
	return error ? error : stacks_get(&c->stacks, &c->place, &chain, ret);
}

/* A name that is asked for may be that of a task of asyncio, which its stack tells. */
static bool asks_for_task(const struct converter *c,
			  const struct record *record)
{
	return c->options->comms.count &&
	       record->event->meaning.kind == EVENT_TASKS;
}

/* *passes, of a sample whose thread has no name that is asked for: its task has. */
static struct error *filter_task(struct converter *c,
				 const struct convert_sample *sample,
				 bool *passes)
{
	const struct seen_task task = { .pid = sample->pid,
					.tid = sample->tid,
					.name = sample->stack->task,
					.is_asyncio = true };

	*passes |= thread_list_passes(&c->options->comms, task.name);
	if (!task.name || !c->options->count_tasks)
		return NULL;
	return seen_tasks_add(&c->seen_tasks, &task);
}

static struct error *apply_sample(struct converter *c,
				  const struct record *record,
				  convert_sample_fn *fn, void *arg)
{
	uint64_t type = record->event->attr.sample_type;
	struct convert_sample sample = {
		.event = record->event,
		.record = record,
		.pid = (int32_t)record->pid,
		.tid = (int32_t)record->tid,
		.time = record->time,
		.cpu = record->has & PERF_SAMPLE_CPU ? (int32_t)record->cpu
						     : -1,
		.period = record->sample.period,
		.ip = record->sample.ip,
		.has_chain = type & PERF_SAMPLE_CALLCHAIN,
	};
	bool asks = asks_for_task(c, record), passes;
	struct error *error = NULL;

	sample.comm = converter_comm(c, record->pid, record->tid, record->time);
	sample.thread_name = thread_table_at(&c->threads, record->pid,
					     record->tid, record->time);
	if (c->options->count_tasks)
		error = seen_tasks_add(&c->seen_tasks,
				       &(struct seen_task){
					       .pid = sample.pid,
					       .tid = sample.tid,
					       .comm = sample.comm,
					       .name = sample.thread_name });
	if (error)
		return error;
	passes = filter_names(c->options, sample.comm, sample.thread_name);
	if (!filter_record(c->options, record, &sample.time, &sample.period) ||
	    !(passes || asks)) {
		c->stats.filtered++;
		return NULL;
	}
	error = find_stack(c, record, &sample.stack);
	if (!error && asks)
		error = filter_task(c, &sample, &passes);
	if (error)
		return error;
	if (!passes) {
		c->stats.filtered++;
		return NULL;
	}
	sample.flags = sample_flags(&sample, record);
	count_stack(c, sample.stack);
	return fn(&sample, arg);
}

/* --- The way through the file ------------------------------------------- */

static void forget_past(struct converter *c, uint64_t time)
{
	if (++c->records % FORGET_EVERY == 0 && time > FORGET_SLACK)
		process_table_forget(c->table, time - FORGET_SLACK);
}

static void tell_progress(struct converter *c)
{
	if (c->options->progress && c->records % FORGET_EVERY == 0)
		c->options->progress(c->options->progress_arg,
				     perfdata_reader_position(c->reader),
				     perfdata_reader_file_size(c->reader));
}

/* All that have no number in the recorder's PID namespace have the number 0. */
static struct error *see_parent(struct converter *c,
				const struct record_task *fork)
{
	uint64_t *parent;

	if (fork->pid == fork->ppid || !fork->pid)
		return NULL;
	parent = map_insert(&c->parents, fork->pid, 0, NULL);
	if (!parent)
		return error_no_memory();
	*parent = fork->ppid;
	return NULL;
}

static struct error *apply_fork(struct converter *c,
				const struct record *record)
{
	bool keep_on_exec = c->options->quirks.maps_outlive_exec;
	struct error *error = see_parent(c, &record->task);

	if (!error)
		error = thread_table_begun(&c->threads, record->task.pid,
					   record->task.tid, record->time);
	return error ? error : timeline_apply(c->table, record, keep_on_exec);
}

static struct error *apply_other(struct converter *c,
				 const struct record *record)
{
	bool keep_on_exec = c->options->quirks.maps_outlive_exec;
	struct error *error;

	switch (record->type) {
	case PERF_RECORD_KSYMBOL:
		return names_add_ksymbol(&c->names, record);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		error = names_see_map(&c->names, record);
		if (!error)
			error = timeline_apply(c->table, record, keep_on_exec);
		return error ? error : names_add_map(&c->names, record);
	case PERF_RECORD_FORK:
		return apply_fork(c, record);
	default:
		return timeline_apply(c->table, record, keep_on_exec);
	}
}

static struct error *hand_over(struct converter *c, const struct record *record)
{
	if (!c->on_record || record->type >= PERFDATA_USER_TYPE_START)
		return NULL;
	return c->on_record(record, c->on_record_arg);
}

static struct error *apply_record(struct converter *c,
				  const struct record *record,
				  convert_sample_fn *fn, void *arg)
{
	struct error *error =
		jits_see(&c->names.jits, perfdata_reader_events(c->reader),
			 record, NULL);

	if (error)
		return error;
	if (record->type == PERF_RECORD_SAMPLE) {
		if (!record->event)
			return NULL;
		if (record->event->meaning.kind == EVENT_STREAM)
			return c->stream_read ? NULL : apply_stream(c, record);
		return fn ? apply_sample(c, record, fn, arg) : NULL;
	}
	/* Once a thread has ended, its name is gone. */
	if (record->type == PERF_RECORD_EXIT)
		error = hand_over(c, record);
	if (!error)
		error = apply_other(c, record);
	if (!error && record->type != PERF_RECORD_EXIT)
		error = hand_over(c, record);
	return error;
}

struct error *converter_run(struct converter *converter, convert_sample_fn *fn,
			    void *arg)
{
	const struct record *record;
	struct error *error;

	for (;;) {
		error = perfdata_reader_next(converter->reader, &record);
		if (error || !record)
			return error;
		error = apply_record(converter, record, fn, arg);
		if (error)
			return error;
		forget_past(converter, record->time);
		tell_progress(converter);
	}
}
