// SPDX-License-Identifier: GPL-2.0-only
/* `kaa annotate`: source lines with the time that was spent in them. */
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plural.h"
#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/pager.h"
#include "cmd/framework/progress.h"
#include "cmd/reading/answer_print.h"
#include "cmd/reading/input.h"
#include "cmd/reading/missing.h"
#include "cmd/reading/recorded_code.h"
#include "cmd/reading/unmatched_tasks.h"
#include "explore/joined_parts.h"
#include "explore/line_function.h"
#include "explore/listing.h"
#include "explore/native_listing.h"
#include "explore/no_python_listing.h"
#include "explore/python_listing.h"
#include "profile/sample_faults.h"
#include "sys/event_parse.h"
#include "view/answer.h"
#include "view/fault_text.h"
#include "view/place_name.h"
#include "view/symbol_near.h"
#include "view/text.h"

enum {
	/* Parts that one word, and that no word shows. */
	WORD_PARTS_MAX = 8,
	HOTTEST_MAX = 8,
	/* Of those that are left out, so many are named. */
	NAMED_MAX = 3,
};

enum color_mode {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER,
};

struct annotate_settings {
	struct input input;
	struct progress progress;
	struct listing_options options;
	/* answer_columns_given() */
	size_t columns_given;
	enum color_mode color;
	struct option_list event_words;
	const char *symbols;
	bool samples;
	bool period;
	/* Understood for perf's sake: there is nothing else. */
	bool stdio;
	/* Owned. */
	struct input_words words;
	VEC(uint32_t) events;
};

/* --- Options ------------------------------------------------------------ */

static const char *const modes[] = { [COLOR_AUTO] = "auto",
				     [COLOR_ALWAYS] = "always",
				     [COLOR_NEVER] = "never" };

static void mode_words(struct strbuf *out)
{
	for (unsigned int i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		strbuf_printf(out, "%s ", modes[i]);
}

static struct error *parse_color(void *arg, const struct option *option,
				 const char *text, bool negated)
{
	struct annotate_settings *settings = arg;

	(void)option;
	for (unsigned int i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		if (strcmp(negated ? "never" : text, modes[i]) != 0)
			continue;
		settings->color = (enum color_mode)i;
		return NULL;
	}
	return error_create(ERROR_INVALID_ARGUMENT,
			    "--color is 'auto', 'always' or 'never', not '%s'",
			    text);
}

static const char *const types[] = { "global-period", "global-hits",
				     "local-period", "local-hits" };

static void type_words(struct strbuf *out)
{
	for (unsigned int i = 0; i < sizeof(types) / sizeof(*types); i++)
		strbuf_printf(out, "%s ", types[i]);
}

static struct error *parse_percent_type(void *arg, const struct option *option,
					const char *text, bool negated)
{
	struct annotate_settings *settings = arg;

	(void)option;
	for (unsigned int i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (strcmp(negated ? types[0] : text, types[i]) != 0)
			continue;
		settings->options.counts_hits = i & 1;
		settings->options.is_local = i & 2;
		return NULL;
	}
	return error_create(
		ERROR_INVALID_ARGUMENT,
		"--percent-type is 'global-period', 'local-period', 'global-hits' or 'local-hits', not '%s'",
		text);
}

static struct error *parse_context(void *arg, const struct option *option,
				   const char *text, bool negated)
{
	struct annotate_settings *settings = arg;
	uint64_t lines = 0;
	struct error *error = NULL;

	(void)option;
	if (!negated)
		error = option_parse_u64(text, &lines);
	if (error)
		return error;
	settings->options.has_context = !negated;
	settings->options.context = lines < UINT32_MAX ? lines : UINT32_MAX;
	return NULL;
}

/* https://no-color.org: set to anything, it means none. */
static bool wants_color(const struct annotate_settings *s)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	if (s->color != COLOR_AUTO)
		return s->color == COLOR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(none && *none) && term &&
	       strcmp(term, "dumb") != 0;
}

