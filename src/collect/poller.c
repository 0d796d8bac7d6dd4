// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poller.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "collect/clocks.h"
#include "collect/poll_cpu.h"
#include "collect/poll_letters.h"
#include "collect/poll_look.h"
#include "collect/poll_reader.h"
#include "collect/poll_round.h"
#include "collect/poll_ticks.h"
#include "collect/poll_wall.h"

enum {
	NS_PER_S = 1000000000,
	/* Looks at /proc. */
	LOOK_MS = 10,
	/*
	 * It had no CPU for one part of so many, and ticks were so many times as far apart
	 * as they should be: that is worth a word.
	 */
	KEPT_OFF_PART = 10,
	APART_TIMES = 2,
};

struct poller {
	pthread_t thread;
	bool runs;
	/* Set by the recorder, read by the thread. */
	bool stop;
	bool samples;
	struct poll_letters letters;

	/* Of the thread, while it runs. */
	enum sampled_time time;
	struct poll_reader reader;
	/* is_late is set in ticks of time by the clock alone. */
	struct poll_wall wall;
	struct poll_round round;
	struct poll_ticks ticks;
	bool begun;
	/* What the thread itself has run, when it has ended. */
	struct task_run own;
	uint64_t era;
};

/* --- the thread --- */

/* False: the tick is over. */
static bool tick_thread(void *arg, struct polled_process *process,
			struct polled_thread *thread)
{
	struct poller *poller = arg;

	if (poller->time == TIME_ON_CPU)
		poll_cpu_tick(&poller->reader, process, thread);
	else
		poll_wall_tick(&poller->wall, process, thread);
	return !poller->wall.is_late;
}

static void tick(struct poller *poller)
{
	struct poll_tasks *tasks = &poller->reader.tasks;

	/* Before all else: one of them may be all that there is. */
	task_stop_settle(&poller->reader.stop);
	if (!poller->begun)
		poll_tasks_begin(tasks);
	poller->begun = true;
	poll_hold_arrive(&poller->reader.hold, poller->ticks.at);
	poll_reader_begin_tick(&poller->reader, poller->ticks.period);
	if (poller->time == TIME_ON_CPU)
		poll_cpu_begin(&poller->reader);
	else
		poll_wall_begin(&poller->wall);
	if (poller->reader.walk.walk && !poller->wall.is_late)
		poll_round_run(&poller->round, tasks, tick_thread, poller);
}

static bool tick_if_new(void *arg, struct polled_process *process,
			struct polled_thread *thread)
{
	if (!thread->is_new)
		return true;
	thread->is_new = false;
	return tick_thread(arg, process, thread);
}

/* Some of them do not live until the next tick. */
static void tick_new(struct poller *poller)
{
	struct poll_tasks *tasks = &poller->reader.tasks;
	struct poll_round all = {};

	if (!tasks->has_new || !poller->begun || !poller->reader.walk.walk ||
	    poller->wall.is_late)
		return;
	tasks->has_new = false;
	poll_round_run(&all, tasks, tick_if_new, poller);
	/* Those behind it are left. */
	tasks->has_new |= poller->wall.is_late;
}

static void read_letters(struct poller *poller)
{
	poll_letters_read(&poller->letters);
	vec_for_each(letter, &poller->letters.read) {
		letter->python.era = ++poller->era;
		poll_tasks_set_python(&poller->reader.tasks, letter->pid,
				      letter->since,
				      letter->has_python ? &letter->python :
							   NULL);
	}
}

static void end(struct poller *poller)
{
	struct poll_reader *reader = &poller->reader;

	if (poller->time != TIME_ON_CPU)
		poll_wall_end(&poller->wall);
	(void)task_files_run(&reader->hold.own, &poller->own);
	vec_for_each(process, &reader->tasks.processes)
		poll_tasks_note_total(&reader->tasks, *process);
	if (!reader->tasks.processes.count)
		poll_writer_close(&reader->writer);
	poll_hold_deinit(&reader->hold);
}

static void *run(void *arg)
{
	struct poller *poller = arg;
	struct poll_tasks *tasks = &poller->reader.tasks;
	int64_t look_at = 0;
	bool is_due, samples;

	(void)poll_hold_init(&poller->reader.hold);
	poll_ticks_begin(&poller->ticks);
	while (!__atomic_load_n(&poller->stop, __ATOMIC_ACQUIRE) &&
	       tasks->processes.count) {
		samples = __atomic_load_n(&poller->samples, __ATOMIC_ACQUIRE);
		if (samples)
			tick(poller);
		read_letters(poller);
		is_due = clock_ms() >= look_at;
		poll_look_at_all(tasks, is_due);
		if (samples)
			tick_new(poller);
		if (is_due)
			look_at = clock_ms() + LOOK_MS;
		poll_ticks_wait(&poller->ticks);
	}
	end(poller);
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
	poll_letters_init(&poller->letters);
	error = poll_reader_init(&poller->reader);
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
	poll_reader_deinit(&poller->reader);
	poll_letters_deinit(&poller->letters);
	free(poller);
}

