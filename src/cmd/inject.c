// SPDX-License-Identifier: GPL-2.0-only
/* `kaa inject`: a recording copied with what stock tools need to read it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/message.h"
#include "inject/inject.h"

struct inject_settings {
	struct input input;
	struct inject_options options;
	const char *output;
};

/* Options of perf inject that kaa has no use for, with the reason. */
static struct error *refuse(void *arg, const struct option *option,
			    const char *text, bool negated)
{
	static const struct {
		const char *name;
		const char *why;
	} reasons[] = {
		{ "itrace", "kaa does not decode hardware traces" },
		{ "strip", "it belongs to --itrace, and kaa does not decode hardware traces" },
		{ "sched-stat", "kaa does not merge scheduler events" },
		{ "buildid-all", "--build-ids takes the files that samples hit" },
		{ "mmap2-buildid-all", "kaa keeps maps as they were recorded" },
		{ "mmap2-build-ids", "kaa keeps maps as they were recorded" },
		{ "known-build-ids", "kaa reads build-ids from the files alone" },
		{ "guest-data", "kaa does not merge guests' recordings" },
		{ "guestmount", "kaa does not know guests" },
		{ "vm-time-correlation", "kaa does not decode hardware traces" },
	};
	const char *why = "kaa inject does not have it";

	(void)arg;
	(void)text;
	if (negated)
		return NULL;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (!strcmp(reasons[i].name, option->long_name))
			why = reasons[i].why;
	return error_create(ERROR_INVALID_ARGUMENT,
			    "%s; use 'perf inject --%s'", why,
			    option->long_name);
}

/* --- What was done ------------------------------------------------------ */

static void note_count(uint64_t count, const char *text)
{
	if (count)
		message_note("%" PRIu64 " %s", count, text);
}

static void warn_count(uint64_t count, const char *text)
{
	if (count)
		message_warn("%" PRIu64 " %s", count, text);
}

static void report_failure(const struct inject *inject,
			   const struct inject_stats *stats)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;

	if (!stats->jit.missing)
		return;
	error_format(inject_jit_failure(inject), &why);
	message_warn("%" PRIu64 " jitdump%s could not be used: %s",
		     stats->jit.missing, stats->jit.missing > 1 ? "s" : "",
		     why.data);
}

static void report_details(const struct inject *inject,
			   const struct inject_stats *stats)
{
	const char *image = inject_python_image(inject);

	note_count(stats->records, "records written");
	note_count(stats->jit.dumps, "jitdumps read");
	note_count(stats->jit.codes, "pieces of code in them");
	note_count(stats->images, "ELF images written beside them");
	note_count(stats->added, "maps added");
	note_count(stats->dropped, "maps left out that would hide images");
	note_count(stats->jit.truncated, "jitdumps end inside a record");
	if (stats->jit.aligned)
		message_note("the recording's clock is not CLOCK_MONOTONIC (-k 1): times of jitdumps were aligned");
	note_count(stats->unwound, "raw stacks unwound");
	note_count(stats->unwound_incomplete, "of them not to their end");
	note_count(stats->build_ids, "files with a build-id found");
	if (image)
		message_note("the image of Python code is '%s'", image);
}

static void report(const struct inject_settings *settings,
		   const struct inject *inject)
{
	struct inject_stats stats;

	inject_stats(inject, &stats);
	if (settings->input.verbose)
		report_details(inject, &stats);
	report_failure(inject, &stats);
	if (settings->options.jit && !stats.jit.dumps && !stats.jit.missing)
		message_warn("the recording has no mark of a jitdump: nothing was added");
	if (settings->options.python && !inject_python_image(inject))
		message_warn("the recording has no Python frames of kaa's: no image was written");
	warn_count(stats.jit.broken_records,
		   "records of jitdumps are damaged and left out");
	warn_count(stats.input.broken_records,
		   "records are damaged and left out");
	warn_count(stats.odd, "records have an odd size and are left out");
	warn_count(stats.input.truncated_bytes,
		   "bytes at the end of the file are no whole record");
}

/* --- Running ------------------------------------------------------------ */

static struct error *check_output(const char *output, const char *input, int fd)
{
	struct stat in, out;

	if (!strcmp(output, "-"))
		return isatty(STDOUT_FILENO) ?
			       error_create(ERROR_INVALID_ARGUMENT,
					    "no recording goes to a terminal; name a file with -o") :
			       NULL;
	if (!fstat(fd, &in) && !stat(output, &out) &&
	    S_ISREG(in.st_mode) && in.st_dev == out.st_dev &&
	    in.st_ino == out.st_ino)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' is the input; name another file with -o",
				    input);
	return NULL;
}

