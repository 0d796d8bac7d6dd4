// SPDX-License-Identifier: GPL-2.0-only
/* A process that runs: /proc and process_vm_readv. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "collect/poll_hold.h"
#include "dump/subject.h"
#include "python/code_name.h"
#include "sys/capability.h"
#include "sys/file.h"
#include "sys/mapped_file.h"
#include "sys/proc.h"
#include "sys/remote_memory.h"
#include "sys/task_stop.h"
#include "sys/task_syscall.h"
#include "sys/thread_pointer.h"

enum {
	COMMAND_MAX = 1 << 20,
	/* Bytes of the command that are shown. */
	COMMAND_SHOWN_MAX = 4096,
	/* Of 200 tries in all (dump.c), half a ms apart at last. */
	LATE_STOPS_MAX = 150,
};

struct live {
	struct subject subject;
	struct remote_memory memory;
	struct proc_maps maps;
	struct poll_hold hold;
	struct task_stop stop;
	bool is_stopped;
	/* Where this thread may run when nothing is held. */
	cpu_set_t cpus;
	bool has_cpus;
};

static struct live *live_of(struct subject *subject)
{
	return (struct live *)subject;
}

/* --- memory --- */

static size_t read_words(void *arg, const uint64_t *addresses, size_t count,
			 uint64_t *words)
{
	return count > REMOTE_MEMORY_WORDS_MAX ?
		       0 :
		       remote_memory_read_words(arg, addresses, count, words);
}

/* --- a thread that holds still --- */

/*
 * That it sleeps is proven if the kernel tells in which system call: it looks only
 * when the thread is off its CPU (task_current_syscall()).
 */
static bool is_asleep(struct live *live, struct subject_thread *thread)
{
	if (!task_syscall_read("", live->subject.pid, thread->tid, &thread->call))
		return false;
	thread->has_call = thread->call.number >= 0;
	return true;
}

static enum subject_read hold_asleep(struct live *live,
				     struct subject_thread *thread)
{
	switch (poll_hold_asleep(&live->hold, &thread->files, 0)) {
	case POLL_HOLD_STILL:
	case POLL_HOLD_LATE:
		return is_asleep(live, thread) ? SUBJECT_STILL : SUBJECT_RUNS;
	case POLL_HOLD_GONE:
		return SUBJECT_GONE;
	default:
		return SUBJECT_RUNS;
	}
}

/* It need not have run until now: where it waits for its CPU is as good. */
static enum subject_read hold_running(struct live *live,
				      struct subject_thread *thread)
{
	switch (poll_hold_begin(&live->hold, &thread->files)) {
	case POLL_HOLD_STILL:
	case POLL_HOLD_LATE:
	case POLL_HOLD_WAITED:
		return SUBJECT_STILL;
	case POLL_HOLD_GONE:
		return SUBJECT_GONE;
	default:
		return SUBJECT_RUNS;
	}
}

/* What it does is asked for before: a stop wakes it up. */
static enum task_stop_result stop(struct live *live,
				  struct subject_thread *thread)
{
	enum task_stop_result result = TASK_STOP_LATE;

	task_stop_settle(&live->stop);
	if (live->hold.stat.state != 'D')
		result = task_stop_begin(&live->stop, live->subject.pid,
					 thread->tid);
	live->is_stopped = result == TASK_STOP_DONE;
	if (live->is_stopped) {
		subject_take_registers(thread, &live->stop.registers);
	} else {
		thread->has_all_registers = false;
		memset(thread->registers, 0, sizeof(thread->registers));
	}
	return result;
}

static char state_of_stopped(const struct live *live,
			     struct subject_thread *thread)
{
	char state = live->hold.stat.state;

	if (state != 't' && state != 'R')
		return state;
	/* Else it has not gone on since it was stopped at the try before. */
	if (!task_syscall_is_in(&thread->call, &live->stop.registers))
		return 'R';
	thread->has_call = true;
	return 'S';
}

/*
 * On a busy machine it may have no CPU to stop on: then there is another try. False: it
 * cannot be stopped, and is to be read as without that.
 */
static bool begin_stopped(struct live *live, struct subject_thread *thread,
			  enum subject_read *ret)
{
	enum task_stop_result result = stop(live, thread);

	*ret = result == TASK_STOP_DONE ? SUBJECT_STILL : SUBJECT_RUNS;
	if (result == TASK_STOP_LATE)
		return thread->late_stops++ < LATE_STOPS_MAX;
	if (result == TASK_STOP_DONE)
		thread->state = state_of_stopped(live, thread);
	return result == TASK_STOP_DONE;
}

static enum subject_read begin(struct subject *subject,
			       struct subject_thread *thread)
{
	struct live *live = live_of(subject);
	enum subject_read result, stopped;

