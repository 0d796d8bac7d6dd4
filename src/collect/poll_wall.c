// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_wall.h"

#include "base/clock.h"
#include "collect/polled_loop.h"
#include "perfdata/kaa_stream.h"

enum {
	/* One sample stands for a sleep, or for so much of it, unless another time is asked for. */
	SLEEP_NS = 1000000000,
	/*
	 * In a tick. A walk finds a thread's state behind those of all newer threads,
	 * and remembers it: the first walks over a thousand would take a second.
	 */
	FIRST_READS = 4,
};

/* --- what a sample stands for --- */

/*
 * state: the marker that it begins with, or 0. parts: what it is made of, where tasks
 * are asked for; else it has begun. waits: the time for each task that waits.
 */
static void put(struct poll_wall *wall, const struct polled_process *process,
		const struct polled_thread *thread, struct poll_parts *parts,
		uint64_t period, uint64_t waits, uint64_t state)
{
	struct poll_reader *reader = wall->reader;
	uint64_t lost = reader->writer.lost;

	if (parts->tasks.count)
		task_times_divide(&thread->loop->times, parts, period, waits);
	if (reader->loops.memory)
		poll_reader_put_parts(reader, process, thread, parts, period,
				      state);
	else
		poll_reader_put(reader, process, thread, period, state);
	if (lost == reader->writer.lost)
		reader->counts.told += period;
	else
		reader->counts.untold += period;
}

/* Ticks were late for more than half of the time since the thread was looked at. */
static bool was_late(const struct poll_wall *wall,
		     const struct polled_thread *thread, uint64_t time)
{
	return !wall->reader->gil_only &&
	       wall->late - thread->late_told > time / 2;
}

/* For how long it has waited by now, at most: the kernel counts that when it is over. */
static uint64_t waits_now(const struct poll_hold *hold,
			  enum poll_hold_result held)
{
	return held == POLL_HOLD_WAITED && hold->came > hold->sched.looked ?
		       hold->came - hold->sched.looked :
		       0;
}

/* run: up to the sample, with the wait that goes on. */
static uint64_t sample_period(const struct poll_wall *wall,
			      struct polled_thread *thread,
			      const struct task_run *run, bool sleeps)
{
	uint64_t woken = poll_account_woken(wall->reader->hold.sched.sleeps,
					    sleeps);
	uint64_t time = wall->tick - thread->told;

	if (!wall->reader->gil_only)
		return poll_account_divide(&thread->account, run, woken, sleeps,
					   time);
	/* The kernel does not count who had the GIL. */
	poll_account_pass(&thread->account, run, woken);
	return time;
}

/* A sample that is put as one or two. */
struct wall_sample {
	struct poll_parts *parts;
	/* As kept; borrowed. */
	const struct strbuf *stack;
	uint64_t period;
	/* For each task that waits. */
	uint64_t waits;
	bool sleeps;
};

/* It runs or sleeps, and waits for a CPU. What tasks did is not divided once more. */
static void put_states(struct poll_wall *wall,
		       const struct polled_process *process,
		       struct polled_thread *thread,
		       const struct wall_sample *sample)
{
	struct poll_reader *reader = wall->reader;
	bool may_divide = !reader->loops.memory && !sample->stack->failed;
	uint64_t wait = poll_account_wait(&thread->account, sample->sleeps,
					  sample->period, may_divide);
	uint64_t rest = sample->period - wait;

	if (rest || !wait)
		put(wall, process, thread, sample->parts, rest, sample->waits,
		    sample->sleeps ? KAA_MARKER_IDLE : 0);
	if (!wait)
		return;
	if (rest) {
		poll_writer_begin(&reader->writer);
		poll_walk_again(&reader->walk, sample->stack->data,
				sample->stack->len);
	}
	put(wall, process, thread, sample->parts, wait, sample->waits,
	    KAA_MARKER_CPU_WAIT);
}

/* --- a thread that sleeps --- */

/* For as long as it slept where it was walked. */
static void put_sleep(struct poll_wall *wall,
		      const struct polled_process *process,
		      struct polled_thread *thread)
{
	struct poll_reader *reader = wall->reader;
	uint64_t period = thread->slept_until - thread->told;

	if (!thread->sleeps || thread->slept_until <= thread->told)
		return;
	thread->told = thread->slept_until;
	if (!thread->slept_with_gil)
		return;
	poll_writer_begin(&reader->writer);
	if (!reader->loops.memory)
		poll_walk_again(&reader->walk, thread->stack.data,
				thread->stack.len);
	poll_native_swap(&reader->native, &thread->native);
	put_states(wall, process, thread,
		   &(struct wall_sample){ .parts = &thread->parts,
					  .stack = &thread->stack,
					  .period = period,
					  .waits = period,
					  .sleeps = true });
	poll_native_swap(&reader->native, &thread->native);
}

