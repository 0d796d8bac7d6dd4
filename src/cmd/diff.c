// SPDX-License-Identifier: GPL-2.0-only
/* `kaa diff`: which Python code takes more or less time than before. */
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/message.h"
#include "cmd/framework/pager.h"
#include "cmd/framework/progress.h"
#include "cmd/reading/answer_print.h"
#include "cmd/reading/diff_events.h"
#include "cmd/reading/diff_page.h"
#include "cmd/reading/diff_sources.h"
#include "cmd/reading/input.h"
#include "cmd/reading/missing.h"
#include "sys/event_parse.h"
#include "view/answer.h"
#include "view/diff_text.h"

enum {
	SIDES = 2,
	/* Of one side. */
	RECORDINGS_MAX = 100,
};

struct diff_settings {
	struct input input;
	struct progress progress;
	const char *event;
	const char *by_text;
	/* Of the flame graph, if one is wanted. */
	struct flame_file page;
	bool by_total;
	bool has_limit;
	double percent_limit;
	/* The recordings; those before first. */
	struct input_words paths;
	size_t before;
	VEC(uint32_t) events;
};

/* --- Options ------------------------------------------------------------ */

static struct error *parse_percent_limit(void *arg, const struct option *option,
					 const char *text, bool negated)
{
	struct diff_settings *s = arg;

	(void)option;
	s->has_limit = true;
	s->percent_limit = 0;
	return negated ? NULL : option_parse_percent(text, &s->percent_limit);
}

/* A file whose name has a comma is one file. */
static struct error *add_paths(struct diff_settings *s, const char *text)
{
	size_t before = s->paths.count;
	struct error *error = NULL;

	if (access(text, F_OK))
		error = input_split(&s->input, text, &s->paths);
	else if (!vec_push(&s->paths, text))
		error = error_no_memory();
	if (error)
		return error;
	if (s->paths.count == before)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' names no recording", text);
	if (s->paths.count - before > RECORDINGS_MAX)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' names more than %d recordings", text,
				    RECORDINGS_MAX);
	return NULL;
}

static struct error *check_count(const struct arguments *args)
{
	if (!args->count || args->count == SIDES)
		return NULL;
	if (args->count == 1 && access(args->values[0], F_OK) &&
	    strchr(args->values[0], ','))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' are runs of one side: name those of the other, too, behind a space",
				    args->values[0]);
	if (args->count == 1)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' is one recording, and nothing to compare it with: name two, the one before and the one after",
				    args->values[0]);
	return error_create(ERROR_INVALID_ARGUMENT,
			    "%zu recordings are named: name two, the one before and the one after; several runs of a side stand with commas between them, as in 'a1,a2 b1,b2'",
			    args->count);
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* It is legal, and no comparison of two runs. */
static void say_same_files(const struct diff_settings *s)
{
	bool is_said[SIDES] = {};

	for (size_t i = 0; i < s->paths.count; i++) {
		for (size_t k = 0; k < i; k++) {
			bool is_across = k < s->before && i >= s->before;

			if (is_said[is_across] ||
			    !is_same_file(s->paths.data[k], s->paths.data[i]))
				continue;
			is_said[is_across] = true;
			message_warn(is_across ?
					     "'%s' is before and after: it is compared with itself" :
					     "'%s' is named twice for one side, as if it were two runs",
				     s->paths.data[i]);
		}
	}
}

static struct error *name_recordings(struct diff_settings *s,
				     const struct arguments *args)
{
	/* What record has left, as in perf. */
	static const char *const defaults[SIDES] = { "perf.data.old",
						     "perf.data" };
	struct error *error = check_count(args);

	if (error)
		return error;
	if (!args->count && access(defaults[0], F_OK) &&
	    access(defaults[1], F_OK))
		return error_create(ERROR_NOT_FOUND,
				    "there are no recordings here to compare: make one before and one after with 'kaa record COMMAND', or name two, 'kaa diff OLD NEW'");
	if (!args->count && access(defaults[0], F_OK))
		return error_create(ERROR_NOT_FOUND,
				    "there is one recording, 'perf.data', and nothing to compare it with: record once more (the last one is kept as 'perf.data.old'), or name two, 'kaa diff OLD NEW'");
	for (size_t i = 0; !error && i < SIDES; i++) {
		error = add_paths(s, args->count ? args->values[i] : defaults[i]);
		if (!i)
			s->before = s->paths.count;
	}
	if (!error)
		say_same_files(s);
	return error;
}

/* --- Reading ------------------------------------------------------------ */

static struct error *add_recording(struct diff_settings *s, size_t i,
				   struct profile *profile, int *exit_code)
{
	_cleanup_(cleanup_converter_) struct converter *converter = NULL;
	const struct faults *faults;
	struct error *error;

	s->input.path = s->paths.data[i];
	error = input_open(&s->input, &converter);
	if (!error)
		error = convert_add_to_profile(converter, profile);
	if (error)
		return error;
	faults = &vec_last(&profile->recordings)->faults;
	missing_warn_of(s->paths.data[i], faults, FAULT_LINES_DAMAGE);
	missing_warn_of(s->paths.data[i], faults, FAULT_LINES_FILE);
	missing_set_exit_code(faults, exit_code);
	return NULL;
}