	thread->has_call = false;
	if (thread->files.stat_fd < 0 &&
	    !task_files_open("", subject->pid, thread->tid, &thread->files))
		return SUBJECT_GONE;
	result = hold_asleep(live, thread);
	if (subject->stops && result != SUBJECT_GONE &&
	    begin_stopped(live, thread, &stopped))
		return stopped;
	if (result == SUBJECT_RUNS)
		result = hold_running(live, thread);
	thread->state = live->hold.stat.state;
	return result;
}

static bool end(struct subject *subject, struct subject_thread *thread)
{
	struct live *live = live_of(subject);
	struct task_run run;

	(void)thread;
	if (live->is_stopped) {
		task_stop_end(&live->stop);
		live->is_stopped = false;
		return true;
	}
	return poll_hold_end(&live->hold, &run);
}

static void release(struct subject *subject, struct subject_thread *thread)
{
	(void)subject;
	task_files_close(&thread->files);
}

static bool has_ended(struct subject *subject)
{
	char byte;

	return remote_memory_read(&live_of(subject)->memory, 0, &byte, 1) ==
	       -ESRCH;
}

/* --- what /proc says --- */

static struct error *read_maps(struct live *live)
{
	struct subject *subject = &live->subject;
	struct error *error = proc_maps_read("", subject->pid, &live->maps);

	if (error)
		return error;
	vec_for_each(map, &live->maps.maps) {
		if (!vec_push(&subject->maps,
			      (struct subject_map){
				      .start = map->start,
				      .end = map->end,
				      .offset = map->offset,
				      .executable = map->prot & PROT_EXEC,
				      .path = map->path }))
			return error_no_memory();
	}
	return NULL;
}

/* Words separated by blanks, as far as one wants to see them. */
static struct error *read_command(struct live *live)
{
	_cleanup_strbuf_ struct strbuf raw = STRBUF_INIT, text = STRBUF_INIT;
	char path[64];
	struct error *error;

	snprintf(path, sizeof(path), "/proc/%d/cmdline",
		 (int)live->subject.pid);
	error = file_read("", path, COMMAND_MAX, &raw);
	error_destroy(error);
	for (size_t i = 0; i < raw.len; i++)
		if (!raw.data[i])
			raw.data[i] = ' ';
	strbuf_trim_end(&raw);
	py_text_append_utf8(&text,
			    (struct bytes){ (const uint8_t *)raw.data, raw.len },
			    COMMAND_SHOWN_MAX);
	live->subject.command = strdup(text.failed ? "" : text.data);
	return live->subject.command ? NULL : error_no_memory();
}

static struct error *add_thread(struct live *live, pid_t tid)
{
	struct subject_thread thread = { .tid = tid, .files = TASK_FILES_INIT };
	struct proc_status status;
	struct error *error = proc_status_read("", tid, &status);

	if (error) {
		/* It has ended. */
		error_destroy(error);
		return NULL;
	}
	thread.number = status.nspid;
	snprintf(thread.comm, sizeof(thread.comm), "%s", status.comm);
	thread.pointer =
		thread_pointer_find(&live->memory, tid, thread.number);
	thread.stack_pointer = proc_maps_stack_start(
		&live->maps, thread.pointer, tid == live->subject.pid);
	return vec_push(&live->subject.threads, thread) ? NULL :
							  error_no_memory();
}

static struct error *read_threads(struct live *live)
{
	struct pid_list tids = {};
	struct error *error = proc_threads("", live->subject.pid, &tids);

	if (!error && tids.count > SUBJECT_THREADS_MAX)
		error = error_create(ERROR_LIMIT,
				     "process %d has %zu threads, more than kaa reads",
				     (int)live->subject.pid, tids.count);
	for (size_t i = 0; !error && i < tids.count; i++)
		error = add_thread(live, tids.data[i]);
	vec_deinit(&tids);
	return error;
}

/* --- what may be in the way --- */

static struct error *of_other_user(pid_t pid)
{
	_cleanup_strbuf_ struct strbuf owner = STRBUF_INIT;

	proc_put_owner("", pid, &owner);
	return error_create(
		ERROR_PERMISSION,
		"process %d belongs to %s: only that user and root may read its memory; 'sudo kaa dump %d'",
		(int)pid, owner.data, (int)pid);
}

/* The kernel only says no: ptrace(2), "Ptrace access mode checking". */
static struct error *why_not(pid_t pid)
{
	struct proc_status status;
	int64_t scope = 0;
	struct error *error = proc_status_read("", pid, &status);

