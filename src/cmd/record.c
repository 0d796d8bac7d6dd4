// SPDX-License-Identifier: GPL-2.0-only
/* `kaa record`: from options to a recorder, and its result to one line. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/faults.h"
#include "base/late_samples.h"
#include "base/plural.h"
#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/message.h"
#include "cmd/record_answer.h"
#include "cmd/record_before.h"
#include "cmd/record_kept.h"
#include "cmd/record_lacks.h"
#include "cmd/record_left.h"
#include "cmd/record_say.h"
#include "cmd/record_setup.h"
#include "cmd/record_view.h"
#include "cmd/typed_command.h"
#include "collect/clocks.h"
#include "collect/poller.h"
#include "collect/recorder.h"
#include "perfdata/packer.h"
#include "sys/event_parse.h"
#include "sys/privilege.h"
#include "view/shell_word.h"

enum {
	/* Who ran for less is not worth a word on how it was scheduled. */
	WAITED_MIN_NS = 100000000,
	/* One of so many is worth a word. */
	SAID_PART = 100,
};

/* --- options --- */

static struct error *parse_stack_size(const char *text, uint64_t *ret)
{
	uint64_t size;
	struct error *error = option_parse_u64(text, &size);

	if (error)
		return error;
	if (size < 8 || size > RECORD_STACK_SIZE_MAX)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "stack size %s is not between 8 and %d",
				    text, RECORD_STACK_SIZE_MAX);
	*ret = (size + 7) & ~UINT64_C(7);
	return NULL;
}

/* "fp", "dwarf", "dwarf,16384", "unwind[,SIZE]"; NULL is plain -g. */
static struct error *parse_call_graph(void *settings,
				      const struct option *option,
				      const char *arg, bool negated)
{
	struct record_settings *s = settings;
	const char *comma = arg ? strchr(arg, ',') : NULL;
	size_t len = arg ? (comma ? (size_t)(comma - arg) : strlen(arg)) : 0;

	(void)option;
	s->callchain = CALLCHAIN_UNWIND;
	if (negated)
		s->callchain = CALLCHAIN_NONE;
	else if (arg && len == 2 && !strncmp(arg, "fp", len))
		s->callchain = CALLCHAIN_FP;
	else if (arg && len == 5 && !strncmp(arg, "dwarf", len))
		s->callchain = CALLCHAIN_DWARF;
	else if (arg && len == 3 && !strncmp(arg, "lbr", len))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "branch records (lbr) are not supported; use fp, dwarf or unwind");
	else if (arg && !(len == 6 && !strncmp(arg, "unwind", len)))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "unknown call graph method '%s'; use unwind[,SIZE], dwarf[,SIZE] or fp",
				    arg);
	if (comma && s->callchain == CALLCHAIN_FP)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "fp takes no stack size");
	return comma ? parse_stack_size(comma + 1, &s->stack_size) : NULL;
}

static struct error *parse_count(void *settings, const struct option *option,
				 const char *arg, bool negated)
{
	struct record_settings *s = settings;

	(void)option;
	if (!negated)
		return record_parse_positive(arg, &s->count);
	s->count = 0;
	return NULL;
}

static struct error *parse_compression(void *settings,
				       const struct option *option,
				       const char *arg, bool negated)
{
	struct record_settings *s = settings;
	uint64_t level;
	struct error *error;

	(void)option;
	s->compression = 0;
	if (negated)
		return NULL;
	error = option_parse_u64(arg, &level);
	if (error)
		return error;
	if (level < PACKER_LEVEL_MIN || level > PACKER_LEVEL_MAX)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "level %s is not between %d and %d", arg,
				    PACKER_LEVEL_MIN, PACKER_LEVEL_MAX);
	s->compression = level;
	return NULL;
}

