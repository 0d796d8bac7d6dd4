// SPDX-License-Identifier: GPL-2.0-only
#include "collect/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/names.h"
#include "collect/output.h"
#include "collect/synthesize.h"
#include "collect/tracepoints.h"
#include "collect/walker.h"
#include "perfdata/features.h"
#include "sys/proc.h"

enum {
	/* A round at least that often while samples come. */
	ROUND_MS = 100,
	EPOLL_BATCH = 32,
	/* Ended maps and processes are remembered that long, in ns. */
	REMEMBER_NS = 2000000000,
	/* A flood of task records is handled piece by piece. */
	TASK_BYTES_MAX = 64 << 20,
};

/* What is known of one CPU's ring between two rounds. */
struct cpu_state {
	/* The walker's records that wait for their sample. */
	struct python_stack python;
	/* Position up to which code records were taken. */
	uint64_t codes_done;
};

/* A task record, copied out of its ring. */
struct task_record {
	uint64_t time;
	size_t offset;
	size_t size;
};

struct recorder {
	struct recorder_options options;
	recorder_message *message;
	struct sampler sampler;
	struct walker *walker;
	struct error *no_walker;
	struct output output;
	/* TRACING_DATA from the start, the others at the end. */
	struct features features;
	struct process_table *processes;
	struct target_list targets;
	struct code_table codes;
	struct sources sources;
	struct stack_builder stacks;
	struct name_table names;
	VEC(struct cpu_state) cpus;
	struct strbuf task_bytes;
	VEC(struct task_record) tasks;
	/* Processes whose first thread ended in this round. */
	VEC(uint32_t) ended;
	/* Targets whose first sample with Python code is in this round. */
	VEC(struct target *) image_wanted;
	uint64_t *heads;
	int epoll_fd;
	int signal_fd;
	/* Not yet enabled: this is when, on CLOCK_MONOTONIC. */
	uint64_t enable_at;
	uint64_t lost;
	uint64_t latest;
	int status;
	int stopped_by;
	bool child_gone;
	bool image_written;
	/* Rings that a thread may still write to. */
	size_t rings_open;
	unsigned int unreadable_processes;
	/* Addresses of the refusals that the user knows of. */
	struct map refusals_told;
	/* The walker's record at hand: in a sample it is not aligned. */
	uint64_t walker_bytes[65536 / sizeof(uint64_t)];
	bool too_many_told;
};

/* --- opening --- */

static struct error *open_walker(struct recorder *recorder)
{
	struct error *error;

	if (recorder->options.python == PYTHON_SOURCE_NONE ||
	    recorder->options.python == PYTHON_SOURCE_TRAMPOLINE ||
	    recorder->options.sampler.callchain == CALLCHAIN_NONE ||
	    recorder->options.sampler.callchain == CALLCHAIN_DWARF)
		return NULL;
	error = walker_create(&recorder->walker);
	if (error && recorder->options.python == PYTHON_SOURCE_AUTO &&
	    error->code != ERROR_NO_MEMORY) {
		recorder->no_walker = error;
		return NULL;
	}
	return error;
}

/*
 * A tracepoint runs its programs once, for all events that listen to it; other
 * events run theirs each.
 */
static struct error *attach_events(struct recorder *recorder)
{
	struct sampler *sampler = &recorder->sampler;
	size_t tracepoints_done = 0;
	struct error *error = NULL;

	for (size_t i = 0; !error && i < sampler->fds.count; i++) {
		const struct sampler_fd *entry = &sampler->fds.data[i];
		const struct event *event =
			sampler->kernel_events.list.data[entry->event];
		bool tracepoint = event->attr.type == PERF_TYPE_TRACEPOINT;

		if (entry->event >= sampler->options.event_count ||
		    (tracepoint && entry->event < tracepoints_done))
			continue;
		if (tracepoint)
			tracepoints_done = entry->event + 1;
		error = walker_attach(recorder->walker, entry->fd, tracepoint);
	}
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
	return error ? error : attach_events(recorder);
}

