// SPDX-License-Identifier: GPL-2.0-only
#include "collect/loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/task_stat.h"

enum {
	/* A round at least that often while samples come. */
	ROUND_MS = 100,
	/*
	 * A process that starts writes several records, each of which wakes us. That
	 * long it is left alone after one: until then no Python has begun to run.
	 */
	TASKS_PAUSE_NS = 2000000,
	EPOLL_BATCH = 32,
};

/* In epoll_event.data, beside the descriptor: its ring is of task records. */
#define IS_TASKS (UINT64_C(1) << 32)

/* nohup means kaa too. */
static bool is_ignored(int number)
{
	struct sigaction action;

	return !sigaction(number, NULL, &action) &&
	       action.sa_handler == SIG_IGN;
}

static struct error *watch(struct loop *loop, int fd, bool is_tasks)
{
	struct epoll_event event = {
		.events = EPOLLIN,
		.data.u64 = (uint32_t)fd | (is_tasks ? IS_TASKS : 0)
	};

	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return error_os(errno, NULL, "cannot watch an event");
	return NULL;
}

struct error *loop_open(struct loop *loop)
{
	struct error *error = NULL;

	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		return error_os(errno, NULL, "cannot make an epoll instance");
	vec_for_each(cpu, &loop->sampler->cpus) {
		if (!error && cpu->samples_fd >= 0)
			error = watch(loop, cpu->samples_fd, false);
		if (!error && cpu->tasks_fd >= 0)
			error = watch(loop, cpu->tasks_fd, true);
		loop->rings_open += cpu->tasks_fd >= 0;
	}
	return error;
}

void loop_deinit(struct loop *loop)
{
	jitter_deinit(&loop->jitter);
	ring_heirs_deinit(&loop->heirs);
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	if (loop->signal_fd >= 0)
		close(loop->signal_fd);
}

struct error *loop_open_signals(struct loop *loop)
{
	sigset_t set, errors;
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
				       SIGCHLD };

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i] != SIGHUP || !is_ignored(SIGHUP))
			sigaddset(&set, numbers[i]);
	/* These come as errors of write(), too: the recording is ended as it should be. */
	sigemptyset(&errors);
	sigaddset(&errors, SIGPIPE);
	sigaddset(&errors, SIGXFSZ);
	if (sigprocmask(SIG_BLOCK, &set, NULL) ||
	    sigprocmask(SIG_BLOCK, &errors, NULL))
		return error_os(errno, NULL, "cannot block signals");
	loop->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (loop->signal_fd < 0)
		return error_os(errno, NULL, "cannot make a signalfd");
	return watch(loop, loop->signal_fd, false);
}

/*
 * From the terminal the command has got the signal too; from elsewhere only
 * kaa has, and the command is meant.
 */
static void handle_stop(struct loop *loop,
			const struct signalfd_siginfo *info)
{
	pid_t pid = loop->launch ? loop->launch->pid : -1;

	if (info->ssi_code <= 0 && pid > 0 && !loop->child_gone)
		kill(pid, (int)info->ssi_signo);
	loop->stopped_by = (int)info->ssi_signo;
}

/* Until somebody has waited for it the kernel has its account. */
static uint64_t read_kept_off(pid_t pid)
{
	struct task_files files = TASK_FILES_INIT;
	struct task_run run = {};

	if (!task_files_open("", pid, pid, &files) ||
	    !task_files_run(&files, &run))
		run.kept_off = 0;
	task_files_close(&files);
	return run.kept_off;
}

static void reap(struct loop *loop)
{
	struct launch *launch = loop->launch;
	siginfo_t info = {};
	int status;

	if (!launch || launch->pid <= 0 || loop->child_gone)
		return;
	/* What stopped has not ended: the poller stops it (sys/task_stop.h). */
	if (waitid(P_PID, (id_t)launch->pid, &info,
		   WEXITED | WNOHANG | WNOWAIT) ||
	    !info.si_pid || info.si_code == CLD_TRAPPED ||
	    info.si_code == CLD_STOPPED)
		return;
	loop->kept_off = read_kept_off(launch->pid);
	if (!loop->is_over &&
	    !process_ran("", launch->pid, 0, &loop->command_ran))
		loop->command_ran = 0;
	if (waitpid(launch->pid, &status, WNOHANG) == launch->pid) {
		loop->status = status;
		loop->child_gone = true;
	}
}

