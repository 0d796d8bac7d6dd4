// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_cpu.h"

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
	result = poll_reader_read(reader, process, thread, &run, &has_gil);
	if (result != POLL_TRY_DONE)
		return result;
	poll_reader_put(reader, process, thread, run.ran - thread->given,
			false);
	poll_reader_note_run(thread, &run);
	thread->given = run.ran;
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
		poll_reader_note_run(thread, &run);
		thread->quiet = 0;
		return true;
	}
	/* Looks are due less and less often. */
	if (thread->quiet < POLL_SKIP_MAX)
		thread->quiet++;
	thread->skip = thread->quiet;
	return false;
}

void poll_cpu_tick(struct poll_reader *reader, struct polled_process *process,
		   struct polled_thread *thread)
{
	if (has_run(thread))
		sample(reader, process, thread);
}
