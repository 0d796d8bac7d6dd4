// SPDX-License-Identifier: GPL-2.0-only
/* `kaa script`: every sample as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/message.h"
#include "cmd/framework/pager.h"
#include "cmd/reading/header_print.h"
#include "cmd/reading/input.h"
#include "cmd/reading/missing.h"
#include "cmd/reading/unmatched_tasks.h"
#include "sys/event_parse.h"
#include "view/script/print.h"

struct script_settings {
	struct input input;
	struct script_printer printer;
	/* -F, in the order given. */
	struct option_list fields;
	const char *symbols;
	const char *dsos;
	const char *stops;
	/* Their words. */
	struct input_words symbol_words;
	struct input_words dso_words;
	struct input_words stop_words;
	bool per_event;
	bool header;
	bool header_only;
	/* Understood for perf's sake: kaa needs no addr2line. */
	const char *addr2line;
	bool demangle_kernel;
};

static void set_quirks(struct script_settings *s)
{
	const struct quirks quirks = input_quirks(&s->input);
	struct script_printer *p = &s->printer;

	p->fields.signs_anywhere = quirks.signs_anywhere;
	p->fields.chains_missed_in_pipes = quirks.chains_missed_in_pipes;
	p->filter.interpreter_frames = quirks.interpreter_frames;
	p->filter.off_skips_one = quirks.switch_off_skips_one;
	p->damaged_chains_dropped = quirks.damaged_chains_dropped;
	p->empty_chains_kept = quirks.empty_chains_kept;
	p->tracepoint_plugins = quirks.tracepoint_plugins;
	s->input.options.names_end = quirks.names_end;
	/* It shows samples as they are. */
	s->input.options.whole_spans = true;
}

static struct error *parse_fields(struct script_settings *settings)
{
	struct script_fields *fields = &settings->printer.fields;
	struct error *error = NULL;

	vec_for_each(text, &settings->fields)
		if (!error)
			error = script_fields_parse(fields, *text);
	return error;
}

static struct error *prepare_filter(struct script_settings *s)
{
	struct script_filter *filter = &s->printer.filter;
	struct script_filter_words words;
	struct error *error;

	filter->is_off = filter->on;
	error = input_split(&s->input, s->symbols, &s->symbol_words);
	if (error)
		return error;
	error = input_split(&s->input, s->dsos, &s->dso_words);
	if (error)
		return error;
	error = input_split(&s->input, s->stops, &s->stop_words);
	if (error)
		return error;
	words.symbols = input_word_list(&s->symbol_words);
	words.dsos = input_word_list(&s->dso_words);
	words.stops = input_word_list(&s->stop_words);
	return script_filter_init(
		filter, &words, input_quirks(&s->input).whole_names_only);
}

static bool has_field(const struct script_fields *fields, uint64_t field)
{
	for (int kind = 0; kind < SCRIPT_KINDS; kind++)
		if (fields->of[kind].fields & field)
			return true;
	return false;
}

static struct error *prepare(struct script_settings *s)
{
	struct script_printer *p = &s->printer;
	struct error *error;

	if (p->from_first && p->from_last)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "use either --reltime or --deltatime, not both");
	s->input.relative_time = p->from_first;
	set_quirks(s);
	error = parse_fields(s);
	if (!error)
		error = prepare_filter(s);
	if (!error)
		error = input_prepare(&s->input);
	if (error)
		return error;
	p->cpus = &s->input.options.cpus;
	if (s->per_event)
		p->per_event = s->input.path ? s->input.path : "perf.data";
	s->input.options.lines = has_field(&p->fields, SCRIPT_SRCLINE);
	/* Without chains perf shows the function that holds the code. */
	s->input.options.inlines = s->input.inlines && !p->fields.no_chains;
	return NULL;
}

static void warn(const struct error *error, void *arg)
{
	(void)arg;
	message_warn_error(error);
}

static void say_file(const struct script_file *file, void *arg)
{
	const struct script_settings *s = arg;

	printf("[ %s script: Wrote %.3f MB %s (%" PRIu64 " samples) ]\n",
	       input_quirks(&s->input).dumps_by_perf ? "perf" : "kaa",
	       (double)file->bytes / 1024 / 1024, file->path, file->samples);
}