static void keep_sleep(struct poll_wall *wall, struct polled_thread *thread,
		       const struct task_run *run, bool has_gil)
{
	struct strbuf stack = thread->stack;

	thread->stack = wall->reader->walk.stack;
	wall->reader->walk.stack = stack;
	poll_native_keep(&wall->reader->native, &thread->native);
	poll_parts_swap(&thread->parts, &wall->reader->loops.parts);
	thread->sleeps = !thread->stack.failed && !thread->parts.records.failed;
	thread->slept_with_gil = has_gil;
	thread->slept = *run;
	thread->sleeps_before = wall->reader->hold.sched.sleeps;
	thread->slept_until = wall->tick;
}

/* When the thread last had a CPU, by the clock of ticks; the tick if that is not known. */
static uint64_t last_ran(const struct poll_wall *wall,
			 const struct task_sched *sched)
{
	uint64_t came = wall->reader->hold.came;

	if (!came || sched->looked > came || came - sched->looked > wall->tick)
		return wall->tick;
	return wall->tick - (came - sched->looked);
}

/* It has gone to sleep again since, or nobody knows. */
static bool slept_elsewhere(const struct polled_thread *thread,
			    const struct task_run *run,
			    const struct task_sched *sched)
{
	return run->slices - thread->slept.slices > 1 &&
	       (sched->sleeps == UINT64_MAX ||
		sched->sleeps != thread->sleeps_before);
}

static bool is_sample_due(const struct poll_wall *wall,
			  const struct polled_thread *thread)
{
	return thread->slept_until - thread->told >
	       (wall->sleep_ns ? wall->sleep_ns : SLEEP_NS);
}

static uint32_t ticks_between_looks(const struct poll_wall *wall,
				    const struct polled_thread *thread)
{
	return 1 + poll_reader_skips(wall->reader,
				     thread->quiet / POLL_WALL_LOOKS);
}

/*
 * The thread has run since it was seen to sleep. Where it is now it would have been seen
 * at each tick since it ran, and at those before where it slept. If it has slept
 * elsewhere meanwhile, nobody knows for how long: then half of these ticks are its
 * sleep's. Each tick stands for the time since the one before.
 */
static uint64_t watched_sleep(const struct poll_wall *wall,
			      const struct polled_thread *thread, uint64_t time,
			      bool elsewhere)
{
	uint64_t since = wall->tick - thread->slept_until;
	uint64_t tick = since / ticks_between_looks(wall, thread);
	uint64_t slept = tick ? time / tick * tick : 0;

	if (elsewhere)
		slept = slept / 2 / (tick ? tick : 1) * tick;
	return slept < since - tick ? slept : since - tick;
}

/*
 * Where ticks were late, or it has had a CPU more than once and not slept elsewhere, the
 * kernel's account says for how long it slept before it last had one.
 */
static void end_sleep(const struct poll_wall *wall, struct polled_thread *thread,
		      const struct task_run *run)
{
	uint64_t from = thread->slept_until, ran, time, awake, slept;
	struct task_sched sched;
	bool elsewhere;

	if (!task_files_sched(&thread->files, &sched))
		return;
	ran = last_ran(wall, &sched);
	time = ran > from ? ran - from : 0;
	elsewhere = slept_elsewhere(thread, run, &sched);
	awake = poll_account_awake(&thread->account, run,
				   poll_account_woken(sched.sleeps, false));
	slept = time > awake ? time - awake : 0;
	if (was_late(wall, thread, wall->tick - from))
		slept = elsewhere ? slept / 2 : slept;
	else if (elsewhere || run->slices - thread->slept.slices <= 1)
		slept = watched_sleep(wall, thread, time, elsewhere);
	thread->slept_until = from + slept;
}

/* The longer it has slept, the longer it may well sleep on. */
static void note_sleep(const struct poll_wall *wall,
		       struct polled_thread *thread)
{
	if (thread->quiet < POLL_WALL_LONG)
		thread->quiet++;
	thread->skip = ticks_between_looks(wall, thread) - 1;
}

/* True: the thread is where it was. */
static bool sleeps_on(struct poll_wall *wall,
		      const struct polled_process *process,
		      struct polled_thread *thread, const struct task_run *run)
{
	if (thread->sleeps && run->slices == thread->slept.slices &&
	    run->ran == thread->slept.ran) {
		thread->slept_until = thread->parts.until = wall->tick;
		thread->late_told = wall->late;
		if (is_sample_due(wall, thread))
			put_sleep(wall, process, thread);
		note_sleep(wall, thread);
		return true;
	}
	if (thread->sleeps)
		end_sleep(wall, thread, run);
	thread->quiet = 0;
	return false;
}

/* --- a sample --- */

