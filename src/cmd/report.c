// SPDX-License-Identifier: GPL-2.0-only
/* `kaa report`: where the time of a recording went. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/message.h"
#include "cmd/framework/pager.h"
#include "cmd/framework/progress.h"
#include "cmd/reading/answer_print.h"
#include "cmd/reading/one_event.h"
#include "sys/event_parse.h"
#include "cmd/reading/callers_print.h"
#include "cmd/reading/functions_print.h"
#include "cmd/reading/header_print.h"
#include "cmd/reading/input.h"
#include "cmd/reading/missing.h"
#include "cmd/reading/recorded_code.h"
#include "cmd/reading/report_tasks.h"
#include "cmd/reading/report_unmatched.h"
#include "cmd/reading/unmatched_tasks.h"
#include "profile/symbol_word.h"
#include "tui/tui.h"
#include "view/answer.h"
#include "view/fit.h"
#include "view/report.h"
#include "view/report_notes.h"

struct report_settings {
	struct input input;
	struct progress progress;
	struct report_options options;
	bool stdio;
	bool tui;
	bool header_only;
	bool stats;
	bool tasks;
	bool inverted;
	/* An option asks for the table of entries that perf has. */
	bool wants_table;
	/* -S asks for what is known of functions; with --stdio for the table, too. */
	bool wants_symbols;
	/* There are Python functions, of which --callers has a report. */
	bool has_callers;
	/* Its opposite: the order of the first screen. */
	bool by_total;
	/* On the first screen. */
	bool without_libraries;
	/* Of the first screen; NULL: answer_event(). */
	const char *event;
	/* The function whose callers are asked for, or NULL. */
	const char *callers;
	/* Of the terminal, before a pager. */
	size_t columns;
	size_t columns_given;
	const char *dsos;
	const char *symbols;
	/* What filters did not find, a line each. */
	struct strbuf unmatched;
	/* For that reason nothing was printed. */
	bool is_empty;
	/* What is known of functions was printed. */
	bool is_told;
	/* Owned. */
	struct input_words comm_list;
	struct input_words dso_list;
	struct input_words symbol_list;
};

/* --- Options ------------------------------------------------------------ */

static struct error *parse_callgraph(void *arg, const struct option *option,
				     const char *text, bool negated)
{
	struct report_settings *settings = arg;

	(void)option;
	if (negated)
		settings->options.callgraph.type = CALLGRAPH_NONE;
	return negated ? NULL :
			 report_parse_callgraph(&settings->options, text);
}

static struct error *parse_inverted(void *arg, const struct option *option,
				    const char *text, bool negated)
{
	struct report_settings *settings = arg;
	struct error *error = NULL;

	(void)option;
	if (!negated && text)
		error = report_parse_callgraph(&settings->options, text);
	settings->inverted = !negated;
	return error;
}

static struct error *parse_percent_limit(void *arg, const struct option *option,
					 const char *text, bool negated)
{
	struct report_settings *settings = arg;
	double value = 0;
	struct error *error =
		negated ? NULL : option_parse_percent(text, &value);

	(void)option;
	if (error)
		return error;
	settings->options.percent_limit = value;
	settings->options.callgraph.threshold = value;
	return NULL;
}

static struct error *parse_sort(void *arg, const struct option *option,
				const char *text, bool negated)
{
	struct report_settings *settings = arg;

	(void)option;
	return negated ? NULL : report_parse_sort(&settings->options, text);
}

static struct error *parse_widths(void *arg, const struct option *option,
				  const char *text, bool negated)
{
	struct report_settings *settings = arg;

	(void)option;
	return report_parse_widths(&settings->options, negated ? "" : text);
}

static struct error *parse_percentage(void *arg, const struct option *option,
				      const char *text, bool negated)
{
	struct report_settings *settings = arg;

	(void)option;
	settings->options.relative = !negated && !strcmp(text, "relative");
	if (negated || settings->options.relative || !strcmp(text, "absolute"))
		return NULL;
	return error_create(ERROR_INVALID_ARGUMENT,
			    "--percentage is 'relative' or 'absolute', not '%s'",
			    text);
}

