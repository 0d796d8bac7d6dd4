// SPDX-License-Identifier: GPL-2.0-only
#include "collect/long_waits.h"

#include "base/clock.h"
#include "sys/proc.h"

enum {
	/* Shorter ones are not read. */
	LONG_NS = 250000000,
	/* Between the end of a sweep and the next one, at least. */
	SWEEP_EACH_NS = 250000000,
	/* So much CPU time at once; and of all of it one part in so many. */
	STEP_NS = 2000000,
	SHARE = 100,
	/* A wait that so many sweeps have not met is over, and so is its sample. */
	KEEP_SWEEPS = 8,
};

void long_waits_deinit(struct long_waits *waits)
{
	vec_for_each(wait, &waits->list)
		python_stack_deinit(&wait->python);
	vec_deinit(&waits->list);
	map_deinit(&waits->by_tid);
	vec_deinit(&waits->threads);
	user_walk_destroy(waits->thread.walk);
	waiting_thread_deinit(&waits->thread);
}

static struct long_wait *find(const struct long_waits *waits, uint32_t tid)
{
	const uint64_t *index = map_find(&waits->by_tid, tid);

	return index ? &waits->list.data[*index] : NULL;
}

/* --- a sweep ------------------------------------------------------------ */

static bool can_be_read(const struct target *target)
{
	return target && target->state == PYTHON_FOUND && !target->replaced &&
	       !process_is_over(target->process);
}

static struct error *list_threads(struct long_waits *waits,
				  const struct target *target)
{
	struct pid_list tids = {};
	bool has_room;

	/* One that has ended has no threads. */
	error_destroy(proc_threads(waits->thread.root, (pid_t)target->pid,
				   &tids));
	has_room = vec_reserve(&waits->threads, tids.count);
	for (size_t i = 0; has_room && i < tids.count; i++)
		waits->threads.data[waits->threads.count++] =
			(struct long_waits_thread){ target->pid, tids.data[i] };
	vec_deinit(&tids);
	return has_room ? NULL : error_no_memory();
}

static struct error *begin_sweep(struct long_waits *waits)
{
	struct error *error = NULL;

	if (!waits->thread.walk)
		error = user_walk_create(&waits->thread.walk);
	waits->sweep++;
	waits->next = 0;
	vec_clear(&waits->threads);
	vec_for_each(target, &waits->tracking->targets.all)
		if (!error && can_be_read(*target))
			error = list_threads(waits, *target);
	return error;
}

/* Waits that are over go. */
static struct error *end_sweep(struct long_waits *waits)
{
	size_t count = 0;

	vec_for_each(wait, &waits->list) {
		if (wait->sweep + KEEP_SWEEPS < waits->sweep)
			python_stack_deinit(&wait->python);
		else
			waits->list.data[count++] = *wait;
	}
	waits->list.count = count;
	map_clear(&waits->by_tid);
	for (size_t i = 0; i < count; i++)
		if (!map_insert(&waits->by_tid, waits->list.data[i].tid, i, NULL))
			return error_no_memory();
	return NULL;
}

/* --- a thread ----------------------------------------------------------- */

/* The place of what is known of the thread's wait, made on first use. */
static struct long_wait *place_of(struct long_waits *waits, uint32_t tid)
{
	struct long_wait *wait = find(waits, tid);

	if (wait)
		return wait;
	if (!vec_push(&waits->list, (struct long_wait){ .tid = tid }) ||
	    !map_insert(&waits->by_tid, tid, waits->list.count - 1, NULL))
		return NULL;
	return vec_last(&waits->list);
}

static struct error *keep(struct long_waits *waits, uint64_t since)
{
	struct waiting_thread *thread = &waits->thread;
	struct long_wait *wait = place_of(waits, (uint32_t)thread->tid);
	struct python_stack old;

	if (!wait)
		return error_no_memory();
	old = wait->python;
	wait->python = thread->python;
	thread->python = old;
	wait->since = since;
	wait->sweep = waits->sweep;
	return NULL;
}

/* Nothing is kept unless it has slept on meanwhile. What is torn is read again later. */
static struct error *read_wait(struct long_waits *waits)
{
	struct waiting_thread *thread = &waits->thread;
	uint64_t since = thread->since;
	bool is_read = waiting_thread_read(thread);
	struct error *error = waiting_thread_error(thread);

	if (error || !is_read)
		return error;
	waiting_thread_look(thread);
	if (thread->since != since || thread->python.flags & WALKER_UNREADABLE)
		return NULL;
	return keep(waits, since);
}

static struct error *look_at(struct long_waits *waits,
			     const struct long_waits_thread *who)
{
	struct process *process = process_table_find(waits->tracking->processes,
						     who->pid, UINT64_MAX);
	struct waiting_thread *thread = &waits->thread;
	struct long_wait *known;

	thread->target = process ? target_find(process) : NULL;
	thread->tid = who->tid;
	if (!can_be_read(thread->target))
		return NULL;
	waiting_thread_look(thread);
	known = find(waits, (uint32_t)who->tid);
	if (known && known->since == thread->since) {
		known->sweep = waits->sweep;
		return NULL;
	}
	return thread->waited < LONG_NS ? NULL : read_wait(waits);
}

/* --- all of them -------------------------------------------------------- */

static int64_t cpu_time(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static bool is_swept(const struct long_waits *waits)
{
	return waits->next == waits->threads.count;
}

struct error *long_waits_look(struct long_waits *waits)
{
	int64_t began, took;
	struct error *error = NULL;

	if (!waits->tracking || clock_ns(CLOCK_MONOTONIC) < waits->due)
		return NULL;
	began = cpu_time();
	if (is_swept(waits))
		error = begin_sweep(waits);
	while (!error && !is_swept(waits) && cpu_time() - began < STEP_NS)
		error = look_at(waits, &waits->threads.data[waits->next++]);
	if (!error && is_swept(waits))
		error = end_sweep(waits);
	took = SHARE * (cpu_time() - began);
	if (is_swept(waits) && took < SWEEP_EACH_NS)
		took = SWEEP_EACH_NS;
	waits->due = clock_ns(CLOCK_MONOTONIC) + took;
	return error;
}

const struct python_stack *long_waits_find(const struct long_waits *waits,
					   uint32_t pid, uint32_t tid,
					   uint64_t since)
{
	const struct long_wait *wait = find(waits, tid);

	return wait && since && wait->since == since &&
			       wait->python.pid == pid &&
			       wait->python.frames.count ?
		       &wait->python :
		       NULL;
}
