// SPDX-License-Identifier: GPL-2.0-only
/* `kaa export`: a recording as a file of another tool. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/name_match.h"
#include "base/nearest.h"
#include "base/output_error.h"
#include "base/path_name.h"
#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/message.h"
#include "cmd/framework/progress.h"
#include "cmd/reading/compared.h"
#include "cmd/reading/input.h"
#include "cmd/reading/one_event.h"
#include "cmd/reading/recorded_code.h"
#include "cmd/reading/show.h"
#include "export/format.h"
#include "export/page_changes.h"
#include "sys/event_parse.h"

struct export_settings {
	struct input input;
	const struct export_row *format;
	/* NULL, "-": standard output. */
	const char *output;
	struct compared compared;
	bool native;
	bool quiet;
	struct export_options options;
	struct progress progress;
};

/* ": there are collapsed, pprof, ..." */
static void put_formats(struct strbuf *out)
{
	const char *before = ": there are ";

	for (const struct export_row *row = export_formats; row->name; row++) {
		strbuf_printf(out, "%s%s", before, row->name);
		before = ", ";
	}
}

/* Who asks for a reader of files means what it reads; NULL: it is none. */
static const char *format_of_reader(const char *word)
{
	static const struct {
		const char *reader;
		const char *format;
	} readers[] = {
		{ "snakeviz", "pstats" },	{ "gprof2dot", "pstats" },
		{ "cprofile", "pstats" },	{ "kcachegrind", "callgrind" },
		{ "qcachegrind", "callgrind" }, { "inferno", "collapsed" },
		{ "flamegraph", "collapsed" },	{ "opentelemetry", "otlp" },
	};

	for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++)
		if (!strcasecmp(word, readers[i].reader))
			return readers[i].format;
	return NULL;
}

static const struct export_row *find_format(const char *name)
{
	for (const struct export_row *row = export_formats; row->name; row++)
		if (!strcmp(row->name, name))
			return row;
	return NULL;
}

static struct error *parse_format(void *arg, const struct option *option,
				  const char *text, bool negated)
{
	struct export_settings *settings = arg;
	_cleanup_strbuf_ struct strbuf near = STRBUF_INIT;
	struct nearest nearest = { .word = text };
	const char *read;

	(void)option;
	settings->format = negated ? export_formats : find_format(text);
	if (settings->format)
		return NULL;
	read = format_of_reader(text);
	for (const struct export_row *row = export_formats; row->name; row++)
		nearest_add(&nearest, row->name);
	if (read)
		strbuf_printf(&near, ": it reads files of '--format %s'", read);
	else if (nearest.count)
		nearest_format(&nearest, &near);
	else
		put_formats(&near);
	return error_create(ERROR_INVALID_ARGUMENT,
			    "there is no format '%s'%s", text, near.data);
}

