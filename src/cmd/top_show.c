// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/top_show.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/plural.h"
#include "cmd/reading/answer_print.h"
#include "cmd/reading/input.h"
#include "cmd/top_script.h"
#include "cmd/top_states.h"
#include "cmd/top_time.h"
#include "cmd/top_waits.h"
#include "collect/sampler_options.h"
#include "convert/live.h"
#include "tui/live_view.h"
#include "view/answer.h"

enum {
	WINDOW_MS = 10000,
	/* Bytes of the stacks that are resolved already. */
	CACHE_LIMIT = 32 << 20,
	LAST_WORDS_MS = 500,
	/* Of what idle processes wait in, as text. */
	WAIT_LINES = 12,
};

struct top_show {
	struct top_show_options options;
	struct top_recorder *recorder;
	struct input input;
	struct live *live;
	struct top_time time;
	/* ns since 1970. */
	int64_t began;
	/* For metadata_subject() and metadata_running(). */
	VEC(const char *) command;
	/* In text. */
	bool has_said_no_python;
	/* python_script() of the command or the process, or NULL. */
	char *script;
};

/* --- Text ----------------------------------------------------------------- */

static void print_time(void)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[32] = "";

	if (localtime_r(&now, &tm))
		strftime(text, sizeof(text), "%H:%M:%S", &tm);
	printf("--- %s ", text);
}

/* is_last: no other screen follows, for the recorder has ended. */
static void print_state(const struct top_show *show, bool is_last)
{
	uint64_t samples = live_state(show->live).samples;

	print_time();
	printf("--- %" PRIu64 " sample%s so far%s ---\n", samples,
	       plural(samples), is_last ? "; it has ended" : "");
}

static struct error *snapshot(struct top_show *show, uint64_t window,
			      struct profile **ret)
{
	struct error *error = live_snapshot(show->live, window, ret);

	return error ? error : top_time_add(&show->time, *ret, window);
}

/* Of a command those that are there now. */
static struct error *find_processes(const struct top_show *show,
				    struct pid_vec *ret)
{
	vec_for_each(pid, show->options.processes)
		if (!vec_push(ret, *pid))
			return error_no_memory();
	return show->options.word_count ?
		       top_waits_find(show->recorder->pid, ret) :
		       NULL;
}

/* All that can be said of processes without samples; that they are no Python but once. */
static struct error *put_waits(struct top_show *show, size_t lines,
			       size_t columns, bool once, struct strbuf *out)
{
	const struct top_show_options *o = &show->options;
	struct pid_vec pids = {};
	struct error *error = find_processes(show, &pids);

	if (!error && top_waits_put(&pids, lines, columns, out)) {
		if (!once || !show->has_said_no_python)
			top_waits_put_no_python(
				&pids, o->word_count ? o->words[0] : NULL,
				columns, out);
		show->has_said_no_python = true;
	}
	vec_deinit(&pids);
	return error;
}

static struct error *print_waits(struct top_show *show, size_t columns,
				 bool is_last)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t samples = live_state(show->live).samples;
	struct error *error = NULL;

	setlocale(LC_CTYPE, "");
	/* On a busy machine it takes a recorder seconds to begin. */
	puts(samples || is_last ? "no samples of Python code" :
				  "waiting for the first samples");
	if (!is_last)
		error = put_waits(show, WAIT_LINES, columns, true, &text);
	fputs(text.data, stdout);
	return error;
}

static struct error *print_screen(struct top_show *show, uint64_t window,
				  bool is_last)
{
	_cleanup_profile_ struct profile *profile = NULL;
	struct answer_input input = {
		.recording = "",
		.recorded = show->began,
		.columns = answer_columns(STDOUT_FILENO),
		.is_live = true,
		.script = show->script,
	};
	struct error *error = snapshot(show, window, &profile);

	if (error)
		return error;
	print_state(show, is_last);
	input.event = answer_event(profile);
	if (input.event != PROFILE_NONE)
		error = answer_print(profile, &input, stdout);
	else
		error = print_waits(show, input.columns, is_last);
	putchar('\n');
	if (!error && (fflush(stdout) || ferror(stdout)))
		error = error_os(errno, "standard output", "cannot write");
	return error;
}