static const struct option record_options[] = {
	OPT_GROUP("What to record"),
	OPT_LIST('p', "pid", struct record_settings, pids, "<pid>,...",
		 "record these running processes"),
	OPT_LIST('t', "tid", struct record_settings, tids, "<tid>,...",
		 "record these running threads"),
	OPT_BOOL('a', "all-cpus", struct record_settings, system_wide,
		 "record the whole system"),
	OPT_STRING('C', "cpu", struct record_settings, cpus, "<cpu>,...",
		   "record only on these CPUs (0-3,5)"),
	OPT_BOOL('i', "no-inherit", struct record_settings, no_inherit,
		 "leave out new threads and child processes"),
	OPT_U64('D', "delay", struct record_settings, delay, "<ms>",
		"start sampling <ms> milliseconds after the start"),
	OPT_CALL(0, "duration", record_parse_duration, "<seconds>",
		 "end the recording after <seconds>; needs -p, -t or -a"),
	OPT_GROUP("When to sample"),
	OPT_LIST('e', "event", struct record_settings, events, "<event>,...",
		 "sample these events (default: cycles if the machine has them, else cpu-clock)",
		 .values = event_words),
	OPT_CALL('F', "freq", record_parse_frequency, "<n>|max",
		 "take <n> samples a second, or as many as the kernel allows (max; default: 4000; polled: 999; --async: 199)"),
	OPT_CALL('c', "count", parse_count, "<n>",
		 "take a sample every <n> events"),
	OPT_STRING(0, "clock", struct record_settings, clock, "cpu|thread",
		   "choose whether a clock ticks for each CPU (default where that is possible), so that short threads and processes have samples, or for each thread"),
	OPT_STRING(0, "mode", struct record_settings, mode, "cpu|wall|gil",
		   "choose what time is recorded: on a CPU (default), of each thread, whether it runs or sleeps (wall), or of the thread that holds the GIL (gil); the last two are polled: Python functions and lines"),
	OPT_BOOL(0, "async", struct record_settings, of_tasks,
		 "record the time of each task of asyncio, whether it runs or waits, with its coroutines as the stack; polled"),
	OPT_BOOL(0, "native", struct record_settings, native,
		 "record native functions when polling, too; each sample then stops its thread for a moment, by ptrace"),
	OPT_BOOL(0, "off-cpu", struct record_settings, off_cpu,
		 "record how long threads wait, and where, too: for what they sleep, and for a CPU (event off-cpu; takes root)"),
	OPT_STRING('k', "clockid", struct record_settings, clockid, "<clock>",
		   "take times from this clock: %s, or a number",
		   .values = record_clock_words),
	OPT_GROUP("Stacks"),
	OPT_CALL('g', NULL, parse_call_graph, NULL,
		 "record callchains (default)"),
	OPT_CALL(0, "call-graph", parse_call_graph, "unwind|dwarf|fp",
		 "choose how callchains are taken: unwind while recording (default), keep raw stacks for other tools (dwarf), or follow frame pointers (fp)"),
	OPT_STRING(0, "python", struct record_settings, python,
		   PYTHON_SOURCE_NAMES,
		   "choose where Python frames come from (default: auto)"),
	OPT_GROUP("Output"),
	OPT_STRING('o', "output", struct record_settings, output, "<file>",
		   "write the recording to this file, or with - to standard output: what the command prints then goes to standard error (default: perf.data)"),
	OPT_CALL('z', "compression-level", parse_compression, "<n>",
		 "compress the recording with zstd, with this level from 1 (fast) to 22 (default: 1)",
		 .flags = OPTION_ARG_STUCK, .default_argument = "1"),
	OPT_BOOL(0, "view", struct record_settings, view,
		 "open the recording in the browser when it has ended, as 'kaa view' does"),
	OPT_BOOL('q', "quiet", struct record_settings, quiet,
		 "print only errors"),
	OPT_COUNT('v', "verbose", struct record_settings, verbose,
		  "print more"),
	OPT_ABSENT('m', "module", "a module is recorded with its Python, as in 'kaa record python3 -m NAME'"),
	OPT_ABSENT(0, "wall", "'--mode wall' records the time of threads that sleep, too"),
	OPT_ABSENT(0, "gil", "'--mode gil' records which thread has the GIL"),
	OPT_END(),
};

static void record_defaults(void *settings)
{
	record_settings_init(settings);
}

static void record_deinit(void *settings)
{
	record_settings_deinit(settings);
}

/* --- the result --- */

/* What time without samples was spent on. */
static const char *without_samples(const struct record_setup *setup,
				   const struct recorder *recorder)
{
	if (recorder_python(recorder)->polls)
		return "threads ended before kaa saw them, or it came too late";
	if (recorder_clocks_by_cpu(recorder))
		return "ticks of the clock were lost";
	if (recorder_user_only(recorder))
		return "it was spent in the kernel, or by threads and processes that ended before their first sample";
	if (setup->options.sampler.cpu_clocks)
		return "threads and processes that end before their first sample have none; take a higher rate (-F 9999)";
	return "threads and processes that end before their first sample have none; leave out '--clock thread', or take a higher rate (-F 9999)";
}

/* From a tenth on: some ticks come late on every machine. */
static bool much_has_no_samples(const struct cpu_time_result *time)
{
	return time->without_samples > time->by_chance &&
	       time->without_samples > time->ran / 10;
}

