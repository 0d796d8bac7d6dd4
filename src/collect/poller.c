// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poller.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/vec.h"
#include "collect/clocks.h"
#include "collect/poll_hold.h"
#include "collect/poll_tasks.h"
#include "collect/poll_writer.h"
#include "perfdata/kaa_stream.h"
#include "python/user_walk.h"
#include "sys/thread_pointer.h"

enum {
	NS_PER_S = 1000000000,
	/* The shortest that there is. */
	SLICE_NS = 100000,
	/* Looks at /proc. */
	LOOK_MS = 10,
	/* Tries to read a thread that runs on. */
	TRIES = 3,
	/* Reading costs the program some CPU time, too. */
	DEFAULT_RATE = 999,
	/* A quiet thread is looked at each so many ticks. */
	SKIP_MAX = 7,
};

/* What the recorder says to the poller. */
struct poll_letter {
	pid_t pid;
	uint64_t since;
	bool has_python;
	struct walker_process python;
};

struct poller {
	pthread_t thread;
	bool runs;
	/* Set by the recorder, read by the thread. */
	bool stop;
	bool samples;
	pthread_mutex_t lock;
	/* Under the lock. */
	VEC(struct poll_letter) letters;

	/* Of the thread, while it runs. */
	VEC(struct poll_letter) read;
	struct sampler *sampler;
	struct poll_writer writer;
	struct poll_tasks tasks;
	struct poll_hold hold;
	struct user_walk *walk;
	bool told_code;
	bool begun;
	/* Wall time: of the tick at hand, and the stack that was walked last. */
	bool wall;
	uint64_t tick;
	bool is_late;
	struct strbuf stack;
	/* What the thread itself has run, when it has ended. */
	struct task_run own;
	uint64_t period;
	uint64_t random;
	uint64_t era;
	struct poll_counts counts;
};

/* --- the walk --- */

static bool read_memory(void *arg, uint64_t address, void *buf, size_t size)
{
	return remote_memory_read_all(arg, address, buf, size);
}

/* Records of the stack, each behind its size. */
static bool keep_record(struct strbuf *stack, const void *record, size_t size)
{
	uint32_t length = (uint32_t)size;

	strbuf_append(stack, &length, sizeof(length));
	strbuf_append(stack, record, size);
	return !stack->failed;
}

static bool emit(void *arg, const void *record, size_t size)
{
	struct poller *poller = arg;
	const struct walker_header *header = record;

	poller->told_code |= header->type != WALKER_STACK;
	if (poller->wall && header->type == WALKER_STACK &&
	    !keep_record(&poller->stack, record, size))
		return false;
	return poll_writer_walked(&poller->writer, record, size);
}

static void walk(struct poller *poller, struct polled_process *process,
		 struct polled_thread *thread)
{
	const struct py_memory memory = { read_memory, &process->memory };
	const struct user_walk_output output = { emit, poller };
	struct user_walk_thread who = { .pid = (uint32_t)process->pid,
					.tid = (uint32_t)thread->tid };

	if (!process->has_python)
		return;
	if (!thread->pointer)
		thread->pointer = thread_pointer_find(
			&process->memory, thread->tid,
			thread_own_number(poller->tasks.root, thread->tid));
	if (!thread->pointer)
		return;
	who.process = process->python;
	who.thread_pointer = thread->pointer;
	user_walk_thread(poller->walk, &who, &memory, &output);
}

/* Code that a torn walk told of may be none: the next walk tells of all anew. */
static bool forget_walk(struct poller *poller)
{
	struct error *error;

	if (!poller->told_code)
		return true;
	user_walk_destroy(poller->walk);
	poller->walk = NULL;
	error = user_walk_create(&poller->walk);
	error_destroy(error);
	return !error;
}

/* --- a sample --- */

static void note_run(struct polled_thread *thread, const struct task_run *run)
{
	thread->ran = run->ran;
	thread->kept_off = run->kept_off;
}