/* Those that end kaa, and the end of the recorder: sigtimedwait() has them. */
static void block_signals(sigset_t *set)
{
	static const int numbers[] = { SIGINT,	SIGTERM, SIGHUP,
				       SIGQUIT, SIGPIPE, SIGCHLD };
	struct sigaction action;

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!sigaction(numbers[i], NULL, &action) &&
		    action.sa_handler != SIG_IGN)
			sigaddset(set, numbers[i]);
	sigprocmask(SIG_BLOCK, set, NULL);
}

/* Until then, or a signal that ends kaa, which it returns; or the recorder's end. */
static int wait_until(struct top_show *show, const sigset_t *set, int64_t until)
{
	while (!top_recorder_has_ended(show->recorder)) {
		int64_t left = until - clock_ms();
		const struct timespec time = { .tv_sec = left / 1000,
					       .tv_nsec = left % 1000 *
							  1000000 };
		int number = left > 0 ? sigtimedwait(set, NULL, &time) : -1;

		if (number > 0 && number != SIGCHLD)
			return number;
		if (left <= 0)
			break;
	}
	return 0;
}

/* 10 ms. */
static void wait_a_moment(void)
{
	const struct timespec moment = { .tv_nsec = 10000000 };

	nanosleep(&moment, NULL);
}

/* The recorder's last words may still be on their way. */
static void wait_for_reader(struct top_show *show)
{
	while (!live_state(show->live).has_ended)
		wait_a_moment();
}

/* To open events and BPF takes a while, which is not the program's time. */
static int wait_for_begin(struct top_show *show, const sigset_t *set)
{
	int signal = 0;

	while (!signal && !live_state(show->live).has_begun &&
	       !top_recorder_has_ended(show->recorder))
		signal = wait_until(show, set, clock_ms() + 10);
	return signal;
}

/* Of output that nobody reads, as of `kaa top | head`: there is a signal, too. */
static bool has_lost_reader(void)
{
	sigset_t pending;

	return !sigpending(&pending) && sigismember(&pending, SIGPIPE) == 1;
}

static struct error *show_text(struct top_show *show, int *signal)
{
	const struct top_show_options *o = &show->options;
	uint64_t window = o->window_ms ? o->window_ms : o->delay_ms;
	struct error *error = NULL;
	bool has_ended = false;
	int64_t next;
	sigset_t set;

	block_signals(&set);
	*signal = wait_for_begin(show, &set);
	next = clock_ms();
	for (uint64_t i = 0;
	     !error && !*signal && !has_ended && (!o->screens || i < o->screens);
	     i++) {
		next += (int64_t)o->delay_ms;
		*signal = wait_until(show, &set, next);
		if (*signal)
			break;
		has_ended = top_recorder_has_ended(show->recorder);
		if (has_ended)
			wait_for_reader(show);
		/* A recorder that failed has said so. */
		if (has_ended && !live_state(show->live).samples)
			break;
		error = print_screen(show, window * 1000000, has_ended);
	}
	if (error && has_lost_reader()) {
		error_destroy(error);
		error = NULL;
		*signal = SIGPIPE;
	}
	return error;
}

/* --- The screen ----------------------------------------------------------- */

static struct error *take_snapshot(void *arg, uint64_t window,
				   struct profile **ret)
{
	struct top_show *show = arg;

	return snapshot(show, window, ret);
}

static struct error *tell_threads(void *arg, struct profile *profile,
				  struct own_states *ret)
{
	(void)arg;
	return top_states_read(profile, ret);
}

static struct tui_live_state tell_state(void *arg)
{
	struct top_show *show = arg;
	struct live_state state = live_state(show->live);

	return (struct tui_live_state){
		.samples = state.samples,
		.has_ended = state.has_ended,
		.has_forgotten = state.kept_from > state.began,
	};
}

/* One that could not say why. */
static void tell_death(const struct top_recorder *recorder, struct strbuf *out)
{
	int number = WTERMSIG(recorder->status);

	strbuf_printf(out, "the recorder was ended by signal %d (%s)", number,
		      strsignal(number));
}

