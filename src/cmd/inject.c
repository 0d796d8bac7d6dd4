// SPDX-License-Identifier: GPL-2.0-only
/* `kaa inject`: a recording copied with what stock tools need to read it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/message.h"
#include "cmd/reading/input.h"
#include "cmd/reading/missing.h"
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
		{ "strip", "--strip needs --itrace, and kaa does not decode hardware traces" },
		{ "sched-stat", "kaa does not merge scheduler events" },
		{ "buildid-all", "kaa adds only the build-ids of files that samples hit (--build-ids)" },
		{ "mmap2-buildid-all", "kaa does not change recorded maps" },
		{ "mmap2-build-ids", "kaa does not change recorded maps" },
		{ "known-build-ids", "kaa reads build-ids only from the files themselves" },
		{ "guest-data", "kaa does not merge recordings of virtual machines" },
		{ "guestmount", "kaa does not support virtual machines" },
		{ "vm-time-correlation", "kaa does not decode hardware traces" },
	};
	const char *why = "kaa inject has no such option";

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

static void report_details(const struct inject *inject,
			   const struct inject_stats *stats)
{
	const char *image = inject_python_image(inject);

	note_count(stats->records, "records written");
	note_count(stats->jit.dumps, "jitdumps read");
	note_count(stats->jit.codes, "functions in jitdumps");
	note_count(stats->images, "ELF images written");
	note_count(stats->added, "maps added");
	note_count(stats->dropped, "maps left out because they would hide images");
	note_count(stats->jit.truncated, "jitdumps are cut off inside a record");
	if (stats->jit.aligned)
		message_note("the recording does not use CLOCK_MONOTONIC (-k 1), so the times of jitdumps were aligned with its clock");
	note_count(stats->unwound, "raw stacks unwound");
	note_count(stats->unwound_incomplete, "raw stacks unwound only in part");
	note_count(stats->build_ids, "files with a build-id found");
	if (image)
		message_note("wrote the image of Python code to '%s'", image);
}

static struct error *report(const struct inject_settings *settings,
			    const struct inject *inject, int *exit_code)
{
	_cleanup_faults_ struct faults faults = {};
	struct error *error = inject_faults(inject, &faults);
	struct inject_stats stats;

	if (error)
		return error;
	inject_stats(inject, &stats);
	if (settings->input.verbose)
		report_details(inject, &stats);
	missing_warn(&faults, FAULT_LINES_JITDUMPS);
	if (settings->options.jit && !stats.jit.dumps && !stats.jit.missing)
		message_warn("the recording names no jitdump, so nothing was added");
	if (settings->options.python && !inject_python_image(inject))
		message_warn("the recording has no Python frames from kaa record, so no image was written");
	missing_warn(&faults, FAULT_LINES_COPY);
	missing_set_exit_code(&faults, exit_code);
	return NULL;
}

/* --- Running ------------------------------------------------------------ */

static struct error *check_output(const char *output, const char *input, int fd)
{
	struct stat in, out;

	if (!strcmp(output, "-"))
		return isatty(STDOUT_FILENO) ?
			       error_create(ERROR_INVALID_ARGUMENT,
					    "a recording cannot be written to a terminal; name a file with -o") :
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
	struct error *error =
		input_take_arguments(&settings->input, args, "");

	if (error)
		return error;
	o->output = settings->output ? settings->output : "-";
	o->force = settings->input.force;
	o->symfs = settings->input.symfs;
	if (o->python && !strcmp(o->output, "-"))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--python writes an image beside the output; name a file with -o");
	if (o->sampled_only && !o->jit)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--sampled-only needs --jit");
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

	error = prepare(settings, args, &fd);
	if (!error)
		error = inject_open(take_fd(&fd), &settings->options, &inject);
	if (!error)
		error = inject_run(inject);
	return error ? error : report(settings, inject, exit_code);
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
		   "write the copy to this file (default, and '-': standard output)"),
	OPT_STRING(0, "symfs", struct inject_settings, input.symfs, "<dir>",
		   "look for files below this directory"),
	OPT_GROUP("What to inject"),
	OPT_BOOL('j', "jit", struct inject_settings, options.jit,
		 "write an ELF image for each function in a jitdump, and map it in the copy"),
	OPT_BOOL(0, "sampled-only", struct inject_settings,
		 options.sampled_only,
		 "write images only for functions that samples hit; needs --jit"),
	OPT_BOOL(0, "python", struct inject_settings, options.python,
		 "write an ELF image of the Python frames, <output>.python-<number>"),
	OPT_BOOL(0, "convert-callchain", struct inject_settings,
		 options.convert_callchain,
		 "unwind raw stacks to callchains and leave the raw stacks out"),
	OPT_BOOL('b', "build-ids", struct inject_settings, options.build_ids,
		 "add the build-ids of files that samples hit"),
	OPT_COUNT('v', "verbose", struct inject_settings, input.verbose,
		  "print what was done"),
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
	.summary = "copy a recording and add names for perf, samply and other tools",
	.usage = (const char *const[]){ "[<options>] -o <file>", NULL },
	.description =
		"Copies a recording and adds what kaa knows about it, so that perf, samply and hotspot show it, too.\n"
		"\n"
		"--jit is for programs that write jitdumps (python3 -X perf_jit, kaa run --perf-jit, node --perf-prof). "
		"Each function in a jitdump becomes an ELF image, jitted-<pid>-<index>.so, beside the jitdump. "
		"The copy maps this image from the time when the function was compiled. "
		"The jitdump must still exist. "
		"Unlike perf inject, kaa does not need a recording made with -k 1.",
	.options = options,
	.examples = (const char *const[]){
		"kaa inject --jit -i perf.data -o perf.jit.data",
		"kaa inject --jit --sampled-only -o perf.jit.data\t"
		"write few images for a program that compiles much code",
		"kaa inject --convert-callchain -o small.data\t"
		"unwind a recording with --call-graph dwarf",
		NULL },
	.files = (const char *const[]){ MANUAL_FILE_RECORDING,
		"jitted-<pid>-<index>.so\tAn ELF image of a function in a jitdump, beside the jitdump.", NULL },
	.environment = (const char *const[]){ MANUAL_HOME, NULL },
	.settings_size = sizeof(struct inject_settings),
	.set_defaults = set_defaults,
	.run = run,
	.deinit = deinit,
};
