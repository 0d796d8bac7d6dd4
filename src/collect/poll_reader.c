// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_reader.h"

#include <linux/perf_event.h>

#include "collect/poll_look.h"
#include "perfdata/kaa_stream.h"

struct error *poll_reader_init(struct poll_reader *reader)
{
	*reader = (struct poll_reader){ .writer = POLL_WRITER_INIT,
					.hold = POLL_HOLD_INIT };
	reader->tasks.writer = &reader->writer;
	return poll_walk_init(&reader->walk, &reader->writer);
}

void poll_reader_deinit(struct poll_reader *reader)
{
	poll_tasks_deinit(&reader->tasks);
	poll_writer_deinit(&reader->writer);
	poll_walk_deinit(&reader->walk);
}

static bool is_same_program(const struct polled_process *process,
			    const struct task_stat *stat)
{
	return stat->start_time >= process->start_time &&
	       stat->start_stack == process->start_stack;
}

/*
 * Asked again behind the walk: that another thread has taken the GIL meanwhile is
 * seen an instant late (python/gil_held.h).
 */
static bool walk(struct poll_reader *reader, struct polled_process *process,
		 struct polled_thread *thread)
{
	if (!reader->gil_only) {
		poll_walk_thread(&reader->walk, process, thread);
		return true;
	}
	if (!poll_walk_has_gil(&reader->walk, process, thread))
		return false;
	poll_walk_thread(&reader->walk, process, thread);
	return poll_walk_has_gil(&reader->walk, process, thread);
}

enum poll_try poll_reader_read(struct poll_reader *reader,
			       struct polled_process *process,
			       struct polled_thread *thread,
			       struct task_run *ret, bool *has_gil)
{
	bool walked;

	if (!is_same_program(process, &reader->hold.stat)) {
		poll_look_at(&reader->tasks, process);
		return POLL_TRY_NONE;
	}
	poll_writer_begin(&reader->writer);
	poll_walk_clear(&reader->walk);
	walked = walk(reader, process, thread);
	if (poll_hold_end(&reader->hold, ret)) {
		*has_gil = walked;
		thread->cpu = reader->hold.stat.cpu;
		return POLL_TRY_DONE;
	}
	return poll_walk_forget(&reader->walk) ? POLL_TRY_AGAIN : POLL_TRY_NONE;
}

void poll_reader_put(struct poll_reader *reader,
		     const struct polled_process *process,
		     const struct polled_thread *thread, uint64_t period,
		     uint64_t state)
{
	/* Where the walker has no frames, native ones are all that there is. */
	const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_USER,
				   state ? state : KAA_MARKER_MISSING_NATIVE };
	bool walked = reader->writer.sample.len;
	struct record sample = {
		.pid = (uint32_t)process->pid,
		.tid = (uint32_t)thread->tid,
		.time = poll_writer_now(&reader->writer),
		.cpu = (uint32_t)thread->cpu,
		.sample = { .period = period },
	};

	if (state || !walked) {
		sample.sample.callchain = chain;
		sample.sample.callchain_count = 2;
	}
	poll_writer_end(&reader->writer, &sample);
	reader->counts.samples++;
}

void poll_reader_note_run(struct polled_thread *thread,
			  const struct task_run *run)
{
	thread->ran = run->ran;
	thread->kept_off = run->kept_off;
}