/* A number with s, ms, us or ns. */
static struct error *parse_quantum(void *arg, const struct option *option,
				   const char *text, bool negated)
{
	struct report_settings *settings = arg;
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "s", 1000000000 },
		      { "ms", 1000000 },
		      { "us", 1000 },
		      { "ns", 1 } };
	char *unit;
	unsigned long long value = negated ? 0 : strtoull(text, &unit, 10);

	(void)option;
	for (size_t i = 0; value && i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(unit, units[i].name) ||
		    value > UINT64_MAX / units[i].ns)
			continue;
		settings->options.time_quantum = value * units[i].ns;
		return NULL;
	}
	return error_create(ERROR_INVALID_ARGUMENT,
			    "'%s' is not a duration such as 100ms",
			    negated ? "" : text);
}

/* '.' stands for it where a name has it. */
static struct error *parse_separator(void *arg, const struct option *option,
				     const char *text, bool negated)
{
	struct report_settings *settings = arg;

	(void)option;
	if (!negated && !strcmp(text, "."))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'.' cannot separate columns, because numbers contain it");
	settings->options.field_separator = negated ? NULL : text;
	return NULL;
}

static struct error *parse_group(void *arg, const struct option *option,
				 const char *text, bool negated)
{
	struct report_settings *settings = arg;

	(void)option;
	(void)text;
	settings->options.group = negated ? REPORT_GROUP_NONE :
					    REPORT_GROUP_ALL;
	return NULL;
}

static struct error *parse_fields(void *arg, const struct option *option,
				  const char *text, bool negated)
{
	struct report_settings *settings = arg;

	(void)option;
	return negated ? NULL : report_parse_fields(&settings->options, text);
}

static struct error *name_list(struct report_settings *settings,
			       const char *text, struct input_words *list,
			       struct name_list *ret)
{
	struct error *error = input_split(&settings->input, text, list);

	ret->values = list->data;
	ret->count = list->count;
	return error;
}

/* perf filters entries by these, not samples. */
static void filter_entries(struct report_settings *s)
{
	struct convert_options *from = &s->input.options;
	struct report_options *to = &s->options;

	to->pids = from->pids;
	to->tids = from->tids;
	from->pids = from->tids = (struct id_list){};
}

static bool names_line(const struct name_list *words)
{
	for (size_t i = 0; i < words->count; i++)
		if (symbol_word_init(words->values[i], false).line)
			return true;
	return false;
}

/* Who asks for a line means it, and not all of its function. */
static struct error *settle_keys(struct report_options *o)
{
	struct error *error = NULL;

	if (!o->quirks.whole_names_only && !o->sort.count && !o->fields.count &&
	    names_line(&o->symbols))
		error = report_parse_sort(o, "+srcline");
	if (!error)
		report_arrange(o);
	return error;
}

/* Who asks for nothing else is told which Python code the time went to. */
static bool shows_answer(const struct report_settings *s)
{
	return !s->wants_table && !s->wants_symbols &&
	       !input_imitates(&s->input);
}

/* Who asks for a function and nothing else is told of its lines and its callers. */
static bool wants_functions(const struct report_settings *s)
{
	return s->wants_symbols && s->symbols && !s->wants_table && !s->stdio &&
	       !s->tui && !input_imitates(&s->input);
}

/* --comms filters entries of the table: percentages stay those of the whole. */
static struct error *prepare_lists(struct report_settings *s)
{
	struct report_options *o = &s->options;
	struct error *error = name_list(s, s->dsos, &s->dso_list, &o->dsos);

	if (!error)
		error = name_list(s, s->symbols, &s->symbol_list, &o->symbols);
	if (error || shows_answer(s) || wants_functions(s))
		return error;
	s->input.options.count_tasks = s->input.comms;
	error = name_list(s, s->input.comms, &s->comm_list, &o->comms);
	s->input.comms = NULL;
	return error;
}