static void say_without_samples(const struct record_setup *setup,
				const struct recorder *recorder,
				const struct cpu_time_result *time)
{
	if (time->missed)
		message_note("%" PRIu64 " thread%s or process%s no samples, because the kernel had no memory to note them",
			     time->missed, plural(time->missed),
			     time->missed == 1 ? " has" : "es have");
	if (much_has_no_samples(time))
		message_note("%.2f s of %.2f s of CPU time have no samples: %s",
			     (double)time->without_samples / 1e9,
			     (double)time->ran / 1e9,
			     without_samples(setup, recorder));
}

/*
 * Where ticks come late, samples are fewer and stand for more time each: their
 * number does not fit the rate, nor their share of all samples the percentages.
 */
static void put_weight(const struct record_setup *setup,
		       const struct recorder_result *result, struct strbuf *out)
{
	const struct poll_counts *polled = &result->polled;
	double each, wanted;

	if (setup->options.sampler.time != TIME_ON_CPU || !result->samples ||
	    polled->given < WAITED_MIN_NS)
		return;
	each = (double)polled->given / (double)result->samples / 1e6;
	wanted = 1e3 / (setup->options.sampler.rate_by_default ?
				POLLER_DEFAULT_RATE :
				(double)setup->options.sampler.frequency);
	if (each >= 1.5 * wanted)
		strbuf_printf(out,
			      "; a sample stands for %.*f ms of CPU time on average, not for %.*f ms, and reports count this time",
			      each < 1 ? 3 : 1, each, wanted < 1 ? 3 : 1, wanted);
}

static void say_busy(const struct record_setup *setup,
		     const struct recorder_result *result)
{
	const struct poll_counts *polled = &result->polled;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (polled->kept_off > polled->ran / 2 && polled->ran > WAITED_MIN_NS)
		strbuf_printf(&text,
			      "; the program ran %.1f s and waited %.1f s for a CPU",
			      (double)polled->ran / 1e9,
			      (double)polled->kept_off / 1e9);
	put_weight(setup, result, &text);
	if (text.len)
		message_note("the machine was busy: %s", text.data + 2);
}

/* What the program was disturbed by. */
static void say_stops(const struct poll_counts *polled)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (polled->stopped)
		strbuf_printf(&text,
			      "threads were stopped %" PRIu64 " time%s for native functions, for %.0f us on average",
			      polled->stopped, plural(polled->stopped),
			      (double)polled->stopped_ns / 1e3 /
				      (double)polled->stopped);
	if (polled->not_stopped)
		strbuf_printf(&text,
			      "%s%" PRIu64 " sample%s no native functions, because the thread could not be stopped (ptrace)",
			      text.len ? "; " : "", polled->not_stopped,
			      polled->not_stopped == 1 ? " has" : "s have");
	if (text.len)
		message_note("%s", text.data);
}

/* So few are no news. */
static bool is_said(uint64_t n, uint64_t of)
{
	return n && n >= of / SAID_PART;
}

/* "87 samples (2.3 %)"; false: they are no news. */
static bool put_part(struct strbuf *out, uint64_t n, uint64_t of)
{
	if (!is_said(n, of))
		return false;
	strbuf_printf(out, "%" PRIu64 " sample%s (", n, plural(n));
	strbuf_percent(out, n, of);
	strbuf_putc(out, ')');
	return true;
}

/* Samples, and what polling has not taken: all shares of these are of this. */
static uint64_t all_asked_for(const struct recorder_result *result)
{
	return result->samples + result->not_taken;
}

static void say_without_stack(const struct recorder_result *result, bool polled)
{
	static const char *const words[2][2] = {
		{ "they are of kernel threads, or of processes that were just beginning or ending",
		  "it is of a kernel thread, or of a process that was just beginning or ending" },
		{ "they are of the time before Python had started, or of threads that run no Python code",
		  "it is of the time before Python had started, or of a thread that runs no Python code" },
	};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t n = result->stacks.without_user;

	if (put_part(&text, n, result->samples))
		message_note("%s %s nothing of the program's own code: %s",
			     text.data, n == 1 ? "shows" : "show",
			     words[polled][n == 1]);
}

/* Their mappings, and with these their files, are not known either. */
static void say_outside(const struct recorder_result *result)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t n = result->stacks.outside;

	if (put_part(&text, n, result->samples))
		message_note("%s %s outside this container, which kaa cannot read: %s short and without names",
			     text.data,
			     n == 1 ? "is of a process" : "are of processes",
			     n == 1 ? "its stack is" : "their stacks are");
}