static struct error *watch(struct recorder *recorder, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(recorder->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return error_os(errno, NULL, "cannot watch an event");
	return NULL;
}

static struct error *watch_rings(struct recorder *recorder)
{
	struct error *error = NULL;

	recorder->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (recorder->epoll_fd < 0)
		return error_os(errno, NULL, "cannot make an epoll instance");
	for (size_t i = 0; !error && i < recorder->sampler.cpus.count; i++) {
		struct sampler_cpu *cpu = &recorder->sampler.cpus.data[i];

		if (!vec_push(&recorder->cpus, (struct cpu_state){}))
			return error_no_memory();
		if (cpu->samples_fd >= 0)
			error = watch(recorder, cpu->samples_fd);
		if (!error && cpu->tasks_fd >= 0)
			error = watch(recorder, cpu->tasks_fd);
		recorder->rings_open +=
			(cpu->samples_fd >= 0) + (cpu->tasks_fd >= 0);
	}
	recorder->heads = calloc(recorder->sampler.cpus.count,
				 sizeof(*recorder->heads));
	if (!error && !recorder->heads)
		error = error_no_memory();
	return error;
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
	strbuf_puts(&text, "stock perf will not open the file: ");
	error_format(error, &text);
	error_destroy(error);
	if (recorder->message)
		recorder->message(text.data);
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
		error = watch_rings(recorder);
	if (!error)
		error = process_table_create(&recorder->processes);
	if (!error)
		error = stack_builder_init(&recorder->stacks, &recorder->codes,
					   options->sampler.stack_size);
	recorder->stacks.owner = recorder->names.owner;
	recorder->stacks.trampolines = recorder_python(recorder) ==
				       PYTHON_SOURCE_TRAMPOLINE;
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
			    recorder_message *message, struct recorder **ret)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	struct error *error;

	if (!recorder)
		return error_no_memory();
	recorder->options = *options;
	recorder->message = message;
	recorder->epoll_fd = recorder->signal_fd = -1;
	recorder->status = -1;
	recorder->output.bytes = (struct strbuf)STRBUF_INIT;
	recorder->task_bytes = (struct strbuf)STRBUF_INIT;
	recorder->names.owner =
		options->uid >= 0 ? (uid_t)options->uid : (uid_t)-1;
	code_table_init(&recorder->codes);
	recorder->codes.sources = &recorder->sources;
	error = open_parts(recorder);
	if (error) {
		recorder_destroy(recorder);
		return error;
	}
	*ret = recorder;
	return NULL;
}

enum python_source recorder_python(const struct recorder *recorder)
{
	if (recorder->walker)
		return PYTHON_SOURCE_BPF;
	if (recorder->options.python == PYTHON_SOURCE_TRAMPOLINE ||
	    recorder->no_walker)
		return PYTHON_SOURCE_TRAMPOLINE;
	return PYTHON_SOURCE_NONE;
}

const struct error *recorder_no_walker(const struct recorder *recorder)
{
	return recorder->no_walker;
}

bool recorder_user_only(const struct recorder *recorder)
{
	return recorder->sampler.user_only;
}

/* --- processes --- */

static void tell(struct recorder *recorder, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void tell(struct recorder *recorder, const char *format, ...)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	va_list args;

	if (!recorder->message)
		return;
	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	recorder->message(text.data);
}

static struct error *put_payload(struct recorder *recorder, uint64_t time,
				 uint32_t pid, const struct strbuf *payload)
{
	return output_payload(&recorder->output, time, pid, pid, 0,
			      payload->data, payload->len);
}

static struct error *announce(struct recorder *recorder, struct target *target,
			      uint64_t time)
{
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	const struct py_binary *python = &target->module->python;
	struct kaa_python record = {
		.pid = target->pid,
		.version = python->version,
		.valid_from = time,
		.path = { target->path, strlen(target->path) },
	};
	struct error *error;

	if (target->announced)
		return NULL;
	if (python->eval_count) {
		record.eval_start = python->eval[0].start + target->bias;
		record.eval_size = python->eval[0].end - python->eval[0].start;
	}
	target->announced = true;
	error = kaa_encode_python(&record, &payload);
	return error ? error : put_payload(recorder, time, target->pid,
					   &payload);
}

/* Once for each file, however many processes run it. */
static struct error *tell_refusal(struct recorder *recorder,
				  struct target *target)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	bool is_new;

	if (target->reported || !recorder->walker)
		return NULL;
	target->reported = true;
	if (!map_insert(&recorder->refusals_told,
			(uint64_t)(uintptr_t)target->refused, 0, &is_new))
		return error_no_memory();
	if (!is_new)
		return NULL;
	error_format(target->refused, &text);
	tell(recorder, "no Python frames of process %u: %s%s", target->pid,
	     text.data,
	     recorder_gives_trampolines(&recorder->options) ?
		     "; --python=trampoline may name its functions" :
		     "");
	return NULL;
}

/* A process turned out to run a Python, or one that cannot be read. */
static struct error *python_appeared(struct recorder *recorder,
				     struct target *target, uint64_t time)
{
	struct error *error;

	if (target->state == PYTHON_REFUSED)
		return tell_refusal(recorder, target);
	if (target->state != PYTHON_FOUND)
		return NULL;
	error = announce(recorder, target, time);
	if (error || !recorder->walker)
		return error;
	error = walker_add_process(recorder->walker, target->pid,
				   &target->python);
	if (!error || error->code != ERROR_LIMIT)
		return error;
	if (!recorder->too_many_told)
		tell(recorder, "process %u: %s", target->pid, error->message);
	recorder->too_many_told = true;
	error_destroy(error);
	return NULL;
}

