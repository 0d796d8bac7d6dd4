// SPDX-License-Identifier: GPL-2.0-only
#include "collect/unended.h"

#include <linux/perf_event.h>

#include "base/clock.h"
#include "bpf/walker_shared.h"
#include "collect/clocks.h"
#include "collect/poll_native.h"
#include "collect/python_stack.h"
#include "collect/self_pointer.h"
#include "python/user_walk.h"
#include "sys/proc.h"
#include "sys/task_syscall.h"

enum {
	/* Shorter ones, and those that the walker would not have made samples. */
	WAIT_MIN_NS = 1000000,
	/* A wait and the time at which it was that long are of one moment, or nearly. */
	MOMENT_NS = 200000,
	MOMENT_TRIES = 20,
};

/* A thread while it is read. */
struct reading {
	struct unended *unended;
	struct target *target;
	pid_t tid;
	struct user_walk *walk;
	struct python_stack python;
	struct poll_native native;
	struct task_syscall call;
	/* When it had waited for so long. */
	uint64_t time;
	struct error *error;
};

/* Of the event's samples. */
static const struct event *find_event(const struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->options.event_count; i++)
		if (clocks_is_off_cpu(&sampler->options.events[i]))
			return sampler->kernel_events.list.data[i];
	return NULL;
}

static uint64_t waited(const struct reading *r)
{
	struct source_state *source = r->unended->source;

	return source->source->ring->waits(source, r->tid);
}

/* --- Python's frames ---------------------------------------------------- */

static bool emit(void *arg, const void *record, size_t size)
{
	struct reading *r = arg;
	struct error *error = python_stack_take(&r->python, r->unended->codes,
						record, size);

	if (error && !r->error)
		r->error = error;
	else
		error_destroy(error);
	return true;
}

static void walk(struct reading *r)
{
	const char *root = r->unended->sampler->options.root;
	struct remote_memory *remote = &r->target->memory;
	const struct py_memory memory = { remote_memory_callback, remote, NULL };
	const struct user_walk_output output = { emit, r };
	struct user_walk_thread who = {
		.process = r->target->python,
		.pid = r->target->pid,
		.tid = (uint32_t)r->tid,
		.stack_pointer = r->call.stack_pointer,
	};

	python_stack_clear(&r->python);
	if (r->target->state != PYTHON_FOUND)
		return;
	who.thread_pointer =
		self_pointer_find(root, remote, &who.process, r->tid);
	if (who.thread_pointer)
		user_walk_thread(r->walk, &who, &memory, &output);
}

/* --- its native frames -------------------------------------------------- */

/*
 * Nobody stops it: the kernel says where it called it, and no other register. Code with
 * frame pointers needs one more, and its stack is then cut there.
 */
static void copy_native(struct reading *r)
{
	poll_native_clear(&r->native);
	if (!r->call.stack_pointer)
		return;
	poll_native_take_call(&r->native, r->call.stack_pointer,
			      r->call.instruction);
	poll_native_copy(&r->native, r->call.stack_pointer, &r->target->memory,
			 POLL_NATIVE_STACK_MAX);
}

/*
 * The kernel's own clock of events cannot be read: the last record has the latest time.
 * Without any that of the machine is near.
 */
static uint64_t time_now(const struct unended *unended)
{
	clockid_t clock = unended->sampler->options.clockid;
	uint64_t last = output_time_last(unended->samples->output);

	if (clock < 0 && last)
		return last;
	return (uint64_t)clock_ns(clock < 0 ? CLOCK_MONOTONIC : clock);
}

/* By now; whoever loses the CPU in between looks again. */
static uint64_t waited_by_now(struct reading *r)
{
	uint64_t period, began;
	int tries = 0;

	do {
		began = (uint64_t)clock_ns(CLOCK_MONOTONIC);
		period = waited(r);
		r->time = time_now(r->unended);
	} while ((uint64_t)clock_ns(CLOCK_MONOTONIC) - began > MOMENT_NS &&
		 ++tries < MOMENT_TRIES);
	return period;
}

/* False: it did not sleep on meanwhile. *period: how long it has waited, before and by now. */
static bool read_still(struct reading *r, uint64_t *period)
{
	const char *root = r->unended->sampler->options.root;
	uint64_t before = *period, began = (uint64_t)clock_ns(CLOCK_MONOTONIC);
	uint64_t took;

	if (!task_syscall_read(root, (pid_t)r->target->pid, r->tid, &r->call))
		return false;
	walk(r);
	copy_native(r);
	*period = waited_by_now(r);
	took = (uint64_t)clock_ns(CLOCK_MONOTONIC) - began;
	/* A new wait would be shorter than the time between. */
	return *period >= before && *period > took;
}

/* --- its sample --------------------------------------------------------- */

static struct error *write_wait(struct reading *r, const struct event *event,
				uint64_t period)
{
	const struct walker_wait wait = { .period = period,
					  .kind = WALKER_WAIT_SLEEP,
					  .system_call = (int32_t)r->call.number };
	struct record sample = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.event = event,
		.id = event->ids.data[0],
		.has = event->attr.sample_type,
		.pid = r->target->pid,
		.tid = (uint32_t)r->tid,
		.time = r->time,
		.sample = { .raw = (const uint8_t *)&wait,
			    .raw_size = sizeof(wait) },
	};

	poll_native_put(&r->native, &sample.sample);
	return sample_writer_waiting(r->unended->samples, r->target, &sample,
				     r->python.frames.count ? &r->python : NULL);
}

static struct error *add_thread(struct reading *r, const struct event *event)
{
	struct unended *unended = r->unended;
	uint64_t period = waited(r);

	if (period < WAIT_MIN_NS)
		return NULL;
	if (read_still(r, &period))
		return r->error ? take_ptr(r->error) :
				  write_wait(r, event, period);
	unended->threads++;
	unended->time += period;
	return take_ptr(r->error);
}

static struct error *add_process(struct unended *unended, struct target *target,
				 const struct event *event)
{
	struct reading r = { .unended = unended,
			     .target = target,
			     .native = POLL_NATIVE_INIT };
	struct pid_list tids = {};
	struct error *error = user_walk_create(&r.walk);

	/* One that has ended has no threads. */
	error_destroy(proc_threads(unended->sampler->options.root,
				   (pid_t)target->pid, &tids));
	for (size_t i = 0; i < tids.count && !error; i++) {
		r.tid = tids.data[i];
		error = add_thread(&r, event);
	}
	vec_deinit(&tids);
	user_walk_destroy(r.walk);
	python_stack_deinit(&r.python);
	poll_native_deinit(&r.native);
	return error;
}

struct error *unended_write(struct unended *unended)
{
	const struct event *event = find_event(unended->sampler);
	struct error *error = NULL;

	vec_for_each(target, &unended->tracking->targets.all)
		if (event && !error && !(*target)->replaced &&
		    !process_is_over((*target)->process))
			error = add_process(unended, *target, event);
	return error;
}
