// SPDX-License-Identifier: GPL-2.0-only
#include "collect/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "collect/clocks.h"
#include "perfdata/kaa_stream.h"
#include "sys/capability.h"
#include "sys/file.h"
#include "sys/perf_event.h"
#include "sys/proc.h"
#include "unwind/regs.h"

enum {
	TASK_RING = 256 * 1024,
	/* A process that starts and ends writes 1.5 KB, and with -a all do. */
	TASK_RING_SYSTEM = 2 << 20,
	TASK_RING_MIN = 8 * 4096,
	/* Where a task record that finds no room is not told again. */
	OWN_TASK_RING = 4 << 20,
	SAMPLE_RING = 8 << 20,
	/* With stack dumps of up to 64 KiB each. */
	SAMPLE_RING_STACKS = 64 << 20,
	SAMPLE_RING_MIN = 64 * 4096,
	/* On a busy machine the recorder may not run for that long. */
	SAMPLE_RING_LASTS_MS = 500,
	/* Of all CPUs together, and no more than a sixteenth of the memory. */
	RINGS_TOTAL = 512 << 20,
	CPUS_MAX = 8192,
};

/* Fields that every record of every event carries, in samples and trailers. */
#define COMMON_SAMPLE_TYPE                                              \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU)

static void attr_common(const struct sampler_options *options,
			struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->disabled = 1;
	attr->inherit = options->inherit && options->threads.count;
	attr->enable_on_exec = options->enable_on_exec;
	attr->sample_id_all = 1;
	attr->sample_type |= COMMON_SAMPLE_TYPE;
	if (options->clockid >= 0) {
		attr->use_clockid = 1;
		attr->clockid = options->clockid;
	}
}

static void attr_callchain(const struct sampler_options *options,
			   struct perf_event_attr *attr)
{
	if (options->callchain == CALLCHAIN_NONE)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (options->callchain == CALLCHAIN_FP)
		return;
	attr->exclude_callchain_user = 1;
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = UNWIND_PERF_REGS_MASK;
	attr->sample_stack_user = options->stack_size;
}

/*
 * It ticks for whatever runs on a CPU, but for nothing if that is idle. Readers
 * of the file need not know.
 */
static void attr_by_cpu(struct perf_event_attr *attr)
{
	attr->inherit = attr->enable_on_exec = 0;
	attr->exclude_idle = 1;
}

static struct perf_event_attr attr_event(const struct sampler_options *options,
					 const struct sampler_event *event)
{
	struct perf_event_attr attr = event->attr;

	attr_common(options, &attr);
	attr_callchain(options, &attr);
	attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
	/* The fields of the tracepoint. */
	if (attr.type == PERF_TYPE_TRACEPOINT || clocks_is_off_cpu(event))
		attr.sample_type |= PERF_SAMPLE_RAW;
	attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	/* Each comes with what it stands for. */
	if (clocks_is_off_cpu(event)) {
		attr.sample_period = 1;
	} else if (!event->has_period) {
		attr.freq = options->frequency != 0;
		if (attr.freq)
			attr.sample_freq = options->frequency;
		else
			attr.sample_period = options->period;
	}
	/* It runs when its leader does; what is enabled later than that may not. */
	if (event->joins_group)
		attr.disabled = attr.enable_on_exec = 0;
	return attr;
}

static struct perf_event_attr attr_tasks(const struct sampler_options *options)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
		.mmap = 1,
		.mmap2 = 1,
		/* Who unwinds later looks for .eh_frame there. */
		.mmap_data = options->callchain == CALLCHAIN_DWARF,
		/*
		 * So that a reader can tell whether it has the same file. Where
		 * events of whole CPUs ask for it, the kernel marks the maps in
		 * other profilers' records, too (has_build_id() of
		 * perfdata/record.c); perf 6.1 and samply 0.13 crash then.
		 */
		.build_id = options->threads.count != 0,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		/*
		 * BPF programs that the recorded threads load and unload; with -a,
		 * all. Events of whole CPUs that want them for less would make
		 * records of other profilers unreadable (events_record_end()).
		 */
		.ksymbol = 1,
		.bpf_event = 1,
		.exclude_kernel = 1,
		.watermark = 1,
		.wakeup_watermark = 1,
	};

	attr_common(options, &attr);
	return attr;
}

