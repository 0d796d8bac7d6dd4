// SPDX-License-Identifier: GPL-2.0-only
#include "collect/unended.h"

#include <linux/perf_event.h>

#include "base/clock.h"
#include "bpf/walker_shared.h"
#include "collect/clocks.h"
#include "collect/poll_native.h"
#include "collect/waiting_thread.h"
#include "sys/proc.h"

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
	struct waiting_thread thread;
	struct poll_native native;
	/* When it had waited for so long. */
	uint64_t time;
};

/* Of the event's samples. */
static const struct event *find_event(const struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->options.event_count; i++)
		if (clocks_is_off_cpu(&sampler->options.events[i]))
			return sampler->kernel_events.list.data[i];
	return NULL;
}

/* --- its native frames -------------------------------------------------- */

/*
 * Nobody stops it: the kernel says where it called it, and no other register. Code with
 * frame pointers needs one more, and its stack is then cut there.
 */
static void copy_native(struct reading *r)
{
	const struct task_syscall *call = &r->thread.call;

	poll_native_clear(&r->native);
	if (!call->stack_pointer)
		return;
	poll_native_take_call(&r->native, call->stack_pointer,
			      call->instruction);
	poll_native_copy(&r->native, call->stack_pointer,
			 &r->thread.target->memory, POLL_NATIVE_STACK_MAX);
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

/* Whoever loses the CPU between the two looks again. */
static void look_at_time(struct reading *r)
{
	uint64_t began;
	int tries = 0;

	do {
		began = (uint64_t)clock_ns(CLOCK_MONOTONIC);
		waiting_thread_look(&r->thread);
		r->time = time_now(r->unended);
	} while ((uint64_t)clock_ns(CLOCK_MONOTONIC) - began > MOMENT_NS &&
		 ++tries < MOMENT_TRIES);
}

/* False: it did not sleep on meanwhile. */
static bool read_still(struct reading *r)
{
	uint64_t since = r->thread.since;

	if (!waiting_thread_read(&r->thread))
		return false;
	copy_native(r);
	look_at_time(r);
	return r->thread.waited && r->thread.since == since;
}

/* --- its sample --------------------------------------------------------- */

static struct error *write_wait(struct reading *r, const struct event *event)
{
	struct waiting_thread *thread = &r->thread;
	const struct walker_wait wait = { .period = thread->waited,
					  .kind = WALKER_WAIT_SLEEP,
					  .system_call = (int32_t)thread->call.number,
					  .since = thread->since };
	struct record sample = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.event = event,
		.id = event->ids.data[0],
		.has = event->attr.sample_type,
		.pid = thread->target->pid,
		.tid = (uint32_t)thread->tid,
		.time = r->time,
		.sample = { .raw = (const uint8_t *)&wait,
			    .raw_size = sizeof(wait) },
	};

	poll_native_put(&r->native, &sample.sample);
	return sample_writer_waiting(r->unended->samples, thread->target, &sample,
				     thread->python.frames.count ?
					     &thread->python :
					     NULL);
}

static struct error *add_thread(struct reading *r, const struct event *event)
{
	struct unended *unended = r->unended;
	struct waiting_thread *thread = &r->thread;
	uint64_t waited;
	bool is_read;

	waiting_thread_look(thread);
	waited = thread->waited;
	if (waited < WAIT_MIN_NS)
		return NULL;
	is_read = read_still(r);
	if (is_read && !thread->error)
		return write_wait(r, event);
	unended->threads += !is_read;
	unended->time += is_read ? 0 : waited;
	return waiting_thread_error(thread);
}

static struct error *add_process(struct unended *unended, struct target *target,
				 const struct event *event)
{
	struct reading r = { .unended = unended,
			     .thread = { .root = unended->sampler->options.root,
					 .source = unended->source,
					 .codes = unended->codes,
					 .target = target },
			     .native = POLL_NATIVE_INIT };
	struct pid_list tids = {};
	struct error *error = user_walk_create(&r.thread.walk);

	/* One that has ended has no threads. */
	error_destroy(proc_threads(unended->sampler->options.root,
				   (pid_t)target->pid, &tids));
	for (size_t i = 0; i < tids.count && !error; i++) {
		r.thread.tid = tids.data[i];
		error = add_thread(&r, event);
	}
	vec_deinit(&tids);
	user_walk_destroy(r.thread.walk);
	waiting_thread_deinit(&r.thread);
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
