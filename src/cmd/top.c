// SPDX-License-Identifier: GPL-2.0-only
/* `kaa top`: what a program does now (docs/top.md). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/message.h"
#include "cmd/record_setup.h"
#include "cmd/top_recorder.h"
#include "cmd/top_show.h"
#include "sys/privilege.h"

enum {
	/* Enough to tell lines apart in ten seconds, and hardly felt. */
	FREQUENCY = 199,
	DELAY_MS = 1000,
	DELAY_MIN_MS = 100,
	/* Samples of a thread that sleeps on, a screen. */
	SLEEPS_A_SCREEN = 5,
};

struct top_settings {
	/* First: its options are record's. */
	struct record_settings record;
	/* In ms; 0: not given. */
	uint64_t delay;
	uint64_t window;
	/* Screens as text; 0: not given. */
	uint64_t screens;
	bool once;
	bool stdio;
};

/* All that runs while something is shown. */
struct top {
	const struct top_settings *settings;
	struct record_setup setup;
	struct top_recorder recorder;
	struct top_show *show;
	/* What -p or -t name. */
	struct strbuf numbers;
};

/* --- Options -------------------------------------------------------------- */

static struct error *parse_seconds(const char *arg, uint64_t *ret)
{
	double seconds;
	char *end;

	seconds = strtod(arg, &end);
	if (end == arg || *end ||
	    !(seconds >= DELAY_MIN_MS / 1e3 && seconds <= 1e6))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' is not a number of seconds such as 2 or 0.5",
				    arg);
	*ret = (uint64_t)(seconds * 1000 + 0.5);
	return NULL;
}

static struct error *parse_delay(void *settings, const struct option *option,
				 const char *arg, bool negated)
{
	struct top_settings *s = settings;

	(void)option;
	s->delay = 0;
	return negated ? NULL : parse_seconds(arg, &s->delay);
}

static struct error *parse_window(void *settings, const struct option *option,
				  const char *arg, bool negated)
{
	struct top_settings *s = settings;

	(void)option;
	s->window = 0;
	return negated ? NULL : parse_seconds(arg, &s->window);
}

static const struct option top_options[] = {
	OPT_GROUP("What to show"),
	OPT_LIST('p', "pid", struct top_settings, record.pids, "<pid>,...",
		 "show these running processes"),
	OPT_LIST('t', "tid", struct top_settings, record.tids, "<tid>,...",
		 "show these running threads"),
	OPT_BOOL('a', "all-cpus", struct top_settings, record.system_wide,
		 "show the whole machine (default without a command, -p and -t)"),
	OPT_LIST('e', "event", struct top_settings, record.events, "<event>,...",
		 "sample these events (default: cycles if the machine has them, else cpu-clock); Tab goes from one to the next",
		 .values = event_words),
	OPT_CALL('F', "freq", record_parse_frequency, "<n>|max",
		 "take <n> samples a second, or as many as the kernel allows (max; default: 199)"),
	OPT_STRING(0, "mode", struct top_settings, record.mode, "cpu|wall",
		   "choose what time is shown: on a CPU (default), or of each thread, whether it runs or sleeps (polled: Python functions and lines)"),
	OPT_STRING(0, "python", struct top_settings, record.python,
		   PYTHON_SOURCE_NAMES,
		   "choose where Python frames come from (default: auto)"),
	OPT_CALL(0, "duration", record_parse_duration, "<seconds>",
		 "end after <seconds>; needs -p, -t or -a; a screen then stands still until you leave it"),
	OPT_GROUP("How to show it"),
	OPT_CALL('d', "delay", parse_delay, "<seconds>",
		 "wait so long between two screens (default: 1)"),
	OPT_CALL('w', "window", parse_window, "<seconds>",
		 "show the last <seconds> (default: 10; of text: since the screen before)"),
	OPT_U64('n', "screens", struct top_settings, screens, "<n>",
		"print <n> screens as text, and end"),
	OPT_BOOL(0, "once", struct top_settings, once,
		 "print one screen as text, and end"),
	OPT_BOOL(0, "stdio", struct top_settings, stdio,
		 "print screens as text (default unless input and output are a terminal)"),
	OPT_END(),
};