static struct perf_event_attr attr_walker(const struct sampler_options *options)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW,
	};

	attr_common(options, &attr);
	attr.enable_on_exec = 0;
	attr.inherit = 0;
	attr.disabled = 0;
	return attr;
}

/* --- CPUs --- */

static struct error *online_cpus(const char *root, struct cpu_vec *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error =
		file_read(root, "/sys/devices/system/cpu/online", 65536, &text);
	const char *p = text.data;
	int first, last, used;

	if (error)
		return error;
	while (sscanf(p, "%d%n", &first, &used) == 1) {
		p += used;
		last = first;
		if (*p == '-' && sscanf(p + 1, "%d%n", &last, &used) == 1)
			p += used + 1;
		if (first < 0 || last >= CPUS_MAX)
			break;
		for (int cpu = first; cpu <= last; cpu++)
			if (!vec_push(ret, cpu))
				return error_no_memory();
		if (*p++ != ',')
			break;
	}
	if (!ret->count)
		return error_at(ERROR_FORMAT, "/sys/devices/system/cpu/online",
				0, "no CPU in '%s'", text.data);
	return NULL;
}

static struct error *check_cpus(const struct cpu_vec *wanted,
				const struct cpu_vec *online)
{
	for (size_t i = 0; i < wanted->count; i++) {
		bool found = false;

		for (size_t j = 0; j < online->count; j++)
			found |= online->data[j] == wanted->data[i];
		if (!found)
			return error_create(
				ERROR_NOT_FOUND,
				"CPU %d is not online; /sys/devices/system/cpu/online lists those that are",
				wanted->data[i]);
	}
	return NULL;
}

/* --- opening --- */

static void lower_to_user(struct sampler *sampler, struct event *event)
{
	event->attr.exclude_kernel = 1;
	event->attr.exclude_hv = 1;
	sampler->user_only = true;
}

/* Asks for less, as older kernels know it; false if that cannot be the fault. */
static bool lower_to_kernel(struct event *event)
{
	/* PERF_FORMAT_LOST is of Linux 6.0, build-ids of 5.12, KSYMBOL of 5.1. */
	if (event->attr.read_format)
		event->attr.read_format = 0;
	else if (event->attr.build_id)
		event->attr.build_id = 0;
	else if (event->attr.ksymbol)
		event->attr.ksymbol = event->attr.bpf_event = 0;
	else
		return false;
	return true;
}

/* What the event's group leader has for the same CPU and thread; -1: no group. */
static int leader_fd(const struct sampler *sampler, const struct event *event,
		     int cpu, pid_t tid)
{
	const struct sampler_options *options = &sampler->options;
	uint32_t leader = event->index;

	if (leader >= options->event_count)
		return -1;
	while (leader && options->events[leader].joins_group)
		leader--;
	for (size_t i = sampler->fds.count; leader != event->index && i-- > 0;) {
		const struct sampler_fd *entry = &sampler->fds.data[i];

		if (entry->cpu != cpu)
			break;
		if (entry->event == leader && entry->tid == tid)
			return entry->fd;
	}
	return -1;
}

/*
 * Opens one event for a CPU and a thread (-1: all). Where the user may not see
 * the kernel, user space alone is taken, as perf does. *ret is -1 for a thread
 * that has ended.
 */