static void put_sample(struct poller *poller,
		       const struct polled_process *process,
		       const struct polled_thread *thread, uint64_t period,
		       bool sleeps)
{
	/* Where the walker has no frames, native ones are all that there is. */
	static const uint64_t no_native[] = { (uint64_t)PERF_CONTEXT_USER,
					      KAA_MARKER_MISSING_NATIVE };
	static const uint64_t idle[] = { (uint64_t)PERF_CONTEXT_USER,
					 KAA_MARKER_IDLE };
	bool walked = poller->writer.sample.len;
	struct record sample = {
		.pid = (uint32_t)process->pid,
		.tid = (uint32_t)thread->tid,
		.time = poll_writer_now(&poller->writer),
		.cpu = (uint32_t)poller->hold.cpu,
		.sample = { .period = period },
	};

	if (sleeps || !walked) {
		sample.sample.callchain = sleeps ? idle : no_native;
		sample.sample.callchain_count = 2;
	}
	poll_writer_end(&poller->writer, &sample);
	poller->counts.samples++;
}

static bool is_same_program(const struct polled_process *process,
			    const struct task_stat *stat)
{
	return stat->start_time >= process->start_time &&
	       stat->start_stack == process->start_stack;
}

enum poll_try { TRY_DONE, TRY_AGAIN, TRY_NONE };

/* Its stack is in the writer's sample. *ret: what it has run. */
static enum poll_try read_thread(struct poller *poller,
				 struct polled_process *process,
				 struct polled_thread *thread,
				 struct task_run *ret)
{
	if (!is_same_program(process, &poller->hold.stat)) {
		poll_tasks_look_at(&poller->tasks, process);
		return TRY_NONE;
	}
	poll_writer_begin(&poller->writer);
	strbuf_clear(&poller->stack);
	poller->told_code = false;
	walk(poller, process, thread);
	if (poll_hold_end(&poller->hold, ret))
		return TRY_DONE;
	return forget_walk(poller) ? TRY_AGAIN : TRY_NONE;
}

static enum poll_try try_sample(struct poller *poller,
				struct polled_process *process,
				struct polled_thread *thread)
{
	enum poll_try result;
	struct task_run run;

	switch (poll_hold_begin(&poller->hold, &thread->files)) {
	case POLL_HOLD_STILL:
		break;
	case POLL_HOLD_RUNS:
		return TRY_AGAIN;
	case POLL_HOLD_LATE:
		poller->counts.late++;
		return TRY_NONE;
	case POLL_HOLD_WAITED:
		poller->counts.waited++;
		note_run(thread, &poller->hold.before);
		return TRY_NONE;
	default:
		thread->awake = false;
		return TRY_NONE;
	}
	result = read_thread(poller, process, thread, &run);
	if (result != TRY_DONE)
		return result;
	put_sample(poller, process, thread, run.ran - thread->given, false);
	note_run(thread, &run);
	thread->given = run.ran;
	return TRY_DONE;
}

/* One that sleeps keeps its time for when it is met awake. */
static void sample_thread(struct poller *poller, struct polled_process *process,
			  struct polled_thread *thread)
{
	enum poll_try result = TRY_AGAIN;

	thread->awake = true;
	for (int i = 0; i < TRIES && result == TRY_AGAIN; i++)
		result = try_sample(poller, process, thread);
	poller->counts.rejected += result == TRY_AGAIN;
}

/* True if the thread has run since it was looked at, and looks are due. */
static bool has_run(struct polled_thread *thread)
{
	struct task_run run;

	/* The kernel looks at one that runs on at its own ticks alone. */
	if (thread->awake)
		return true;
	if (thread->skip) {
		thread->skip--;
		return false;
	}
	if (!task_files_run(&thread->files, &run))
		return false;
	if (run.ran != thread->ran || !thread->ran) {
		note_run(thread, &run);
		thread->quiet = 0;
		return true;
	}
	if (thread->quiet < SKIP_MAX)
		thread->quiet++;
	thread->skip = thread->quiet;
	return false;
}

/* --- wall time --- */

/* For as long as it slept where it was walked. */
static void put_sleep(struct poller *poller,
		      const struct polled_process *process,
		      struct polled_thread *thread)
{
	const struct strbuf *stack = &thread->stack;
	uint32_t size;

	if (!thread->sleeps || thread->slept_until <= thread->told)
		return;
	poll_writer_begin(&poller->writer);
	for (size_t at = 0; at < stack->len; at += sizeof(size) + size) {
		memcpy(&size, stack->data + at, sizeof(size));
		if (!poll_writer_walked(&poller->writer,
					stack->data + at + sizeof(size), size))
			break;
	}
	put_sample(poller, process, thread, thread->slept_until - thread->told,
		   true);
	thread->told = thread->slept_until;
}