static struct error *prepare(struct annotate_settings *s,
			     const struct arguments *args)
{
	struct error *error = input_split(&s->input, s->symbols, &s->words);

	for (size_t i = 0; i < args->count && !error; i++) {
		bool taken;

		error = input_take_word(&s->input, args->values[i], &taken);
		if (!error && !taken && !vec_push(&s->words, args->values[i]))
			error = error_no_memory();
	}
	if (!error && s->samples && s->period)
		error = error_create(
			ERROR_INVALID_ARGUMENT,
			"use either --show-nr-samples or --show-total-period, not both");
	if (s->samples || s->period)
		s->options.value = s->samples ? LISTING_SAMPLES :
						LISTING_PERIOD;
	s->options.only_hottest = !s->words.count;
	s->options.color = wants_color(s);
	/* A pager takes the terminal's place later on. */
	s->options.columns = answer_columns(STDOUT_FILENO);
	s->columns_given = answer_columns_given(STDOUT_FILENO);
	s->input.options.inlines = s->input.inlines;
	return error ? error : input_prepare(&s->input);
}

/* --- Events ------------------------------------------------------------- */

static bool has_samples(const struct profile_event *event)
{
	return event->samples && event_kind_is_shown(event->kind);
}

/* "cycles" is "cycles:u", too. */
static bool is_called(const char *name, const char *word)
{
	size_t n = strlen(word);

	return !strncmp(name, word, n) && (!name[n] || name[n] == ':');
}

static struct error *no_event(const struct profile *profile, const char *word)
{
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;

	vec_for_each(event, &profile->events) {
		if (!has_samples(event))
			continue;
		strbuf_puts(&names, names.len ? ", " : "");
		text_string(&names, profile, event->name, "?");
	}
	return error_create(
		ERROR_NOT_FOUND,
		"no event with samples is called '%s'; the recording has %s",
		word, names.len ? names.data : "none");
}

static struct error *add_event(struct annotate_settings *s, size_t event)
{
	vec_for_each(known, &s->events)
		if (*known == event)
			return NULL;
	return vec_push(&s->events, (uint32_t)event) ? NULL :
						       error_no_memory();
}

static struct error *add_events_called(struct annotate_settings *s,
				       const struct profile *profile,
				       const char *word)
{
	struct error *error = NULL;
	bool found = false;

	for (size_t i = 0; i < profile->events.count && !error; i++) {
		const struct profile_event *event = &profile->events.data[i];

		if (!has_samples(event) ||
		    !is_called(profile_string(profile, event->name, ""), word))
			continue;
		found = true;
		error = add_event(s, i);
	}
	return error || found ? error : no_event(profile, word);
}

/* By event: a sample has Python code; NULL for want of memory. */
static bool *find_python_events(const struct profile *p)
{
	_cleanup_free_ bool *stacks =
		calloc(p->stack_parents.count + 1, sizeof(*stacks));
	bool *events = calloc(p->events.count + 1, sizeof(*events));

	if (stacks)
		profile_find_python(p, stacks);
	for (size_t i = 0; stacks && events && i < p->samples.rows; i++) {
		uint32_t stack = p->samples.stack[i];

		if (stack != PROFILE_NONE && stacks[stack])
			events[p->samples.event[i]] = true;
	}
	if (stacks)
		return events;
	free(events);
	return NULL;
}

/* The one that the report shows, before the others. */
static void begin_with_answer(struct annotate_settings *s,
			      const struct profile *profile)
{
	uint32_t first = answer_event(profile);

	for (size_t i = 1; i < s->events.count; i++) {
		if (s->events.data[i] != first)
			continue;
		memmove(s->events.data + 1, s->events.data,
			i * sizeof(*s->events.data));
		s->events.data[0] = first;
	}
}

/* Those that were asked for, else all with Python code, else all. */
static struct error *choose_events(struct annotate_settings *s,
				   const struct profile *profile)
{
	_cleanup_free_ bool *has_python = find_python_events(profile);
	struct error *error = has_python ? NULL : error_no_memory();

	vec_for_each(word, &s->event_words)
		if (!error)
			error = add_events_called(s, profile, *word);
	for (size_t i = 0; !error && !s->event_words.count &&
			   i < profile->events.count;
	     i++)
		if (has_python[i] && has_samples(&profile->events.data[i]))
			error = add_event(s, i);
	if (!s->event_words.count)
		begin_with_answer(s, profile);
	for (size_t i = 0; !error && !s->events.count &&
			   i < profile->events.count;
	     i++)
		if (has_samples(&profile->events.data[i]))
			error = add_event(s, i);
	if (!error && !s->events.count)
		error = error_create(
			ERROR_NOT_FOUND,
			"the recording has no samples to show, or filters leave none");
	return error;
}