struct sample_at_hand {
	struct task_run run;
	/* For how long it has waited for a CPU, and still does; when it last ran before that. */
	uint64_t waits;
	uint64_t waits_since;
	bool sleeps;
	bool has_gil;
};

/* Asleep, or held where it runs or waits for a CPU: that is where its time goes. */
static enum poll_hold_result hold(struct poll_wall *wall,
				  struct polled_thread *thread, bool *sleeps)
{
	struct poll_hold *hold = &wall->reader->hold;
	enum poll_hold_result held =
		poll_hold_asleep(hold, &thread->files, thread->least);

	*sleeps = held == POLL_HOLD_STILL;
	return held == POLL_HOLD_RUNS ? poll_hold_begin(hold, &thread->files) :
					held;
}

static double count_waiting(const struct poll_parts *parts)
{
	double count = 0;

	vec_for_each(task, &parts->tasks)
		if (!task->runs)
			count += task->share;
	return count;
}

/*
 * For how long a task waits that does at a sample: all of the time, whether its thread
 * sleeps or not; but one of those that wait while it sleeps has run while it did not.
 * period: of the thread.
 */
static uint64_t task_waits(const struct poll_parts *parts, bool sleeps,
			   uint64_t time, uint64_t period)
{
	double count = count_waiting(parts), waits;

	if (!sleeps || count < 1)
		return time;
	waits = (double)time + ((double)period - (double)time) / count;
	return (uint64_t)waits;
}

/* Its loop has ended: what tasks did that no sample has shown is nothing that it does now. */
static void drop_owed(struct poll_wall *wall, struct poll_account *account)
{
	wall->reader->counts.untold += account->owed_awake + account->owed_asleep;
	account->owed_awake = account->owed_asleep = 0;
}

/* It is read. has_gil: or need not have it. */
static void note_sample(struct poll_wall *wall,
			const struct polled_process *process,
			struct polled_thread *thread,
			const struct sample_at_hand *sample)
{
	struct poll_parts *parts = &wall->reader->loops.parts;
	struct poll_account *account = &thread->account;
	uint64_t time = wall->tick - thread->told, period;
	struct task_run run = sample->run;

	if (thread->had_tasks && !parts->tasks.count)
		drop_owed(wall, account);
	thread->had_tasks = parts->tasks.count;

	/* What it still waits for is counted when that is over. */
	run.kept_off += poll_account_goes_on(account, sample->waits,
					     sample->waits_since, time);
	period = sample_period(wall, thread, &run, sample->sleeps);
	parts->until = wall->tick;
	if (sample->has_gil)
		put_states(wall, process, thread,
			   &(struct wall_sample){
				   .parts = parts,
				   .stack = &wall->reader->walk.stack,
				   .period = period,
				   .waits = task_waits(parts, sample->sleeps,
						       time, period),
				   .sleeps = sample->sleeps });
	else
		poll_account_drop_waits(account, &sample->run);
	thread->late_told = wall->late;
	/* Half of what the first sample stands for lies behind it. */
	thread->told = wall->tick + thread->unseen / 2;
	thread->unseen = 0;
}

static enum poll_try try_sample(struct poll_wall *wall,
				struct polled_process *process,
				struct polled_thread *thread)
{
	struct poll_reader *reader = wall->reader;
	struct sample_at_hand sample = {};
	enum poll_hold_result held = hold(wall, thread, &sample.sleeps);
	enum poll_try result;

	if (held == POLL_HOLD_RUNS || held == POLL_HOLD_ASLEEP)
		return POLL_TRY_AGAIN;
	if (held == POLL_HOLD_GONE)
		return POLL_TRY_NONE;
	if (held == POLL_HOLD_LATE) {
		reader->counts.late++;
		wall->is_late = true;
		wall->late += wall->tick - wall->before;
		return POLL_TRY_NONE;
	}
	reader->is_asleep = sample.sleeps;
	result = poll_reader_read(reader, process, thread, &sample.run,
				  &sample.has_gil);
	if (result != POLL_TRY_DONE)
		return result;
	sample.waits = waits_now(&reader->hold, held);
	sample.waits_since = reader->hold.sched.looked;
	note_sample(wall, process, thread, &sample);
	if (sample.sleeps &&
	    (!reader->native.known ||
	     poll_reader_sleeps_on(reader, process, thread,
				    &sample.run))) {
		thread->least = reader->hold.lead;
		keep_sleep(wall, thread, &sample.run, sample.has_gil);
	}
	return POLL_TRY_DONE;
}

/* One that has to wait for its turn loses no time: its period goes on. */
static bool may_read(struct poll_wall *wall, struct polled_thread *thread)
{
	if (thread->was_read)
		return true;
	if (!wall->first_reads)
		return false;
	wall->first_reads--;
	thread->was_read = true;
	return true;
}