static void top_defaults(void *settings)
{
	struct top_settings *s = settings;

	record_settings_init(&s->record);
	s->record.output = "-";
	s->record.clockid = "monotonic";
	s->record.frequency = FREQUENCY;
}

static void top_deinit(void *settings)
{
	struct top_settings *s = settings;

	record_settings_deinit(&s->record);
}

static struct error *check_targets(struct top_settings *s,
				   const struct arguments *args)
{
	if (args->count && record_has_targets(&s->record))
		return error_create(
			ERROR_INVALID_ARGUMENT,
			"show either a command, or what -p, -t or -a name");
	if (args->count && s->record.duration)
		return error_create(
			ERROR_INVALID_ARGUMENT,
			"--duration goes with -p, -t or -a; a command is shown until it ends");
	if (args->count || record_has_targets(&s->record))
		return NULL;
	if (geteuid())
		return error_create(
			ERROR_INVALID_ARGUMENT,
			"name a command, or use -p PID; to show the whole machine takes root");
	s->record.system_wide = true;
	return NULL;
}

static bool shows_text(const struct top_settings *s)
{
	return s->stdio || s->once || s->screens || !top_show_has_screen();
}

/* --- Starting and ending -------------------------------------------------- */

static uint64_t delay_ms(const struct top_settings *s)
{
	return s->delay ? s->delay : DELAY_MS;
}

/* A screen has the sleeps that go on, too. */
static uint64_t sleep_ns(const struct top_settings *s)
{
	uint64_t ms = delay_ms(s) < DELAY_MS ? delay_ms(s) : DELAY_MS;

	return ms * 1000000 / SLEEPS_A_SCREEN;
}

static struct error *set_up(struct top *top, const struct arguments *args,
			    int *exit_code)
{
	const struct record_settings *record = &top->settings->record;
	struct error *error = record_take_invoker(&top->setup);

	if (!error)
		error = record_find_command(&top->setup, record, args,
					    exit_code);
	top->setup.options.sampler.sleep_ns = sleep_ns(top->settings);
	return error ? error : record_take_settings(&top->setup, record);
}

/* As metadata_subject() tells them apart. */
static const char *subject(const struct record_settings *record)
{
	if (record->system_wide)
		return "-a";
	if (record->pids.count)
		return "-p";
	return record->tids.count ? "-t" : "--";
}

/* "12,13" of -p or -t; nothing of both. */
static void put_numbers(const struct record_settings *record,
			struct strbuf *out)
{
	const struct option_list *numbers =
		record->pids.count ? &record->pids : &record->tids;

	if (record->pids.count && record->tids.count)
		return;
	vec_for_each(text, numbers)
		strbuf_printf(out, "%s%s", out->len ? "," : "", *text);
}

/* From here on what the recorded program wrote is read: no more as root. */
static struct error *start_reading(struct top *top)
{
	const struct top_settings *s = top->settings;
	const struct top_show_options options = {
		.subject = subject(&s->record),
		.numbers = top->numbers.len ? top->numbers.data : NULL,
		.words = (const char *const *)top->setup.command.words.data,
		.word_count = top->setup.command.words.count,
		.processes = &top->setup.options.processes,
		.is_text = shows_text(s),
		.delay_ms = delay_ms(s),
		.window_ms = s->window,
		.screens = s->once ? 1 : s->screens,
	};
	struct error *error = privilege_drop(&top->setup.invoker);

	return error ? error :
		       top_show_open(&options, &top->recorder, &top->show);
}

static struct error *start(struct top *top, const struct arguments *args)
{
	struct error *error;

	put_numbers(&top->settings->record, &top->numbers);
	error = top_recorder_start(&top->setup, &top->settings->record, args,
				   !shows_text(top->settings), &top->recorder);
	return error ? error : start_reading(top);
}