/*
 * Anonymous code begins with a trampoline if it holds any: read now, since the
 * process may be gone when its samples come.
 */
static struct error *note_arena(struct recorder *recorder,
				struct target *target,
				const struct process_map *map)
{
	uint8_t code[TRAMPOLINE_CODE_MAX];
	struct trampolines *trampolines;
	struct error *error;

	target_at(target, map->from);
	if (!target_is_anonymous(target, map->start) ||
	    remote_memory_read(&target->memory, map->start, code,
			       sizeof(code)) != sizeof(code))
		return NULL;
	error = target_trampolines(target, recorder->names.owner, &trampolines);
	if (!error)
		trampolines_set_code(trampolines, code, sizeof(code));
	return error;
}

static struct error *handle_mmap(struct recorder *recorder,
				 const struct record *record)
{
	const struct record_mmap *m = &record->mmap;
	struct process_mmap map = {
		.start = m->start,
		.length = m->len,
		.pgoff = m->pgoff,
		.prot = record->type == PERF_RECORD_MMAP2 ? m->prot : PROT_EXEC,
		.flags = m->flags,
		.major = m->maj,
		.minor = m->min,
		.inode = m->ino,
		.inode_generation = m->ino_generation,
		.path = m->filename,
		.build_id = m->build_id,
		.build_id_size = m->build_id_size,
	};
	struct process_map *mapped;
	struct process *process;
	struct target *target;
	enum python_state before;
	struct error *error;

	error = process_table_mmap(recorder->processes, m->pid, record->time,
				   &map);
	if (error || m->pid == PROCESS_KERNEL || !m->is_exec)
		return error;
	error = process_table_get(recorder->processes, m->pid, record->time,
				  &process);
	if (error)
		return error;
	mapped = process_map_at(process, m->start, record->time);
	error = target_get(&recorder->targets, process, &target);
	if (error || !mapped)
		return error;
	if (recorder->stacks.trampolines)
		error = note_arena(recorder, target, mapped);
	if (error)
		return error;
	before = target->state;
	error = target_mmap(target, mapped);
	if (error || target->state == before)
		return error;
	return python_appeared(recorder, target, record->time);
}

/* The program that the process was is over; what its perf map says now counts. */
static struct error *freeze_trampolines(struct process *process)
{
	struct target *target = *process_user(process);

	return target && target->trampolines ?
		       trampolines_freeze(target->trampolines) :
		       NULL;
}

/* A child has its parent's memory, and may be on its way back through it. */
static struct error *inherit_trampolines(struct recorder *recorder,
					 struct target *child, uint32_t ppid,
					 uint64_t time)
{
	struct trampolines *trampolines, *parents = NULL;
	struct process *process;
	struct target *parent;
	uid_t owner = recorder->names.owner;
	struct error *error;

	if (!recorder->stacks.trampolines)
		return NULL;
	error = process_table_get(recorder->processes, ppid, time, &process);
	if (!error)
		error = target_get(&recorder->targets, process, &parent);
	if (!error)
		error = target_trampolines(parent, owner, &parents);
	if (!error)
		error = target_trampolines(child, owner, &trampolines);
	if (!error)
		trampolines_set_parent(trampolines, parents);
	return error;
}

static struct error *handle_comm(struct recorder *recorder,
				 const struct record *record)
{
	struct process *process;
	struct error *error =
		process_table_comm(recorder->processes, record->comm.pid,
				   record->comm.tid, record->time,
				   record->comm.comm, record->comm.is_exec);

	if (error || !record->comm.is_exec)
		return error;
	process = process_table_find(recorder->processes, record->comm.pid,
				     record->time);
	if (!process)
		return NULL;
	error = freeze_trampolines(process);
	if (error)
		return error;
	return target_exec(&recorder->targets, process, record->time);
}

static struct error *handle_fork(struct recorder *recorder,
				 const struct record *record)
{
	const struct record_task *t = &record->task;
	struct process *process;
	struct target *target;
	struct error *error = process_table_fork(
		recorder->processes, t->pid, t->ppid, t->tid, t->ptid,
		record->time, !(record->misc & PERF_RECORD_MISC_FORK_EXEC));

	if (error || t->pid == t->ppid)
		return error;
	error = process_table_get(recorder->processes, t->pid, record->time,
				  &process);
	if (!error)
		error = target_get(&recorder->targets, process, &target);
	if (!error)
		error = inherit_trampolines(recorder, target, t->ppid,
					    record->time);
	if (error)
		return error;
	target->since = record->time;
	error = target_search(target);
	/*
	 * The walker copies the parent's entry at the fork; but it may not have
	 * had one yet.
	 */
	return error ? error : python_appeared(recorder, target, record->time);
}