static void handle_signals(struct loop *loop)
{
	struct signalfd_siginfo info;

	while (read(loop->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reap(loop);
		else
			handle_stop(loop, &info);
	}
}

static bool is_over(const struct loop *loop)
{
	return loop->stopped_by || loop->child_gone ||
	       !loop->rings_open ||
	       (loop->end_at && clock_ms() >= loop->end_at);
}

static struct error *enable(struct loop *loop)
{
	struct error *error = sampler_enable(loop->sampler);

	cpu_time_begin(loop->cpu_time);
	if (loop->duration_ms)
		loop->end_at = clock_ms() + (int64_t)loop->duration_ms;
	return error;
}

static struct error *enable_when_due(struct loop *loop)
{
	if (!loop->enable_at || clock_ms() < loop->enable_at)
		return NULL;
	loop->enable_at = 0;
	return enable(loop);
}

/*
 * The thread of that event has ended, and all that inherited the event from
 * it. The ring stays: other threads' events write to it too, if there are any.
 */
static struct error *hung_up(struct loop *loop, int fd)
{
	const struct sampler_fd *next;
	struct error *error;
	bool tasks;

	epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	error = ring_heirs_next(&loop->heirs, loop->sampler, fd, &next, &tasks);
	if (error)
		return error;
	if (next)
		return watch(loop, next->fd, tasks);
	loop->rings_open -= tasks;
	return NULL;
}

/* Until the next round, or until it is time to begin or to end if that is nearer. */
static int time_to_wait(const struct loop *loop)
{
	int64_t now = clock_ms(), left = loop->round_at - now;

	if (loop->enable_at && loop->enable_at - now < left)
		left = loop->enable_at - now;
	if (loop->end_at && loop->end_at - now < left)
		left = loop->end_at - now;
	return left > 0 ? (int)left : 0;
}

static void pause_after_tasks(const struct loop *loop)
{
	const struct timespec pause = { .tv_nsec = TASKS_PAUSE_NS };

	if (loop->tasks_only)
		nanosleep(&pause, NULL);
}

/* Bytes with which the producer of own rings has woken us. */
static void drain(const struct loop *loop, int fd)
{
	char bytes[64];

	if (!loop->sampler->producer)
		return;
	while (read(fd, bytes, sizeof(bytes)) == sizeof(bytes))
		;
}

static struct error *wait_events(struct loop *loop)
{
	struct epoll_event events[EPOLL_BATCH];
	struct error *error = NULL;
	int n;

	pause_after_tasks(loop);
	n = epoll_wait(loop->epoll_fd, events, EPOLL_BATCH, time_to_wait(loop));
	if (n < 0 && errno != EINTR)
		return error_os(errno, NULL, "cannot wait for events");
	loop->tasks_only = n > 0;
	for (int i = 0; i < n; i++) {
		int fd = (int)(uint32_t)events[i].data.u64;

		if (fd == loop->signal_fd)
			handle_signals(loop);
		else
			drain(loop, fd);
		if (events[i].events & EPOLLHUP ||
		    !(events[i].data.u64 & IS_TASKS))
			loop->tasks_only = false;
		if (!error && (events[i].events & EPOLLHUP))
			error = hung_up(loop, fd);
	}
	return error ? error : enable_when_due(loop);
}

struct error *loop_start(struct loop *loop)
{
	struct error *error = NULL;

	if (loop->delay_ms) {
		loop->enable_at = clock_ms() + (int64_t)loop->delay_ms;
		error = sampler_enable_tasks(loop->sampler);
	} else if (!loop->sampler->options.enable_on_exec) {
		error = enable(loop);
	} else {
		error = sampler_enable_clocks(loop->sampler);
		cpu_time_begin(loop->cpu_time);
	}
	if (error || !loop->launch)
		return error;
	loop->kept_off_before = read_kept_off(loop->launch->pid);
	return launch_go(loop->launch, loop->gives_trampolines);
}

/* A whole round, unless only task records came and it is not yet time for one. */
static struct error *handle(struct loop *loop)
{
	loop->tasks_only = loop->tasks_only && clock_ms() < loop->round_at;
	if (loop->tasks_only)
		return round_pass(loop->round);
	loop->round_at = clock_ms() + ROUND_MS;
	return round_run(loop->round);
}

struct error *loop_run(struct loop *loop)
{
	struct error *error = NULL;

	loop->round_at = clock_ms() + ROUND_MS;
	while (!error && !is_over(loop)) {
		jitter_turn(&loop->jitter, loop->cpu_time);
		error = wait_events(loop);
		if (!error)
			error = handle(loop);
		round_forget(loop->round);
	}
	loop->is_over = true;
	return error;
}

void loop_wait_for_command(struct loop *loop)
{
	const struct launch *launch = loop->launch;
	struct pollfd ready = { .fd = loop->signal_fd, .events = POLLIN };

	if (!launch || launch->pid <= 0 || launch->go_fd >= 0 ||
	    !loop->records_launch)
		return;
	reap(loop);
	while (!loop->child_gone) {
		if (poll(&ready, 1, -1) < 0 && errno != EINTR)
			return;
		handle_signals(loop);
	}
}

uint64_t loop_command_ran(const struct loop *loop)
{
	return loop->command_ran;
}

uint64_t loop_kept_off(const struct loop *loop)
{
	const struct launch *launch = loop->launch;
	uint64_t all = !launch || launch->pid <= 0 || loop->child_gone ?
			       loop->kept_off :
			       read_kept_off(launch->pid);

	return all > loop->kept_off_before ? all - loop->kept_off_before : 0;
}