static struct error *prepare(struct report_settings *s)
{
	struct report_options *o = &s->options;
	struct error *error = prepare_lists(s);

	if (!error)
		error = input_prepare(&s->input);
	if (error)
		return error;
	if (s->callers && (!shows_answer(s) || s->by_total))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--callers has a report of its own; options of other reports do not go with it");
	if (s->without_libraries && (!shows_answer(s) || s->callers))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--no-libraries is for the report of functions and lines; options of other reports do not go with it");
	if (s->by_total && !shows_answer(s))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--total is for the report of functions and lines; a table is ordered by total time as it is, see --children");
	o->time = s->input.time;
	o->is_filtered = input_is_filtered(&s->input);
	o->quirks = input_quirks(&s->input);
	if (o->quirks.tasks_filter_entries)
		filter_entries(s);
	if (s->inverted)
		o->callgraph.order = CALLGRAPH_CALLER;
	o->inlines = s->input.inlines;
	error = settle_keys(o);
	if (error)
		return error;
	o->interpreter_frames |= o->quirks.interpreter_frames;
	s->input.options.max_stack_outermost =
		o->quirks.max_stack_outermost && report_caller_order(o);
	s->input.options.inlines = s->input.inlines;
	s->input.options.lines = o->callgraph.key != CHAIN_KEY_FUNCTION ||
				 report_has_key(o, REPORT_SRCLINE) ||
				 report_has_key(o, REPORT_SRCFILE);
	return NULL;
}

/* --- Output ------------------------------------------------------------- */

static void print_event_stats(struct perfdata_reader *reader,
			      const struct event *event, uint64_t samples)
{
	uint64_t lost = perfdata_reader_lost_of(reader, event);

	if (!samples && !lost)
		return;
	printf("%s stats:\n", event->name);
	if (samples)
		printf("%20s events: %10" PRIu64 "\n", "SAMPLE", samples);
	if (lost)
		printf("%20s events: %10" PRIu64 "\n", "LOST_SAMPLES", lost);
}

static void print_record_stats(const struct perfdata_stats *stats)
{
	uint64_t total = stats->unknown_records;

	for (uint32_t type = 0; type < PERFDATA_TYPE_MAX; type++)
		total += stats->records[type];
	printf("\nAggregated stats:\n");
	printf("%20s events: %10" PRIu64 "\n", "TOTAL", total);
	for (uint32_t type = 0; type < PERFDATA_TYPE_MAX; type++) {
		const char *name = perfdata_type_name(type);
		uint64_t n = stats->records[type];

		if (n && name)
			printf("%20s events: %10" PRIu64 "  (%4.1f%%)\n",
			       name, n,
			       100.0 * (double)n / (double)total);
		else if (n)
			printf("%16s %3u events: %10" PRIu64 "  (%4.1f%%)\n",
			       "type", type, n,
			       100.0 * (double)n / (double)total);
	}
}

/* --stats: how many records of each type, and samples of each event. */
static struct error *print_stats(struct perfdata_reader *reader)
{
	const struct events *events = perfdata_reader_events(reader);
	VEC(uint64_t) samples = {};
	const struct record *record;
	struct error *error;

	while (!(error = perfdata_reader_next(reader, &record)) && record) {
		while (!error && samples.count < events->list.count)
			if (!vec_push(&samples, 0))
				error = error_no_memory();
		if (error)
			break;
		if (record->type == PERF_RECORD_SAMPLE && record->event)
			samples.data[record->event->index]++;
	}
	if (!error)
		print_record_stats(perfdata_reader_stats(reader));
	for (size_t i = 0; !error && i < samples.count; i++)
		print_event_stats(reader, events->list.data[i],
				  samples.data[i]);
	vec_deinit(&samples);
	return error;
}

/* --- On the terminal ---------------------------------------------------- */