static uint64_t period(const struct sampler_options *options)
{
	uint64_t ns = options->frequency ? NS_PER_S / options->frequency :
					   options->period;

	return ns < CLOCKS_PERIOD_MIN ? CLOCKS_PERIOD_MIN : ns;
}

static struct error *set_time(struct poller *poller,
			      const struct sampler_options *options)
{
	struct poll_reader *reader = &poller->reader;
	enum sampled_time time = options->time;

	poller->time = time;
	if (time == TIME_ON_CPU)
		return NULL;
	poller->wall.reader = reader;
	poller->wall.sleep_ns = options->sleep_ns;
	reader->walk.keeps = true;
	reader->gil_only = time == TIME_WITH_GIL;
	reader->tasks.ending = poll_wall_end_thread;
	reader->tasks.arg = &poller->wall;
	return time == TIME_OF_TASKS &&
			       !poll_loops_begin(&reader->loops, &reader->walk) ?
		       error_no_memory() :
		       NULL;
}

struct error *poller_attach(struct poller *poller, struct sampler *sampler)
{
	const struct sampler_options *options = &sampler->options;
	const struct pid_vec *pids = options->whole.count ? &options->whole :
							    &options->threads;
	struct poll_tasks *tasks = &poller->reader.tasks;
	struct error *error;

	poller->reader.writer.sampler = sampler;
	poller->reader.walk.root = options->root;
	tasks->root = options->root;
	tasks->inherit = options->inherit;
	poller->reader.stops = options->polls_native;
	error = set_time(poller, options);
	if (error)
		return error;
	poller->ticks.period = period(options);
	for (size_t i = 0; i < pids->count; i++)
		poll_tasks_add(tasks, pids->data[i], options->enable_on_exec);
	if (!tasks->processes.count)
		return error_create(ERROR_NOT_FOUND,
				    "the processes to record have ended");
	return NULL;
}

struct error *poller_enable(void *arg, bool samples)
{
	struct poller *poller = arg;
	sigset_t stops, all, before;
	int errnum;

	if (samples)
		__atomic_store_n(&poller->samples, true, __ATOMIC_RELEASE);
	if (poller->runs)
		return NULL;
	if (poller->reader.stops) {
		task_stop_quiet();
		/* Who is stopped himself leaves nobody stopped. */
		sigemptyset(&stops);
		sigaddset(&stops, SIGTSTP);
		sigaddset(&stops, SIGTTIN);
		sigaddset(&stops, SIGTTOU);
		pthread_sigmask(SIG_BLOCK, &stops, NULL);
	}
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

uint64_t poller_lost(void *arg, bool tasks)
{
	const struct poll_writer *writer = &((struct poller *)arg)->reader.writer;

	return tasks ? writer->lost_tasks : writer->lost;
}

struct error *poller_set_python(struct poller *poller, pid_t pid,
				uint64_t since,
				const struct walker_process *python)
{
	return poll_letters_send(&poller->letters, pid, since, python);
}

/* What the poller took itself is no news. */
static uint64_t kept_off_by_others(const struct poller *poller)
{
	uint64_t all = poll_tasks_kept_off(&poller->reader.tasks);

	return poller->time != TIME_ON_CPU || all < poller->own.ran ?
		       0 :
		       all - poller->own.ran;
}

static void count_ticks(const struct poller *poller, struct poll_counts *ret)
{
	uint64_t apart = poll_ticks_apart(&poller->ticks);
	uint64_t ticked = (uint64_t)poller->ticks.between;

	if (poller->own.kept_off <= ticked / KEPT_OFF_PART ||
	    apart <= APART_TIMES * poller->ticks.period)
		return;
	ret->own_kept_off = poller->own.kept_off;
	ret->ticked = ticked;
	ret->ticks_apart = apart;
}

void poller_counts(const struct poller *poller, struct poll_counts *ret)
{
	const struct poll_reader *reader = &poller->reader;
	uint64_t total;

	*ret = reader->counts;
	ret->lost = reader->writer.lost;
	ret->missed = reader->tasks.missed;
	ret->too_many = reader->tasks.too_many;
	ret->loops = reader->loops.looks;
	ret->unknown_tasks = reader->loops.unknown;
	ret->kept_off = kept_off_by_others(poller);
	count_ticks(poller, ret);
	poll_tasks_time(&reader->tasks, &ret->ran, &ret->given);
	total = poll_tasks_total(&reader->tasks);
	/* Threads that are not to be recorded are in it, too. */
	if (poller->time == TIME_ON_CPU && poller->begun &&
	    reader->tasks.inherit && ret->ran < total)
		ret->ran = total;
}
