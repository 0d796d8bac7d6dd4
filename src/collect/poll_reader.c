// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_reader.h"

#include <linux/perf_event.h>
#include <string.h>
#include <time.h>

#include "collect/poll_look.h"
#include "collect/poll_tell.h"
#include "perfdata/kaa_stream.h"
#include "sys/task_syscall.h"

enum {
	/* For a thread that was stopped to sleep again. */
	SETTLE_TRIES = 8,
	SETTLE_NS = 20000,
};

struct error *poll_reader_init(struct poll_reader *reader)
{
	*reader = (struct poll_reader){ .writer = POLL_WRITER_INIT,
					.hold = POLL_HOLD_INIT,
					.native = POLL_NATIVE_INIT,
					.loops = POLL_LOOPS_INIT };
	reader->tasks.writer = &reader->writer;
	return poll_walk_init(&reader->walk, &reader->writer);
}

void poll_reader_deinit(struct poll_reader *reader)
{
	poll_tasks_deinit(&reader->tasks);
	poll_writer_deinit(&reader->writer);
	poll_walk_deinit(&reader->walk);
	poll_native_deinit(&reader->native);
	poll_loops_deinit(&reader->loops);
	task_stop_deinit(&reader->stop);
}

/*
 * Who is met late has had no sample of how it began, and does each time: a program that
 * works for a few ms after each sleep. So threads are left out only where it would take
 * long to look at all of them.
 */
