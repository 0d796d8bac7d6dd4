// SPDX-License-Identifier: GPL-2.0-only
#include "sys/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/search_path.h"
#include "sys/privilege.h"

/* Between looks at who waits. */
enum { LOOK_MS = 50 };

/* In the child: never returns. */
static void __attribute__((noreturn))
run_child(const struct capture *capture, int out_fd, int err_fd)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(out_fd, 1) < 0 ||
	    dup2(err_fd >= 0 ? err_fd : null_fd, 2) < 0)
		_exit(127);
	if (capture->invoker &&
	    (privilege_become(capture->invoker) < 0 ||
	     invoker_set_environment(capture->invoker, capture->path) < 0))
		_exit(127);
	if (capture->path && setenv("PATH", capture->path, 1) != 0)
		_exit(127);
	execvp(capture->argv[0], (char *const *)capture->argv);
	_exit(127);
}

/* What the parent reads from. */
struct outputs {
	int out;
	/* Not blocking; -1: nobody wants it, or it has ended. */
	int err;
};

/* Waits for output until the deadline; *err_ready: stderr has some, too. */
static struct error *wait_output(const struct capture *capture,
				 const struct outputs *outputs,
				 int64_t deadline, bool *out_ready,
				 bool *err_ready)
{
	for (;;) {
		struct pollfd polled[] = {
			{ .fd = outputs->out, .events = POLLIN },
			{ .fd = outputs->err, .events = POLLIN },
		};
		int64_t left = deadline - clock_ms();
		int64_t wait = capture->watch && left > LOOK_MS ? LOOK_MS
								: left;

		if (left <= 0)
			return error_create(ERROR_LIMIT,
					    "'%s' gave no answer in %d ms",
					    capture->argv[0],
					    capture->timeout_ms);
		if (!watch_look(capture->watch, capture->argv[0],
				(uint64_t)(capture->timeout_ms - left),
				(uint64_t)capture->timeout_ms))
			return watch_error(capture->watch);
		if (poll(polled, 2, (int)wait) <= 0)
			continue;
		*out_ready = polled[0].revents;
		*err_ready = polled[1].revents;
		return NULL;
	}
}

/* Takes some of what is in the pipe; beyond the limit it is dropped. */
static void read_errors(const struct capture *capture, struct outputs *outputs)
{
	size_t room = CAPTURE_ERRORS_MAX;
	char chunk[CAPTURE_ERRORS_MAX];
	ssize_t n;

	if (outputs->err < 0)
		return;
	room -= capture->errors->len < room ? capture->errors->len : room;
	n = read(outputs->err, chunk, sizeof(chunk));
	if (n > 0)
		strbuf_append(capture->errors, chunk,
			      (size_t)n < room ? (size_t)n : room);
	else if (n == 0)
		outputs->err = -1;
}

/* Reads until the end of the output, the limit or the deadline. */
static struct error *read_output(const struct capture *capture,
				 struct outputs *outputs, struct strbuf *out)
{
	int64_t deadline = clock_ms() + capture->timeout_ms;
	size_t before = out->len;
	bool out_ready = false, err_ready = false;
	char chunk[4096];

	for (;;) {
		struct error *error = wait_output(capture, outputs, deadline,
						  &out_ready, &err_ready);
		ssize_t n;

		if (error)
			return error;
		if (err_ready)
			read_errors(capture, outputs);
		if (!out_ready)
			continue;
		n = read(outputs->out, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_os(errno, NULL, "output of '%s'",
					capture->argv[0]);
		if (n == 0)
			return strbuf_error(out);
		if (out->len - before + (size_t)n > capture->limit)
			return error_create(ERROR_LIMIT,
					    "'%s' printed too much",
					    capture->argv[0]);
		strbuf_append(out, chunk, (size_t)n);
	}
}

/*
 * A process that closed its output may still run on: give it a moment, then
 * end it and its session.
 */
static int reap(pid_t pid, bool at_once)
{
	int status = 0;

	for (int i = 0; !at_once && i < 100; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		usleep(2000);
	}
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Starts it; the read ends are the caller's. */
static struct error *start(const struct capture *capture, int *out, int *err,
			   pid_t *ret)
{
	int out_pipe[2], err_pipe[2] = { -1, -1 };

	if (pipe2(out_pipe, O_CLOEXEC) != 0)
		return error_os(errno, NULL, "cannot make a pipe");
	*out = out_pipe[0];
	if (capture->errors && pipe2(err_pipe, O_CLOEXEC) == 0) {
		*err = err_pipe[0];
		fcntl(*err, F_SETFL, O_NONBLOCK);
	}
	fflush(stdout);
	*ret = fork();
	if (*ret == 0)
		run_child(capture, out_pipe[1], err_pipe[1]);
	close(out_pipe[1]);
	if (err_pipe[1] >= 0)
		close(err_pipe[1]);
	if (*ret < 0)
		return error_os(errno, NULL, "cannot start '%s'",
				capture->argv[0]);
	return NULL;
}

struct error *capture_run(const struct capture *capture, struct strbuf *out,
			  int *status)
{
	_cleanup_close_ int out_fd = -1, err_fd = -1;
	size_t before = out->len;
	struct outputs outputs;
	struct error *error;
	pid_t pid = -1;
	int code;

	error = start(capture, &out_fd, &err_fd, &pid);
	if (error)
		return error;
	outputs = (struct outputs){ out_fd, err_fd };
	error = read_output(capture, &outputs, out);
	code = reap(pid, error != NULL);
	read_errors(capture, &outputs);
	if (error)
		strbuf_truncate(out, before);
	else
		*status = code;
	return error;
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       access(path, X_OK) == 0;
}

static bool find_program(const char *path, const char *name,
			 char file[PATH_MAX])
{
	while (search_path_next(&path, name, file, PATH_MAX))
		if (is_program(file))
			return true;
	return false;
}

struct error *capture_which(const char *path, const char *name, char **ret)
{
	char file[PATH_MAX], *found;

	if (strchr(name, '/') ? !is_program(name) :
				!find_program(path, name, file))
		return error_create(ERROR_NOT_FOUND, "there is no program '%s'",
				    name);
	found = strdup(strchr(name, '/') ? name : file);
	if (!found)
		return error_no_memory();
	*ret = found;
	return NULL;
}
