// SPDX-License-Identifier: GPL-2.0-only
#include "collect/recorder_loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/recorder_internal.h"
#include "collect/recorder_round.h"

enum {
	/* A round at least that often while samples come. */
	ROUND_MS = 100,
	EPOLL_BATCH = 32,
	/* Ended maps and processes are remembered that long, in ns. */
	REMEMBER_NS = 2000000000,
};

/* nohup means kaa too. */
static bool is_ignored(int number)
{
	struct sigaction action;

	return !sigaction(number, NULL, &action) &&
	       action.sa_handler == SIG_IGN;
}

static struct error *watch(struct recorder *recorder, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(recorder->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return error_os(errno, NULL, "cannot watch an event");
	return NULL;
}

struct error *recorder_watch_rings(struct recorder *recorder)
{
	struct error *error = NULL;

	recorder->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (recorder->epoll_fd < 0)
		return error_os(errno, NULL, "cannot make an epoll instance");
	for (size_t i = 0; !error && i < recorder->sampler.cpus.count; i++) {
		struct sampler_cpu *cpu = &recorder->sampler.cpus.data[i];

		if (!vec_push(&recorder->codes_done, 0))
			return error_no_memory();
		if (cpu->samples_fd >= 0)
			error = watch(recorder, cpu->samples_fd);
		if (!error && cpu->tasks_fd >= 0)
			error = watch(recorder, cpu->tasks_fd);
		recorder->rings_open +=
			(cpu->samples_fd >= 0) + (cpu->tasks_fd >= 0);
	}
	recorder->heads = calloc(recorder->sampler.cpus.count,
				 sizeof(*recorder->heads));
	if (!error && !recorder->heads)
		error = error_no_memory();
	return error;
}

struct error *recorder_open_signals(struct recorder *recorder)
{
	sigset_t set;
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
				       SIGCHLD };

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i] != SIGHUP || !is_ignored(SIGHUP))
			sigaddset(&set, numbers[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return error_os(errno, NULL, "cannot block signals");
	recorder->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recorder->signal_fd < 0)
		return error_os(errno, NULL, "cannot make a signalfd");
	return watch(recorder, recorder->signal_fd);
}

/*
 * From the terminal the command has got the signal too; from elsewhere only
 * kaa has, and the command is meant.
 */
static void handle_stop(struct recorder *recorder,
			const struct signalfd_siginfo *info)
{
	pid_t pid = recorder->options.launch ? recorder->options.launch->pid :
					       -1;

	if (info->ssi_code <= 0 && pid > 0 && !recorder->child_gone)
		kill(pid, (int)info->ssi_signo);
	recorder->stopped_by = (int)info->ssi_signo;
}

static void reap(struct recorder *recorder)
{
	struct launch *launch = recorder->options.launch;
	int status;

	if (!launch || launch->pid <= 0 || recorder->child_gone)
		return;
	if (waitpid(launch->pid, &status, WNOHANG) == launch->pid) {
		recorder->status = status;
		recorder->child_gone = true;
	}
}

static void handle_signals(struct recorder *recorder)
{
	struct signalfd_siginfo info;

	while (read(recorder->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reap(recorder);
		else
			handle_stop(recorder, &info);
	}
}

static bool is_over(const struct recorder *recorder)
{
	return recorder->stopped_by || recorder->child_gone ||
	       !recorder->rings_open ||
	       (recorder->end_at && clock_ms() >= recorder->end_at);
}

static struct error *enable(struct recorder *recorder)
{
	struct error *error = sampler_enable(&recorder->sampler);

	if (recorder->options.duration_ms)
		recorder->end_at = clock_ms() +
				   (int64_t)recorder->options.duration_ms;
	return error;
}

static struct error *enable_when_due(struct recorder *recorder)
{
	if (!recorder->enable_at || clock_ms() < recorder->enable_at)
		return NULL;
	recorder->enable_at = 0;
	return enable(recorder);
}

/* Another event of the ring that an event writes to, or NULL. */
static const struct sampler_fd *heir(const struct recorder *recorder,
				     const struct sampler_fd *of)
{
	const struct sampler *sampler = &recorder->sampler;
	size_t tasks = sampler_tasks_index(sampler);

	for (size_t i = 0; i < sampler->fds.count; i++) {
		const struct sampler_fd *entry = &sampler->fds.data[i];

		if (!entry->ended && entry->cpu == of->cpu &&
		    entry->event <= tasks &&
		    (entry->event == tasks) == (of->event == tasks))
			return entry;
	}
	return NULL;
}

/*
 * The thread of that event has ended, and all that inherited the event from
 * it. The ring stays: other threads' events write to it too, if there are any.
 */
static struct error *hung_up(struct recorder *recorder, int fd)
{
	const struct sampler_fd *next = NULL;

	epoll_ctl(recorder->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	vec_for_each(entry, &recorder->sampler.fds) {
		if (entry->fd == fd) {
			entry->ended = true;
			next = heir(recorder, entry);
		}
	}
	if (next)
		return watch(recorder, next->fd);
	recorder->rings_open--;
	return NULL;
}

/* Until the next round, or the end if that is nearer. */
static int time_to_wait(const struct recorder *recorder)
{
	int64_t left = ROUND_MS;

	if (recorder->end_at)
		left = recorder->end_at - clock_ms();
	if (left < 0)
		return 0;
	return left < ROUND_MS ? (int)left : ROUND_MS;
}

static struct error *wait_events(struct recorder *recorder)
{
	struct epoll_event events[EPOLL_BATCH];
	int n = epoll_wait(recorder->epoll_fd, events, EPOLL_BATCH,
			   time_to_wait(recorder));
	struct error *error = NULL;

	if (n < 0 && errno != EINTR)
		return error_os(errno, NULL, "cannot wait for events");
	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == recorder->signal_fd)
			handle_signals(recorder);
		if (!error && (events[i].events & EPOLLHUP))
			error = hung_up(recorder, events[i].data.fd);
	}
	return error ? error : enable_when_due(recorder);
}

struct error *recorder_start(struct recorder *recorder)
{
	const struct recorder_options *options = &recorder->options;
	struct error *error = NULL;

	if (options->delay_ms) {
		recorder->enable_at = clock_ms() + options->delay_ms;
		error = sampler_enable_tasks(&recorder->sampler);
	} else if (!options->sampler.enable_on_exec) {
		error = enable(recorder);
	}
	if (!error && options->launch)
		error = launch_go(options->launch,
				  recorder->source->source->gives_trampolines &&
					  recorder_gives_trampolines(options));
	return error;
}

struct error *recorder_loop(struct recorder *recorder)
{
	struct error *error = NULL;

	while (!error && !is_over(recorder)) {
		error = wait_events(recorder);
		if (!error)
			error = recorder_run_round(recorder);
		if (recorder->latest > REMEMBER_NS)
			process_table_forget(recorder->processes,
					     recorder->latest - REMEMBER_NS);
	}
	return error;
}

void recorder_wait_for_command(struct recorder *recorder)
{
	const struct launch *launch = recorder->options.launch;
	struct pollfd ready = { .fd = recorder->signal_fd, .events = POLLIN };

	if (!launch || launch->pid <= 0 || launch->go_fd >= 0 ||
	    !recorder->options.records_launch)
		return;
	reap(recorder);
	while (!recorder->child_gone) {
		if (poll(&ready, 1, -1) < 0 && errno != EINTR)
			return;
		handle_signals(recorder);
	}
}