/* --- Parts -------------------------------------------------------------- */

static struct error *put_part(struct listing *listing,
			      const struct annotate_part *part)
{
	return part->kind == ANNOTATE_NATIVE ?
		       native_listing_put(listing, part) :
		       python_listing_put(listing, part);
}

static const char *recording_path(const struct annotate_settings *s)
{
	return s->input.path ? s->input.path : "perf.data";
}

/* "; what it calls: kaa report ..." */
static void name_table(const struct annotate_settings *s, const char *what,
		       const char *graph, const char *word,
		       const struct annotate_passed *passed,
		       struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf words = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf recording = STRBUF_INIT;

	strbuf_printf(&words, "report --children%s%s -S",
		      passed->is_interpreter ? " --interpreter-frames" : "",
		      graph);
	input_put_words(&s->input, &recording);
	answer_name_command(recording.data, 0, what, words.data, word, out);
	/* Not the end of its line. */
	strbuf_truncate(out, out->len - 1);
}

/* There are no instructions to show, but there is a place in the callchains. */
static struct error *only_passed(const struct annotate_settings *s,
				 const struct listing *l, const char *word,
				 const struct annotate_passed *passed)
{
	const struct own_weight *all = &l->weights->events.data[0].own->all;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text, "%" PRIu64 " sample%s (",
		      passed->weight.samples, plural(passed->weight.samples));
	strbuf_percent(&text, passed->weight.period, all->period);
	strbuf_puts(&text, passed->is_inlined ? ") went through it" : ")");
	if (!passed->is_inlined)
		name_table(s, "; what it calls: ", " -g caller", word,
			   passed, &text);
	name_table(s, "; who calls it: ", " -g callee", word, passed, &text);
	if (passed->is_inlined)
		return error_create(
			ERROR_NOT_FOUND,
			"'%s' is inlined into its callers, so it has no instructions of its own; %s",
			word, text.data);
	return error_create(
		ERROR_NOT_FOUND,
		"no sample hit '%s' itself, only functions that it called: %s",
		word, text.data);
}

/* Why a word shows nothing. */
static struct error *nothing_called(const struct annotate_settings *s,
				    const struct listing *l, const char *word,
				    bool called)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct annotate_passed passed;
	struct symbol_near near;
	struct error *error = annotate_words_pass(
		l->weights, word, input_imitates(&s->input), &passed);

	if (error)
		return error;
	if (passed.weight.samples)
		return only_passed(s, l, word, &passed);
	if (called)
		return error_create(
			ERROR_NOT_FOUND,
			"no sample of the events that are shown is in '%s'",
			word);
	error = symbol_near_init(&near, word, input_imitates(&s->input));
	if (!error)
		error = symbol_near_offer_profile(&near, l->profile, true);
	if (!error)
		symbol_near_format(&near, "no sample is in a function or file called",
				   &text);
	symbol_near_deinit(&near);
	return error ? error :
		       error_create(ERROR_NOT_FOUND, "%s", text.data);
}

static void put_rest_name(struct listing *l, const struct annotate_part *part)
{
	const char *name = profile_string(l->profile, part->name, "?");
	struct python_symbol python;

	if (part->kind == ANNOTATE_FILE || part->kind == ANNOTATE_LINE ||
	    !python_symbol_parse(name, &python)) {
		name = part->kind == ANNOTATE_NATIVE ?
			       name :
			       place_name(l->names, part->file);
		text_append(&l->text, name, strlen(name));
		if (part->kind == ANNOTATE_LINE)
			strbuf_printf(&l->text, ":%" PRIu32, part->line);
		return;
	}
	text_append(&l->text, python.qualname, python.qualname_length);
	strbuf_putc(&l->text, ':');
	name = place_name(l->names, part->file);
	text_append(&l->text, name, strlen(name));
}

