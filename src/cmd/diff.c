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
#include "cmd/reading/compared.h"
#include "cmd/reading/diff_page.h"
#include "cmd/reading/input.h"
#include "sys/event_parse.h"
#include "view/diff_text.h"

enum {
	SIDES = 2,
	/* Of one side. */
	RECORDINGS_MAX = 100,
};

struct diff_settings {
	struct input input;
	struct progress progress;
	struct compared compared;
	/* Of the flame graph, if one is wanted. */
	struct flame_file page;
	bool by_total;
	bool has_limit;
	double percent_limit;
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
	struct input_words *words = &s->compared.paths;
	size_t before = words->count;
	struct error *error = NULL;

	if (access(text, F_OK))
		error = input_split(&s->input, text, words);
	else if (!vec_push(words, text))
		error = error_no_memory();
	if (error)
		return error;
	if (words->count == before)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' names no recording", text);
	if (words->count - before > RECORDINGS_MAX)
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
	if (args->count == 1 && access(args->values[0], F_OK))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' does not exist, and diff takes two recordings: the one before and the one after",
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
	const struct input_words *paths = &s->compared.paths;
	bool is_said[SIDES] = {};

	for (size_t i = 0; i < paths->count; i++) {
		for (size_t k = 0; k < i; k++) {
			bool is_across = k < s->compared.before &&
					 i >= s->compared.before;

			if (is_said[is_across] ||
			    !is_same_file(paths->data[k], paths->data[i]))
				continue;
			is_said[is_across] = true;
			message_warn(is_across ?
					     "'%s' is before and after: it is compared with itself" :
					     "'%s' is named twice for one side, as if it were two runs",
				     paths->data[i]);
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
			s->compared.before = s->compared.paths.count;
	}
	if (!error)
		say_same_files(s);
	return error;
}

/* --- Output ------------------------------------------------------------- */

static struct error *print(struct diff_settings *s, size_t columns)
{
	struct compared *c = &s->compared;
	_cleanup_free_ char *folder = getcwd(NULL, 0);
	struct diff_text_options text = {
		.columns = columns,
		.folder = folder,
		.paths = c->paths.data,
		.by = c->by,
		.why = c->why,
		.is_filtered = input_is_filtered(c->input),
		.without_libraries = c->without_libraries,
		.by_total = s->by_total,
		.percent_limit = s->percent_limit,
		.all_rows = s->has_limit,
		.source = diff_sources_put,
		.source_notes = diff_sources_notes,
		.source_arg = &c->sources,
	};

	if (s->page.path)
		return diff_page_write(
			&(struct diff_page){ c->profile, c->diff, c->paths.data,
					     c->before, c->by,
					     c->without_libraries, folder },
			&s->page);
	if (s->by_total)
		own_diff_sort(c->diff, true);
	/* Names are shown as far as the user's terminal knows their letters. */
	setlocale(LC_CTYPE, "");
	return diff_text_write(c->profile, c->diff, &text, stdout);
}

static struct error *run(void *arg, const struct arguments *args,
			 int *exit_code)
{
	struct diff_settings *s = arg;
	struct pager pager = {};
	size_t columns = answer_columns(STDOUT_FILENO);
	struct error *error;

	s->compared.input = &s->input;
	s->compared.progress = &s->progress;
	error = name_recordings(s, args);
	if (!error && s->page.path)
		error = flame_file_choose(&s->page);
	if (!error)
		error = input_prepare(&s->input);
	if (!error)
		error = compared_read(&s->compared, exit_code);
	if (!error)
		error = compared_measure(&s->compared);
	if (error)
		return error;
	if (!s->page.path)
		pager_start(&pager);
	error = print(s, columns);
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

	compared_deinit(&s->compared);
	input_deinit(&s->input);
}

static const struct option options[] = {
	OPT_GROUP("Comparison"),
	OPT_STRING(0, "by", struct diff_settings, compared.by_text, "<time|share>",
		   "compare what a run took, or the shares of it (default: time, and share where a recording is of what ran already)"),
	OPT_STRING(0, "event", struct diff_settings, compared.event, "<event>",
		   "compare samples of this event (default: the first of waits, or else of the processor's time)",
		   .values = event_words),
	OPT_BOOL(0, "total", struct diff_settings, by_total,
		 "show total time, with the Python functions that are called, instead of own time"),
	OPT_BOOL(0, "no-libraries", struct diff_settings,
		 compared.without_libraries,
		 "count the time in installed packages and the standard library for the functions of your own files that call them"),
	OPT_CALL(0, "percent-limit", parse_percent_limit, "<percent>",
		 "show all rows that changed by at least this percentage of all (default: 1, and at most 15 functions and 10 lines)"),
	OPT_STRING('o', "output", struct diff_settings, page.path, "<file>",
		   "write a flame graph of the change instead, more time in red, less in blue: a page (.html) or a picture (.svg)"),
	OPT_GROUP("Samples"),
	INPUT_COMMS_OPTION(struct diff_settings),
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