/*
 * The poller came when the program let it, and that is no moment by chance. Of the samples,
 * as in reports: looks at threads that have not got the GIL are none of its time.
 */
static void say_late(const struct record_setup *setup,
		     const struct recorder_result *result)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, off = STRBUF_INIT;
	uint64_t late = result->polled.late, all = all_asked_for(result);
	/*
	 * By wall time the kernel's account tells what they would have shown. Of CPU time
	 * that has no samples at all a line of its own tells, and more is in doubt then.
	 */
	bool is_much = late > all / FAULT_LATE_PART &&
		       !much_has_no_samples(&result->cpu_time) &&
		       setup->options.sampler.time != TIME_BY_CLOCK &&
		       setup->options.sampler.time != TIME_OF_TASKS;
	/* Not by --mode and the like, which poll whoever asks. */
	bool lacks_rights = !setup->options.python && geteuid();

	if (!put_part(&text, late, all))
		return;
	if (is_much)
		strbuf_printf(&off,
			      ", so shares may be off by %.0f points: record while fewer programs run, without 'nice'%s",
			      late_samples_points(late, result->samples),
			      lacks_rights ? ", or as root" : "");
	message_note("kaa came too late to take %s, because other work had the processors; the next samples stand for that time, too%s",
		     text.data, off.data);
}

static void say_rejected(const struct recorder_result *result)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (put_part(&text, result->polled.rejected, all_asked_for(result)))
		message_note("kaa left out %s, because the thread ran on while its stack was read; its next samples stand for that time, too",
			     text.data);
}

/* Threads ended, and nobody had seen what they did before. */
static void say_untold(const struct poll_counts *polled)
{
	uint64_t all = polled->told + polled->untold;

	if (!fault_is_untold(polled->untold, all))
		return;
	message_note("%.2f s of %.2f s of wall time have no samples, because kaa had no chance to see what threads did before they, or the recording, ended; record for longer, while fewer programs run, and without 'nice'",
		     (double)polled->untold / 1e9, (double)all / 1e9);
}

/* All that a look does not see is told by the one before, or by the one behind. */
static void say_coarse(const struct record_setup *setup,
		       const struct recorder_result *result)
{
	const struct poll_counts *polled = &result->polled;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (setup->options.sampler.time == TIME_ON_CPU ||
	    !polled->own_kept_off)
		return;
	strbuf_percent(&text, polled->own_kept_off, polled->ticked);
	/* The kernel counts for threads, and not for tasks. */
	if (setup->options.sampler.time == TIME_OF_TASKS)
		strbuf_puts(&text,
			    " of the time: which tasks ran then is taken from the looks before and after");
	else
		strbuf_printf(&text,
			      " of the time, so one wait or call is exact to about %.3f s, and a sum of many less so",
			      (double)polled->ticks_apart / 1e9);
	message_note("kaa had no processor for %s; record while fewer programs run, and without 'nice'",
		     text.data);
}

/* Where it is, and what has become of the one before. */
static void say_written(const struct record_before *before,
			struct strbuf *text)
{
	const char *path = record_before_find(before);

	if (path == before->path && before->recording.st_size && before->old)
		strbuf_printf(text, "; the recording before is '%s'",
			      before->old);
	message_note("wrote '%s': %s", path ? path : before->path, text->data);
	if (!path)
		message_warn("'%s' was removed or renamed while kaa wrote it",
			     before->path);
	else if (path != before->path)
		message_warn("'%s' is another recording, which began after this one, as kaa.profile() in the program does; this one is '%s'",
			     before->path, path);
}

static bool is_by_clock(const struct record_setup *setup)
{
	return setup->options.sampler.time == TIME_BY_CLOCK ||
	       setup->options.sampler.time == TIME_OF_TASKS;
}

static void say_tasks(const struct poll_counts *polled)
{
	if (!polled->loops)
		message_note("no event loop of asyncio ran: the samples are of threads, as with '--mode wall'");
	else if (polled->unknown_tasks)
		message_note("some tasks are not recorded, because this build of asyncio keeps their fields elsewhere");
}

/* Who began, ended or was called otherwise, and which files were mapped. */
static void say_lost_tasks(uint64_t n)
{
	if (n)
		message_note("%" PRIu64 " record%s of processes %s lost, because kaa could not keep up: some processes and functions have no names, or no Python frames; record fewer processes (-p)",
			     n, plural(n), n == 1 ? "was" : "were");
}

