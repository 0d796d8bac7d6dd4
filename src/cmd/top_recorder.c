// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/top_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "cmd/framework/command.h"
#include "cmd/framework/message.h"
#include "cmd/record_lacks.h"
#include "cmd/record_say.h"
#include "cmd/record_setup.h"
#include "sys/privilege.h"

enum {
	/* As much as a user may have without more rights. */
	PIPE_SIZE = 1 << 20,
	NOTES_MAX = 64 << 10,
	/* How long a command may take to end, and how often that is looked at. */
	END_MS = 3000,
	END_STEP_MS = 20,
};

/* --- The child ------------------------------------------------------------ */

/* Descriptors of the child, in the order in which it needs them, and who reads. */
struct channels {
	int output_fd;
	int data_fd;
	/* -1: as it is. */
	int notes_fd;
	pid_t view;
};

static void print_note(const char *text)
{
	message_note("%s", text);
}

static struct error *replace_fd(int fd, int number)
{
	if (fd >= 0 && dup2(fd, number) < 0)
		return error_os(errno, NULL, "cannot redirect");
	return NULL;
}

/* What the command has from us is what stands here when it is forked. */
static struct error *fork_command(struct record_setup *setup,
				  const struct record_settings *s,
				  const struct arguments *args,
				  const struct channels *channels)
{
	_cleanup_close_ int none = -1, own_error = -1;
	struct error *error;

	if (!args->count)
		return NULL;
	none = open("/dev/null", O_RDONLY | O_CLOEXEC);
	own_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	error = replace_fd(none, STDIN_FILENO);
	if (!error)
		error = replace_fd(channels->output_fd, STDOUT_FILENO);
	if (!error)
		error = replace_fd(channels->output_fd, STDERR_FILENO);
	if (!error)
		error = record_take_command(setup, s, args);
	replace_fd(own_error, STDERR_FILENO);
	return error;
}

static void say_end(const struct recorder *recorder,
		    const struct record_setup *setup,
		    const struct recorder_result *result, int64_t ran_ms)
{
	uint64_t duration = setup->options.duration_ms;
	int status = result->status;

	if (result->stopped_by)
		return;
	record_say_ran_no_python(recorder, setup, result);
	if (duration && ran_ms >= (int64_t)duration)
		message_note("the %g s of --duration are over",
			     (double)duration / 1000);
	else if (!setup->options.launch)
		message_note("all that was recorded has ended");
	else if (status >= 0 && WIFSIGNALED(status))
		message_note("the command died of signal %d (%s)",
			     WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (status >= 0)
		message_note("the command has ended, with exit code %d",
			     WEXITSTATUS(status));
}

/*
 * Of a program that sleeps nothing is written, and no write would fail. The kernel
 * forgets it when rights are given up (PR_SET_PDEATHSIG(2const)).
 */
static void end_with(pid_t view)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != view)
		raise(SIGTERM);
}

static struct error *run_recorder(struct record_setup *setup,
				  const struct record_settings *s, pid_t view)
{
	_cleanup_(cleanup_recorder_) struct recorder *recorder = NULL;
	struct recorder_result result = { .status = -1 };
	struct error *error, *late;
	int64_t began;

	error = recorder_open(&setup->options, print_note, &recorder);
	if (!error)
		error = privilege_drop(&setup->invoker);
	if (error)
		return error;
	end_with(view);
	record_say_source(recorder, setup, "top", s->verbose);
	if (recorder_user_only(recorder))
		record_say_user_only(recorder_refusal(recorder));
	record_say_children(recorder, setup, true);
	began = clock_ms();
	error = recorder_run(recorder);
	late = recorder_finish(recorder, &result);
	if (!error && !late)
		say_end(recorder, setup, &result, clock_ms() - began);
	if (!error)
		return late;
	error_destroy(late);
	return error;
}

static void __attribute__((noreturn))
child(struct record_setup *setup, const struct record_settings *s,
      const struct arguments *args, const struct channels *channels,
      int data_fd)
{
	struct error *error;
	int code = 0;

	end_with(channels->view);
	error = fork_command(setup, s, args, channels);
	/* Who reads may go: then there is nothing left to do. That is not this process. */
	close(data_fd);
	signal(SIGPIPE, SIG_DFL);
	if (!error)
		error = replace_fd(channels->notes_fd, STDERR_FILENO);
	if (!error)
		error = replace_fd(channels->data_fd, STDOUT_FILENO);
	if (!error)
		error = run_recorder(setup, s, channels->view);
	if (error) {
		message_error(error);
		code = error->code == ERROR_INVALID_ARGUMENT ?
			       EXIT_CODE_USAGE :
			       EXIT_CODE_FAILED;
	}
	_exit(code);
}