static struct error *open_event(struct sampler *sampler, struct event *event,
				int cpu, pid_t tid, int *ret)
{
	int group_fd = leader_fd(sampler, event, cpu, tid);

	for (;;) {
		struct perf_event_attr attr = event->attr;
		int fd;

		if (sampler_is_by_cpu(sampler, event->index))
			attr_by_cpu(&attr);
		fd = perf_event_open(&attr, tid, cpu, group_fd, 0);

		if (fd >= 0) {
			*ret = fd;
			return NULL;
		}
		if (fd == -ESRCH && sampler->options.threads.count > 1) {
			*ret = -1;
			return NULL;
		}
		if ((fd == -EACCES || fd == -EPERM) && tid >= 0 &&
		    !event->attr.exclude_kernel && !event->attr.exclude_user) {
			lower_to_user(sampler, event);
			continue;
		}
		if (fd == -EINVAL && lower_to_kernel(event))
			continue;
		return perf_event_error(-fd, &attr, event->name, tid, cpu,
					sampler->options.root);
	}
}

static struct error *keep_fd(struct sampler *sampler, struct event *event,
			     int cpu, pid_t tid, int fd)
{
	struct sampler_fd entry = {
		.fd = fd, .event = event->index, .cpu = cpu, .tid = tid
	};
	struct error *error;

	if (!vec_push(&sampler->fds, entry)) {
		close(fd);
		return error_no_memory();
	}
	if (ioctl(fd, PERF_EVENT_IOC_ID, &vec_last(&sampler->fds)->id))
		return error_os(errno, NULL, "cannot get the id of event '%s'",
				event->name);
	error = events_add_id(&sampler->kernel_events, event,
			      vec_last(&sampler->fds)->id);
	return error;
}

/* Sends an event into a ring, or makes its own the ring. */
static struct error *join_ring(struct ring *ring, int *ring_fd, int fd,
			       size_t size, size_t min_size)
{
	struct error *error;

	if (*ring_fd >= 0) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, *ring_fd))
			return error_os(errno, NULL,
					"cannot share an event buffer");
		return NULL;
	}
	error = ring_map(ring, fd, size, min_size);
	if (!error)
		*ring_fd = fd;
	return error;
}

/*
 * Bytes that the rings of one CPU may lock: perf_event_mlock_kb for each CPU,
 * and a share of RLIMIT_MEMLOCK. Source: perf_event_open(2), "/proc/sys/kernel".
 */
static uint64_t locked_share(const struct sampler *sampler, size_t cpus)
{
	int64_t kb = 516;
	struct rlimit limit;

	if (capability_have(CAP_IPC_LOCK) ||
	    perf_event_paranoid(sampler->options.root) < 0 ||
	    getrlimit(RLIMIT_MEMLOCK, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	error_destroy(kernel_setting(sampler->options.root,
				     "perf_event_mlock_kb", &kb));
	if (kb < 0 || kb > INT32_MAX)
		kb = 0;
	return (uint64_t)kb * 1024 + limit.rlim_cur / cpus;
}

/* A machine with many CPUs shall not give its memory away to rings. */
static uint64_t memory_share(size_t cpus)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	uint64_t total = RINGS_TOTAL;

	if (pages > 0 &&
	    (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) / 16 < total)
		total = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) / 16;
	return total / cpus;
}

static size_t task_ring_size(const struct sampler *sampler, size_t cpus)
{
	size_t size = sampler->options.threads.count ? TASK_RING :
						       TASK_RING_SYSTEM;

	while (size > TASK_RING && size > memory_share(cpus) / 8)
		size /= 2;
	return size;
}

/* What a CPU's samples take in that time at most, where their rate is known. */
static uint64_t bytes_of_rate(const struct sampler_options *options)
{
	return options->frequency * options->event_count * options->stack_size *
	       SAMPLE_RING_LASTS_MS / 1000;
}

/* As large as good, and such that every CPU gets the same. */
static size_t default_ring_size(const struct sampler *sampler, size_t cpus)
{
	size_t size = sampler->options.stack_size > 16384 ?
			      SAMPLE_RING_STACKS :
			      SAMPLE_RING;
	/* Each ring has a page of its own in front. */
	size_t others = sampler->tasks_size + 2 * (size_t)sysconf(_SC_PAGESIZE);
	uint64_t share = locked_share(sampler, cpus);

	if (memory_share(cpus) < share)
		share = memory_share(cpus);
	while (size < bytes_of_rate(&sampler->options) &&
	       2 * size + others <= share)
		size *= 2;
	while (size > SAMPLE_RING_MIN && size + others > share)
		size /= 2;
	return size;
}