static void begin_account(struct polled_thread *thread)
{
	const struct task_run run = { .ran = thread->ran,
				      .kept_off = thread->kept_off,
				      .slices = thread->slices };

	poll_account_begin(&thread->account, &run);
}

void poll_wall_tick(struct poll_wall *wall, struct polled_process *process,
		    struct polled_thread *thread)
{
	enum poll_try result = POLL_TRY_AGAIN;
	struct task_run run;

	if (!thread->told)
		begin_account(thread);
	/* Who has no GIL need not be disturbed. */
	if (wall->reader->gil_only && !process->has_python) {
		thread->told = wall->tick;
		thread->unseen = 0;
	} else if (!thread->told) {
		thread->told = wall->tick - thread->unseen -
			       thread->since_exec;
		thread->late_told = wall->late;
	}
	if (thread->skip) {
		thread->skip--;
		thread->late_told = wall->late;
		return;
	}
	if (thread->told >= wall->tick || !may_read(wall, thread) ||
	    !task_files_run(&thread->files, &run))
		return;
	poll_reader_note_run(thread, &run);
	thread->given = run.ran;
	if (sleeps_on(wall, process, thread, &run))
		return;
	put_sleep(wall, process, thread);
	thread->sleeps = false;
	for (int i = 0; i < POLL_TRIES && result == POLL_TRY_AGAIN; i++) {
		wall->reader->tried = i;
		result = try_sample(wall, process, thread);
	}
	wall->reader->counts.rejected += result == POLL_TRY_AGAIN;
}

/* --- a tick --- */

/* A process may have a thousand of these: it takes too long to ask them all. */
static bool slept_long(const struct polled_thread *thread)
{
	return thread->sleeps && thread->quiet == POLL_WALL_LONG;
}

static bool waits_for_us(struct poll_wall *wall,
			 const struct polled_process *process)
{
	struct task_sched sched;

	vec_for_each(thread, &process->threads)
		if (!slept_long(thread) &&
		    task_files_sched(&thread->files, &sched) &&
		    sched.looked == wall->reader->hold.came)
			return true;
	return false;
}

/*
 * The poller came when the thread before it made way. If that was none of those
 * that are recorded, it was a moment as good as any other for all of them.
 */
static bool is_late_by_ours(struct poll_wall *wall)
{
	struct poll_reader *reader = wall->reader;
	bool ours = false;

	if (!reader->hold.late)
		return false;
	for (size_t i = 0; !ours && i < reader->tasks.processes.count; i++)
		ours = waits_for_us(wall, reader->tasks.processes.data[i]);
	reader->counts.late += ours;
	reader->hold.late = ours;
	return ours;
}

void poll_wall_begin(struct poll_wall *wall)
{
	wall->before = wall->tick;
	wall->tick = poll_writer_now(&wall->reader->writer);
	wall->first_reads = FIRST_READS;
	wall->is_late = is_late_by_ours(wall);
	if (!wall->before)
		wall->before = wall->tick;
	if (wall->is_late)
		wall->late += wall->tick - wall->before;
}

/* --- the end --- */

/* Up to then it lived. */
static void end_thread(struct poll_wall *wall,
		       const struct polled_process *process,
		       struct polled_thread *thread, uint64_t end)
{
	struct poll_counts *counts = &wall->reader->counts;

	if (!thread->told)
		return;
	put_sleep(wall, process, thread);
	counts->untold += thread->account.owed_awake +
			  thread->account.owed_asleep;
	if (end > thread->told)
		counts->untold += end - thread->told;
}

/* It ended some time after it was seen to be there: half of that it lived. */
void poll_wall_end_thread(void *arg, const struct polled_process *process,
			  struct polled_thread *thread)
{
	struct poll_wall *wall = arg;
	uint64_t now = poll_writer_now(&wall->reader->writer);
	int64_t ago = clock_ns(CLOCK_MONOTONIC) - process->alive;

	end_thread(wall, process, thread,
		   process->alive ? now - (uint64_t)ago / 2 : now);
}

/* One that sleeps where it did has slept until now. */
static void end_recording(struct poll_wall *wall,
			  const struct polled_process *process,
			  struct polled_thread *thread, uint64_t now)
{
	struct task_run run;

	if (thread->sleeps && task_files_run(&thread->files, &run) &&
	    run.slices == thread->slept.slices && run.ran == thread->slept.ran)
		thread->slept_until = thread->parts.until = now;
	end_thread(wall, process, thread, now);
}

void poll_wall_end(struct poll_wall *wall)
{
	const struct poll_tasks *tasks = &wall->reader->tasks;
	uint64_t now = poll_writer_now(&wall->reader->writer);

	for (size_t i = 0; i < tasks->processes.count; i++) {
		struct polled_process *process = tasks->processes.data[i];

		vec_for_each(thread, &process->threads)
			end_recording(wall, process, thread, now);
	}
}