/* Options that ask for text of one form or another. */
static bool wants_text(const struct report_settings *s)
{
	const struct report_options *o = &s->options;

	return s->header_only || s->stats || s->tasks || s->callers ||
	       input_imitates(&s->input) || o->quiet || o->field_separator ||
	       o->callgraph.type == CALLGRAPH_FLAT ||
	       o->callgraph.type == CALLGRAPH_FOLDED;
}

/* Settles s->tui. */
static struct error *choose_form(struct report_settings *s)
{
	if (s->tui && (s->stdio || wants_text(s)))
		return error_create(
			ERROR_INVALID_ARGUMENT,
			"--tui cannot be used with --stdio, --callers, --header-only, --stats, --tasks, --like-perf, -q, -t, -g flat or -g folded");
	if (s->tui && !tui_possible())
		return error_create(
			ERROR_UNSUPPORTED,
			"--tui needs a terminal with cursor movement as standard input and output");
	if (!s->stdio && !s->tui && !wants_text(s) && !wants_functions(s) &&
	    !s->options.header)
		s->tui = tui_possible();
	return NULL;
}

/* Each event has a table, that of waits before those that only go with it. */
static struct error *choose_tables(struct report_settings *s,
				   const struct profile *profile)
{
	struct report_options *o = &s->options;
	uint32_t first = input_imitates(&s->input) ? PROFILE_NONE :
						     answer_event(profile);

	if (s->event) {
		o->one_event = true;
		return one_event_choose(profile, s->event, first, "shown",
					&o->first_event);
	}
	if (first != PROFILE_NONE &&
	    profile->events.data[first].kind == EVENT_WAIT)
		o->first_event = first;
	return NULL;
}

/* Of the first screen; PROFILE_NONE: there is none. */
static struct error *choose_one(const struct report_settings *s,
				const struct profile *profile, uint32_t *ret)
{
	*ret = answer_event(profile);
	if (!s->event)
		return NULL;
	return one_event_choose(profile, s->event, *ret, "shown", ret);
}

static struct error *choose_event(struct report_settings *s,
				  const struct profile *profile, uint32_t *ret)
{
	*ret = PROFILE_NONE;
	return shows_answer(s) ? choose_one(s, profile, ret) :
				 choose_tables(s, profile);
}

static struct error *show_report(struct report_settings *s,
				 const struct profile *profile,
				 struct converter *converter)
{
	_cleanup_free_ char *folder = getcwd(NULL, 0);
	_cleanup_strbuf_ struct strbuf damage = STRBUF_INIT;
	const char *path = s->input.path ? s->input.path : "perf.data";
	struct tui_input input = {
		.profile = profile,
		.options = &s->options,
		.folder = folder,
		.is_filtered = input_is_filtered(&s->input),
		.by_total = s->by_total,
		.without_libraries = s->without_libraries,
		.path = path,
		.recorded = input_recorded(path),
		.symfs = s->input.symfs,
		.code = recorded_code(converter),
	};
	int ended_by = 0;
	struct error *error = choose_event(s, profile, &input.answer_event);

	if (error)
		return error;
	vec_for_each(recording, &profile->recordings)
		fault_lines(&recording->faults, FAULT_LINES_DAMAGE, &damage);
	strbuf_puts(&damage, s->unmatched.data);
	input.damage = damage.data;
	error = tui_report(&input, &ended_by);
	if (!error && ended_by)
		raise(ended_by);
	return error;
}