/* What a file of that name holds, NULL: any; "" is one that is not written here. */
static const char *format_of_file(const char *path)
{
	static const struct {
		const char *end;
		const char *format;
	} ends[] = {
		{ ".speedscope.json", "speedscope" }, { ".speedscope", "speedscope" },
		{ ".json", "" },		      { ".html", "html" },
		{ ".htm", "html" },		      { ".svg", "" },
		{ ".pb.gz", "pprof" },		      { ".pprof", "pprof" },
		{ ".pb", "pprof" },		      { ".gz", "" },
		{ ".prof", "pstats" },		      { ".pstats", "pstats" },
		{ ".perfetto-trace", "perfetto" },    { ".pftrace", "perfetto" },
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (name_ends_with(path, ends[i].end))
			return ends[i].format;
	return name_begins_with(path_name(path), "callgrind.out") ?
		       "callgrind" :
		       NULL;
}

static const char *why_no_format(const char *path)
{
	if (name_ends_with(path, ".svg"))
		return "'kaa flamegraph' writes pictures";
	if (name_ends_with(path, ".gz"))
		return "of its formats kaa compresses pprof (.pb.gz) only";
	return "speedscope, firefox, chrome and json files are called so: choose one with '--format'";
}

/* Who gives no format means that of such files, or the first one. */
static struct error *choose_format(struct export_settings *s)
{
	const char *name = s->output ? format_of_file(s->output) : NULL;

	if (s->format)
		return NULL;
	s->format = name ? find_format(name) : export_formats;
	if (!s->format)
		return error_create(ERROR_INVALID_ARGUMENT, "'%s': %s",
				    s->output, why_no_format(s->output));
	return NULL;
}

static void format_words(struct strbuf *out)
{
	for (const struct export_row *row = export_formats; row->name; row++)
		strbuf_printf(out, "%s ", row->name);
}

/* --- output ------------------------------------------------------------- */

static bool is_to_stdout(const struct export_settings *s)
{
	return !s->output || !strcmp(s->output, "-");
}

static struct error *check_output(const struct export_settings *s)
{
	bool is_binary = s->format->traits & EXPORT_BINARY;

	if (!is_to_stdout(s) || !isatty(STDOUT_FILENO) ||
	    (s->output && !is_binary))
		return NULL;
	return error_create(
		ERROR_INVALID_ARGUMENT,
		is_binary ?
			"%s is a binary format, which a terminal cannot show: add '-o FILE'" :
			"%s is for another program, and may be long: add '-o FILE', or '| less' to read it ('-o -': to see it here all the same)",
		s->format->name);
}

/* What reads standard output may be at the terminal, too. */
static struct error *write_to(struct export_settings *s,
			      const struct profile *profile, FILE *out)
{
	struct error *error;

	progress_start_as(&s->progress, "writing");
	if (!is_to_stdout(s))
		s->options.progress = progress_see;
	s->options.progress_arg = &s->progress;
	error = s->format->write(profile, &s->options, out);
	progress_end(&s->progress);
	return error;
}

static struct error *write_file(struct export_settings *s,
				const struct profile *profile)
{
	bool is_stdout = is_to_stdout(s);
	FILE *out = is_stdout ? stdout : fopen(s->output, "we");
	struct error *error;

	if (!out)
		return output_error(errno, s->output);
	error = write_to(s, profile, out);
	/* main() flushes standard output and reports what fails there. */
	return is_stdout ? error : output_file_close(out, s->output, error);
}

/* One that is named; of a format that holds all, all; else the first. */
static struct error *choose_event(struct export_settings *s,
				  const struct profile *profile)
{
	s->options.event = PROFILE_NONE;
	if (!s->compared.event && (s->format->traits & EXPORT_EVENTS))
		return NULL;
	return one_event_choose(profile, s->compared.event, PROFILE_NONE, "exported",
				&s->options.event);
}

/* Which file there is, and what it has no place for. */
static void tell(const struct export_settings *s)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!is_to_stdout(s))
		strbuf_printf(&text, "wrote '%s'; ", s->output);
	message_note("%s%s files do not hold %s",
		     text.len ? text.data : "", s->format->name,
		     s->format->without);
}

/* Of the event, or the comparison, that the options name. */
static struct error *write_chosen(struct export_settings *s,
				  const struct profile *profile)
{
	struct error *error;

	s->options.symfs = s->input.symfs;
	s->options.is_filtered = input_is_filtered(&s->input);
	s->options.stacks.python_only |=
		(s->format->traits & EXPORT_PYTHON) && !s->native &&
		!s->options.stacks.interpreter_frames;
	error = write_file(s, profile);
	if (!error)
		tell(s);
	return error;
}

static struct error *export(void *arg, struct converter *converter)
{
	const struct code_places code = recorded_code(converter);
	struct export_settings *s = arg;
	_cleanup_profile_ struct profile *profile = NULL;
	const struct profile_options options = {
		.aggregate = !(s->format->traits & EXPORT_TIMES)
	};
	struct error *error = convert_to_profile(converter, &options, &profile);

	progress_end(&s->progress);
	if (!error)
		error = choose_event(s, profile);
	if (error)
		return error;
	s->options.code = &code;
	error = write_chosen(s, profile);
	s->options.code = NULL;
	return error;
}

/* --- Two recordings ----------------------------------------------------- */

static bool is_comparison(const struct export_settings *s,
			  const struct arguments *args)
{
	return args->count == 2 && !s->input.path &&
	       input_is_recording(args->values[1]);
}

static struct error *refuse_comparison(const struct export_settings *s)
{
	return error_create(ERROR_INVALID_ARGUMENT,
			    "%s holds one recording: two are compared with '--format html', or by 'kaa diff'",
			    s->format->name);
}

static struct error *write_comparison(struct export_settings *s, int *exit_code)
{
	struct compared *c = &s->compared;
	struct page_compare compare;
	struct error *error = compared_read(c, exit_code);

	if (!error)
		error = compared_measure(c);
	if (error)
		return error;
	compare = compared_page(c);
	s->options.event = c->event ? c->events.data[PAGE_AFTER] : PROFILE_NONE;
	s->options.compare = &compare;
	return write_chosen(s, c->profile);
}

static struct error *export_comparison(struct export_settings *s,
				       const struct arguments *args,
				       int *exit_code)
{
	struct error *error = s->format->traits & EXPORT_COMPARES ?
				      compared_take(&s->compared, args) :
				      refuse_comparison(s);

	if (!error)
		error = check_output(s);
	if (!error)
		error = input_prepare(&s->input);
	return error ? error : write_comparison(s, exit_code);
}

