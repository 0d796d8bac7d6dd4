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

static void let_go(pid_t tid, int signal)
{
	/* It may have been killed meanwhile. */
	(void)ptrace(PTRACE_DETACH, tid, NULL, (long)signal);
}

static bool is_own_child(pid_t tid)
{
	struct proc_status status;
	struct error *error = proc_status_read("", tid, &status);
	bool own = !error && status.tgid == tid && status.ppid == getpid();

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

/* 1: it has stopped, 0: not yet, -1: it has ended. */
static int look(pid_t tid, siginfo_t *info)
{
	*info = (siginfo_t){};
	if (waitid(P_PID, (id_t)tid, info,
		   WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD))
		return errno == EINTR ? 0 : -1;
	if (!info->si_pid)
		return 0;
	if (info->si_code == CLD_TRAPPED || info->si_code == CLD_STOPPED)
		return 1;
	bury(tid);
	return -1;
}

/* The thread may want the CPU that the caller has: so it sleeps between looks. */
static int wait_for(pid_t tid, siginfo_t *info)
{
	struct timespec pause = { .tv_nsec = PAUSE_MIN_NS };
	int64_t until = clock_ns(CLOCK_MONOTONIC) + TIMEOUT_NS;
	int seen;

	while (!(seen = look(tid, info)) &&
	       clock_ns(CLOCK_MONOTONIC) < until) {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < PAUSE_MAX_NS)
			pause.tv_nsec *= 2;
	}
	return seen;
}

enum task_stop_result task_stop_begin(struct task_stop *stop, pid_t tid)
{
	siginfo_t info;
	int seen;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return errno == ESRCH ? TASK_STOP_GONE : TASK_STOP_DENIED;
	seen = ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ?
		       -1 :
		       wait_for(tid, &info);
	if (seen < 0)
		return TASK_STOP_GONE;
	if (!seen) {
		/* Without memory it is let go when the calling thread ends. */
		(void)!vec_push(&stop->late, tid);
		return TASK_STOP_LATE;
	}
	stop->tid = tid;
	stop->signal = signal_of(&info);
	if (!ptrace(PTRACE_GETREGS, tid, NULL, &stop->registers))
		return TASK_STOP_DONE;
	task_stop_end(stop);
	return TASK_STOP_GONE;
}

void task_stop_end(struct task_stop *stop)
{
	let_go(stop->tid, stop->signal);
	stop->tid = 0;
}

void task_stop_settle(struct task_stop *stop)
{
	size_t left = 0;

	vec_for_each(tid, &stop->late) {
		siginfo_t info;
		int seen = look(*tid, &info);

		if (seen > 0)
			let_go(*tid, signal_of(&info));
		else if (!seen)
			stop->late.data[left++] = *tid;
	}
	stop->late.count = left;
}

void task_stop_deinit(struct task_stop *stop)
{
	task_stop_settle(stop);
	vec_deinit(&stop->late);
}