/* Lines that begin so. */
static size_t count_lines(const char *text, const char *begin)
{
	size_t count = 0;

	while (text && *text) {
		count += !strncmp(text, begin, strlen(begin));
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return count;
}

static bool none_matched(const struct report_settings *s)
{
	const char *why = s->unmatched.data;
	size_t symbols = s->options.symbols.count;
	size_t comms = s->options.comms.count;

	return (symbols && count_lines(why, REPORT_NO_FUNCTION) +
					   count_lines(why, REPORT_NO_LINE) >=
				   symbols) ||
	       (comms && count_lines(why, REPORT_NO_THREAD) >= comms);
}

/* A table would be empty, and would not say why. */
static bool is_unmatched(const struct report_settings *s,
			 const struct profile *profile)
{
	return *s->unmatched.data &&
	       (!profile->samples.rows || none_matched(s));
}

static struct error *why_unmatched(const struct report_settings *s)
{
	const char *why = s->unmatched.data;

	return error_create(ERROR_NOT_FOUND, "%.*s", (int)strcspn(why, "\n"),
			    why);
}

static struct error *print_callers(const struct report_settings *s,
				   const struct profile *profile,
				   const struct answer_input *input)
{
	if (input->event == PROFILE_NONE)
		return error_create(ERROR_NOT_FOUND,
				    "no sample has Python frames, so nobody calls '%s'",
				    s->callers);
	return callers_print(profile, input, s->callers, stdout);
}

/* *done is false where the table of entries has to tell. */
static struct error *print_functions(const struct report_settings *s,
				     const struct profile *profile,
				     const struct answer_input *answer,
				     bool *done)
{
	struct answer_input input = *answer;
	struct error *error = choose_one(s, profile, &input.event);

	*done = false;
	if (error || input.event == PROFILE_NONE)
		return error;
	return functions_print(profile, &input, &s->options.symbols, stdout,
			       done);
}

/* Who asked for no table needs none that is empty. */
static bool print_without_samples(const struct report_settings *s,
				  const struct profile *profile)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT, text = STRBUF_INIT;

	if (!shows_answer(s) || s->options.quiet ||
	    !report_without_samples(profile, input_is_filtered(&s->input), &why))
		return false;
	fit_lines(&text, why.data, s->columns);
	fputs(text.data, stdout);
	return true;
}

static struct error *print_report(struct report_settings *s,
				  struct converter *converter)
{
	const char *path = s->input.path ? s->input.path : "perf.data";
	_cleanup_strbuf_ struct strbuf recording = STRBUF_INIT;
	struct answer_input answer = {
		.event_name = s->event,
		.recorded = input_recorded(path),
		.symfs = s->input.symfs,
		.columns = s->columns,
		.columns_given = s->columns_given,
		.is_filtered = input_is_filtered(&s->input),
		.by_total = s->by_total,
		.without_libraries = s->without_libraries,
	};
	_cleanup_profile_ struct profile *profile = NULL;
	struct profile_options options = {
		.aggregate = !report_has_key(&s->options, REPORT_TIME),
		.keep_cpu = report_has_key(&s->options, REPORT_CPU),
	};
	struct error *error;

	input_put_words(&s->input, &recording);
	answer.recording = recording.data;
	error = convert_to_profile(converter, &options, &profile);
	progress_end(&s->progress);
	if (!error)
		error = report_unmatched(&s->options, &s->input, profile,
					 converter, wants_functions(s),
					 &s->unmatched);
	if (error)
		return error;
	if (s->tui)
		return is_unmatched(s, profile) ?
			       why_unmatched(s) :
			       show_report(s, profile, converter);
	/* perf prints the empty table. */
	s->is_empty = is_unmatched(s, profile) &&
		      !s->options.quirks.whole_names_only;
	if (s->is_empty)
		return NULL;
	if (wants_functions(s))
		error = print_functions(s, profile, &answer, &s->is_told);
	if (!error && !s->is_told)
		error = choose_event(s, profile, &answer.event);
	if (error || s->is_told)
		return error;
	if (s->callers)
		return print_callers(s, profile, &answer);
	if (answer.event != PROFILE_NONE)
		return answer_print(profile, &answer, stdout);
	if (print_without_samples(s, profile))
		return NULL;
	s->has_callers = answer_event(profile) != PROFILE_NONE;
	return report_write(profile, &s->options, stdout);
}

static struct error *print(struct report_settings *s,
			   struct converter *converter)
{
	if (s->header_only)
		return header_print(converter);
	if (s->stats)
		return print_stats(converter_reader(converter));
	if (s->tasks)
		return report_tasks(converter_reader(converter), stdout);
	return print_report(s, converter);
}