/* What one word calls beyond what is shown. */
static void put_rest(struct listing *l, const char *word,
		     const struct annotate_parts *parts)
{
	size_t rest = parts->count - WORD_PARTS_MAX;

	strbuf_puts(&l->text, "\n'");
	text_append(&l->text, word, strlen(word));
	strbuf_printf(&l->text, "' is the name of %zu more, which have less own time: ",
		      rest);
	for (size_t i = 0; i < rest && i < NAMED_MAX; i++) {
		strbuf_puts(&l->text, i ? ", " : "");
		put_rest_name(l, &parts->data[WORD_PARTS_MAX + i]);
	}
	strbuf_puts(&l->text, rest > NAMED_MAX ? ", ...\n" : "\n");
}

/* Where the recording knows no lines: the function that has the line. */
static struct error *add_function_of_line(struct listing *l, const char *word,
					  struct annotate_parts *parts)
{
	struct annotate_part part;

	if (!line_function_find(l->weights, l->sources, word, &part))
		return NULL;
	strbuf_puts(&l->text, l->text.len ? "\n'" : "'");
	text_append(&l->text, word, strlen(word));
	strbuf_puts(&l->text,
		    "' is in this function, of which the recording knows no lines\n");
	return vec_push(parts, part) ? NULL : error_no_memory();
}

/* Of a word that is no function, file or line with samples; or it becomes a part. */
static struct error *put_otherwise(const struct annotate_settings *s,
				   struct listing *l, const char *word,
				   bool called, struct annotate_parts *parts)
{
	const struct own_entry *no_python = no_python_find(
		l->profile, l->weights->events.data[0].own, word);
	struct error *error = NULL;

	if (no_python) {
		no_python_listing_put(l, no_python);
		return NULL;
	}
	if (!called)
		error = add_function_of_line(l, word, parts);
	return error || parts->count ? error :
				       nothing_called(s, l, word, called);
}

static struct error *put_word(const struct annotate_settings *s,
			      struct listing *l, const char *word)
{
	struct annotate_parts parts = {};
	bool called;
	struct error *error = annotate_words_find(
		l->weights, word, input_imitates(&s->input),
		listing_counts_samples(l->options), &parts, &called);

	if (!error && !parts.count)
		error = put_otherwise(s, l, word, called, &parts);
	for (size_t i = 0; i < parts.count && i < WORD_PARTS_MAX && !error; i++)
		error = put_part(l, &parts.data[i]);
	if (!error && parts.count > WORD_PARTS_MAX)
		put_rest(l, word, &parts);
	vec_deinit(&parts);
	return error;
}

/* All that are found; the first that is not is the error. */
static struct error *put_words(const struct annotate_settings *s,
			       struct listing *l)
{
	struct error *first = NULL;

	vec_for_each(word, &s->words) {
		struct error *error = put_word(s, l, *word);

		if (first)
			error_destroy(error);
		else
			first = error;
	}
	return first;
}

/* What was not shown of all functions, and how to see it. */
static void put_more(const struct annotate_settings *s, struct listing *l,
		     uint64_t count, uint64_t rest)
{
	const struct own_weight *all = &l->weights->events.data[0].own->all;
	_cleanup_strbuf_ struct strbuf recording = STRBUF_INIT;

	strbuf_putc(&l->text, '\n');
	if (count) {
		strbuf_printf(&l->text,
			      "%" PRIu64 " other function%s ha%s ", count,
			      count == 1 ? "" : "s", count == 1 ? "s" : "ve");
		strbuf_percent(&l->text, rest,
			       listing_counts_samples(l->options) ?
				       all->samples :
				       all->period);
		strbuf_puts(&l->text, " of own time.\n");
	}
	input_put_words(&s->input, &recording);
	answer_name_command(recording.data, s->columns_given,
			    "All of a function:  ", "annotate FUNCTION", NULL,
			    &l->text);
	answer_name_command(recording.data, s->columns_given,
			    "All of a file:      ", "annotate FILE.py", NULL,
			    &l->text);
}

