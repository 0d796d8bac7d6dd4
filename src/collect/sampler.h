/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opens the kernel's events for a recording, and their rings.
 *
 * Every event is opened once for each CPU and each target thread (a
 * CPU only when the whole system is recorded, and for clocks that the walker
 * filters): the kernel does not map rings of
 * inherited events that are not bound to a CPU. Each CPU has two rings: one
 * for samples, into which all events of that CPU write, and a small one
 * for task records (mmap, comm, fork, exit), which wakes the recorder at each
 * record, so that a Python that has just started is noticed at once. If only
 * some CPUs are sampled, task records still come from all: a process may call
 * exec on one and run on another.
 *
 * Not thread-safe.
 */
#ifndef KAA_COLLECT_SAMPLER_H
#define KAA_COLLECT_SAMPLER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "collect/ring.h"
#include "collect/sampler_options.h"
#include "perfdata/events.h"

/* Indices in sampler.kernel_events behind the user's events. */
enum {
	SAMPLER_TASKS = 0,
	SAMPLER_WALKER = 1,
};

struct sampler_fd {
	int fd;
	/* Index in kernel_events. */
	uint32_t event;
	int cpu;
	pid_t tid;
	uint64_t id;
	/* The thread and its heirs have ended. */
	bool ended;
};

struct sampler_cpu {
	int cpu;
	struct ring samples;
	struct ring tasks;
	/* The descriptors behind the rings; of samples -1 if there are none. */
	int samples_fd;
	int tasks_fd;
	int walker_fd;
};

/*
 * Who fills the rings where no kernel does: they are memory of kaa's own, one of
 * samples and one of task records, both of index 0 of sampler.cpus.
 */
struct sampler_producer {
	/* Task records alone, or samples, too. */
	struct error *(*enable)(void *arg, bool samples);
	/* Nothing is written any more when it returns. */
	void (*disable)(void *arg);
	/* Samples, or task records, that found no room. */
	uint64_t (*lost)(void *arg, bool tasks);
	void *arg;
};

struct sampler {
	/* The threads are the sampler's own; they are those that have events. */
	struct sampler_options options;
	/*
	 * The events as opened, with all their ids: options.event_count of the
	 * user's, then one for task records, then the walker's output.
	 */
	struct events kernel_events;
	VEC(struct sampler_fd) fds;
	VEC(struct sampler_cpu) cpus;
	/* Bytes of one CPU's ring for task records. */
	size_t tasks_size;
	/* Kernel samples were refused; user space only. */
	bool user_only;
	/* Clocks tick for each CPU, and the walker filters (docs/clock.md). */
	bool clocks_by_cpu;
	/*
	 * Threads that began while the events were opened: they have inherited what
	 * their creator had by then, which may be the events of some CPUs.
	 */
	uint64_t late_threads;
	/* While it opens; NULL: no walker. */
	const struct sampler_walker *walker;
	/* NULL: the kernel. */
	const struct sampler_producer *producer;
	/*
	 * The producer writes a byte there when there is something to do, and closes it
	 * when nobody is left to be sampled; -1: closed.
	 */
	int wake_fd;
};

/*
 * Who has the output event of a walker on each CPU. opened() is called for each
 * event of the user's as soon as it is open: what a thread starts from then on
 * inherits the event as it is, and what is attached to it later is missing there
 * (Linux 6.18: perf_event_alloc() copies event->prog, PERF_EVENT_IOC_SET_BPF
 * sets it for the one event).
 */
struct sampler_walker {
	/*
	 * From now on these threads are recorded, and all that they start; on_exec:
	 * once they have called exec. False if the walker cannot tell whether a
	 * task is: then no event is opened by_cpu.
	 */
	bool (*follow)(void *arg, const struct pid_vec *threads, bool on_exec);
	/* by_cpu: it also ticks for tasks that are not recorded. */
	struct error *(*opened)(void *arg, const struct perf_event_attr *attr,
				bool by_cpu, int fd);
	void *arg;
};

/*
 * Opens everything, disabled. walker: NULL, or also its output. Failures name
 * the event, and the setting that forbids it. The options' arrays are borrowed.
 */
struct error *sampler_open(struct sampler *sampler,
			   const struct sampler_options *options,
			   const struct sampler_walker *walker);
/*
 * The same without the kernel: no event is opened. The one event of the user's is
 * a clock of CPU time. The producer outlives the sampler.
 */
struct error *sampler_open_own(struct sampler *sampler,
			       const struct sampler_options *options,
			       const struct sampler_producer *producer);
void sampler_close(struct sampler *sampler);

/* It is opened for each CPU, not for threads, and the walker filters: clocks, waits. */
bool sampler_is_by_cpu(const struct sampler *sampler, size_t event);

/* It is a clock in no group that ticks for each CPU, as with -a. */
bool sampler_ticks_by_cpu(const struct sampler *sampler, size_t event);

struct error *sampler_enable(struct sampler *sampler);
/* Those that no exec enables. */
struct error *sampler_enable_clocks(struct sampler *sampler);
/* Task records alone, so that a recording that begins later knows the maps. */
struct error *sampler_enable_tasks(struct sampler *sampler);
/*
 * All but the walker's output: at a tracepoint the walker runs until it is
 * detached, and what it could not write would count as lost.
 */
void sampler_disable(struct sampler *sampler);

/*
 * Sum of the kernel's counts of lost records (PERF_FORMAT_LOST), 0 if old: of samples
 * and of what belongs to them, or of tasks.
 */
uint64_t sampler_lost(const struct sampler *sampler, bool tasks);

static inline size_t sampler_tasks_index(const struct sampler *sampler)
{
	return sampler->options.event_count + SAMPLER_TASKS;
}

static inline size_t sampler_walker_index(const struct sampler *sampler)
{
	return sampler->options.event_count + SAMPLER_WALKER;
}

#endif