/* --- Starting it ---------------------------------------------------------- */

static struct error *open_channels(const struct arguments *args,
				   bool keeps_notes, struct top_recorder *r,
				   struct channels *channels)
{
	int ends[2];

	if (args->count) {
		struct error *error =
			top_output_open(&r->output, &channels->output_fd);

		if (error)
			return error;
	}
	if (pipe2(ends, O_CLOEXEC))
		return error_os(errno, NULL, "cannot make a pipe");
	/* A smaller one does, too. */
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE);
	r->data_fd = ends[0];
	channels->data_fd = ends[1];
	if (!keeps_notes)
		return NULL;
	r->notes_fd = memfd_create("kaa top: notes", MFD_CLOEXEC);
	if (r->notes_fd < 0)
		return error_os(errno, NULL, "cannot make a file in memory");
	channels->notes_fd = r->notes_fd;
	return NULL;
}

static void close_channels(const struct channels *channels)
{
	if (channels->output_fd >= 0)
		close(channels->output_fd);
	if (channels->data_fd >= 0)
		close(channels->data_fd);
}

struct error *top_recorder_start(struct record_setup *setup,
				 const struct record_settings *s,
				 const struct arguments *args, bool keeps_notes,
				 struct top_recorder *ret)
{
	struct channels channels = { -1, -1, -1, getpid() };
	struct error *error = open_channels(args, keeps_notes, ret, &channels);

	if (!error) {
		fflush(stdout);
		ret->pid = fork();
		if (!ret->pid)
			child(setup, s, args, &channels, ret->data_fd);
		if (ret->pid < 0)
			error = error_os(errno, NULL, "cannot fork");
	}
	close_channels(&channels);
	return error;
}

/* --- While it runs -------------------------------------------------------- */

bool top_recorder_has_ended(struct top_recorder *r)
{
	int status;

	if (r->pid <= 0 || r->has_ended)
		return true;
	if (waitpid(r->pid, &status, WNOHANG) == r->pid) {
		r->has_ended = true;
		r->status = status;
	}
	return r->has_ended;
}

bool top_recorder_has_failed(struct top_recorder *r)
{
	return top_recorder_has_ended(r) && WIFEXITED(r->status) &&
	       WEXITSTATUS(r->status);
}

void top_recorder_notes(const struct top_recorder *r, struct strbuf *out)
{
	_cleanup_free_ char *text = malloc(NOTES_MAX);
	size_t got = 0;

	if (r->notes_fd < 0 || !text ||
	    fd_read_at(r->notes_fd, text, NOTES_MAX, 0, &got))
		return;
	strbuf_append(out, text, got);
}

void top_recorder_last_note(const struct top_recorder *r, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	const char *line;

	top_recorder_notes(r, &all);
	while (all.len && all.data[all.len - 1] == '\n')
		strbuf_truncate(&all, all.len - 1);
	line = strrchr(all.data, '\n');
	strbuf_puts(out, line ? line + 1 : all.data);
}

static void wait_a_moment(void)
{
	const struct timespec moment = { .tv_nsec = END_STEP_MS * 1000000 };

	nanosleep(&moment, NULL);
}

bool top_recorder_stop(struct top_recorder *r)
{
	/* Before it has become the user, it takes no signal from us. */
	bool was_told = false;

	for (int ms = 0; ms < END_MS && !top_recorder_has_ended(r);
	     ms += END_STEP_MS) {
		if (!was_told)
			was_told = !kill(r->pid, SIGTERM);
		wait_a_moment();
	}
	if (top_recorder_has_ended(r))
		return true;
	if (!kill(r->pid, SIGKILL))
		waitpid(r->pid, &r->status, 0);
	r->has_ended = true;
	return false;
}

void top_recorder_deinit(struct top_recorder *r)
{
	top_output_destroy(r->output);
	if (r->data_fd >= 0)
		close(r->data_fd);
	if (r->notes_fd >= 0)
		close(r->notes_fd);
	*r = (struct top_recorder)TOP_RECORDER_INIT;
}