static struct error *put_symbol(void *arg, const struct kaa_symbol *symbol)
{
	struct recorder *recorder = arg;
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	struct error *error = kaa_encode_symbol(symbol, &payload);

	return error ? error :
		       put_payload(recorder,
				   output_time_last(&recorder->output), 0,
				   &payload);
}

/* Keeps the record, and what it says about processes. */
static struct error *handle_task(struct recorder *recorder,
				 const struct record *record)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return handle_mmap(recorder, record);
	case PERF_RECORD_COMM:
		return handle_comm(recorder, record);
	case PERF_RECORD_FORK:
		return handle_fork(recorder, record);
	case PERF_RECORD_EXIT:
		process_table_exit(recorder->processes, record->task.pid,
				   record->task.tid, record->time);
		if (record->task.pid == record->task.tid &&
		    !vec_push(&recorder->ended, record->task.pid))
			return error_no_memory();
		return NULL;
	case PERF_RECORD_LOST:
		recorder->lost += record->lost.lost;
		return NULL;
	default:
		return NULL;
	}
}

static struct error *synthesized(void *arg, const struct record *record)
{
	struct recorder *recorder = arg;
	struct record copy = *record;
	struct error *error;

	if (record->type == PERF_RECORD_MMAP2)
		copy.mmap.is_exec = copy.mmap.prot & PROT_EXEC;
	error = output_record(&recorder->output, record);
	return error ? error : handle_task(recorder, &copy);
}

static struct error *synthesize_task(struct recorder *recorder, pid_t pid)
{
	const struct sampler_options *options = &recorder->options.sampler;

	/* Who unwinds later needs the maps that hold .eh_frame, too. */
	return synthesize_process(options->root, pid,
				  options->callchain == CALLCHAIN_DWARF,
				  synthesized, recorder);
}

/* One of all processes: even root may not look at some. */
static struct error *synthesize_readable(struct recorder *recorder, pid_t pid)
{
	struct error *error = synthesize_task(recorder, pid);

	if (!error || error->code == ERROR_NO_MEMORY)
		return error;
	error_destroy(error);
	recorder->unreadable_processes++;
	return NULL;
}

static struct error *synthesize(struct recorder *recorder)
{
	struct pid_list all = {};
	const char *root = recorder->options.sampler.root;
	struct error *error =
		synthesize_kernel(root, synthesized, recorder);

	if (!error && recorder->options.system_wide)
		error = proc_processes(root, &all);
	for (size_t i = 0; !error && i < all.count; i++)
		error = synthesize_readable(recorder, all.data[i]);
	vec_deinit(&all);
	if (recorder->unreadable_processes)
		tell(recorder,
		     "%u processes could not be looked at: their frames stay without names",
		     recorder->unreadable_processes);
	for (size_t i = 0; !error && i < recorder->options.processes.count; i++)
		error = synthesize_task(recorder,
					recorder->options.processes.data[i]);
	if (!error)
		error = output_round(&recorder->output);
	if (!error)
		error = perfdata_writer_finished_init(recorder->output.writer);
	return error;
}

/* --- rounds --- */

static struct error *copy_tasks(struct recorder *recorder, struct ring *ring)
{
	uint64_t end = ring_head(ring), position = ring->tail;
	const struct perf_event_header *header;

	while (position < end && recorder->task_bytes.len < TASK_BYTES_MAX) {
		header = ring_record(ring, position, end);
		if (!header)
			return error_create(ERROR_FORMAT,
					    "the kernel's event buffer is damaged");
		if (!vec_push(&recorder->tasks,
			      (struct task_record){
				      .time = events_record_time(
					      &recorder->sampler.kernel_events,
					      header),
				      .offset = recorder->task_bytes.len,
				      .size = header->size }))
			return error_no_memory();
		strbuf_append(&recorder->task_bytes, header, header->size);
		position += header->size;
	}
	ring_advance(ring, position);
	return strbuf_error(&recorder->task_bytes);
}