static struct error *prepare(struct inject_settings *settings,
			     const struct arguments *args, int *fd)
{
	struct inject_options *o = &settings->options;
	struct error *error;

	if (args->count)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "takes no argument, not even '%s'",
				    args->values[0]);
	o->output = settings->output ? settings->output : "-";
	o->force = settings->input.force;
	o->symfs = settings->input.symfs;
	if (o->python && !strcmp(o->output, "-"))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--python writes an image beside the output; name a file with -o");
	if (o->sampled_only && !o->jit)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--sampled-only belongs to --jit");
	error = input_open_file(&settings->input, &o->input, fd);
	return error ? error : check_output(o->output, o->input, *fd);
}

static struct error *run(void *arg, const struct arguments *args,
			 int *exit_code)
{
	struct inject_settings *settings = arg;
	_cleanup_(cleanup_inject_) struct inject *inject = NULL;
	_cleanup_close_ int fd = -1;
	struct error *error;

	(void)exit_code;
	error = prepare(settings, args, &fd);
	if (!error)
		error = inject_open(take_fd(&fd), &settings->options, &inject);
	if (!error)
		error = inject_run(inject);
	if (!error)
		report(settings, inject);
	return error;
}

static void set_defaults(void *arg)
{
	struct inject_settings *settings = arg;

	input_set_defaults(&settings->input);
}

static void deinit(void *arg)
{
	struct inject_settings *settings = arg;

	input_deinit(&settings->input);
}

#define REFUSED(s, l, arg) \
	OPT_CALL(s, l, refuse, arg, "perf's", .flags = OPTION_HIDDEN)

static const struct option options[] = {
	OPT_GROUP("Files"),
	INPUT_FILE_OPTIONS(struct inject_settings),
	OPT_STRING('o', "output", struct inject_settings, output, "<file>",
		   "the copy (default, and '-': standard output)"),
	OPT_STRING(0, "symfs", struct inject_settings, input.symfs, "<dir>",
		   "look for files below this directory"),
	OPT_GROUP("What to inject"),
	OPT_BOOL('j', "jit", struct inject_settings, options.jit,
		 "jitdumps: an ELF image of each piece of code, and its map"),
	OPT_BOOL(0, "sampled-only", struct inject_settings,
		 options.sampled_only,
		 "of jitdumps the code alone that samples hit"),
	OPT_BOOL(0, "python", struct inject_settings, options.python,
		 "an image of kaa's Python frames, <output>.python-<number>"),
	OPT_BOOL(0, "convert-callchain", struct inject_settings,
		 options.convert_callchain,
		 "unwind raw stacks to call chains, and leave them out"),
	OPT_BOOL('b', "build-ids", struct inject_settings, options.build_ids,
		 "build-ids of the files that samples hit"),
	OPT_COUNT('v', "verbose", struct inject_settings, input.verbose,
		  "say what was done"),
	REFUSED(0, "itrace", "<options>"),
	REFUSED(0, "strip", NULL),
	REFUSED('s', "sched-stat", NULL),
	REFUSED(0, "buildid-all", NULL),
	REFUSED('B', "mmap2-build-ids", NULL),
	REFUSED(0, "mmap2-buildid-all", NULL),
	REFUSED(0, "known-build-ids", "<ids>"),
	REFUSED(0, "guest-data", "<data>"),
	REFUSED(0, "guestmount", "<dir>"),
	REFUSED(0, "vm-time-correlation", "<options>"),
	OPT_END(),
};

const struct command command_inject = {
	.name = "inject",
	.summary = "copy a recording with names for stock tools in it",
	.usage = (const char *const[]){ "[<options>] -o <file>", NULL },
	.description =
		"Copies a recording so that perf, samply and hotspot show what only kaa\n"
		"shows by itself.\n"
		"\n"
		"--jit is for programs that write jitdumps (python3 -X perf_jit, kaa run\n"
		"--perf-jit, node --perf-prof): the code that a dump tells of becomes ELF\n"
		"images jitted-<pid>-<index>.so beside the dump, mapped from the moment of\n"
		"its making. The dump must still be there. Unlike with perf inject, the\n"
		"recording need not be made with -k 1.",
	.options = options,
	.examples = (const char *const[]){
		"kaa inject --jit -i perf.data -o perf.jit.data",
		"kaa inject --jit --sampled-only -o perf.jit.data\t"
		"where a program makes much code",
		"kaa inject --convert-callchain -o small.data\t"
		"of a recording with --call-graph dwarf",
		NULL },
	.settings_size = sizeof(struct inject_settings),
	.set_defaults = set_defaults,
	.run = run,
	.deinit = deinit,
};