static void put_last_sleep(void *arg, const struct polled_process *process,
			   struct polled_thread *thread)
{
	put_sleep(arg, process, thread);
}

static void keep_sleep(struct poller *poller, struct polled_thread *thread,
		       const struct task_run *run)
{
	struct strbuf stack = thread->stack;

	thread->stack = poller->stack;
	poller->stack = stack;
	thread->sleeps = !thread->stack.failed;
	thread->slept = *run;
	thread->slept_until = poller->tick;
}

/* Where a thread waits for a CPU is where its wall time goes. */
static enum poll_try try_wall(struct poller *poller,
			      struct polled_process *process,
			      struct polled_thread *thread)
{
	enum poll_hold_result held = poll_hold_asleep(
		&poller->hold, &thread->files, &thread->least);
	bool sleeps = held == POLL_HOLD_STILL;
	enum poll_try result;
	struct task_run run;

	if (held == POLL_HOLD_RUNS)
		held = poll_hold_begin(&poller->hold, &thread->files);
	if (held == POLL_HOLD_RUNS || held == POLL_HOLD_ASLEEP)
		return TRY_AGAIN;
	if (held == POLL_HOLD_GONE)
		return TRY_NONE;
	if (held == POLL_HOLD_LATE) {
		poller->counts.late++;
		poller->is_late = true;
		return TRY_NONE;
	}
	result = read_thread(poller, process, thread, &run);
	if (result != TRY_DONE)
		return result;
	put_sample(poller, process, thread, poller->tick - thread->told,
		   sleeps);
	thread->told = poller->tick;
	if (sleeps)
		keep_sleep(poller, thread, &run);
	return TRY_DONE;
}

/* True: the thread is where it was; looks are due less and less often. */
static bool sleeps_on(struct poller *poller,
		      const struct polled_process *process,
		      struct polled_thread *thread, const struct task_run *run)
{
	if (!thread->sleeps || run->slices != thread->slept.slices ||
	    run->ran != thread->slept.ran) {
		thread->quiet = 0;
		return false;
	}
	thread->slept_until = poller->tick;
	if (thread->slept_until - thread->told > NS_PER_S)
		put_sleep(poller, process, thread);
	if (thread->quiet < SKIP_MAX)
		thread->quiet++;
	thread->skip = thread->quiet;
	return true;
}

static void sample_wall(struct poller *poller, struct polled_process *process,
			struct polled_thread *thread)
{
	enum poll_try result = TRY_AGAIN;
	struct task_run run;

	if (!thread->told)
		thread->told = poller->tick;
	if (thread->skip) {
		thread->skip--;
		return;
	}
	if (thread->told == poller->tick ||
	    !task_files_run(&thread->files, &run))
		return;
	note_run(thread, &run);
	thread->given = run.ran;
	if (sleeps_on(poller, process, thread, &run))
		return;
	put_sleep(poller, process, thread);
	thread->sleeps = false;
	for (int i = 0; i < TRIES && result == TRY_AGAIN; i++)
		result = try_wall(poller, process, thread);
	poller->counts.rejected += result == TRY_AGAIN;
}

static void put_last_sleeps(struct poller *poller)
{
	for (size_t i = 0; poller->wall && i < poller->tasks.processes.count;
	     i++) {
		struct polled_process *process =
			poller->tasks.processes.data[i];

		vec_for_each(thread, &process->threads)
			put_sleep(poller, process, thread);
	}
}

/* --- the thread --- */

static void tick_thread(struct poller *poller, struct polled_process *process,
			struct polled_thread *thread)
{
	if (poller->wall)
		sample_wall(poller, process, thread);
	else if (has_run(thread))
		sample_thread(poller, process, thread);
}

static bool waits_for_us(struct poller *poller,
			 const struct polled_process *process)
{
	struct task_sched sched;

	vec_for_each(thread, &process->threads)
		if (task_files_sched(&thread->files, &sched) &&
		    sched.looked == poller->hold.came)
			return true;
	return false;
}

/*
 * The poller came when the thread before it made way. If that was none of those
 * that are recorded, it was a moment as good as any other for all of them.
 */