/* Without "kaa top: ". */
static void tell_note(void *arg, struct strbuf *out)
{
	static const char prefix[] = "kaa top: ";
	struct top_show *show = arg;
	struct top_recorder *recorder = show->recorder;
	_cleanup_strbuf_ struct strbuf note = STRBUF_INIT;
	const char *text;

	if (top_recorder_has_ended(recorder) && WIFSIGNALED(recorder->status)) {
		tell_death(recorder, out);
		return;
	}
	top_recorder_last_note(recorder, &note);
	text = note.data;
	if (!strncmp(text, prefix, sizeof(prefix) - 1))
		text += sizeof(prefix) - 1;
	strbuf_puts(out, text);
}

static void tell_waits(void *arg, size_t lines, size_t columns,
		       struct strbuf *out)
{
	struct error *error = put_waits(arg, lines, columns, false, out);

	/* What is short of memory says less. */
	error_destroy(error);
}

static struct error *show_screen(struct top_show *show, int *signal)
{
	const struct top_show_options *o = &show->options;
	_cleanup_free_ char *folder = getcwd(NULL, 0);
	const struct tui_live input = {
		.snapshot = take_snapshot,
		.threads = tell_threads,
		.state = tell_state,
		.note = tell_note,
		.waits = tell_waits,
		.arg = show,
		.delay_ms = (int64_t)o->delay_ms,
		.window = (o->window_ms ? o->window_ms : WINDOW_MS) * UINT64_C(1000000),
		.script = show->script,
		.is_of_processes = strcmp(o->subject, "-a") != 0,
		.folder = folder,
		.began = show->began,
	};

	return tui_live(&input, signal);
}

/* --- All ------------------------------------------------------------------ */

static struct error *open_live(struct top_show *show)
{
	struct live_options options = { .convert = &show->input.options,
					.command = show->command.data };
	int fd = show->recorder->data_fd;
	struct error *error;

	input_set_defaults(&show->input);
	error = input_prepare(&show->input);
	if (error)
		return error;
	show->input.options.cache_limit = CACHE_LIMIT;
	show->recorder->data_fd = -1;
	return live_start(fd, &options, &show->live);
}

bool top_show_has_screen(void)
{
	return tui_possible();
}

static struct error *take_command(struct top_show *show)
{
	const struct top_show_options *o = &show->options;
	bool ok = vec_push(&show->command, "kaa") &&
		  vec_push(&show->command, "record") &&
		  vec_push(&show->command, o->subject);

	if (ok && o->numbers)
		ok = vec_push(&show->command, o->numbers);
	for (size_t i = 0; ok && i < o->word_count; i++)
		ok = vec_push(&show->command, o->words[i]);
	return ok && vec_push(&show->command, NULL) ? NULL : error_no_memory();
}

struct error *top_show_open(const struct top_show_options *options,
			    struct top_recorder *recorder,
			    struct top_show **ret)
{
	struct top_show *show = calloc(1, sizeof(*show));
	struct error *error;

	if (!show)
		return error_no_memory();
	show->options = *options;
	show->recorder = recorder;
	show->began = clock_ns(CLOCK_REALTIME);
	error = take_command(show);
	if (!error)
		error = top_script_find(options->words, options->word_count,
					options->processes, &show->script);
	if (!error)
		error = open_live(show);
	if (error) {
		top_show_close(show);
		return error;
	}
	*ret = show;
	return NULL;
}

/* A recorder ends soon after its pipe did, or before. */
static bool has_said_why(struct top_recorder *recorder)
{
	for (int i = 0; i < LAST_WORDS_MS / 10; i++)
		if (!top_recorder_has_ended(recorder))
			wait_a_moment();
	return top_recorder_has_failed(recorder);
}

/* What the recorder wrote could not be read. */
static struct error *reading_error(struct top_show *show)
{
	struct live_state state = live_state(show->live);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!state.failure || has_said_why(show->recorder))
		return NULL;
	error_format(state.failure, &text);
	return error_create(state.failure->code, "%s", text.data);
}

struct error *top_show_run(struct top_show *show, int *signal)
{
	struct error *error = show->options.is_text ? show_text(show, signal) :
						      show_screen(show, signal);

	return error ? error : reading_error(show);
}

bool top_show_had_nothing(const struct top_show *show)
{
	struct live_state state = live_state(show->live);

	return state.has_ended && !state.samples;
}

void top_show_close(struct top_show *show)
{
	if (!show)
		return;
	live_stop(show->live);
	top_time_deinit(&show->time);
	input_deinit(&show->input);
	vec_deinit(&show->command);
	free(show->script);
	free(show);
}