static struct error *print(struct script_settings *s,
			   struct converter *converter)
{
	struct error *error = NULL;

	if (s->header || s->header_only)
		error = header_print(converter);
	if (error || s->header_only)
		return error;
	s->printer.file = stdout;
	s->printer.say = (struct script_say){ warn, say_file, s };
	error = script_printer_start(&s->printer, converter);
	if (!error)
		error = converter_run(converter, script_print_sample,
				      &s->printer);
	return error ? error : script_printer_end(&s->printer);
}

/* Appends what filters asked for and did not find, a line each. */
static struct error *find_unmatched(const struct script_settings *s,
				    struct converter *converter,
				    struct strbuf *out)
{
	const struct convert_options *o = &s->input.options;
	struct error *error =
		unmatched_tasks(converter_seen_tasks(converter), &o->comms,
				&o->pids, &o->tids, out);

	return error ? error : script_filter_unmatched(&s->printer.filter,
						       converter, out);
}

static struct error *run(void *arg, const struct arguments *args,
			 int *exit_code)
{
	struct script_settings *settings = arg;
	_cleanup_(cleanup_converter_) struct converter *converter = NULL;
	_cleanup_strbuf_ struct strbuf unmatched = STRBUF_INIT;
	struct pager pager = {};
	struct error *error =
		input_take_arguments(&settings->input, args, "");

	if (!error)
		error = prepare(settings);
	if (!error)
		error = input_open(&settings->input, &converter);
	if (error)
		return error;
	pager_start(&pager);
	error = print(settings, converter);
	if (!error && !settings->header_only)
		error = find_unmatched(settings, converter, &unmatched);
	script_printer_deinit(&settings->printer);
	pager_end(&pager);
	if (!settings->header_only)
		error = missing_report(converter, settings->input.verbose > 0,
				       error, exit_code);
	unmatched_print(&unmatched);
	return error;
}

static void set_defaults(void *arg)
{
	struct script_settings *settings = arg;

	input_set_defaults(&settings->input);
	script_fields_init(&settings->printer.fields);
}

static void deinit(void *arg)
{
	struct script_settings *settings = arg;

	vec_deinit(&settings->fields);
	vec_deinit(&settings->symbol_words);
	vec_deinit(&settings->dso_words);
	vec_deinit(&settings->stop_words);
	input_deinit(&settings->input);
}

