/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user-space side of the in-kernel walker: loads it, attaches it to
 * events, tells it which processes run Python. bpf/walker_shared.h has what it writes.
 *
 * Needs CAP_BPF and CAP_PERFMON (or CAP_SYS_ADMIN, or root). Loading is done
 * before privileges are dropped; walker_add_process() works without, on
 * kernels that let the owner of a map's descriptor use it, else CAP_BPF has to
 * be kept.
 */
#ifndef KAA_COLLECT_WALKER_H
#define KAA_COLLECT_WALKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "bpf/walker_shared.h"

struct walker;

/* What a walker is for: each takes the kernel some time to load. */
struct walker_parts {
	/* What follows threads: walker_follow(), walker_attach_clock(). */
	bool cpu_clocks;
	/* walker_attach_tracepoint() */
	bool tracepoints;
	/* walker_set_off_cpu_output(); with cpu_clocks. */
	bool off_cpu;
};

/*
 * ERROR_PERMISSION or ERROR_UNSUPPORTED says why the machine does not take
 * it and what to do.
 */
struct error *walker_create(struct walker_parts parts, struct walker **ret);
void walker_destroy(struct walker *walker);

/* What the walker writes on this CPU goes to the event's ring. */
struct error *walker_set_output(struct walker *walker, int cpu, int fd);

/*
 * Runs at every overflow of the event from now on, until the event is closed. Not
 * for tracepoints.
 */
struct error *walker_attach(struct walker *walker, int fd);

/*
 * The clock of a CPU: runs at every tick from now on, and lets those alone be
 * samples that hit a thread that is followed.
 */
struct error *walker_attach_clock(struct walker *walker, int fd);

/*
 * What runs is noted from now on: the threads that are named, and all that they
 * start. ERROR_UNSUPPORTED, or ERROR_PERMISSION, if the kernel does not let that be.
 */
struct error *walker_follow(struct walker *walker);
/*
 * on_exec: once it has called exec. One that has ended is none, and one that is
 * followed stays as it is. ERROR_UNSUPPORTED for one that is not the first of its
 * process, before Linux 6.9.
 */
struct error *walker_follow_thread(struct walker *walker, pid_t tid,
				   bool on_exec);
/*
 * With off_cpu: samples of waits of the threads that are followed go to the event's
 * ring, from then on. At most `rate` of them a second and CPU; a wait that is
 * longer than it takes to have so many is always one, if there are not too many.
 */
struct error *walker_set_off_cpu_output(struct walker *walker, int cpu, int fd);
void walker_begin_off_cpu(struct walker *walker, uint64_t rate);
/*
 * How long a thread has been off the CPU by now, in ns; 0: it is not, or has ended.
 * *since: as in struct walker_wait.
 */
uint64_t walker_off_cpu_now(struct walker *walker, pid_t tid, uint64_t *since);
/* Nothing is noted any more. */
void walker_unfollow(struct walker *walker);
/* Sums over these CPUs; missed over all. */
void walker_clocks(struct walker *walker, const int *cpus, size_t count,
		   struct walker_clock *ret);

/*
 * Runs at every hit of the tracepoint from now on, once for all events that
 * listen to it. id: attr.config of such an event. To be called once for each.
 */
struct error *walker_attach_tracepoint(struct walker *walker, uint64_t id);
void walker_detach_tracepoints(struct walker *walker);

/*
 * Forgets processes when they end. To be called when the events are open: a
 * tracepoint calls its listeners in the order in which they came, and events of
 * sched:sched_process_exit want the last stack of a process.
 */
struct error *walker_watch_exits(struct walker *walker);

/* ERROR_LIMIT when there are too many; the recording can go on. */
struct error *walker_add_process(struct walker *walker, uint32_t pid,
				 const struct walker_process *process);

/* A process that was added turned out to have greenlets. */
void walker_tell_switches(struct walker *walker, uint32_t pid,
			  const struct walker_switches *switches);

/*
 * The process that is gone was added perhaps after its end, which then could
 * not take it out.
 */
void walker_remove_process(struct walker *walker, uint32_t pid);

/*
 * stack_size: the bytes of stack that the kernel copies with each sample; what
 * lies beyond is read from now on. 0: no stack is wanted. ring_size: the bytes of
 * the ring of one CPU, of which one sample takes no more than an eighth for that.
 */
void walker_read_stacks(struct walker *walker, uint32_t stack_size,
			size_t ring_size);
/* Pages of stacks are sent anew from now on, whether they were sent or not. */
void walker_next_epoch(struct walker *walker);

/* Sums over all CPUs. */
void walker_counters(struct walker *walker, struct walker_counters *ret);

DEFINE_CLEANUP(walker, struct walker *, walker_destroy);

#endif