/*
 * Who asks for one function and nothing else may have meant what kaa says of it, and
 * not perf's table.
 */
static void name_other_reports(const struct report_settings *s)
{
	_cleanup_strbuf_ struct strbuf recording = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *word;
	size_t columns;

	if (!s->wants_symbols || s->wants_table || s->tui || s->is_empty ||
	    s->is_told || wants_text(s) || s->options.symbols.count != 1)
		return;
	word = s->options.symbols.values[0];
	input_put_words(&s->input, &recording);
	columns = answer_columns_given(STDERR_FILENO);
	answer_name_command(recording.data, columns, "With the source:   ",
			    "annotate", word, &text);
	if (s->has_callers)
		answer_name_command(recording.data, columns,
				    "Who calls it:      ", "report --callers",
				    word, &text);
	message_commands(text.data);
}

static struct error *run(void *arg, const struct arguments *args,
			 int *exit_code)
{
	struct report_settings *settings = arg;
	_cleanup_(cleanup_converter_) struct converter *converter = NULL;
	struct pager pager = {};
	struct error *error =
		input_take_arguments(&settings->input, args,
				     ", and a function with 'kaa annotate' or 'kaa report --callers'");

	if (!error)
		error = prepare(settings);
	if (!error)
		error = choose_form(settings);
	progress_start(&settings->progress, &settings->input.options);
	if (!error)
		error = input_open(&settings->input, &converter);
	if (error)
		return error;
	settings->columns = answer_columns(STDOUT_FILENO);
	settings->columns_given = answer_columns_given(STDOUT_FILENO);
	if (isatty(STDOUT_FILENO))
		settings->options.title_columns = settings->columns;
	if (!settings->tui)
		pager_start(&pager);
	error = print(settings, converter);
	progress_end(&settings->progress);
	pager_end(&pager);
	if (!settings->header_only && !settings->stats && !settings->tasks)
		error = missing_report_damage(converter, error, exit_code);
	if (!error && !settings->options.quiet)
		unmatched_print(&settings->unmatched);
	if (!error)
		name_other_reports(settings);
	if (settings->is_empty)
		*exit_code = EXIT_CODE_FAILED;
	return error;
}

static void set_defaults(void *arg)
{
	struct report_settings *settings = arg;

	input_set_defaults(&settings->input);
	report_options_init(&settings->options);
	settings->unmatched = (struct strbuf)STRBUF_INIT;
}

static void deinit(void *arg)
{
	struct report_settings *settings = arg;

	vec_deinit(&settings->comm_list);
	vec_deinit(&settings->dso_list);
	vec_deinit(&settings->symbol_list);
	strbuf_deinit(&settings->unmatched);
	input_deinit(&settings->input);
}

/* With this an option asks for the table. */
#define TABLE .given = OPTION_GIVEN(struct report_settings, wants_table)