void poll_reader_begin_tick(struct poll_reader *reader, uint64_t period)
{
	const struct poll_tasks *tasks = &reader->tasks;
	uint64_t threads = 0, skips;

	reader->tick = period;
	for (size_t i = 0; i < tasks->processes.count; i++)
		threads += tasks->processes.data[i]->threads.count;
	skips = threads * POLL_SKIP_NS / period;
	reader->skip_most = skips < POLL_SKIP_MAX ? (uint32_t)skips :
						    POLL_SKIP_MAX;
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

/*
 * From here on it stands still, until task_stop_end(). One that waits for a disk, or in
 * vfork(), would not stop.
 */
static bool stop(struct poll_reader *reader, const struct polled_process *process,
		 const struct polled_thread *thread)
{
	if (!reader->stops || reader->hold.stat.state == 'D' ||
	    task_stop_begin(&reader->stop, process->pid, thread->tid) !=
		    TASK_STOP_DONE)
		return false;
	reader->counts.stopped++;
	return true;
}

static size_t stack_size(const struct poll_reader *reader)
{
	const struct sampler *sampler = reader->writer.sampler;

	return sampler->options.stack_size < POLL_NATIVE_STACK_MAX ?
		       sampler->options.stack_size :
		       POLL_NATIVE_STACK_MAX;
}

/* It ran on to where it stopped, but for code of the kernel's not. */
static enum poll_try read_stopped(struct poll_reader *reader,
				  struct polled_process *process,
				  struct polled_thread *thread,
				  struct task_run *ret, bool *has_gil)
{
	uint64_t began = poll_hold_now();
	struct task_stat stat;
	bool known;

	/* Nor has it called exec in the moment before it stopped. */
	if (!task_files_stat(&thread->files, &stat) ||
	    !is_same_program(process, &stat)) {
		task_stop_end(&reader->stop);
		return POLL_TRY_NONE;
	}
	*has_gil = walk(reader, process, thread);
	if (*has_gil) {
		poll_native_take(&reader->native, &reader->stop.registers);
		poll_native_copy(&reader->native, reader->stop.registers.rsp,
				 &process->memory, stack_size(reader));
	}
	known = task_files_run(&thread->files, ret);
	task_stop_end(&reader->stop);
	reader->counts.stopped_ns += poll_hold_now() - began;
	/* Before the sample, by its time. */
	poll_tell_new_maps(&reader->tasks, process);
	thread->cpu = reader->hold.stat.cpu;
	return known ? POLL_TRY_DONE : POLL_TRY_NONE;
}

/* Of a thread that has slept on in the same call the kernel has what it had before. */
static bool is_in_same_call(const struct poll_reader *reader,
			    const struct polled_process *process,
			    const struct polled_thread *thread)
{
	struct task_syscall call;

	return !task_syscall_read(reader->tasks.root, process->pid, thread->tid,
				  &call) ||
	       !call.stack_pointer ||
	       call.stack_pointer == reader->stop.registers.rsp;
}

/* Functions of Python may sleep in one place of the C stack. The walk's stack stays. */
static bool is_in_same_code(struct poll_reader *reader,
			    struct polled_process *process,
			    struct polled_thread *thread)
{
	struct strbuf was = reader->walk.stack;
	bool same, has_gil;

	reader->walk.stack = (struct strbuf)STRBUF_INIT;
	poll_writer_begin(&reader->writer);
	poll_walk_clear(&reader->walk);
	has_gil = walk(reader, process, thread);
	same = has_gil && was.len == reader->walk.stack.len &&
	       !memcmp(was.data, reader->walk.stack.data, was.len);
	strbuf_deinit(&reader->walk.stack);
	reader->walk.stack = was;
	/* Code that it tells of is told of by whoever reads that next. */
	(void)poll_walk_forget(&reader->walk);
	poll_writer_begin(&reader->writer);
	return same;
}

/* It sleeps: where it was read, or has it gone on when it was stopped, and elsewhere? */
static bool sleeps_where_it_was(struct poll_reader *reader,
				struct polled_process *process,
				struct polled_thread *thread,
				struct task_run *run)
{
	return is_in_same_call(reader, process, thread) &&
	       is_in_same_code(reader, process, thread) &&
	       poll_hold_end(&reader->hold, run);
}

bool poll_reader_sleeps_on(struct poll_reader *reader,
			   struct polled_process *process,
			   struct polled_thread *thread, struct task_run *run)
{
	const struct timespec pause = { .tv_nsec = SETTLE_NS };

	for (int i = 0; i < SETTLE_TRIES; i++) {
		nanosleep(&pause, NULL);
		switch (poll_hold_asleep(&reader->hold, &thread->files,
					 thread->least)) {
		case POLL_HOLD_STILL:
		case POLL_HOLD_LATE:
			return sleeps_where_it_was(reader, process, thread,
						   run);
		case POLL_HOLD_GONE:
			return false;
		default:
			break;
		}
	}
	return false;
}

/* True: it was held all the time. */
static bool end_hold(struct poll_reader *reader,
		     const struct polled_thread *thread, struct task_run *ret)
{
	bool held = poll_hold_end(&reader->hold, ret);

	if (reader->loops.memory)
		poll_loops_settle(thread, held);
	return held;
}

static void read_tasks(struct poll_reader *reader,
		       struct polled_process *process,
		       struct polled_thread *thread)
{
	uint64_t now = poll_writer_now(&reader->writer);
	uint64_t since = now > thread->told ? now - thread->told : 0;
	struct poll_effort effort = poll_loops_effort(
		reader->is_asleep, reader->tried, since / reader->tick);

	poll_loops_read(&reader->loops, process, thread, reader->is_asleep,
			&effort);
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
	poll_native_clear(&reader->native);
	if (stop(reader, process, thread))
		return read_stopped(reader, process, thread, ret, has_gil);
	walked = walk(reader, process, thread);
	if (reader->loops.memory)
		read_tasks(reader, process, thread);
	if (end_hold(reader, thread, ret)) {
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
	uint64_t chain[3] = { (uint64_t)PERF_CONTEXT_USER };
	struct record sample = {
		.pid = (uint32_t)process->pid,
		.tid = (uint32_t)thread->tid,
		.time = poll_writer_now(&reader->writer),
		.cpu = (uint32_t)thread->cpu,
		.sample = { .period = period, .callchain = chain },
	};
	size_t count = 1;

	if (state)
		chain[count++] = state;
	if (reader->stops && !reader->native.known)
		chain[count++] = KAA_MARKER_MISSING_NATIVE;
	sample.sample.callchain_count = count > 1 ? count : 0;
	reader->counts.not_stopped += reader->stops && !reader->native.known;
	poll_native_put(&reader->native, &sample.sample);
	poll_writer_end(&reader->writer, &sample);
}

void poll_reader_put_parts(struct poll_reader *reader,
			   const struct polled_process *process,
			   const struct polled_thread *thread,
			   const struct poll_parts *parts, uint64_t period,
			   uint64_t state)
{
	vec_for_each(part, &parts->list) {
		double time = (double)period * part->share + part->tasks_ns;

		/* A task that was not read before has no time of its own yet. */
		if (time < 0.5)
			continue;
		if (part->size)
			poll_walk_again(&reader->walk,
					parts->records.data + part->at,
					part->size);
		poll_reader_put(reader, process, thread,
				(uint64_t)(time + 0.5),
				part->marker ? part->marker : state);
	}
	/* Code that was told of is told of once. */
	poll_writer_flush(&reader->writer);
}

void poll_reader_note_run(struct polled_thread *thread,
			  const struct task_run *run)
{
	thread->ran = run->ran;
	thread->kept_off = run->kept_off;
	thread->slices = run->slices;
}