static void say_codes(const struct recorder_result *result)
{
	uint64_t left_out = result->broken_codes, n = result->without_lines;
	uint32_t made = result->left_out_code;

	if (left_out)
		message_note("%" PRIu64 " Python function%s could not be kept%s: frames of %s are [unreadable Python frames]",
			     left_out, plural(left_out),
			     result->codes_full ?
				     ", because all of them take more than 1 GiB" :
				     "",
			     left_out == 1 ? "it" : "them");
	if (n)
		message_note("%" PRIu64 " Python function%s no lines but that of the def, because the table of lines is longer than 512 KiB, or could not be read",
			     n, n == 1 ? " has" : "s have");
	if (made)
		message_note("%u piece%s of code made at run time %s too many, or too large, to be read (64 MiB of a process): their functions have no names",
			     made, plural(made), made == 1 ? "was" : "were");
}

/* "0 lost", or in its place what polling has not taken. */
static void put_lost(const struct recorder_result *result, struct strbuf *out)
{
	if (result->lost || !result->not_taken)
		strbuf_printf(out, ", %" PRIu64 " lost", result->lost);
	if (!result->not_taken)
		return;
	strbuf_puts(out, ", ");
	strbuf_percent(out, result->not_taken, all_asked_for(result));
	strbuf_puts(out, " not taken");
}

/* ", 4 with a truncated stack (2.3 %)"; ", all with": of those that are incomplete. */
static void put_kind(struct strbuf *out, uint64_t n, uint64_t all, uint64_t of,
		     const char *what, const char *why)
{
	if (!n)
		return;
	if (n != all)
		strbuf_printf(out, ", %" PRIu64 " with %s (", n, what);
	else
		strbuf_printf(out, ", %swith %s (", n > 1 ? "all " : "", what);
	strbuf_percent(out, n, of);
	if (why && is_said(n, of))
		strbuf_puts(out, why);
	strbuf_putc(out, ')');
}

/* As many as a report has in its first line, and of which kinds; a stack may be of several. */
static void put_incomplete(const struct stack_stats *s, uint64_t samples,
			   bool polled, struct strbuf *out)
{
	uint64_t all = s->incomplete;

	strbuf_printf(out, ", %" PRIu64 " incomplete", all);
	put_kind(out, s->truncated, all, samples, "a truncated stack", NULL);
	put_kind(out, s->unreadable, all, samples, "unreadable Python frames",
		 NULL);
	put_kind(out, s->not_aligned, all, samples, "Python frames not aligned",
		 NULL);
	put_kind(out, s->missing_native, all, samples,
		 "native frames missing in code without unwind information",
		 NULL);
	if (!polled)
		put_kind(out, s->without_user, all, samples,
			 "nothing of the program's own code",
			 ": of kernel threads, or of processes that were just beginning or ending");
}

/*
 * Those that the file has. All other numbers are of what was taken: most of these are of
 * samples that are in the file, too, and what is wrong with the recording is not only
 * where it ends.
 */
static void put_samples(const struct record_before *before,
			const struct recorder_result *result, bool is_whole,
			struct strbuf *out)
{
	const char *path = is_whole ? NULL : record_before_find(before);
	uint64_t n = result->samples, written = n;
	bool is_known = is_whole || record_kept_samples(path, &written);

	if (is_known && written < n)
		strbuf_printf(out, ", %" PRIu64 " sample%s, the last of %" PRIu64 " are missing",
			      written, plural(written), n);
	else
		strbuf_printf(out, ", %" PRIu64 " sample%s%s", n, plural(n),
			      is_known ? "" : " of which the last are missing");
}

