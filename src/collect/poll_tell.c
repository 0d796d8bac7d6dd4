// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_tell.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "collect/synthesize.h"
#include "sys/file.h"
#include "sys/proc.h"

enum {
	/* A program maps its Python soon after exec, or not for long. */
	MAPS_FIRST_MS = 10,
	MAPS_LAST_MS = 1000,
	MAPS_MAX = 1 << 16,
	/* Of its time the poller reads maps for new ones in one part of so many. */
	MAPS_SHARE = 20,
	STATM_MAX = 256,
};

/* --- tasks --- */

static void tell_task(struct poll_tasks *tasks, uint32_t type, uint16_t misc,
		      const struct record_task *task)
{
	struct record record = {
		.type = type,
		.misc = misc,
		.pid = task->pid,
		.tid = task->tid,
		.time = task->time,
		.task = *task,
	};

	poll_writer_task(tasks->writer, &record);
}

void poll_tell_thread(struct poll_tasks *tasks, pid_t pid, pid_t tid)
{
	uint64_t time = poll_writer_now(tasks->writer);
	char comm[PROC_COMM_MAX];
	struct error *error = proc_comm(tasks->root, tid, comm);
	struct record record = {
		.type = PERF_RECORD_COMM,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)tid,
		.time = time + 1,
		.comm = { (uint32_t)pid, (uint32_t)tid, comm, 0, false },
	};

	tell_task(tasks, PERF_RECORD_FORK, 0,
		  &(struct record_task){ (uint32_t)pid, (uint32_t)pid,
					 (uint32_t)tid, (uint32_t)pid, time });
	if (!error) {
		record.comm.comm_len = (uint32_t)strlen(comm);
		poll_writer_task(tasks->writer, &record);
	}
	error_destroy(error);
}

void poll_tell_child(struct poll_tasks *tasks, pid_t ppid, pid_t pid,
		     uint64_t time)
{
	tell_task(tasks, PERF_RECORD_FORK, 0,
		  &(struct record_task){ (uint32_t)pid, (uint32_t)ppid,
					 (uint32_t)pid, (uint32_t)ppid, time });
}

void poll_tell_end(struct poll_tasks *tasks,
		   const struct polled_process *process,
		   struct polled_thread *thread)
{
	pid_t pid = process->pid, tid = thread->tid;

	if (tasks->ending)
		tasks->ending(tasks->arg, process, thread);
	tell_task(tasks, PERF_RECORD_EXIT, 0,
		  &(struct record_task){ (uint32_t)pid, (uint32_t)pid,
					 (uint32_t)tid, (uint32_t)pid,
					 poll_writer_now(tasks->writer) });
}

/* --- maps --- */

struct map_telling {
	struct poll_tasks *tasks;
	struct polled_process *process;
	uint64_t time;
	/* The name of the first thread, too: it called exec. */
	bool exec;
};

/* Another file may come to where one was: where, and which. */
static uint64_t map_identity(const struct record_mmap *map)
{
	const uint64_t words[] = { map->start, map->len, map->pgoff, map->ino,
				   (uint64_t)map->maj << 32 | map->min };

	return XXH3_64bits(words, sizeof(words));
}

/* True if it was not told of; what cannot be noted is told again. */
static bool is_new_map(struct polled_process *process,
		       const struct record_mmap *map)
{
	uint64_t identity = map_identity(map);

	for (size_t i = 0; i < process->maps.count; i++)
		if (process->maps.data[i] == identity)
			return false;
	return process->maps.count < MAPS_MAX &&
	       vec_push(&process->maps, identity);
}

static struct error *tell_map(void *arg, const struct record *made)
{
	struct map_telling *telling = arg;
	struct record record = *made;

	record.time = telling->time;
	if (record.type == PERF_RECORD_COMM && telling->exec &&
	    record.pid == record.tid) {
		record.comm.is_exec = true;
		poll_writer_task(telling->tasks->writer, &record);
	}
	if (record.type == PERF_RECORD_MMAP2 &&
	    is_new_map(telling->process, &record.mmap)) {
		record.time++;
		poll_writer_task(telling->tasks->writer, &record);
	}
	return NULL;
}

static void tell_maps(struct poll_tasks *tasks, struct polled_process *process,
		      uint64_t time, bool exec)
{
	struct map_telling telling = { tasks, process, time, exec };

	error_destroy(synthesize_process(tasks->root, process->pid, false, NULL,
					 tell_map, &telling));
}

void poll_tell_exec(struct poll_tasks *tasks, struct polled_process *process)
{
	vec_clear(&process->maps);
	tell_maps(tasks, process, process->since, true);
	process->maps_at = process->maps_wait = 0;
}

void poll_tell_maps(struct poll_tasks *tasks, struct polled_process *process)
{
	int64_t now = clock_ms();

	if (process->has_python || process->waits || now < process->maps_at)
		return;
	tell_maps(tasks, process, poll_writer_now(tasks->writer), false);
	process->maps_wait *= 2;
	if (process->maps_wait < MAPS_FIRST_MS)
		process->maps_wait = MAPS_FIRST_MS;
	if (process->maps_wait > MAPS_LAST_MS)
		process->maps_wait = MAPS_LAST_MS;
	process->maps_at = now + process->maps_wait;
}

/* Memory that was mapped or unmapped has changed it. 0: it cannot be read. */
static uint64_t memory_size(const struct poll_tasks *tasks,
			    const struct polled_process *process)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)process->pid);
	error_destroy(file_read(tasks->root, path, STATM_MAX, &text));
	return text.len ? strtoull(text.data, NULL, 10) : 0;
}

void poll_tell_new_maps(struct poll_tasks *tasks, struct polled_process *process)
{
	int64_t began = clock_ns(CLOCK_MONOTONIC);
	uint64_t size;

	if (began < process->new_maps_at)
		return;
	size = memory_size(tasks, process);
	if (size == process->memory_size)
		return;
	process->memory_size = size;
	tell_maps(tasks, process, poll_writer_now(tasks->writer), false);
	process->new_maps_at = began + MAPS_SHARE * (clock_ns(CLOCK_MONOTONIC) - began);
}