static struct error *open_on(struct sampler *sampler,
			     const struct sampler_cpu *cpu, struct event *event,
			     pid_t tid)
{
	bool tasks = event->index == sampler_tasks_index(sampler);
	const struct sampler_walker *walker = sampler->walker;
	struct error *error;
	int fd;

	error = open_event(sampler, event, cpu->cpu, tid, &fd);
	if (error || fd < 0)
		return error;
	error = keep_fd(sampler, event, cpu->cpu, tid, fd);
	if (!error && walker && !tasks)
		error = walker->opened(walker->arg, &event->attr,
				       sampler_is_by_cpu(sampler, event->index),
				       fd);
	return error;
}

static struct error *open_walker_output(struct sampler *sampler,
					struct sampler_cpu *cpu)
{
	struct event *event = sampler->kernel_events.list
				      .data[sampler_walker_index(sampler)];
	struct error *error;
	int fd;

	error = open_event(sampler, event, cpu->cpu, -1, &fd);
	if (error)
		return error;
	error = keep_fd(sampler, event, cpu->cpu, -1, fd);
	if (error)
		return error;
	cpu->walker_fd = fd;
	return join_ring(&cpu->samples, &cpu->samples_fd, fd, 0, 0);
}

static bool is_sampled(const struct sampler_options *options, int cpu)
{
	for (size_t i = 0; i < options->cpus.count; i++)
		if (options->cpus.data[i] == cpu)
			return true;
	return !options->cpus.count;
}

/* For each thread, or once. */
static struct error *open_event_on(struct sampler *sampler,
				   const struct sampler_cpu *cpu,
				   struct event *event)
{
	const struct pid_vec *threads = &sampler->options.threads;
	struct error *error = NULL;

	if (!threads->count || sampler_is_by_cpu(sampler, event->index))
		return open_on(sampler, cpu, event, -1);
	for (size_t t = 0; t < threads->count && !error; t++)
		error = open_on(sampler, cpu, event, threads->data[t]);
	return error;
}

static struct error *open_cpu(struct sampler *sampler, int number)
{
	struct sampler_cpu cpu = { .cpu = number,
				   .samples_fd = -1,
				   .tasks_fd = -1,
				   .walker_fd = -1 };
	size_t events = sampler->options.event_count + 1;
	bool sampled = is_sampled(&sampler->options, number);
	struct error *error = NULL;

	if (!vec_push(&sampler->cpus, cpu))
		return error_no_memory();
	for (size_t i = 0; i < events && !error; i++) {
		struct event *event = sampler->kernel_events.list.data[i];

		if (sampled || event->index == sampler_tasks_index(sampler))
			error = open_event_on(sampler,
					      vec_last(&sampler->cpus), event);
	}
	return error;
}

static struct error *map_cpu(struct sampler *sampler, struct sampler_cpu *cpu)
{
	struct error *error = NULL;

	for (size_t i = 0; i < sampler->fds.count && !error; i++) {
		const struct sampler_fd *entry = &sampler->fds.data[i];

		if (entry->cpu != cpu->cpu)
			continue;
		if (entry->event == sampler_tasks_index(sampler))
			error = join_ring(&cpu->tasks, &cpu->tasks_fd,
					  entry->fd, sampler->tasks_size,
					  TASK_RING_MIN);
		else
			error = join_ring(&cpu->samples, &cpu->samples_fd,
					  entry->fd, sampler->options.ring_size,
					  SAMPLE_RING_MIN);
	}
	if (!error && cpu->tasks_fd < 0)
		return error_create(ERROR_NOT_FOUND,
				    "the threads to record have ended");
	return error;
}

/* --- threads --- */

static bool has_thread(const struct pid_vec *threads, pid_t tid)
{
	for (size_t i = 0; i < threads->count; i++)
		if (threads->data[i] == tid)
			return true;
	return false;
}