/* is_whole: all that was counted is in the file. */
static void print_summary(const struct record_setup *setup,
			  const struct record_before *before,
			  const struct recorder *recorder,
			  const struct recorder_result *result, bool is_whole)
{
	bool polled = recorder_python(recorder)->polls;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct stack_stats *s = &result->stacks;
	bool counts_incomplete =
		setup->options.sampler.callchain != CALLCHAIN_NONE &&
		setup->options.sampler.callchain != CALLCHAIN_DWARF;

	strbuf_size(&text, result->file_size);
	put_samples(before, result, is_whole, &text);
	if (s->with_python)
		strbuf_printf(&text, ", %" PRIu64 " with Python frames",
			      s->with_python);
	put_lost(result, &text);
	if (counts_incomplete)
		put_incomplete(s, result->samples, polled, &text);
	say_written(before, &text);
	/* The first line tells of them as incomplete, if it tells of those. */
	if (!record_say_no_python(recorder, setup, result)) {
		if (polled || !counts_incomplete)
			say_without_stack(result, polled);
		record_say_raw_stacks(recorder, setup, result);
	}
	say_outside(result);
	if (polled) {
		say_late(setup, result);
		say_coarse(setup, result);
		say_rejected(result);
		say_busy(setup, result);
		say_stops(&result->polled);
	}
	if (is_by_clock(setup))
		say_untold(&result->polled);
	if (setup->options.sampler.time == TIME_OF_TASKS)
		say_tasks(&result->polled);
	if (result->polled.missed)
		message_note("some threads have no samples, because kaa may not open enough files; raise 'ulimit -n'");
	if (result->polled.too_many)
		message_note("some threads have no samples, because there are more than kaa follows: 16,384 processes, and 65,536 threads of each");
	if (result->unopened_files)
		message_note("%u mapped file%s could not be opened for a time, because kaa may not open enough files: stacks end there, and a Python in them is not seen; raise 'ulimit -n'",
			     result->unopened_files,
			     plural(result->unopened_files));
	/* Those of a process's first moments are no news. */
	if (s->unnoticed >= 10 && s->unnoticed * 100 > result->samples)
		message_note("%" PRIu64 " samples were taken before kaa had noticed that their processes run Python, so they have no Python frames",
			     s->unnoticed);
	say_codes(result);
	say_lost_tasks(result->lost_tasks);
	if (result->late_threads)
		message_note("%" PRIu64 " thread%s began in the moment when kaa attached, and may have fewer samples than there should be",
			     result->late_threads,
			     result->late_threads == 1 ? "" : "s");
	if (result->waits.time >= FAULT_UNENDED_MIN)
		message_note("off-cpu has no samples of %" PRIu64 " thread%s that waited when the recording ended, for %.1f s by then: what for could not be read",
			     result->waits.threads,
			     plural(result->waits.threads),
			     (double)result->waits.time / 1e9);
	else if (!result->samples)
		record_say_no_samples(recorder, setup, result, NULL);
}

/* Which buffer was too small, and whether kaa was late to read it. */
static void say_load(const struct recorder_result *result, int verbose)
{
	const struct rings_load *load = &result->load;

	if (!result->lost && !result->lost_tasks && !verbose)
		return;
	message_note("at most %u %% of a buffer for samples and %u %% of one for process records were in use; kaa read them at least every %" PRId64 " ms%s",
		     load->samples_percent, load->tasks_percent,
		     load->pause_ms,
		     result->lost ? "; a lower -F, or a greater -c, takes fewer samples" : "");
}

/* Its answer may not be one, and the recording before it may be the better one. */
static void say_failed(int status)
{
	if (status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) != SIGINT)
		message_note("the command was ended by signal %d (%s)",
			     WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status))
		message_note("the command failed with exit code %d",
			     WEXITSTATUS(status));
}

static void print_note(const char *text)
{
	message_note("%s", text);
}

/*
 * As shells and most programs say that they did not begin: not found, not
 * executable, wrong arguments. What has worked, or waited, for a while is worth
 * keeping. run_ms: since the command was let go.
 */
static bool failed_at_once(int status, int64_t run_ms)
{
	enum { WRONG_ARGUMENTS = 2, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };
	enum { AT_ONCE_MS = 5000 };
	int code = status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	struct rusage used;
	struct timeval time;

	if ((code != WRONG_ARGUMENTS && code != NOT_EXECUTABLE &&
	     code != NOT_FOUND) ||
	    run_ms > AT_ONCE_MS || getrusage(RUSAGE_CHILDREN, &used))
		return false;
	timeradd(&used.ru_utime, &used.ru_stime, &time);
	return !time.tv_sec;
}

static bool launch_has_gone(const struct launch *launch)
{
	return launch->pid > 0 && launch->go_fd < 0;
}

/* Who is there to read it, and did not end kaa itself. */
static bool wants_answer(const struct record_settings *s,
			 const struct recorder_result *result)
{
	if (s->quiet || !result->stacks.with_python)
		return false;
	if (result->stopped_by && result->stopped_by != SIGINT)
		return false;
	return s->verbose || isatty(STDERR_FILENO);
}

/* The terminal has written ^C; a command has then most often begun a line of its own. */
static void begin_line(const struct record_setup *setup,
		       const struct recorder_result *result)
{
	if (result->stopped_by == SIGINT && !setup->command.words.count &&
	    isatty(STDERR_FILENO))
		fputc('\n', stderr);
}