static const struct option options[] = {
	OPT_GROUP("Input"),
	INPUT_FILE_OPTIONS(struct script_settings),
	OPT_GROUP("Samples"),
	INPUT_COMMS_OPTION(struct script_settings),
	INPUT_FILTER_OPTIONS(struct script_settings),
	OPT_STRING('S', "symbols", struct script_settings, symbols,
		   "<symbol,...>",
		   "print only samples that hit these functions (by name, file.py or file.py:37) or addresses"),
	OPT_U64(0, "addr-range", struct script_settings,
		printer.filter.address_range, "<n>",
		"include up to <n> bytes after each address given with -S"),
	OPT_STRING(0, "dsos", struct script_settings, dsos, "<dso,...>",
		   "print only samples that hit these DSOs"),
	OPT_STRING(0, "switch-on", struct script_settings, printer.filter.on,
		   "<event>", "print samples only after a sample of this event",
		   .values = event_words),
	OPT_STRING(0, "switch-off", struct script_settings,
		   printer.filter.off, "<event>",
		   "print no samples after a sample of this event",
		   .values = event_words),
	OPT_BOOL(0, "show-on-off-events", struct script_settings,
		 printer.filter.show_switches,
		 "print the samples that switch on and off, too"),
	OPT_GROUP("Output"),
	OPT_LIST('F', "fields", struct script_settings, fields,
		 "<field,...>",
		 "print these fields: comm, tid, pid, time, cpu, event, trace, ip, sym, dso, symoff, srcline, period and others (docs/script.md). +field and -field change the default. sw:, hw:, trace: or raw: in front limits them to such events",
		 .values = script_field_words),
	OPT_BOOL('G', "hide-call-graph", struct script_settings,
		 printer.fields.no_chains, "print the address hit, without its callers"),
	OPT_STRING(0, "stop-bt", struct script_settings, stops,
		   "<symbol,...>", "end callchains at these functions"),
	OPT_BOOL(0, "ns", struct script_settings, printer.ns,
		 "print times in nanoseconds"),
	OPT_BOOL(0, "reltime", struct script_settings, printer.from_first,
		 "print times since the first sample"),
	OPT_BOOL(0, "deltatime", struct script_settings, printer.from_last,
		 "print times since the previous sample"),
	OPT_BOOL('L', "Latency", struct script_settings, printer.latency,
		 "cut names to eight characters and print CPUs without brackets"),
	OPT_BOOL(0, "full-source-path", struct script_settings,
		 printer.full_path, "show source files with their directories"),
	OPT_BOOL(0, "header", struct script_settings, header,
		 "print information about the recording first"),
	OPT_BOOL(0, "header-only", struct script_settings, header_only,
		 "print only that information"),
	OPT_BOOL(0, "per-event-dump", struct script_settings, per_event,
		 "write a file <input>.<event>.dump for each event instead"),
	OPT_GROUP("Records other than samples, if they were recorded"),
	OPT_BOOL(0, "show-task-events", struct script_settings,
		 printer.shown.tasks, "print new names, forks and exits of threads"),
	OPT_BOOL(0, "show-mmap-events", struct script_settings,
		 printer.shown.mmaps, "print mappings of files"),
	OPT_BOOL(0, "show-lost-events", struct script_settings,
		 printer.shown.lost, "print how many records were lost"),
	OPT_BOOL(0, "show-switch-events", struct script_settings,
		 printer.shown.switches, "print context switches"),
	OPT_BOOL(0, "show-namespace-events", struct script_settings,
		 printer.shown.namespaces, "print namespaces"),
	OPT_BOOL(0, "show-cgroup-events", struct script_settings,
		 printer.shown.cgroups, "print control groups"),
	OPT_BOOL(0, "show-bpf-events", struct script_settings,
		 printer.shown.bpf, "print BPF programs and their symbols"),
	OPT_GROUP("Names"),
	INPUT_NAME_OPTIONS(struct script_settings),
	OPT_BOOL(0, "demangle-kernel", struct script_settings, demangle_kernel,
		 "accept the option as perf does; it changes nothing in kaa",
		 .flags = OPTION_HIDDEN),
	OPT_STRING(0, "addr2line", struct script_settings, addr2line, "<path>",
		   "accept the option as perf does; kaa needs no addr2line",
		   .flags = OPTION_HIDDEN),
	OPT_END(),
};

const struct command command_script = {
	.name = "script",
	.summary = "print every sample of a recording",
	.usage = (const char *const[]){ "[<options>]", NULL },
	.description =
		"Prints the samples in time order, each with its callchain, in the layout of perf script. "
		"FlameGraph, inferno and the Firefox Profiler read it.\n"
		"\n"
		"Unlike perf, kaa names a return address after the call before it, and ends a callchain from frame pointers where the stack ends.\n"
		"\n" INPUT_FUNCTION_NAMES
		"-S and --stop-bt take all of these.",
	.options = options,
	.examples = (const char *const[]){
		"kaa script",
		"kaa script -i perf.data --comms python3 -F +srcline\t"
		"print the lines of functions, too",
		"kaa script -F comm,tid,time,event,ip,sym,dso --time 10%/2",
		"kaa script | stackcollapse-perf.pl | flamegraph.pl > out.svg",
		NULL },
	.files = (const char *const[]){ MANUAL_FILE_RECORDING,
		MANUAL_FILE_DEBUG, NULL },
	.environment = (const char *const[]){ MANUAL_PAGER,
		MANUAL_LESS,
		MANUAL_HOME, NULL },
	.settings_size = sizeof(struct script_settings),
	.set_defaults = set_defaults,
	.run = run,
	.deinit = deinit,
};