static int compare_tasks(const void *a, const void *b)
{
	const struct task_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static struct error *handle_raw(struct recorder *recorder, const void *raw,
				size_t size)
{
	struct record record;
	struct error *error = record_decode(&recorder->sampler.kernel_events,
					    raw, size, &record);

	if (error)
		return error;
	error = output_raw(&recorder->output, record.time, raw, size);
	return error ? error : handle_task(recorder, &record);
}

/* All task records that are in the rings, in time order. */
static struct error *drain_tasks(struct recorder *recorder)
{
	struct error *error = NULL;

	vec_clear(&recorder->tasks);
	strbuf_clear(&recorder->task_bytes);
	for (size_t i = 0; !error && i < recorder->sampler.cpus.count; i++)
		error = copy_tasks(recorder,
				   &recorder->sampler.cpus.data[i].tasks);
	if (recorder->tasks.count)
		qsort(recorder->tasks.data, recorder->tasks.count,
		      sizeof(*recorder->tasks.data), compare_tasks);
	for (size_t i = 0; !error && i < recorder->tasks.count; i++)
		error = handle_raw(recorder,
				   recorder->task_bytes.data +
					   recorder->tasks.data[i].offset,
				   recorder->tasks.data[i].size);
	return error;
}

static bool is_walkers(const struct recorder *recorder,
		       const struct perf_event_header *header)
{
	const struct event *event;

	if (header->type != PERF_RECORD_SAMPLE || !recorder->walker)
		return false;
	event = events_of_record(&recorder->sampler.kernel_events, header);
	return event && event->index == sampler_walker_index(&recorder->sampler);
}

/*
 * The walker's record in a raw sample of its output event, valid until the
 * next call; NULL if it is too short.
 */
static struct error *walker_record(struct recorder *recorder,
				   const struct perf_event_header *header,
				   struct record *record,
				   const struct walker_header **ret)
{
	struct error *error = record_decode(&recorder->sampler.kernel_events,
					    header, header->size, record);

	if (error)
		return error;
	*ret = NULL;
	if (record->sample.raw_size < sizeof(**ret) ||
	    record->sample.raw_size > sizeof(recorder->walker_bytes))
		return NULL;
	memcpy(recorder->walker_bytes, record->sample.raw,
	       record->sample.raw_size);
	*ret = (const void *)recorder->walker_bytes;
	return NULL;
}

/* Takes the code objects that are in a ring, ahead of all samples. */
static struct error *take_codes(struct recorder *recorder, size_t cpu)
{
	struct ring *ring = &recorder->sampler.cpus.data[cpu].samples;
	uint64_t position = recorder->cpus.data[cpu].codes_done;
	uint64_t end = ring_head(ring);
	const struct perf_event_header *header;
	const struct walker_header *walker;
	struct error *error = NULL;
	struct record record;

	if (position < ring->tail)
		position = ring->tail;
	while (!error && position < end &&
	       (header = ring_record(ring, position, end))) {
		uint64_t next = position + header->size;

		if (is_walkers(recorder, header)) {
			error = walker_record(recorder, header, &record,
					      &walker);
			if (!error && walker && walker->type != WALKER_STACK)
				error = code_table_record(
					&recorder->codes, walker,
					record.sample.raw_size);
		}
		position = next;
	}
	recorder->cpus.data[cpu].codes_done = position;
	return error;
}

/* Addresses of the sample that no file will name. */
static struct error *wish_names(struct recorder *recorder,
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

/* Sees to it that the image is mapped before the sample. */
static struct error *need_image(struct recorder *recorder,
				struct target *target, uint64_t time)
{
	/* An exec came since, and it is a mapping of its own that ended there. */
	if (time < target->since)
		return output_map_image(&recorder->output, time - 1,
					target->pid, target->pid);
	if (!target->image_mapped) {
		target->image_mapped = true;
		target->image_time = time;
		if (!vec_push(&recorder->image_wanted, target))
			return error_no_memory();
	}
	/* Another CPU's ring may hold an earlier sample. */
	if (time < target->image_time)
		target->image_time = time;
	return NULL;
}

static struct error *map_images(struct recorder *recorder)
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

/* The code objects that samples of this round are the first to use. */
static struct error *put_codes(struct recorder *recorder)
{
	const struct strbuf *payloads = &recorder->stacks.payloads;
	uint64_t time = output_time_before(&recorder->output,
					   recorder->output.round_earliest);
	struct error *error = NULL;
	uint32_t size;

	for (size_t at = 0; !error && at < payloads->len; at += 4 + size) {
		memcpy(&size, payloads->data + at, sizeof(size));
		error = output_payload(&recorder->output, time, 0, 0, 0,
				       payloads->data + at + 4, size);
	}
	strbuf_clear(&recorder->stacks.payloads);
	return error;
}

static bool has_python_address(const struct stack_builder *stacks)
{
	return stacks->pythons.count || stacks->converted ||
	       (stacks->merged.flags & MERGE_TRUNCATED);
}

/* A map that others could have written names nothing: the user can remove it. */
static void tell_map_refusal(struct recorder *recorder, struct target *target)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct trampolines *trampolines = target->trampolines;

	if (target->map_reported || target->state == PYTHON_NONE ||
	    !trampolines || !trampolines->refusal)
		return;
	target->map_reported = true;
	error_format(trampolines->refusal, &text);
	tell(recorder, "no names for the trampolines of process %u: %s",
	     target->pid, text.data);
}

/* The very instruction is a trampoline's: then it, too, is a Python frame. */
static bool hit_trampoline(const struct stack_builder *stacks,
			   const struct record *sample)
{
	return stacks->converted &&
	       (sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
		       PERF_RECORD_MISC_USER &&
	       stacks->natives.data[0].ip - PY_ADDRESS_BASE < PY_ADDRESS_SIZE;
}

static struct error *handle_sample(struct recorder *recorder,
				   const struct record *sample,
				   const struct python_stack *python)
{
	struct record moved = *sample;
	struct process *process;
	struct target *target;
	struct error *error = process_table_get(
		recorder->processes, sample->pid, sample->time, &process);

	if (!error)
		error = target_get(&recorder->targets, process, &target);
	if (!error)
		target = target_of(target, sample->time);
	if (!error)
		error = stack_build(&recorder->stacks, target, sample, python,
				    output_chain_room(&recorder->output,
						      sample));
	if (!error && has_python_address(&recorder->stacks))
		error = need_image(recorder, target, sample->time);
	if (!error)
		error = wish_names(recorder, sample, target);
	if (error)
		return error;
	tell_map_refusal(recorder, target);
	if (hit_trampoline(&recorder->stacks, sample))
		moved.sample.ip = recorder->stacks.natives.data[0].ip;
	return output_sample(&recorder->output, &moved,
			     recorder->stacks.chain.data,
			     recorder->stacks.chain.count);
}

/* With a raw dump, or without a chain, the sample stays as it is. */
static struct error *keep_sample(struct recorder *recorder,
				 const struct perf_event_header *header,
				 const struct record *record)
{
	output_note_sample(&recorder->output, record->pid, record->time);
	recorder->stacks.stats.samples++;
	return output_raw(&recorder->output, record->time, header, header->size);
}

static struct error *handle_user_sample(struct recorder *recorder,
					const struct perf_event_header *header,
					struct python_stack *python)
{
	enum callchain_mode mode = recorder->options.sampler.callchain;
	const struct python_stack *paired = NULL;
	struct record record;
	struct error *error = record_decode(&recorder->sampler.kernel_events,
					    header, header->size, &record);

	if (error)
		return error;
	if (record.time > recorder->latest)
		recorder->latest = record.time;
	if (mode == CALLCHAIN_NONE || mode == CALLCHAIN_DWARF)
		return keep_sample(recorder, header, &record);
	/* At a tracepoint the walker runs for threads that are not recorded, too. */
	if (python->whole && python->pid == record.pid &&
	    python->tid == record.tid)
		paired = python;
	error = handle_sample(recorder, &record, paired);
	python_stack_clear(python);
	return error;
}

static struct error *handle_ring_record(struct recorder *recorder,
					struct cpu_state *cpu,
					const struct perf_event_header *header)
{
	const struct walker_header *walker;
	struct record record;
	struct error *error;

	if (is_walkers(recorder, header)) {
		error = walker_record(recorder, header, &record, &walker);
		if (!error && walker && walker->type == WALKER_STACK)
			error = python_stack_add(&cpu->python, walker,
						 record.sample.raw_size);
		return error;
	}
	if (header->type == PERF_RECORD_SAMPLE)
		return handle_user_sample(recorder, header, &cpu->python);
	/* Something was lost in between: what waits belongs to nothing. */
	python_stack_clear(&cpu->python);
	return handle_raw(recorder, header, header->size);
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
		error = handle_ring_record(recorder,
					   &recorder->cpus.data[index], header);
		ring_advance(ring, next);
	}
	return error;
}

/*
 * Perf maps of processes that have ended: later another process may have the
 * number, or the folder may be gone.
 */
static struct error *name_ended(struct recorder *recorder)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < recorder->ended.count; i++)
		error = name_table_tell_process(&recorder->names,
						recorder->ended.data[i],
						put_symbol, recorder);
	vec_clear(&recorder->ended);
	return error;
}