/* What a process has started meanwhile. */
static struct error *add_threads(const struct sampler *sampler, pid_t pid,
				 struct pid_vec *ret)
{
	struct pid_list now = {};
	struct error *error = proc_threads(sampler->options.root, pid, &now);

	for (size_t i = 0; !error && i < now.count; i++)
		if (!has_thread(ret, now.data[i]) && !vec_push(ret, now.data[i]))
			error = error_no_memory();
	vec_deinit(&now);
	if (!error || error->code == ERROR_NO_MEMORY)
		return error;
	/* It has ended, as opening will tell. */
	error_destroy(error);
	return NULL;
}

/* `first`, and what has come to the processes that are recorded as a whole. */
static struct error *list_threads(const struct sampler *sampler,
				  const struct pid_vec *first,
				  struct pid_vec *ret)
{
	const struct pid_vec *whole = &sampler->options.whole;
	struct error *error = NULL;

	if (!vec_reserve(ret, first->count))
		return error_no_memory();
	for (size_t i = 0; i < first->count; i++)
		(void)vec_push(ret, first->data[i]);
	for (size_t i = 0; !error && i < whole->count; i++)
		error = add_threads(sampler, whole->data[i], ret);
	return error;
}

/* By now all events are open: what starts from here on inherits all of them. */
static struct error *count_late_threads(struct sampler *sampler)
{
	const struct pid_vec *known = &sampler->options.threads;
	struct pid_vec all = {};
	struct error *error = list_threads(sampler, known, &all);

	sampler->late_threads = all.count - known->count;
	vec_deinit(&all);
	return error;
}

static struct error *add_events(struct sampler *sampler)
{
	const struct sampler_options *options = &sampler->options;
	struct perf_event_attr attr;
	struct error *error = NULL;

	for (size_t i = 0; i < options->event_count && !error; i++) {
		attr = attr_event(options, &options->events[i]);
		error = events_add(&sampler->kernel_events, &attr,
				   options->events[i].name, NULL);
	}
	if (error)
		return error;
	attr = attr_tasks(options);
	error = events_add(&sampler->kernel_events, &attr, "tasks", NULL);
	if (error || (!sampler->walker && !sampler->producer))
		return error;
	attr = attr_walker(options);
	return events_add(&sampler->kernel_events, &attr, "walker", NULL);
}

/*
 * Records of a ring wake the recorder when a quarter of it is full; the event
 * whose ring it is decides. Set before opening.
 */
static void set_watermarks(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->options.event_count; i++) {
		struct event *event = sampler->kernel_events.list.data[i];

		event->attr.watermark = 1;
		event->attr.wakeup_watermark =
			(uint32_t)(sampler->options.ring_size / 4);
	}
}

static struct error *open_all(struct sampler *sampler)
{
	struct cpu_vec online = {};
	struct error *error = online_cpus(sampler->options.root, &online);

	if (!error)
		error = check_cpus(&sampler->options.cpus, &online);
	if (!error)
		sampler->tasks_size = task_ring_size(sampler, online.count);
	if (!error && !sampler->options.ring_size)
		sampler->options.ring_size =
			default_ring_size(sampler, online.count);
	set_watermarks(sampler);
	for (size_t i = 0; !error && i < online.count; i++)
		error = open_cpu(sampler, online.data[i]);
	vec_deinit(&online);
	if (!error)
		error = count_late_threads(sampler);
	/* Memory for rings takes long: a thread shall not begin between two events. */
	for (size_t i = 0; !error && i < sampler->cpus.count; i++)
		error = map_cpu(sampler, &sampler->cpus.data[i]);
	for (size_t i = 0; !error && sampler->walker && i < sampler->cpus.count; i++)
		if (sampler->cpus.data[i].samples_fd >= 0)
			error = open_walker_output(sampler,
						   &sampler->cpus.data[i]);
	return error;
}

bool sampler_ticks_by_cpu(const struct sampler *sampler, size_t event)
{
	const struct sampler_options *options = &sampler->options;

	if (event >= options->event_count || !clocks_is_alone(options, event))
		return false;
	return sampler->clocks_by_cpu || !options->threads.count;
}