static struct error *put_hottest(const struct annotate_settings *s,
				 struct listing *l)
{
	struct annotate_parts parts = {};
	uint64_t count, rest;
	struct error *error = annotate_words_hottest(
		l->weights, HOTTEST_MAX, listing_counts_samples(l->options),
		&parts, &count, &rest);

	if (!error && !parts.count)
		error = error_create(
			ERROR_NOT_FOUND,
			"no sample has Python code; name a native function to see its instructions");
	if (!error)
		error = joined_parts(l, &parts);
	vec_for_each(part, &parts)
		if (!error)
			error = put_part(l, part);
	if (!error)
		put_more(s, l, count, rest);
	vec_deinit(&parts);
	return error;
}

/* What is wrong with the samples of an event, as a report says it. */
static struct error *put_notes(struct listing *l, uint32_t event)
{
	_cleanup_faults_ struct faults faults = {};
	uint64_t samples;
	struct error *error =
		sample_faults(l->profile, event, &samples, &faults);

	strbuf_clear(&l->scratch);
	if (!error)
		fault_notes(&faults, samples, "", &l->scratch);
	strbuf_puts(&l->text, l->scratch.data);
	return error;
}

/* What is behind the parts. */
static struct error *put_end(struct listing *l)
{
	size_t before = l->text.len;
	struct error *error;

	if (!before)
		return NULL;
	strbuf_putc(&l->text, '\n');
	error = put_notes(l, l->weights->events.data[0].event);
	listing_put_hidden_events(l);
	listing_wrap(l, before);
	if (l->text.len == before + 1)
		strbuf_truncate(&l->text, before);
	return error;
}

/* --- All ---------------------------------------------------------------- */

static struct error *put_listing(const struct annotate_settings *s,
				 struct listing *l)
{
	struct error *error, *notes_error;

	listing_init(l);
	error = s->words.count ? put_words(s, l) : put_hottest(s, l);
	notes_error = put_end(l);
	fwrite(l->text.data, 1, l->text.len, stdout);
	listing_deinit(l);
	if (!error)
		return notes_error;
	error_destroy(notes_error);
	return error;
}

static struct error *print(struct annotate_settings *s,
			   struct converter *converter,
			   const struct profile *profile)
{
	_cleanup_free_ char *folder = getcwd(NULL, 0);
	_cleanup_weights_ struct weights *weights = NULL;
	_cleanup_place_names_ struct place_names *names = NULL;
	_cleanup_sources_ struct sources sources = {
		.symfs = s->input.symfs,
		.recorded = input_recorded(recording_path(s)),
		.recordings = source_recordings_all(profile),
	};
	struct error *error = choose_events(s, profile);
	struct listing listing = {
		.profile = profile,
		.options = &s->options,
		.sources = &sources,
		.code = recorded_code(converter),
	};

	if (!error)
		error = weights_create(profile, s->events.data,
				       s->events.count, &weights);
	if (!error)
		error = place_names_create(profile, folder, &names);
	if (error)
		return error;
	listing.weights = weights;
	listing.names = names;
	/* Names are shown as far as the user's terminal knows their letters. */
	setlocale(LC_CTYPE, "");
	return put_listing(s, &listing);
}

static struct error *print_recording(struct annotate_settings *s,
				     struct converter *converter,
				     struct strbuf *unmatched)
{
	const struct convert_options *o = &s->input.options;
	const struct profile_options options = { .aggregate = true };
	_cleanup_profile_ struct profile *profile = NULL;
	struct error *error;

	error = convert_to_profile(converter, &options, &profile);
	progress_end(&s->progress);
	if (!error)
		error = unmatched_tasks(converter_seen_tasks(converter),
					&o->comms, &o->pids, &o->tids,
					unmatched);
	return error ? error : print(s, converter, profile);
}

static struct error *run(void *arg, const struct arguments *args,
			 int *exit_code)
{
	struct annotate_settings *settings = arg;
	_cleanup_(cleanup_converter_) struct converter *converter = NULL;
	_cleanup_strbuf_ struct strbuf unmatched = STRBUF_INIT;
	struct pager pager = {};
	struct error *error;

	error = prepare(settings, args);
	if (error)
		return error;
	progress_start(&settings->progress, &settings->input.options);
	error = input_open(&settings->input, &converter);
	if (error)
		return error;
	pager_start(&pager);
	error = print_recording(settings, converter, &unmatched);
	progress_end(&settings->progress);
	pager_end(&pager);
	error = missing_report_damage(converter, error, exit_code);
	unmatched_print(&unmatched);
	return error;
}