/* There is a recording, which is worth more than that. */
static bool take_back(struct record_before *before,
		      const struct recorder *recorder,
		      const struct record_setup *setup,
		      const struct recorder_result *result)
{
	int64_t run_ms = clock_ms() - before->began_ms;

	if (!before->recording.st_size ||
	    record_before_find(before) != before->path)
		return false;
	if (failed_at_once(result->status, run_ms)) {
		record_before_restore(before);
		message_note("the command failed at once, with exit code %d: nothing was written, '%s' is the recording before",
			     WEXITSTATUS(result->status), before->path);
		return true;
	}
	/* What is known of waits stands in the new one. */
	if (result->samples || result->waits.time >= FAULT_UNENDED_MIN)
		return false;
	record_before_restore(before);
	record_say_no_samples(recorder, setup, result, before);
	record_say_no_python(recorder, setup, result);
	say_failed(result->status);
	return true;
}

/*
 * Ends the file, and waits for the command. Why the recording ended early is
 * said before that, since the command may go on for long.
 */
static struct error *finish(const struct record_setup *setup,
			    const struct record_settings *s,
			    struct recorder *recorder,
			    struct record_before *before, struct error *early,
			    int *exit_code)
{
	struct recorder_result result = { .status = -1 };
	struct error *error;

	if (early)
		message_error(early);
	error = recorder_finish(recorder, &result);
	if (!early && !error && take_back(before, recorder, setup, &result)) {
		*exit_code = record_exit_code(result.status);
		return NULL;
	}
	record_before_drop(before);
	before->has_samples = result.samples || result.waits.time;
	begin_line(setup, &result);
	print_summary(setup, before, recorder, &result, !early && !error);
	say_load(&result, s->verbose);
	say_without_samples(setup, recorder, &result.cpu_time);
	if (!s->quiet)
		record_say_left(recorder, setup);
	if (!early && !error)
		say_failed(result.status);
	if (!early) {
		*exit_code = error ? 0 : record_exit_code(result.status);
		if (!error && wants_answer(s, &result))
			record_answer(record_before_find(before));
		return error;
	}
	error_destroy(error);
	error_destroy(early);
	*exit_code = EXIT_CODE_FAILED;
	return NULL;
}

/* Who may not record waits can have less. */
static struct error *other_way(struct error *why)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	error_format(why, &text);
	error_destroy(why);
	return error_create(ERROR_PERMISSION,
			    "%s; '--mode wall' needs no rights, and says where threads sleep",
			    text.data);
}

static struct error *record_over(struct record_setup *setup,
				 const struct record_settings *s,
				 struct record_before *before, int *exit_code)
{
	_cleanup_(cleanup_recorder_) struct recorder *recorder = NULL;
	struct error *error;

	error = recorder_open(&setup->options, print_note, &recorder);
	if (error && error->code == ERROR_PERMISSION &&
	    clocks_has_off_cpu(&setup->options.sampler))
		error = other_way(error);
	if (!error)
		error = privilege_drop(&setup->invoker);
	if (error) {
		record_before_restore(before);
		return error;
	}
	record_say_source(recorder, setup, "record", s->verbose);
	record_say_rate(recorder, setup);
	if (recorder_user_only(recorder))
		record_say_user_only(recorder_refusal(recorder));
	record_say_children(recorder, setup, false);
	if (s->clock && setup->options.sampler.cpu_clocks &&
	    !recorder_clocks_by_cpu(recorder) && !setup->options.system_wide)
		message_note("the clock ticks for each thread: '--clock cpu' takes root, Python frames by BPF, and an event that is a clock and in no group");
	if (!setup->options.launch && !s->duration && isatty(STDERR_FILENO))
		message_note("recording: Ctrl-C ends it");
	record_before_opened(before);
	before->began_ms = clock_ms();
	error = recorder_run(recorder);
	if (error && setup->options.launch && !launch_has_gone(&setup->launch)) {
		record_before_restore(before);
		if (setup->launch.pid < 0)
			*exit_code = typed_command_exit_code(error);
		return error;
	}
	return finish(setup, s, recorder, before, error, exit_code);
}

static struct error *record(struct record_setup *setup,
			    const struct record_settings *s,
			    struct record_viewer *viewer, int *exit_code)
{
	struct record_before before;
	struct error *error;
	const char *path;

	record_before_keep(&before, setup->options.output, setup->options.uid);
	error = record_over(setup, s, &before, exit_code);
	path = before.has_samples ? record_before_find(&before) : NULL;
	if (!error && viewer->pid && path)
		record_viewer_show(viewer, path);
	record_before_deinit(&before);
	return error;
}