bool sampler_is_by_cpu(const struct sampler *sampler, size_t event)
{
	const struct sampler_options *options = &sampler->options;

	if (event < options->event_count &&
	    clocks_is_off_cpu(&options->events[event]))
		return true;
	return sampler->clocks_by_cpu && sampler_ticks_by_cpu(sampler, event);
}

static struct error *follow_threads(struct sampler *sampler)
{
	const struct sampler_options *options = &sampler->options;
	const struct sampler_walker *walker = sampler->walker;
	bool can = clocks_can_be_by_cpu(options), follows;

	if (!clocks_has_off_cpu(options) && !(walker && can))
		return NULL;
	follows = walker && walker->follow(walker->arg, &options->threads,
					   options->enable_on_exec);
	if (!follows && clocks_has_off_cpu(options))
		return error_create(
			ERROR_UNSUPPORTED,
			"event '%s': this kernel does not let kaa follow these threads: of a running process with several threads, or of -t, that takes Linux 6.9",
			KAA_OFF_CPU);
	sampler->clocks_by_cpu = follows && can;
	return NULL;
}

struct error *sampler_open(struct sampler *sampler,
			   const struct sampler_options *options,
			   const struct sampler_walker *walker)
{
	struct error *error;

	*sampler = (struct sampler){ .options = *options,
				     .walker = walker,
				     .wake_fd = -1 };
	sampler->options.threads = (struct pid_vec){};
	open_files_raise_limit();
	/* The walker's programs took their time: more threads may have begun. */
	error = list_threads(sampler, &options->threads,
			     &sampler->options.threads);
	if (!error)
		error = follow_threads(sampler);
	if (!error)
		error = add_events(sampler);
	if (!error)
		error = open_all(sampler);
	sampler->walker = NULL;
	if (error)
		sampler_close(sampler);
	return error;
}

/* --- rings of kaa's own --- */

/* As readers see it: a clock that no frequency or count of the user's describes. */
static struct error *add_own_events(struct sampler *sampler)
{
	static const char *const names[] = {
		[TIME_ON_CPU] = "cpu-clock",
		[TIME_BY_CLOCK] = KAA_WALL_CLOCK,
		[TIME_WITH_GIL] = KAA_GIL_CLOCK,
		[TIME_OF_TASKS] = KAA_ASYNC_CLOCK,
	};
	struct sampler_options *options = &sampler->options;
	struct sampler_event event = {
		.attr = { .type = PERF_TYPE_SOFTWARE,
			  .config = PERF_COUNT_SW_CPU_CLOCK,
			  .config1 = options->polls_native ?
					     KAA_POLLED_NATIVE :
					     KAA_POLLED },
		.name = names[sampler->options.time],
	};
	const struct sampler_event *events = options->events;
	enum callchain_mode callchain = options->callchain;
	struct error *error;

	options->events = &event;
	options->event_count = 1;
	/* Without native frames the chains are the walker's alone: no stack. */
	if (!options->polls_native)
		options->callchain = CALLCHAIN_FP;
	error = add_events(sampler);
	options->events = events;
	options->callchain = callchain;
	for (size_t i = 0; !error && i < sampler->kernel_events.list.count; i++)
		error = events_add_id(&sampler->kernel_events,
				      sampler->kernel_events.list.data[i],
				      i + 1);
	return error;
}

static struct error *make_own_rings(struct sampler *sampler)
{
	struct sampler_cpu cpu = { .samples_fd = -1, .walker_fd = -1 };
	struct sampler_fd entry = {
		.event = (uint32_t)sampler_tasks_index(sampler), .tid = -1
	};
	struct error *error;
	int wake[2];

	if (pipe2(wake, O_CLOEXEC | O_NONBLOCK))
		return error_os(errno, NULL, "cannot make a pipe");
	sampler->wake_fd = wake[1];
	entry.fd = cpu.tasks_fd = wake[0];
	if (!vec_push(&sampler->fds, entry)) {
		close(wake[0]);
		return error_no_memory();
	}
	if (!vec_push(&sampler->cpus, cpu))
		return error_no_memory();
	error = ring_create(&sampler->cpus.data[0].samples,
			    sampler->options.polls_native ? SAMPLE_RING_STACKS :
							    SAMPLE_RING);
	return error ? error :
		       ring_create(&sampler->cpus.data[0].tasks, OWN_TASK_RING);
}