/* One pass over all rings; docs/ARCHITECTURE.md says why in this order. */
static struct error *run_round(struct recorder *recorder)
{
	size_t count = recorder->sampler.cpus.count;
	struct error *error;

	recorder->stacks.round++;
	for (size_t i = 0; i < count; i++)
		recorder->heads[i] =
			ring_head(&recorder->sampler.cpus.data[i].samples);
	error = drain_tasks(recorder);
	for (size_t i = 0; !error && i < count && recorder->walker; i++)
		error = take_codes(recorder, i);
	for (size_t i = 0; !error && i < count; i++)
		error = handle_ring(recorder, i);
	if (!error)
		error = name_ended(recorder);
	if (!error)
		error = map_images(recorder);
	if (!error)
		error = put_codes(recorder);
	if (!error)
		error = output_round(&recorder->output);
	return error;
}

/* --- the loop --- */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* nohup means kaa too. */
static bool is_ignored(int number)
{
	struct sigaction action;

	return !sigaction(number, NULL, &action) &&
	       action.sa_handler == SIG_IGN;
}

static struct error *open_signals(struct recorder *recorder, sigset_t *old)
{
	sigset_t set;
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
				       SIGCHLD };

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i] != SIGHUP || !is_ignored(SIGHUP))
			sigaddset(&set, numbers[i]);
	if (sigprocmask(SIG_BLOCK, &set, old))
		return error_os(errno, NULL, "cannot block signals");
	recorder->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recorder->signal_fd < 0)
		return error_os(errno, NULL, "cannot make a signalfd");
	return watch(recorder, recorder->signal_fd);
}