static const struct option options[] = {
	OPT_GROUP("Input"),
	INPUT_FILE_OPTIONS(struct report_settings),
	OPT_GROUP("Samples"),
	INPUT_FILTER_OPTIONS(struct report_settings),
	OPT_GROUP("Entries"),
	OPT_CALL('s', "sort", parse_sort, "<key,...>",
		 "group samples by these keys and sort by them: comm, dso, symbol, parent, srcline, srcfile, pid, tid, tgid, thread, cpu, time; +key adds to the default keys",
		 .values = report_column_words,
		 TABLE),
	OPT_CALL('F', "fields", parse_fields, "<key,...>",
		 "show these columns from left to right: sort keys, overhead, overhead_children, sample, period; +key adds to the default columns",
		 .values = report_column_words,
		 TABLE),
	OPT_BOOL(0, "children", struct report_settings, options.children,
		 "count the samples of callees for their callers, too (default with callchains; --no-children: count the own ones only)",
		 TABLE),
	OPT_STRING('p', "parent", struct report_settings, options.parent,
		   "<regex>",
		   "group samples by the first function in their callchain that matches (sort key parent)",
		 TABLE),
	OPT_BOOL('x', "exclude-other", struct report_settings,
		 options.exclude_other, "show only entries with such a function in their callchain",
		 TABLE),
	OPT_STRING(0, "ignore-callees", struct report_settings,
		   options.ignore_callees, "<regex>",
		   "count the samples of callees for these functions themselves, and leave the callees out",
		 TABLE),
	OPT_CALL(0, "time-quantum", parse_quantum, "<n>(s|ms|us|ns)",
		 "set the length of a time slice for --sort time (default: 100ms)",
		 TABLE),
	OPT_STRING('c', "comms", struct report_settings, input.comms,
		   "<name,...>", "show only threads, or tasks of asyncio, with these names"),
	OPT_STRING('d', "dsos", struct report_settings, dsos, "<dso,...>",
		   "show only entries in these DSOs",
		 TABLE),
	OPT_STRING('S', "symbols", struct report_settings, symbols,
		   "<symbol,...>",
		   "show these functions, their hottest lines and callers; in a table only these: by name, file.py or file.py:37",
		 .given = OPTION_GIVEN(struct report_settings, wants_symbols)),
	OPT_BOOL('U', "hide-unresolved", struct report_settings,
		 options.hide_unresolved, "show only functions with a name",
		 TABLE),
	OPT_STRING(0, "symbol-filter", struct report_settings,
		   options.symbol_filter, "<text>",
		   "show only functions whose name contains this text",
		 TABLE),
	OPT_CALL(0, "percent-limit", parse_percent_limit, "<percent>",
		 "leave out entries and branches of call graphs below this percentage",
		 TABLE),
	OPT_CALL(0, "percentage", parse_percentage, "<relative|absolute>",
		 "compute percentages of the samples that filters leave (relative) or of all samples (absolute, default)",
		 TABLE),
	OPT_GROUP("Output"),
	OPT_BOOL(0, "stdio", struct report_settings, stdio,
		 "print text to standard output (default unless that is a terminal)"),
	OPT_BOOL(0, "tui", struct report_settings, tui,
		 "browse the report on the terminal: open, zoom, annotate (default on a terminal)"),
	OPT_BOOL(0, "total", struct report_settings, by_total,
		 "show functions and lines by total time, with the Python functions that they call, instead of own time"),
	OPT_BOOL(0, "no-libraries", struct report_settings, without_libraries,
		 "count the time in installed packages and the standard library for the functions of your own files that call them"),
	OPT_STRING(0, "event", struct report_settings, event, "<event>",
		   "show samples of this event (default: the first of waits, or else of the processor's time; of a table, each event)",
		   .values = event_words),
	OPT_STRING(0, "callers", struct report_settings, callers, "<function>",
		   "show who calls a Python function, from which lines: by name, file.py or file.py:37"),
	OPT_BOOL('q', "quiet", struct report_settings, options.quiet,
		 "print only entries, without headers and notes",
		 TABLE),
	OPT_BOOL('n', "show-nr-samples", struct report_settings,
		 options.samples, "show the number of samples",
		 TABLE),
	OPT_BOOL(0, "show-total-period", struct report_settings,
		 options.period, "show the sum of the periods",
		 TABLE),
	OPT_CALL('g', "call-graph", parse_callgraph,
		 "<graph,0.5,caller,function,percent>",
		 "choose how call graphs are shown: type, threshold, print limit, order, sort key, value",
		 .values = report_callgraph_words,
		 .flags = OPTION_ARG_UNLESS_LAST,
		 TABLE),
	OPT_CALL('G', "inverted", parse_inverted, "<as -g,...>",
		 "show call graphs from the outermost caller down",
		 .values = report_callgraph_words,
		 .flags = OPTION_ARG_UNLESS_LAST,
		 TABLE),
	OPT_CALL(0, "group", parse_group, NULL,
		 "show the events of a group in one table (default); without recorded groups, show all events in one",
		 TABLE),
	OPT_BOOL(0, "native", struct report_settings, wants_table,
		 "show native functions as entries, too: the table that perf report prints",
		 TABLE),
	OPT_BOOL(0, "python-only", struct report_settings, options.python_only,
		 "count native and kernel functions as the Python functions that call them",
		 TABLE),
	OPT_BOOL(0, "interpreter-frames", struct report_settings,
		 options.interpreter_frames,
		 "show the frames of the interpreter itself, too",
		 TABLE),
	OPT_CALL('t', "field-separator", parse_separator, "<text>",
		 "put this text between columns instead of aligning them",
		 TABLE),
	OPT_CALL('w', "column-widths", parse_widths, "<width,...>",
		 "set the widths of the columns from left to right (0: as needed)",
		 TABLE),
	OPT_BOOL(0, "full-source-path", struct report_settings,
		 options.full_source_path, "show source files with their directories",
		 TABLE),
	OPT_BOOL(0, "header", struct report_settings, options.header,
		 "print information about the recording first",
		 TABLE),
	OPT_BOOL(0, "header-only", struct report_settings, header_only,
		 "print only that information"),
	OPT_BOOL(0, "stats", struct report_settings, stats,
		 "print the number of records of each type instead"),
	OPT_BOOL(0, "tasks", struct report_settings, tasks,
		 "print the threads instead, each below the thread that started it"),
	OPT_GROUP("Names"),
	INPUT_NAME_OPTIONS(struct report_settings),
	OPT_ABSENT(0, "stdout", "'--stdio' prints the report"),
	OPT_ABSENT('o', "output", "'kaa report --stdio >FILE' writes a file"),
	OPT_ABSENT(0, "mode", OPTION_ABSENT_MODE),
	OPT_ABSENT(0, "html", "'kaa flamegraph' writes a page"),
	OPT_ABSENT(0, "json", "'kaa export' writes files for other programs"),
	OPT_END(),
};