/* Two ends of one recording; or a command that --duration would not end. */
static struct error *refuse_duration(const struct record_settings *s,
				     const struct arguments *args)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;

	if (record_has_targets(s))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--duration and a command both say how long to record: leave out one");
	for (size_t i = 0; i < args->count; i++) {
		strbuf_putc(&words, ' ');
		shell_word(args->values[i], &words);
	}
	return error_create(ERROR_INVALID_ARGUMENT,
			    "--duration goes with -p, -t or -a; to end a command after %g s, put timeout before it: 'timeout %g%s'",
			    (double)s->duration / 1000,
			    (double)s->duration / 1000, words.data);
}

static struct error *check_command(const struct record_settings *s,
				   const struct arguments *args)
{
	if (args->count && s->duration)
		return refuse_duration(s, args);
	if (s->view && !strcmp(s->output, "-"))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--view shows a file: leave out '-o -'");
	if (args->count || record_has_targets(s))
		return NULL;
	return error_create(ERROR_INVALID_ARGUMENT,
			    "nothing to record: name a command, or use -p PID, -t TID or -a");
}

static struct error *run(void *settings, const struct arguments *args,
			 int *exit_code)
{
	const struct record_settings *s = settings;
	struct record_setup setup = RECORD_SETUP_INIT;
	struct record_viewer viewer = {};
	struct error *error = check_command(s, args);

	message_set_quiet(s->quiet);
	if (!error && s->view)
		error = record_viewer_start(&viewer);
	if (!error)
		error = record_take_invoker(&setup);
	if (!error)
		error = record_find_command(&setup, s, args, exit_code);
	if (!error)
		error = record_take_settings(&setup, s);
	if (!error)
		error = record_take_command(&setup, s, args);
	if (!error)
		error = record(&setup, s, &viewer, exit_code);
	record_viewer_deinit(&viewer);
	record_setup_deinit(&setup);
	return error;
}

const struct command command_record = {
	.name = "record",
	.summary = "record where a program spends its time",
	.usage =
		(const char *const[]){
			"[<options>] [--] <command> [<arguments>]",
			"[<options>] -p <pid> [--duration <seconds> | -- <command>]",
			NULL,
		},
	.description =
		"Samples a command, running processes or the whole system, and writes perf.data. "
		"Callchains hold Python functions with their lines, native functions and kernel functions. "
		"Stock perf reads the file, too.\n"
		"\n"
		"A BPF program reads the Python frames at each sample; the recorded program is not changed. "
		"This needs root, or CAP_BPF and CAP_PERFMON.\n"
		"\n"
		"Under sudo or doas the command runs as the user who typed it, and that user owns the file. "
		"The command has the environment of that user's shell, such as PATH and a virtual environment. "
		"Variables set between sudo and kaa win, as in 'sudo env PATH=... kaa record ...'. "
		"Behind 'sudo -i' or 'sudo sh -c ...' the command has the environment of that shell.\n"
		"\n"
		"A Python script that is not executable, as in 'kaa record orders.py', is run by the Python of its first line, "
		"or else by python3.\n"
		"\n"
		"Without these rights (--python=auto, the default) kaa reads the Python frames from outside, without perf events, "
		"also in a container (--python=poll): functions and lines of a command or of your own processes (-p), CPU time, wall time (--mode wall) or the time of each task of asyncio (--async), without native functions.\n"
		"\n"
		"If another event is asked for, or with --python=trampoline, kaa starts the command with trampolines, as 'kaa run --perf' does: "
		"each Python function gets a small piece of machine code that perf can name. "
		"Then a Python function has only the line of its def, and each Python call takes longer. "
		"Running processes have Python names only if they were started with trampolines.",
	.options = record_options,
	.options_flags = OPTIONS_STOP_AT_NON_OPTION,
	.examples =
		(const char *const[]){
			"sudo kaa record -F 999 -g python3 my_script.py",
			"sudo kaa record --view python3 my_script.py\topen the recording in the browser",
			"sudo kaa record -p 1234 --duration 10\trecord a running process for ten seconds",
			"sudo kaa record orders.py --fast\trecord a script; its first line, or else python3, runs it",
			"sudo kaa record --off-cpu -p 1234 --duration 10\trecord what its threads wait for, too",
			"kaa record --async -p 1234 --duration 10\trecord what each task of asyncio does, and awaits",
			"sudo kaa record -a -e page-faults -c 1 -- sleep 1",
			NULL,
		},
	.files = (const char *const[]){ MANUAL_FILE_RECORDING,
		MANUAL_FILE_IMAGE, NULL },
	.environment = (const char *const[]){ MANUAL_PATH,
		MANUAL_SUDO,
		MANUAL_COLUMNS, NULL },
	.settings_size = sizeof(struct record_settings),
	.set_defaults = record_defaults,
	.run = run,
	.deinit = record_deinit,
};