/*
 * From the terminal the command has got the signal too; from elsewhere only
 * kaa has, and the command is meant.
 */
static void handle_stop(struct recorder *recorder,
			const struct signalfd_siginfo *info)
{
	pid_t pid = recorder->options.launch ? recorder->options.launch->pid :
					       -1;

	if (info->ssi_code <= 0 && pid > 0 && !recorder->child_gone)
		kill(pid, (int)info->ssi_signo);
	recorder->stopped_by = (int)info->ssi_signo;
}

static void reap(struct recorder *recorder)
{
	struct launch *launch = recorder->options.launch;
	int status;

	if (!launch || launch->pid <= 0 || recorder->child_gone)
		return;
	if (waitpid(launch->pid, &status, WNOHANG) == launch->pid) {
		recorder->status = status;
		recorder->child_gone = true;
	}
}

static void handle_signals(struct recorder *recorder)
{
	struct signalfd_siginfo info;

	while (read(recorder->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reap(recorder);
		else
			handle_stop(recorder, &info);
	}
}

static bool is_over(const struct recorder *recorder)
{
	return recorder->stopped_by || recorder->child_gone ||
	       !recorder->rings_open;
}

static struct error *enable_when_due(struct recorder *recorder)
{
	if (!recorder->enable_at || now_ms() < recorder->enable_at)
		return NULL;
	recorder->enable_at = 0;
	return sampler_enable(&recorder->sampler);
}

/* Another event of the ring that an event writes to, or NULL. */
static const struct sampler_fd *heir(const struct recorder *recorder,
				     const struct sampler_fd *of)
{
	const struct sampler *sampler = &recorder->sampler;
	size_t tasks = sampler_tasks_index(sampler);

	for (size_t i = 0; i < sampler->fds.count; i++) {
		const struct sampler_fd *entry = &sampler->fds.data[i];

		if (!entry->ended && entry->cpu == of->cpu &&
		    entry->event <= tasks &&
		    (entry->event == tasks) == (of->event == tasks))
			return entry;
	}
	return NULL;
}

/*
 * The thread of that event has ended, and all that inherited the event from
 * it. The ring stays: other threads' events write to it too, if there are any.
 */
static struct error *hung_up(struct recorder *recorder, int fd)
{
	const struct sampler_fd *next = NULL;

	epoll_ctl(recorder->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	vec_for_each(entry, &recorder->sampler.fds) {
		if (entry->fd == fd) {
			entry->ended = true;
			next = heir(recorder, entry);
		}
	}
	if (next)
		return watch(recorder, next->fd);
	recorder->rings_open--;
	return NULL;
}

static struct error *wait_events(struct recorder *recorder)
{
	struct epoll_event events[EPOLL_BATCH];
	int n = epoll_wait(recorder->epoll_fd, events, EPOLL_BATCH, ROUND_MS);
	struct error *error = NULL;

	if (n < 0 && errno != EINTR)
		return error_os(errno, NULL, "cannot wait for events");
	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == recorder->signal_fd)
			handle_signals(recorder);
		if (!error && (events[i].events & EPOLLHUP))
			error = hung_up(recorder, events[i].data.fd);
	}
	return error ? error : enable_when_due(recorder);
}

static struct error *start(struct recorder *recorder)
{
	const struct recorder_options *options = &recorder->options;
	struct error *error = NULL;

	if (options->delay_ms) {
		recorder->enable_at = now_ms() + options->delay_ms;
		error = sampler_enable_tasks(&recorder->sampler);
	} else if (!options->sampler.enable_on_exec) {
		error = sampler_enable(&recorder->sampler);
	}
	if (!error && options->launch)
		error = launch_go(options->launch,
				  recorder->stacks.trampolines &&
					  recorder_gives_trampolines(options));
	return error;
}

static struct error *loop(struct recorder *recorder)
{
	struct error *error = NULL;

	while (!error && !is_over(recorder)) {
		error = wait_events(recorder);
		if (!error)
			error = run_round(recorder);
		if (recorder->latest > REMEMBER_NS)
			process_table_forget(recorder->processes,
					     recorder->latest - REMEMBER_NS);
	}
	return error;
}

struct error *recorder_run(struct recorder *recorder)
{
	sigset_t old;
	struct error *error = open_signals(recorder, &old);

