// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What ends a recording, and then the page; and that a child has ended. */
static void waited_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGCHLD);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGHUP);
	sigaddset(ret, SIGQUIT);
}

/* Those that have come by now were meant for the recording. */
static void forget_signals(const sigset_t *signals)
{
	const struct timespec now = {};

	while (sigtimedwait(signals, NULL, &now) > 0)
		;
}

static void nothing(int number)
{
	(void)number;
}

static pid_t run_view(const char *path, const sigset_t *blocked)
{
	char *const words[] = { (char *)"kaa", (char *)"view", (char *)"-i",
				(char *)path, NULL };
	pid_t pid = fork();

	if (pid)
		return pid;
	forget_signals(blocked);
	sigprocmask(SIG_UNBLOCK, blocked, NULL);
	execv("/proc/self/exe", words);
	fprintf(stderr, "kaa view: cannot run kaa: %s\n", strerror(errno));
	_exit(1);
}

/* Until it ends, or the recorder has closed the pipe or is gone: then it is ended. */
static void wait_for_either(pid_t pid, int fd)
{
	const struct sigaction wake = { .sa_handler = nothing };
	struct pollfd closed = { .fd = fd, .events = POLLIN };
	sigset_t asleep;

	sigaction(SIGCHLD, &wake, NULL);
	sigprocmask(SIG_SETMASK, NULL, &asleep);
	sigdelset(&asleep, SIGCHLD);
	while (!waitpid(pid, NULL, WNOHANG))
		if (ppoll(&closed, 1, NULL, &asleep) > 0) {
			kill(pid, SIGTERM);
			waitpid(pid, NULL, 0);
			return;
		}
}

/* 0: there is nothing to show. */
static size_t read_path(int fd, char *ret, size_t size)
{
	ssize_t n;

	do
		n = read(fd, ret, size);
	while (n < 0 && errno == EINTR);
	return n > 0 && !ret[n - 1] ? (size_t)n : 0;
}

/*
 * Has the rights that kaa was started with: to start the viewer, and to end it. The
 * signals are blocked.
 */
static void wait_and_view(int fd)
{
	char path[PATH_MAX];
	sigset_t signals;
	pid_t pid;

	waited_signals(&signals);
	if (!read_path(fd, path, sizeof(path)))
		_exit(0);
	pid = run_view(path, &signals);
	if (pid > 0)
		wait_for_either(pid, fd);
	_exit(0);
}

struct error *record_viewer_start(struct record_viewer *ret)
{
	sigset_t signals, before;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return error_os(errno, NULL, "cannot make a pipe");
	waited_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, &before);
	pid = fork();
	if (!pid) {
		close(ends[1]);
		wait_and_view(ends[0]);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return error_os(errno, NULL, "cannot start a process");
	}
	*ret = (struct record_viewer){ pid, ends[1] };
	return NULL;
}

/* What would end this process ends the viewer; a terminal tells both. */
static void wait_for(const struct record_viewer *viewer, const sigset_t *awaited)
{
	int number;

	while (!waitpid(viewer->pid, NULL, WNOHANG))
		if (!sigwait(awaited, &number) && number != SIGCHLD)
			return;
}

void record_viewer_show(struct record_viewer *viewer, const char *path)
{
	size_t size = strlen(path) + 1;
	sigset_t awaited;

	waited_signals(&awaited);
	sigprocmask(SIG_BLOCK, &awaited, NULL);
	forget_signals(&awaited);
	/* As one piece, since it fits into an empty pipe. */
	if (write(viewer->fd, path, size) == (ssize_t)size)
		wait_for(viewer, &awaited);
	record_viewer_deinit(viewer);
}

void record_viewer_deinit(struct record_viewer *viewer)
{
	if (!viewer->pid)
		return;
	close(viewer->fd);
	waitpid(viewer->pid, NULL, 0);
	viewer->pid = 0;
}