static bool is_late_by_ours(struct poller *poller)
{
	bool ours = false;

	if (!poller->hold.late)
		return false;
	for (size_t i = 0; !ours && i < poller->tasks.processes.count; i++)
		ours = waits_for_us(poller, poller->tasks.processes.data[i]);
	poller->counts.late += ours;
	poller->hold.late = ours;
	return ours;
}

static void tick(struct poller *poller)
{
	poller->tick = poll_writer_now(&poller->writer);
	poller->is_late = poller->wall && is_late_by_ours(poller);
	for (size_t i = 0; poller->walk && i < poller->tasks.processes.count;
	     i++) {
		struct polled_process *process =
			poller->tasks.processes.data[i];

		/* A look at it within may bring or take threads. */
		for (size_t t = 0; !process->waits && !process->ended &&
				   !poller->is_late &&
				   t < process->threads.count;
		     t++)
			tick_thread(poller, process,
				    &process->threads.data[t]);
	}
}

/* A quarter more or less than the period, evenly. */
static uint64_t next_period(struct poller *poller)
{
	return poller->period * 3 / 4 +
	       random_next(&poller->random) % (poller->period / 2 + 1);
}

/*
 * Ticks that are over are not made up for: periods are CPU time. It always sleeps:
 * while it has the CPU, a thread that wants it stands where it lost that.
 */
static void wait_for_tick(struct poller *poller, uint64_t *at)
{
	uint64_t now = poll_hold_now();
	struct timespec until;

	*at += next_period(poller);
	if (*at <= now)
		*at = now + next_period(poller);
	until = (struct timespec){ (time_t)(*at / NS_PER_S),
				   (long)(*at % NS_PER_S) };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
	       EINTR)
		;
}

static void read_letters(struct poller *poller)
{
	vec_clear(&poller->read);
	pthread_mutex_lock(&poller->lock);
	vec_for_each(letter, &poller->letters)
		if (!vec_push(&poller->read, *letter))
			break;
	vec_clear(&poller->letters);
	pthread_mutex_unlock(&poller->lock);
	vec_for_each(letter, &poller->read) {
		letter->python.era = ++poller->era;
		poll_tasks_set_python(&poller->tasks, letter->pid,
				      letter->since,
				      letter->has_python ? &letter->python :
							   NULL);
	}
}