const struct command command_report = {
	.name = "report",
	.summary = "show where the time in a recording went",
	.usage = (const char *const[]){ "[<options>]", NULL },
	.description =
		"Shows which Python functions and lines the time of a recording went to. "
		"Own time of a function includes the C code and the kernel code that it calls.\n"
		"\n"
		"Options of the entries ask for the table that perf report --stdio prints: "
		"the functions of a recording, heaviest first, each with its call graph. "
		"Python functions are entries like all others there. "
		"The interpreter's own frames are folded into the Python functions that they run.\n"
		"\n"
		"On a terminal you can move in both: open rows, see the source of a row and who calls it, zoom and search. "
		"Press h to see the keys, x to go from one to the other. "
		"Elsewhere, and with --stdio, the report is text.\n"
		"\n" INPUT_FUNCTION_NAMES
		"-S, --symbol-filter, -p and --ignore-callees take all of these.",
	.options = options,
	.examples = (const char *const[]){
		"kaa report --stdio\tshow functions and lines by own time",
		"kaa report -n -g\tshow who calls whom",
		"kaa report --no-children -g callee\tshow who called the hottest functions",
		"kaa report -S dedupe\tshow a function: its time, its hottest lines, who calls it",
		"kaa report --callers dedupe\tshow who calls a function, and from which lines",
		"kaa report -g caller,srcline --sort symbol,srcline\tsplit functions by line",
		NULL },
	.files = (const char *const[]){ MANUAL_FILE_RECORDING,
		MANUAL_FILE_DEBUG, NULL },
	.environment = (const char *const[]){ MANUAL_COLUMNS,
		MANUAL_NO_COLOR,
		"TERM\tWhich terminal this is.",
		MANUAL_PAGER,
		MANUAL_LESS,
		MANUAL_HOME, NULL },
	.settings_size = sizeof(struct report_settings),
	.set_defaults = set_defaults,
	.run = run,
	.deinit = deinit,
};