/* -f is --force, here as in perf; many mean --format. */
static struct error *refuse_format(const char *word)
{
	for (const struct export_row *row = export_formats; row->name; row++)
		if (!strcmp(word, row->name))
			return error_create(ERROR_INVALID_ARGUMENT,
					    "unexpected argument '%s': for the format type '--format %s'",
					    word, word);
	return NULL;
}

static struct error *run(void *arg, const struct arguments *args,
			 int *exit_code)
{
	struct export_settings *settings = arg;
	_cleanup_free_ char *folder = getcwd(NULL, 0);
	struct error *error;

	message_set_quiet(settings->quiet);
	settings->options.folder = folder;
	settings->compared.input = &settings->input;
	settings->compared.progress = &settings->progress;
	error = choose_format(settings);
	if (!error && args->count)
		error = refuse_format(args->values[0]);
	if (!error && is_comparison(settings, args))
		return export_comparison(settings, args, exit_code);
	if (!error)
		error = input_take_arguments(&settings->input, args,
					     " and the file to write with -o");
	if (!error)
		error = check_output(settings);
	return error ? error :
		       show_input(&settings->input, &settings->progress, export,
				  settings, exit_code);
}

static void set_defaults(void *arg)
{
	struct export_settings *settings = arg;

	input_set_defaults(&settings->input);
}

static void deinit(void *arg)
{
	struct export_settings *settings = arg;

	compared_deinit(&settings->compared);
	input_deinit(&settings->input);
}

static const struct option options[] = {
	OPT_GROUP("Input"),
	INPUT_FILE_OPTIONS(struct export_settings),
	OPT_GROUP("Output"),
	OPT_CALL(0, "format", parse_format, "<format>",
		 "write this format: %s (default: by the name of the file, such as x.speedscope.json, x.pb.gz, x.prof, x.html; else collapsed, but for .json, .svg and .gz)",
		 .values = format_words),
	OPT_STRING('o', "output", struct export_settings, output, "<file>",
		   "write to this file (default: standard output)"),
	OPT_BOOL(0, "lines", struct export_settings, options.stacks.lines,
		 "show the lines of Python functions, each as a frame of its own"),
	OPT_BOOL(0, "python-only", struct export_settings, options.stacks.python_only,
		 "count native and kernel functions as the Python functions that call them"),
	OPT_BOOL(0, "native", struct export_settings, native,
		 "list native and kernel functions, as all formats but pstats do anyway"),
	OPT_BOOL(0, "interpreter-frames", struct export_settings,
		 options.stacks.interpreter_frames,
		 "show the frames of the interpreter itself, too"),
	OPT_STRING(0, "by", struct export_settings, compared.by_text,
		   "<time|share>", "compare two recordings by what they took, or by shares (default: as kaa diff)"),
	OPT_BOOL('q', "quiet", struct export_settings, quiet,
		 "print no notes, such as what files of the format do not hold"),
	OPT_GROUP("Samples"),
	OPT_STRING(0, "event", struct export_settings, compared.event, "<event>",
		   "use only samples of this event (default: all if the format holds several, else the first that has samples)",
		   .values = event_words),
	INPUT_COMMS_OPTION(struct export_settings),
	INPUT_FILTER_OPTIONS(struct export_settings),
	OPT_GROUP("Names"),
	INPUT_NAME_OPTIONS(struct export_settings),
	OPT_END(),
};

#define FORMAT_HELP(name, traits, without, help) "\n--format " #name " writes " help "\n"

const struct command command_export = {
	.name = "export",
	.summary = "write a recording as a file for another tool",
	.usage = (const char *const[]){ "[<options>]",
					"--format html [<options>] <before> <after>",
					NULL },
	.description =
		"Writes the samples of a recording in the format of another tool. "
		"The interpreter's own frames are folded into the Python functions that they run. "
		"In all formats but collapsed a sample weighs what it stands for: time, bytes, or how often the event happened.\n"
		EXPORT_FORMATS(FORMAT_HELP),
	.options = options,
	.examples = (const char *const[]){
		"kaa export -o stacks.txt\twrite collapsed stacks",
		"kaa export --format speedscope -o profile.json\twrite a file for speedscope",
		"kaa export --format html -o page.html old.data new.data\twrite a page of what changed",
		"kaa export --lines | flamegraph.pl > out.svg\tdraw a flame graph with the lines of functions",
		NULL },
	.files = (const char *const[]){ MANUAL_FILE_RECORDING,
		MANUAL_FILE_DEBUG, NULL },
	.environment = (const char *const[]){ MANUAL_HOME, NULL },
	.settings_size = sizeof(struct export_settings),
	.set_defaults = set_defaults,
	.run = run,
	.deinit = deinit,
};