/* struct sched_attr as of its first version: uapi/linux/sched/types.h. */
struct slice_attr {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

/*
 * From 6.6 on Linux lets a thread finish its slice before one that wakes up has
 * the CPU, and looks for its end at system calls that ask for CPU time: samples
 * would be taken there. Who asks for a shorter slice need not wait (from 6.12 on).
 */
static void ask_for_short_slice(void)
{
	struct slice_attr attr = { .size = sizeof(attr),
				   .runtime = SLICE_NS };

	/* An older kernel does not know it. */
	(void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

static void *run(void *arg)
{
	struct poller *poller = arg;
	uint64_t at = poll_hold_now();
	int64_t look_at = 0;

	(void)poll_hold_init(&poller->hold);
	ask_for_short_slice();
	prctl(PR_SET_TIMERSLACK, 1);

	while (!__atomic_load_n(&poller->stop, __ATOMIC_ACQUIRE) &&
	       poller->tasks.processes.count) {
		if (__atomic_load_n(&poller->samples, __ATOMIC_ACQUIRE)) {
			if (!poller->begun)
				poll_tasks_begin(&poller->tasks);
			poller->begun = true;
			poll_hold_arrive(&poller->hold, at);
			tick(poller);
		}
		read_letters(poller);
		if (clock_ms() >= look_at) {
			poll_tasks_look(&poller->tasks);
			look_at = clock_ms() + LOOK_MS;
		}
		wait_for_tick(poller, &at);
	}
	put_last_sleeps(poller);
	(void)task_files_run(&poller->hold.own, &poller->own);
	if (!poller->tasks.processes.count)
		poll_writer_close(&poller->writer);
	poll_hold_deinit(&poller->hold);
	return NULL;
}

/* --- the recorder's side --- */

static struct error *check_machine(void)
{
	struct poll_hold hold;
	struct task_run run = {};
	bool done = poll_hold_init(&hold) && task_files_run(&hold.own, &run);

	poll_hold_deinit(&hold);
	if (done && run.slices)
		return NULL;
	return error_create(ERROR_UNSUPPORTED,
			    "the kernel does not say when threads run (/proc/self/schedstat, /proc/self/sched)");
}

struct error *poller_create(struct poller **ret)
{
	struct error *error = check_machine();
	struct poller *poller = error ? NULL : calloc(1, sizeof(*poller));

	if (error)
		return error;
	if (!poller)
		return error_no_memory();
	pthread_mutex_init(&poller->lock, NULL);
	poller->writer = (struct poll_writer)POLL_WRITER_INIT;
	poller->hold = (struct poll_hold)POLL_HOLD_INIT;
	poller->stack = (struct strbuf)STRBUF_INIT;
	poller->tasks.writer = &poller->writer;
	error = user_walk_create(&poller->walk);
	if (error) {
		poller_destroy(poller);
		return error;
	}
	*ret = poller;
	return NULL;
}

void poller_destroy(struct poller *poller)
{
	if (!poller)
		return;
	poller_disable(poller);
	poll_tasks_deinit(&poller->tasks);
	poll_writer_deinit(&poller->writer);
	user_walk_destroy(poller->walk);
	strbuf_deinit(&poller->stack);
	vec_deinit(&poller->letters);
	vec_deinit(&poller->read);
	pthread_mutex_destroy(&poller->lock);
	free(poller);
}

struct error *poller_attach(struct poller *poller, struct sampler *sampler)
{
	const struct sampler_options *options = &sampler->options;
	const struct pid_vec *pids = options->whole.count ? &options->whole :
							    &options->threads;

	poller->sampler = sampler;
	poller->writer.sampler = sampler;
	poller->tasks.root = options->root;
	poller->tasks.inherit = options->inherit;
	poller->wall = options->wall;
	if (poller->wall) {
		poller->tasks.ending = put_last_sleep;
		poller->tasks.arg = poller;
	}
	poller->period = options->rate_by_default ? NS_PER_S / DEFAULT_RATE :
			 options->frequency ? NS_PER_S / options->frequency :
					      options->period;
	if (poller->period < CLOCKS_PERIOD_MIN)
		poller->period = CLOCKS_PERIOD_MIN;
	for (size_t i = 0; i < pids->count; i++)
		poll_tasks_add(&poller->tasks, pids->data[i],
			       options->enable_on_exec);
	if (!poller->tasks.processes.count)
		return error_create(ERROR_NOT_FOUND,
				    "the processes to record have ended");
	return NULL;
}

struct error *poller_enable(void *arg, bool samples)
{
	struct poller *poller = arg;
	sigset_t all, before;
	int errnum;

	if (samples)
		__atomic_store_n(&poller->samples, true, __ATOMIC_RELEASE);
	if (poller->runs)
		return NULL;
	/* Signals are the recorder's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errnum = pthread_create(&poller->thread, NULL, run, poller);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (errnum)
		return error_os(errnum, NULL, "cannot start a thread");
	poller->runs = true;
	return NULL;
}

void poller_disable(void *arg)
{
	struct poller *poller = arg;

	if (!poller->runs)
		return;
	__atomic_store_n(&poller->stop, true, __ATOMIC_RELEASE);
	pthread_join(poller->thread, NULL);
	poller->runs = false;
}

uint64_t poller_lost(void *arg)
{
	struct poller *poller = arg;

	return poller->writer.lost;
}

struct error *poller_set_python(struct poller *poller, pid_t pid,
				uint64_t since,
				const struct walker_process *python)
{
	struct poll_letter letter = { .pid = pid,
				      .since = since,
				      .has_python = python != NULL };
	bool kept;

	if (python)
		letter.python = *python;
	pthread_mutex_lock(&poller->lock);
	kept = vec_push(&poller->letters, letter);
	pthread_mutex_unlock(&poller->lock);
	return kept ? NULL : error_no_memory();
}

/* What the poller took itself is no news. */
static uint64_t kept_off_by_others(const struct poller *poller)
{
	uint64_t all = poll_tasks_kept_off(&poller->tasks);

	return poller->wall || all < poller->own.ran ? 0 :
						       all - poller->own.ran;
}

void poller_counts(const struct poller *poller, struct poll_counts *ret)
{
	*ret = poller->counts;
	ret->lost = poller->writer.lost;
	ret->missed = poller->tasks.missed;
	ret->kept_off = kept_off_by_others(poller);
	poll_tasks_time(&poller->tasks, &ret->ran, &ret->given);
}
