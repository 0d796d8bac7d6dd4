// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_cpu.h"

#include "collect/poll_share.h"
#include "python/gil_held.h"

/* --- a tick --- */

static void wants_look(void *arg, uint64_t pointer)
{
	struct polled_process *process = arg;

	vec_for_each(thread, &process->threads)
		if (thread->pointer == pointer)
			thread->skip = 0;
}

void poll_cpu_begin(struct poll_reader *reader)
{
	if (!reader->skip_most)
		return;
	for (size_t i = 0; i < reader->tasks.processes.count; i++) {
		struct polled_process *process =
			reader->tasks.processes.data[i];
		const struct py_memory memory = { remote_memory_callback,
						  &process->memory };

		if (process->has_python && !process->waits && !process->ended)
			py_gil_holders(&process->python, &memory, wants_look,
				       process);
	}
}

/* --- a sample --- */

/* CPU time of the process that no sample stands for, by the kernel's account. */
static uint64_t left_of(const struct polled_process *process)
{
	uint64_t ran = process->total - process->total_before;

	return ran > process->given ? ran - process->given : 0;
}

/*
 * The first sample of a new thread stands for others that were not seen, as far as
 * these can have run. Until it has run that much itself it has no other one.
 */
static uint64_t first_share(const struct polled_process *process,
			    const struct polled_thread *thread, uint64_t ran)
{
	uint64_t left = left_of(process);

	if (left > thread->unseen)
		left = thread->unseen;
	return ran < left ? left : ran;
}

static void put(struct poll_reader *reader, struct polled_process *process,
		struct polled_thread *thread, uint64_t ran)
{
	uint64_t since = ran - thread->ran_told, period;

	if (thread->unseen)
		since = period = first_share(process, thread, since);
	else
		period = poll_share_next(&thread->share, since, reader->tick);
	thread->unseen = 0;
	thread->ran_told += since;
	thread->given += period;
	process->given += period;
	poll_reader_put(reader, process, thread, period, 0);
}

static enum poll_try try_sample(struct poll_reader *reader,
				struct polled_process *process,
				struct polled_thread *thread)
{
	enum poll_try result;
	struct task_run run;
	bool has_gil;

	switch (poll_hold_begin(&reader->hold, &thread->files)) {
	case POLL_HOLD_STILL:
		break;
	case POLL_HOLD_RUNS:
		return POLL_TRY_AGAIN;
	case POLL_HOLD_LATE:
		reader->counts.late++;
		return POLL_TRY_NONE;
	case POLL_HOLD_WAITED:
		reader->counts.waited++;
		poll_reader_note_run(thread, &reader->hold.before);
		return POLL_TRY_NONE;
	default:
		thread->awake = false;
		return POLL_TRY_NONE;
	}
	/* Its first sample stands for this time, too. */
	if (reader->hold.before.ran <= thread->ran_told) {
		poll_reader_note_run(thread, &reader->hold.before);
		return POLL_TRY_DONE;
	}
	result = poll_reader_read(reader, process, thread, &run, &has_gil);
	if (result != POLL_TRY_DONE)
		return result;
	put(reader, process, thread, run.ran);
	poll_reader_note_run(thread, &run);
	return POLL_TRY_DONE;
}

static void sample(struct poll_reader *reader, struct polled_process *process,
		   struct polled_thread *thread)
{
	enum poll_try result = POLL_TRY_AGAIN;

	thread->awake = true;
	for (int i = 0; i < POLL_TRIES && result == POLL_TRY_AGAIN; i++)
		result = try_sample(reader, process, thread);
	reader->counts.rejected += result == POLL_TRY_AGAIN;
}

/*
 * True if the thread has run since it was looked at, and looks are due. The time of one
 * that runs since a moment ago is still as it was, but it has got a CPU.
 */
static bool has_run(const struct poll_reader *reader, struct polled_thread *thread)
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
	if (run.ran != thread->ran || run.slices != thread->slices ||
	    !thread->ran) {
		poll_reader_note_run(thread, &run);
		thread->quiet = 0;
		return true;
	}
	/* Looks are due less and less often. */
	if (thread->quiet < reader->skip_most)
		thread->quiet++;
	thread->skip = poll_reader_skips(reader, thread->quiet);
	return false;
}

void poll_cpu_tick(struct poll_reader *reader, struct polled_process *process,
		   struct polled_thread *thread)
{
	if (has_run(reader, thread))
		sample(reader, process, thread);
}