	if (!error)
		error = synthesize(recorder);
	if (!error)
		error = start(recorder);
	if (!error)
		error = loop(recorder);
	sampler_disable(&recorder->sampler);
	if (!error)
		error = run_round(recorder);
	return error;
}

/* --- the end --- */

/*
 * The kernel writes LOST records only before the next record of the same ring,
 * and counts per event only for the threads that were there at the start: the
 * larger number is nearer to the truth. A sample whose Python stack found no
 * room was dropped by the walker.
 */
static uint64_t lost_samples(const struct recorder *recorder)
{
	struct walker_counters walker = {};
	uint64_t counted;

	if (recorder->walker)
		walker_counters(recorder->walker, &walker);
	counted = sampler_lost(&recorder->sampler) + walker.lost;
	return counted > recorder->lost ? counted : recorder->lost;
}

static struct error *put_summary(struct recorder *recorder)
{
	const struct stack_stats *s = &recorder->stacks.stats;
	const struct kaa_counter counters[] = {
		{ { "samples", 7 }, s->samples },
		{ { "lost", 4 }, lost_samples(recorder) },
		{ { "truncated", 9 }, s->truncated },
		{ { "unreadable", 10 }, s->unreadable },
		{ { "not aligned", 11 }, s->not_aligned },
	};
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	struct error *error = kaa_encode_summary(
		counters, sizeof(counters) / sizeof(counters[0]), &payload);

	return error ? error :
		       put_payload(recorder,
				   output_time_last(&recorder->output), 0,
				   &payload);
}

static struct error *fill_features(struct recorder *recorder,
				   struct features *features)
{
	const struct recorder_options *options = &recorder->options;
	struct error *error =
		features_fill_host(features, options->sampler.root);

	if (!error)
		error = features_set_string(features, FEATURE_VERSION,
					    options->version);
	for (int i = 0; !error && i < options->argc; i++)
		error = features_add_cmdline(features, options->argv[i]);
	if (error)
		return error;
	features_mark(features, FEATURE_CMDLINE);
	features->first_sample_time = recorder->output.first_sample;
	features->last_sample_time = recorder->output.last_sample;
	features_mark(features, FEATURE_SAMPLE_TIME);
	return NULL;
}

/*
 * Stacks that are unwound later hold trampolines of which nobody knows yet: all
 * that the perf maps name.
 */
static struct error *tell_trampolines(struct recorder *recorder)
{
	struct error *error = NULL;

	if (recorder->options.sampler.callchain != CALLCHAIN_DWARF)
		return NULL;
	vec_for_each(target, &recorder->targets)
		if (!error && (*target)->trampolines && !(*target)->previous)
			error = name_table_tell_trampolines(&recorder->names,
							    (*target)->pid,
							    put_symbol,
							    recorder);
	return error;
}

static struct error *finish_file(struct recorder *recorder)
{
	struct error *error = name_table_tell_all(&recorder->names, put_symbol,
						  recorder);

	if (!error)
		error = tell_trampolines(recorder);
	if (!error)
		error = put_summary(recorder);
	if (!error)
		error = output_round(&recorder->output);
	if (!error)
		error = fill_features(recorder, &recorder->features);
	if (!error)
		error = perfdata_writer_finish(recorder->output.writer,
					       &recorder->features);
	return error;
}

/* The recording is over, the command may go on; it still gets kaa's signals. */
static void wait_for_command(struct recorder *recorder)
{
	const struct launch *launch = recorder->options.launch;
	struct pollfd ready = { .fd = recorder->signal_fd, .events = POLLIN };

	if (!launch || launch->pid <= 0 || launch->go_fd >= 0 ||
	    !recorder->options.records_launch)
		return;
	reap(recorder);
	while (!recorder->child_gone) {
		if (poll(&ready, 1, -1) < 0 && errno != EINTR)
			return;
		handle_signals(recorder);
	}
}

/* What kaa itself does not need does not make a recording fail. */
static void write_image(struct recorder *recorder, bool report)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error = output_image(
		&recorder->output, &recorder->codes, &recorder->image_written);

	if (error && report) {
		error_format(error, &text);
		tell(recorder,
		     "other tools will not name the Python functions: %s",
		     text.data);
	}
	error_destroy(error);
}

struct error *recorder_finish(struct recorder *recorder,
			      struct recorder_result *ret)
{
	struct error *error = finish_file(recorder);

	write_image(recorder, !error);
	wait_for_command(recorder);
	*ret = (struct recorder_result){
		.stacks = recorder->stacks.stats,
		.samples = recorder->output.samples,
		.lost = lost_samples(recorder),
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
	output_close(&recorder->output);
	features_deinit(&recorder->features);
	stack_builder_deinit(&recorder->stacks);
	code_table_deinit(&recorder->codes);
	sources_deinit(&recorder->sources);
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