static struct error *read_recordings(struct diff_settings *s,
				     struct profile **ret, int *exit_code)
{
	_cleanup_profile_ struct profile *profile = NULL;
	struct error *error = profile_create(NULL, &profile);

	progress_start(&s->progress, &s->input.options);
	for (size_t i = 0; !error && i < s->paths.count; i++)
		error = add_recording(s, i, profile, exit_code);
	progress_end(&s->progress);
	if (!error)
		*ret = take_ptr(profile);
	return error;
}

/* --- Events ------------------------------------------------------------- */

static bool has_filter(const struct input *input)
{
	return input->comms || input->pids || input->tids || input->cpus ||
	       input->time;
}

static struct error *find_events(struct diff_settings *s,
				 const struct profile *profile)
{
	uint32_t first = answer_event(profile);
	const char *name = s->event;
	const struct diff_event_search search = { .profile = profile,
						  .paths = s->paths.data,
						  .is_asked = name };
	struct error *error = NULL;

	if (!name && first == PROFILE_NONE && has_filter(&s->input))
		return error_create(ERROR_NOT_FOUND,
				    "no samples of CPU time with Python frames pass the filters");
	if (!name && first == PROFILE_NONE)
		return error_create(ERROR_NOT_FOUND,
				    "the recordings have no samples of CPU time with Python frames; name another event with --event, or compare native functions with 'perf diff'");
	if (!name)
		name = profile_string(profile, profile->events.data[first].name,
				      "");
	for (uint32_t i = 0; !error && i < s->paths.count; i++) {
		uint32_t event = PROFILE_NONE;

		error = diff_event_find(&search, i, name, &event);
		if (!error && !vec_push(&s->events, event))
			error = error_no_memory();
	}
	return error;
}

/* --- By time or by share ------------------------------------------------ */

static const char *what_is_compared(const struct profile_event *event)
{
	if (event->unit != EVENT_NANOSECONDS)
		return "Compared are the counts of a run; --by share compares shares of them.";
	switch (event->kind) {
	case EVENT_WALL:
		return "Compared is the wall time of a run; --by share compares shares of it.";
	case EVENT_TASKS:
		return "Compared is the time of tasks of a run; --by share compares shares of it.";
	case EVENT_WAIT:
		return "Compared is the waiting time of a run; --by share compares shares of it.";
	case EVENT_GIL:
		return "Compared is the time with the GIL of a run; --by share compares shares of it.";
	default:
		return "Compared is the CPU time of a run; --by share compares shares of it.";
	}
}

static struct error *choose_by(const struct diff_settings *s,
			       const struct profile *profile,
			       struct diff_text_options *ret)
{
	const char *text = s->by_text;

	if (text && strcmp(text, "time") && strcmp(text, "share"))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "--by is 'time' or 'share', not '%s'", text);
	ret->by = text && !strcmp(text, "share") ? OWN_DIFF_BY_SHARE :
						   OWN_DIFF_BY_TIME;
	if (text)
		return NULL;
	ret->why = what_is_compared(&profile->events.data[s->events.data[0]]);
	vec_for_each(recording, &profile->recordings) {
		if (metadata_subject(&recording->metadata) ==
		    SUBJECT_COMMAND)
			continue;
		ret->by = OWN_DIFF_BY_SHARE;
		ret->why = "Shares are compared: a recording is of what ran already; or choose --by time.";
	}
	return NULL;
}

/* --- Output ------------------------------------------------------------- */

/* The oldest of a side's recordings, as far as their files tell. */
static int64_t recorded_at(const struct diff_settings *s, bool is_after)
{
	size_t end = is_after ? s->paths.count : s->before;
	int64_t oldest = 0;

	for (size_t i = is_after ? s->before : 0; i < end; i++) {
		int64_t time = input_recorded(s->paths.data[i]);

		if (time && (!oldest || time < oldest))
			oldest = time;
	}
	return oldest;
}

static struct error *print(struct diff_settings *s,
			   const struct profile *profile, size_t columns)
{
	_cleanup_free_ char *folder = getcwd(NULL, 0);
	_cleanup_own_diff_ struct own_diff *diff = NULL;
	_cleanup_diff_sources_ struct diff_sources sources = {
		.profile = profile,
		.before = { .symfs = s->input.symfs,
			    .recorded = recorded_at(s, false) },
		.after = { .symfs = s->input.symfs,
			   .recorded = recorded_at(s, true) },
	};
	struct diff_text_options text = {
		.columns = columns,
		.folder = folder,
		.paths = s->paths.data,
		.by_total = s->by_total,
		.percent_limit = s->percent_limit,
		.all_rows = s->has_limit,
		.source = diff_sources_put,
		.source_notes = diff_sources_notes,
		.source_arg = &sources,
	};
	struct own_diff_options options = {
		.events = s->events.data,
		.before = s->before,
		.after = s->paths.count - s->before,
		.lines = diff_sources_lines,
		.line_after = diff_sources_line_after,
		.arg = &sources,
	};
	struct error *error = choose_by(s, profile, &text);

	options.by = text.by;
	if (!error)
		error = own_diff_create(profile, &options, &diff);
	if (!error && s->page.path)
		return diff_page_write(
			&(struct diff_page){ profile, diff, s->paths.data,
					     s->before, text.by, folder },
			&s->page);
	if (!error && s->by_total)
		own_diff_sort(diff, true);
	/* Names are shown as far as the user's terminal knows their letters. */
	setlocale(LC_CTYPE, "");
	return error ? error : diff_text_write(profile, diff, &text, stdout);
}