static void set_defaults(void *arg)
{
	struct annotate_settings *settings = arg;

	input_set_defaults(&settings->input);
}

static void deinit(void *arg)
{
	struct annotate_settings *settings = arg;

	vec_deinit(&settings->event_words);
	vec_deinit(&settings->words);
	vec_deinit(&settings->events);
	input_deinit(&settings->input);
}

static const struct option options[] = {
	OPT_GROUP("Input"),
	INPUT_FILE_OPTIONS(struct annotate_settings),
	OPT_GROUP("Samples"),
	INPUT_COMMS_OPTION(struct annotate_settings),
	INPUT_FILTER_OPTIONS(struct annotate_settings),
	OPT_LIST('e', "event", struct annotate_settings, event_words,
		 "<event>",
		 "show only this event; repeat it for several (default: all that have Python code)",
		 .values = event_words),
	OPT_STRING('S', "symbols", struct annotate_settings, symbols,
		   "<symbol,...>",
		   "show these functions, files or lines, as without the option"),
	OPT_GROUP("Output"),
	OPT_BOOL('a', "all", struct annotate_settings, options.shows_all,
		 "show all lines, those without samples, too"),
	OPT_CALL(0, "context", parse_context, "<n>",
		 "show <n> lines around those with samples"),
	OPT_BOOL('n', "show-nr-samples", struct annotate_settings, samples,
		 "show numbers of samples instead of percentages"),
	OPT_BOOL(0, "show-total-period", struct annotate_settings, period,
		 "show sums of periods instead of percentages"),
	OPT_CALL(0, "percent-type", parse_percent_type, "<type>",
		 "compute percentages of all samples (global-period, default) or of those of the function or file (local-period), or of numbers of samples (global-hits, local-hits)",
		 .values = type_words),
	OPT_CALL(0, "color", parse_color, "<when>",
		 "show hot lines in color: auto (default: on a terminal), always, never",
		 .flags = OPTION_ARG_STUCK, .default_argument = "always",
		 .values = mode_words),
	OPT_BOOL(0, "stdio", struct annotate_settings, stdio,
		 "accept the option as perf does; the output is always text",
		 .flags = OPTION_HIDDEN),
	OPT_GROUP("Names"),
	INPUT_NAME_OPTIONS(struct annotate_settings),
	OPT_END(),
};

const struct command command_annotate = {
	.name = "annotate",
	.summary = "show source lines with the time spent in them",
	.usage = (const char *const[]){ "[<options>] [<function>|<file>|<line>]...",
					NULL },
	.description =
		"Shows the source of Python functions and files. "
		"Own time of a line includes the C code and the kernel code that it calls. "
		"Total time also has the Python functions that it calls. "
		"Behind the hottest lines stands what their own time was spent in. "
		"Without a name, the surroundings of the hottest lines are shown.\n"
		"\n"
		"Of a native function, such as PyDict_GetItem, the instructions are shown.\n"
		"\n" INPUT_FUNCTION_NAMES
		"The arguments and -S take all of these.",
	.options = options,
	.examples = (const char *const[]){
		"kaa annotate\tshow the hottest lines and what is around them",
		"kaa annotate dedupe\tshow the function dedupe",
		"kaa annotate orders.py\tshow a file, without long runs of lines that have no samples",
		"kaa annotate --all orders.py\tshow all lines of it",
		"kaa annotate orders.py:37\tshow one line, with what is around it",
		NULL },
	.files = (const char *const[]){ MANUAL_FILE_RECORDING,
		MANUAL_FILE_DEBUG, NULL },
	.environment = (const char *const[]){ MANUAL_COLUMNS,
		MANUAL_NO_COLOR,
		MANUAL_PAGER,
		MANUAL_LESS,
		MANUAL_HOME, NULL },
	.settings_size = sizeof(struct annotate_settings),
	.set_defaults = set_defaults,
	.run = run,
	.deinit = deinit,
};