struct error *sampler_open_own(struct sampler *sampler,
			       const struct sampler_options *options,
			       const struct sampler_producer *producer)
{
	struct error *error;

	*sampler = (struct sampler){ .options = *options,
				     .producer = producer,
				     .wake_fd = -1 };
	sampler->options.threads = (struct pid_vec){};
	/* The kernel's own clock of events cannot be read. */
	if (options->clockid < 0)
		sampler->options.clockid = CLOCK_MONOTONIC;
	open_files_raise_limit();
	error = list_threads(sampler, &options->threads,
			     &sampler->options.threads);
	if (!error)
		error = add_own_events(sampler);
	if (!error)
		error = make_own_rings(sampler);
	if (error)
		sampler_close(sampler);
	return error;
}

void sampler_close(struct sampler *sampler)
{
	if (sampler->producer && sampler->wake_fd >= 0)
		close(sampler->wake_fd);
	vec_for_each(cpu, &sampler->cpus) {
		ring_unmap(&cpu->samples);
		ring_unmap(&cpu->tasks);
	}
	vec_for_each(entry, &sampler->fds)
		close(entry->fd);
	vec_deinit(&sampler->cpus);
	vec_deinit(&sampler->fds);
	vec_deinit(&sampler->options.threads);
	events_deinit(&sampler->kernel_events);
}

static struct error *enable(const struct sampler_fd *entry)
{
	if (ioctl(entry->fd, PERF_EVENT_IOC_ENABLE, 0))
		return error_os(errno, NULL, "cannot enable an event");
	return NULL;
}

struct error *sampler_enable(struct sampler *sampler)
{
	struct error *error = NULL;

	if (sampler->producer)
		return sampler->producer->enable(sampler->producer->arg, true);

	vec_for_each(entry, &sampler->fds)
		if (!error)
			error = enable(entry);
	return error;
}

struct error *sampler_enable_tasks(struct sampler *sampler)
{
	struct error *error = NULL;

	if (sampler->producer)
		return sampler->producer->enable(sampler->producer->arg, false);

	vec_for_each(entry, &sampler->fds)
		if (!error && entry->event == sampler_tasks_index(sampler))
			error = enable(entry);
	return error;
}

struct error *sampler_enable_clocks(struct sampler *sampler)
{
	struct error *error = NULL;

	/* The producer sees an exec, and waits for it. */
	if (sampler->producer)
		return sampler->producer->enable(sampler->producer->arg, true);

	vec_for_each(entry, &sampler->fds)
		if (!error && sampler_is_by_cpu(sampler, entry->event))
			error = enable(entry);
	return error;
}

void sampler_disable(struct sampler *sampler)
{
	if (sampler->producer) {
		sampler->producer->disable(sampler->producer->arg);
		return;
	}
	vec_for_each(entry, &sampler->fds)
		if (entry->event != sampler_walker_index(sampler))
			ioctl(entry->fd, PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t sampler_lost(const struct sampler *sampler, bool tasks)
{
	const struct sampler_producer *producer = sampler->producer;
	uint64_t sum = 0;

	if (producer)
		return producer->lost(producer->arg, tasks);

	for (size_t i = 0; i < sampler->fds.count; i++) {
		const struct sampler_fd *entry = &sampler->fds.data[i];
		struct event *event =
			sampler->kernel_events.list.data[entry->event];
		/* value, id, lost */
		uint64_t values[3];

		if (!(event->attr.read_format & PERF_FORMAT_LOST) ||
		    (entry->event == sampler_tasks_index(sampler)) != tasks)
			continue;
		if (read(entry->fd, values, sizeof(values)) == sizeof(values))
			sum += values[2];
	}
	return sum;
}