static struct error *run(void *arg, const struct arguments *args,
			 int *exit_code)
{
	struct diff_settings *s = arg;
	_cleanup_profile_ struct profile *profile = NULL;
	struct pager pager = {};
	size_t columns = answer_columns(STDOUT_FILENO);
	struct error *error = name_recordings(s, args);

	if (!error && s->page.path)
		error = flame_file_choose(&s->page);
	if (!error)
		error = input_prepare(&s->input);
	if (!error)
		error = read_recordings(s, &profile, exit_code);
	if (!error)
		error = find_events(s, profile);
	if (error)
		return error;
	if (!s->page.path)
		pager_start(&pager);
	error = print(s, profile, columns);
	pager_end(&pager);
	return error;
}

static void set_defaults(void *arg)
{
	struct diff_settings *s = arg;

	input_set_defaults(&s->input);
	/* Only Python frames are shown. */
	s->input.inlines = false;
	s->percent_limit = 1;
}

static void deinit(void *arg)
{
	struct diff_settings *s = arg;

	vec_deinit(&s->paths);
	vec_deinit(&s->events);
	input_deinit(&s->input);
}

static const struct option options[] = {
	OPT_GROUP("Comparison"),
	OPT_STRING(0, "by", struct diff_settings, by_text, "<time|share>",
		   "compare what a run took, or the shares of it (default: time, and share where a recording is of what ran already)"),
	OPT_STRING(0, "event", struct diff_settings, event, "<event>",
		   "compare samples of this event (default: the first of CPU time)",
		   .values = event_words),
	OPT_BOOL(0, "total", struct diff_settings, by_total,
		 "show total time, with the Python functions that are called, instead of own time"),
	OPT_CALL(0, "percent-limit", parse_percent_limit, "<percent>",
		 "show all rows that changed by at least this percentage of all (default: 1, and at most 15 functions and 10 lines)"),
	OPT_STRING('o', "output", struct diff_settings, page.path, "<file>",
		   "write a flame graph of the change instead, more time in red, less in blue: a page (.html) or a picture (.svg)"),
	OPT_GROUP("Samples"),
	OPT_STRING('c', "comms", struct diff_settings, input.comms,
		   "<name,...>", "use only samples of threads with these names"),
	INPUT_FILTER_OPTIONS(struct diff_settings),
	OPT_GROUP("Files"),
	OPT_BOOL('f', "force", struct diff_settings, input.force,
		 "read the recordings even if another user owns them"),
	OPT_STRING(0, "symfs", struct diff_settings, input.symfs, "<dir>",
		   "look for files below this directory"),
	OPT_END(),
};

const struct command command_diff = {
	.name = "diff",
	.summary = "show which Python code takes more or less time than before",
	.usage = (const char *const[]){ "[<options>] <before> <after>",
					"[<options>] <before>,<before>,... <after>,<after>,...",
					NULL },
	.description =
		"Compares the own time of Python functions and lines in two recordings, "
		"largest change first. "
		"Without names they are perf.data.old and perf.data.\n"
		"\n"
		"A change is called real if chance rarely makes one as large: "
		"of all changes that are called so, at most one of 100 is expected to be chance. "
		"'maybe' is beyond its +-, but so may be one function in twenty by chance. "
		"All others are noise. "
		"Behind +- stands how far off a change may be (95 of 100 times).\n"
		"\n"
		"Runs of one program differ, too. "
		"With one recording of each, they are taken to differ by 5 %, and real? stands there. "
		"Several recordings of each tell by how much. Three of each are a good start.",
	.options = options,
	.examples = (const char *const[]){
		"kaa diff old.data new.data\tcompare two recordings",
		"kaa diff a1.data,a2.data,a3.data b1.data,b2.data,b3.data\tcompare three runs with three others",
		"kaa diff --by share old.data new.data\tcompare shares of CPU time",
		"kaa diff -o change.html old.data new.data\tdraw a flame graph in red and blue",
		NULL },
	.files = (const char *const[]){ MANUAL_FILE_RECORDING,
		MANUAL_FILE_DEBUG, NULL },
	.environment = (const char *const[]){ MANUAL_COLUMNS,
		MANUAL_PAGER,
		MANUAL_LESS,
		MANUAL_HOME, NULL },
	.settings_size = sizeof(struct diff_settings),
	.set_defaults = set_defaults,
	.run = run,
	.deinit = deinit,
};