static void take_exit_code(const struct top *top, int *exit_code)
{
	int status = top->recorder.status;

	if (WIFEXITED(status) && WEXITSTATUS(status))
		*exit_code = WEXITSTATUS(status);
}

/* What it has not said on the terminal, which showed a screen. */
static void print_notes(const struct top *top)
{
	_cleanup_strbuf_ struct strbuf notes = STRBUF_INIT;

	top_recorder_notes(&top->recorder, &notes);
	if (notes.len)
		message_lines(notes.data);
}

static void end(struct top *top, int *exit_code)
{
	bool has_ended = true;
	bool had_nothing = top->show && top_show_had_nothing(top->show);

	if (top->recorder.pid > 0) {
		has_ended = top_recorder_stop(&top->recorder);
		top_show_close(top->show);
		take_exit_code(top, exit_code);
		if (had_nothing || top_recorder_has_failed(&top->recorder))
			print_notes(top);
	}
	if (top->recorder.output)
		top_output_end(top->recorder.output, stderr);
	if (!has_ended && top->setup.command.words.count)
		message_note("the command did not end when it was asked to (SIGTERM), and runs on");
}

/* --- All ------------------------------------------------------------------ */

static void die_of(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	signal(number, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
}

static struct error *show(struct top *top, const struct arguments *args,
			  int *exit_code)
{
	int number = 0;
	struct error *error = start(top, args);

	if (!error)
		error = top_show_run(top->show, &number);
	end(top, exit_code);
	if (number)
		die_of(number);
	return error;
}

static struct error *run(void *settings, const struct arguments *args,
			 int *exit_code)
{
	struct top_settings *s = settings;
	struct top top = { .settings = s,
			   .setup = RECORD_SETUP_INIT,
			   .recorder = TOP_RECORDER_INIT,
			   .numbers = STRBUF_INIT };
	struct error *error = check_targets(s, args);

	if (!error)
		error = set_up(&top, args, exit_code);
	if (!error)
		error = show(&top, args, exit_code);
	top_recorder_deinit(&top.recorder);
	record_setup_deinit(&top.setup);
	strbuf_deinit(&top.numbers);
	return error;
}

const struct command command_top = {
	.name = "top",
	.summary = "show what a program does now, function by function",
	.usage =
		(const char *const[]){
			"[<options>] [--] <command> [<arguments>]",
			"[<options>] -p <pid>",
			"[<options>] [-a]",
			NULL,
		},
	.description =
		"Shows which Python functions and lines the time of the last seconds went to, while the program runs, "
		"as the first screen of 'kaa report' shows it of a recording. "
		"Nothing is written to the disk.\n"
		"\n"
		"On a terminal you can move in it: Enter shows the source of a row, w who calls it, o orders by total, "
		"P pauses, W changes the window, h shows all keys, q ends. "
		"Elsewhere, and with -n, --once or --stdio, screens are text.\n"
		"\n"
		"What a command prints would destroy the screen: the last of it is printed when the screen is gone. "
		"Its input is empty. "
		"When the screen ends, so does the command.\n"
		"\n"
		"Rights are those of 'kaa record', which see: as root Python frames come by BPF, with native functions; "
		"without, kaa reads them from outside.",
	.options = top_options,
	.options_flags = OPTIONS_STOP_AT_NON_OPTION,
	.examples =
		(const char *const[]){
			"sudo kaa top -p 1234\tshow a running process",
			"sudo kaa top python3 orders.py\tshow a command",
			"sudo kaa top\tshow the whole machine",
			"kaa top --once -d 5 -p 1234\tprint where the next five seconds go",
			"kaa top --stdio --duration 60 -p 1234\tprint a screen each second, for a minute",
			NULL,
		},
	.environment = (const char *const[]){ MANUAL_PATH,
		MANUAL_SUDO,
		MANUAL_COLUMNS,
		MANUAL_NO_COLOR,
		"TERM\tWhich terminal this is.", NULL },
	.settings_size = sizeof(struct top_settings),
	.set_defaults = top_defaults,
	.run = run,
	.deinit = top_deinit,
};
