// SPDX-License-Identifier: GPL-2.0-only
#include "sys/task_stop.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/proc.h"

enum {
	/* For the stop of one thread. */
	TIMEOUT_NS = 20000000,
	/* Between looks, at first and at last. */
	PAUSE_MIN_NS = 5000,
	PAUSE_MAX_NS = 500000,
};

enum seen {
	/* It runs on, or sleeps where it cannot be stopped. */
	SEEN_NOT_YET,
	SEEN_STOPPED,
	/* It has ended, and nothing is left to be done. */
	SEEN_ENDED,
	/* There is no such tracee: never was, or by another number now. */
	SEEN_UNKNOWN,
};

void task_stop_quiet(void)
{
	struct sigaction action;

	if (sigaction(SIGCHLD, NULL, &action))
		return;
	action.sa_flags |= SA_NOCLDSTOP;
	(void)sigaction(SIGCHLD, &action, NULL);
}

/* A stop that ptrace itself has asked for carries no signal for the thread. */
static int signal_of(const siginfo_t *info)
{
	return info->si_status >> 8 ? 0 : info->si_status;
}

/* --- what has become of it ---------------------------------------------- */

/* Who is not known may be one. */
static bool is_own_child(pid_t tid)
{
	struct proc_status status;
	struct error *error = proc_status_read("", tid, &status);
	bool own = error || (status.tgid == tid && status.ppid == getpid());

	error_destroy(error);
	return own;
}

/* Its end is told to its parent once its tracer has seen it. */
static void bury(pid_t tid)
{
	siginfo_t info;

	if (!is_own_child(tid))
		(void)waitid(P_PID, (id_t)tid, &info,
			     WEXITED | WNOHANG | __WALL | __WNOTHREAD);
}

static enum seen look(pid_t tid, siginfo_t *info)
{
	*info = (siginfo_t){};
	if (waitid(P_PID, (id_t)tid, info,
		   WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD))
		return errno == EINTR ? SEEN_NOT_YET : SEEN_UNKNOWN;
	if (!info->si_pid)
		return SEEN_NOT_YET;
	if (info->si_code == CLD_TRAPPED || info->si_code == CLD_STOPPED)
		return SEEN_STOPPED;
	bury(tid);
	return SEEN_ENDED;
}

/* The thread may want the CPU that the caller has: so it sleeps between looks. */
static enum seen wait_for(pid_t tid, siginfo_t *info)
{
	struct timespec pause = { .tv_nsec = PAUSE_MIN_NS };
	int64_t until = clock_ns(CLOCK_MONOTONIC) + TIMEOUT_NS;
	enum seen seen;

	while ((seen = look(tid, info)) == SEEN_NOT_YET &&
	       clock_ns(CLOCK_MONOTONIC) < until) {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < PAUSE_MAX_NS)
			pause.tv_nsec *= 2;
	}
	return seen;
}

/* --- those that are not settled ----------------------------------------- */

/* Without memory it is let go when the calling thread ends. */
static void keep(struct task_stop *stop, pid_t pid, pid_t tid)
{
	(void)!vec_push(&stop->late, ((struct task_number){ pid, tid }));
}

/*
 * It has called exec since it was seized, and may have ended since, which is then seen.
 * The end of a child is its parent's news.
 */
static bool has_first_number(const struct task_number *task)
{
	siginfo_t info;
	enum seen seen;

	if (task->tid == task->pid)
		return false;
	if (!ptrace(PTRACE_INTERRUPT, task->pid, NULL, NULL))
		return true;
	if (is_own_child(task->pid))
		return false;
	seen = look(task->pid, &info);
	return seen == SEEN_NOT_YET || seen == SEEN_STOPPED;
}

static bool is_unsettled(const struct task_stop *stop, pid_t pid)
{
	vec_for_each(task, &stop->late)
		if (task->pid == pid)
			return true;
	return false;
}

/* False: a thread that is being killed cannot be let go, and has to be seen to end. */
static bool let_go(pid_t tid, int signal)
{
	return !ptrace(PTRACE_DETACH, tid, NULL, (long)signal);
}

/* True: it is to be looked at again. */
static bool is_to_be_kept(struct task_number *task)
{
	siginfo_t info;

	switch (look(task->tid, &info)) {
	case SEEN_STOPPED:
		return !let_go(task->tid, signal_of(&info));
	case SEEN_NOT_YET:
		return true;
	case SEEN_UNKNOWN:
		if (!has_first_number(task))
			return false;
		task->tid = task->pid;
		return true;
	default:
		return false;
	}
}

void task_stop_settle(struct task_stop *stop)
{
	size_t left = 0;

	vec_for_each(task, &stop->late)
		if (is_to_be_kept(task))
			stop->late.data[left++] = *task;
	stop->late.count = left;
}

/* --- a stop ------------------------------------------------------------- */

/* It was seized, and did not stop. */
static enum task_stop_result give_up(struct task_stop *stop, pid_t pid,
				     pid_t tid, enum seen seen)
{
	struct task_number task = { pid, tid };

	if (seen == SEEN_NOT_YET)
		keep(stop, pid, tid);
	else if (seen == SEEN_UNKNOWN && has_first_number(&task))
		keep(stop, pid, pid);
	return seen == SEEN_NOT_YET ? TASK_STOP_LATE : TASK_STOP_GONE;
}

enum task_stop_result task_stop_begin(struct task_stop *stop, pid_t pid,
				      pid_t tid)
{
	siginfo_t info;
	enum seen seen;

	if (is_unsettled(stop, pid))
		return TASK_STOP_LATE;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return errno == ESRCH ? TASK_STOP_GONE : TASK_STOP_DENIED;
	seen = ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ? look(tid, &info) :
							   wait_for(tid, &info);
	if (seen != SEEN_STOPPED)
		return give_up(stop, pid, tid, seen);
	stop->task = (struct task_number){ pid, tid };
	stop->signal = signal_of(&info);
	if (!ptrace(PTRACE_GETREGS, tid, NULL, &stop->registers))
		return TASK_STOP_DONE;
	task_stop_end(stop);
	return TASK_STOP_GONE;
}

void task_stop_end(struct task_stop *stop)
{
	struct task_number task = stop->task;
	siginfo_t info;

	stop->task = (struct task_number){};
	if (!let_go(task.tid, stop->signal))
		(void)give_up(stop, task.pid, task.tid,
			      wait_for(task.tid, &info));
}

void task_stop_deinit(struct task_stop *stop)
{
	vec_deinit(&stop->late);
}