	if (error)
		return error;
	if (!geteuid() || capability_have(CAP_SYS_PTRACE))
		return remote_memory_not_for_root(pid);
	if (status.euid != geteuid() || status.uid != geteuid())
		return of_other_user(pid);
	error_destroy(kernel_setting("", "yama/ptrace_scope", &scope));
	if (scope == 3)
		return error_create(
			ERROR_PERMISSION,
			"kernel.yama.ptrace_scope is 3, so nobody may read the memory of process %d until this machine is started anew",
			(int)pid);
	if (scope > 0)
		return error_create(
			ERROR_PERMISSION,
			"kernel.yama.ptrace_scope is %d, so %s may read the memory of process %d: 'sudo kaa dump %d', or set it to 0: 'sudo sysctl kernel.yama.ptrace_scope=0'",
			(int)scope,
			scope == 1 ? "only its parent processes and root" :
				     "only root",
			(int)pid, (int)pid);
	return error_create(
		ERROR_PERMISSION,
		"process %d does not let others of its user read its memory: it has more rights than you, has made itself not dumpable (PR_SET_DUMPABLE), or a filter or container forbids it; 'sudo kaa dump %d'",
		(int)pid, (int)pid);
}

/* No process has that page: what is said of it is who may read. */
static struct error *check_memory(struct live *live)
{
	pid_t pid = live->subject.pid;
	char byte;
	ssize_t n = remote_memory_read(&live->memory, 0, &byte, 1);

	if (n == -ESRCH)
		return error_create(ERROR_NOT_FOUND, "there is no process %d",
				    (int)pid);
	return n == -EPERM || n == -EACCES ? why_not(pid) : NULL;
}

static struct error *check_process(pid_t pid)
{
	struct proc_status status;
	struct error *error = proc_status_read("", pid, &status);

	if (error && error->code == ERROR_NOT_FOUND) {
		error_destroy(error);
		return error_create(ERROR_NOT_FOUND, "there is no process %d",
				    (int)pid);
	}
	if (error)
		return error;
	if (status.tgid != pid)
		return error_create(ERROR_NOT_FOUND,
				    "%d is a thread of process %d: 'kaa dump %d'",
				    (int)pid, (int)status.tgid,
				    (int)status.tgid);
	return NULL;
}

static struct error *check_kernel(struct live *live)
{
	if (poll_hold_init(&live->hold))
		return NULL;
	return error_create(
		ERROR_UNSUPPORTED,
		"this kernel does not say when a thread ran (/proc/%d/schedstat and sched: CONFIG_SCHED_INFO, CONFIG_SCHED_DEBUG), so a stack cannot be read without stopping the process; 'gcore %d', then 'kaa dump core.%d'",
		(int)live->subject.pid, (int)live->subject.pid,
		(int)live->subject.pid);
}

/* --- life --- */

static int open_map(struct subject *subject, struct subject_map *map)
{
	int fd = mapped_file_open_path(subject->pid, map->path);

	return fd >= 0 ? fd :
			 mapped_file_open_link(subject->pid, map->start,
					       map->end);
}

static void destroy(struct subject *subject)
{
	struct live *live = live_of(subject);

	if (live->has_cpus)
		(void)sched_setaffinity(0, sizeof(live->cpus), &live->cpus);
	poll_hold_deinit(&live->hold);
	task_stop_settle(&live->stop);
	task_stop_deinit(&live->stop);
	proc_maps_deinit(&live->maps);
	remote_memory_deinit(&live->memory);
	subject_deinit(subject);
	free(live);
}

static const struct subject_kind kind = {
	.open_map = open_map,
	.begin = begin,
	.end = end,
	.release = release,
	.has_ended = has_ended,
	.destroy = destroy,
};

static struct error *fill(struct live *live)
{
	struct error *error = check_process(live->subject.pid);

	if (!error)
		error = check_memory(live);
	if (!error)
		error = check_kernel(live);
	if (!error)
		error = read_command(live);
	if (!error)
		error = read_maps(live);
	return error ? error : read_threads(live);
}

struct error *subject_open_live(pid_t pid, struct subject **ret)
{
	struct live *live = calloc(1, sizeof(*live));
	struct error *error;

	if (!live)
		return error_no_memory();
	live->subject.kind = &kind;
	live->subject.pid = pid;
	live->memory = remote_memory_init(pid);
	live->maps = (struct proc_maps)PROC_MAPS_INIT;
	live->hold = (struct poll_hold)POLL_HOLD_INIT;
	live->has_cpus =
		!sched_getaffinity(0, sizeof(live->cpus), &live->cpus);
	live->subject.memory = (struct py_memory){ remote_memory_callback, &live->memory,
						   read_words };
	error = fill(live);
	if (error) {
		destroy(&live->subject);
		return error;
	}
	*ret = &live->subject;
	return NULL;
}
