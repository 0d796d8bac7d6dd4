// SPDX-License-Identifier: GPL-2.0-only
/* `kaa flamegraph`: a recording as a page or a picture for a browser. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/name_match.h"
#include "cmd/framework/command.h"
#include "cmd/framework/message.h"
#include "cmd/framework/progress.h"
#include "cmd/reading/input.h"
#include "cmd/reading/missing.h"
#include "cmd/reading/one_event.h"
#include "cmd/reading/unmatched_tasks.h"
#include "flame/flame_page.h"
#include "flame/flame_tree.h"
#include "profile/own_time.h"
#include "profile/sample_faults.h"
#include "view/answer.h"
#include "view/fault_text.h"
#include "view/place_name.h"
#include "view/spent_text.h"

struct flamegraph_settings {
	struct input input;
	/* "-": standard output. */
	const char *output;
	const char *event;
	bool svg;
	struct flame_options options;
	struct flame_head head;
	struct progress progress;
};

/* --- What stands above the boxes ---------------------------------------- */

/* Columns of a line of the summary, which a page may break. */
enum { SUMMARY_COLUMNS = 200 };

struct head_texts {
	struct strbuf title;
	struct strbuf summary;
	struct strbuf notes;
};

static void head_texts_deinit(struct head_texts *texts)
{
	strbuf_deinit(&texts->title);
	strbuf_deinit(&texts->summary);
	strbuf_deinit(&texts->notes);
}

static bool is_filtered(const struct convert_options *o)
{
	return o->times.count || o->pids.count || o->tids.count ||
	       o->cpus.count || o->comms.count;
}

/* The title, and the lines about the recording. */
static struct error *put_summary(const struct flamegraph_settings *s,
				 const struct profile *profile, uint32_t event,
				 struct own_time *own, struct head_texts *texts)
{
	const struct answer_options options = {
		.columns = SUMMARY_COLUMNS,
		.folder = s->options.folder,
		.is_filtered = is_filtered(&s->input.options),
	};
	_cleanup_place_names_ struct place_names *names = NULL;
	struct strbuf pieces[ANSWER_PIECES];
	struct error *error =
		place_names_create(profile, options.folder, &names);

	for (size_t i = 0; i < ANSWER_PIECES; i++)
		pieces[i] = (struct strbuf)STRBUF_INIT;
	if (!error)
		error = answer_summary(profile, event, &options, own, names,
				       pieces);
	strbuf_printf(&texts->title, "%s - flame graph",
		      pieces[ANSWER_PROGRAM].data);
	for (size_t i = 0; i < ANSWER_PIECES; i++) {
		if (pieces[i].len)
			strbuf_printf(&texts->summary, "%s%s", i ? "   " : "",
				      pieces[i].data);
		strbuf_deinit(&pieces[i]);
	}
	strbuf_puts(&texts->summary, "\nSpent in: ");
	spent_text_kinds(own, &texts->summary);
	strbuf_putc(&texts->summary, '\n');
	return error;
}

/* What is wrong with the recording, and what of it is not drawn. */
static struct error *put_notes(const struct profile *profile, uint32_t event,
			       struct strbuf *out)
{
	_cleanup_faults_ struct faults faults = {};
	uint64_t samples;
	struct error *error = sample_faults(profile, event, &samples, &faults);

	if (error)
		return error;
	for (size_t i = 0; i < profile->events.count; i++) {
		const struct profile_event *other = &profile->events.data[i];

		if (i != event && other->samples &&
		    event_kind_is_shown(other->kind))
			strbuf_printf(out,
				      "Not shown here: %" PRIu64
				      " samples of %s\n",
				      other->samples,
				      profile_string(profile, other->name, ""));
	}
	fault_notes(&faults, samples, "", out);
	return NULL;
}

static struct error *make_head(struct flamegraph_settings *s,
			       const struct profile *profile, uint32_t event,
			       struct head_texts *texts)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	struct error *error = own_time_create(profile, event, &own);

	if (!error)
		error = put_summary(s, profile, event, own, texts);
	if (!error)
		error = put_notes(profile, event, &texts->notes);
	if (!error)
		error = strbuf_error(&texts->title);
	if (!error)
		error = strbuf_error(&texts->summary);
	s->head.title = texts->title.data;
	s->head.summary = texts->summary.data;
	s->head.notes = texts->notes.data;
	s->head.unit = profile->events.data[event].unit;
	return error ? error : strbuf_error(&texts->notes);
}

/* --- The file ----------------------------------------------------------- */

/* Whether there is nothing in the file that kaa did not write. */
static struct error *check_ours(int fd, const char *path)
{
	char begin[FLAME_MARK_WITHIN + 1];
	struct stat status;
	ssize_t n;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		return NULL;
	n = pread(fd, begin, sizeof(begin) - 1, 0);
	if (n < 0)
		return error_os(errno, path, "cannot read the file");
	begin[n] = '\0';
	if (!n || strstr(begin, FLAME_MARK))
		return NULL;
	return error_create(
		ERROR_PERMISSION,
		"'%s' is there, and is no flame graph of kaa: remove it, or name another file with -o",
		path);
}

/* Makes room in a file that is open, unless it is another's. */
static struct error *take_over(int fd, const char *path)
{
	struct error *error = check_ours(fd, path);

	/* What is no file has no size. */
	if (!error && ftruncate(fd, 0) && errno != EINVAL)
		error = error_os(errno, path, "cannot write the file");
	return error;
}

static struct error *open_file(const char *path, FILE **ret)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	struct error *error;
	FILE *out;

	/* A pipe may be there to be written alone. */
	if (fd < 0 && errno != EISDIR)
		fd = open(path, O_WRONLY | O_CLOEXEC);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		error = error_os(errno, path, "cannot write the file");
		if (fd >= 0)
			close(fd);
		return error;
	}
	error = take_over(fd, path);
	if (error)
		fclose(out);
	else
		*ret = out;
	return error;
}

static struct error *draw(const struct flamegraph_settings *s,
			  const struct flame_tree *tree, FILE *out)
{
	return s->svg ? flame_picture_write(tree, &s->head, out) :
			flame_page_write(tree, &s->head, out);
}

static struct error *write_file(const struct flamegraph_settings *s,
				const struct flame_tree *tree)
{
	struct error *error;
	FILE *out = NULL;
	long size;
	int failed;

	/* main() flushes standard output and reports what fails there. */
	if (!strcmp(s->output, "-"))
		return draw(s, tree, stdout);
	error = open_file(s->output, &out);
	if (error)
		return error;
	error = draw(s, tree, out);
	size = ftell(out);
	failed = ferror(out);
	if ((fclose(out) || failed) && !error)
		error = error_os(errno ? errno : EIO, s->output,
				 "cannot write the file");
	if (!error)
		message_note("wrote '%s' (%ld kB): open it in a browser, for example with 'xdg-open %s'",
			     s->output, (size + 999) / 1000, s->output);
	return error;
}

/* --- The command -------------------------------------------------------- */

static struct error *choose_format(struct flamegraph_settings *s)
{
	if (!s->output)
		s->output = s->svg ? "flamegraph.svg" : "flamegraph.html";
	if (!strcmp(s->output, "-") || name_ends_with(s->output, ".html") ||
	    name_ends_with(s->output, ".htm")) {
		if (s->svg && strcmp(s->output, "-") != 0)
			return error_create(
				ERROR_INVALID_ARGUMENT,
				"--svg writes a picture, but '%s' is the name of a page: let it end in .svg",
				s->output);
		return NULL;
	}
	s->svg = true;
	return name_ends_with(s->output, ".svg") ?
		       NULL :
		       error_create(
			       ERROR_INVALID_ARGUMENT,
			       "the name '%s' must end in .html (a page that searches and zooms) or in .svg (a picture)",
			       s->output);
}

static struct error *make_tree(struct flamegraph_settings *s,
			       const struct profile *profile, uint32_t event,
			       struct flame_tree **ret)
{
	_cleanup_flame_tree_ struct flame_tree *tree = NULL;
	struct error *error;

	/* A page leaves out what its user does not want to see. */
	s->options.native = !s->svg || s->head.native;
	s->options.threads = !s->svg || s->head.threads;
	error = flame_tree_create(&s->options, &tree);
	if (!error)
		error = flame_tree_add(tree, profile, event, FLAME_AFTER);
	if (!error)
		error = flame_tree_finish(tree);
	if (!error)
		*ret = take_ptr(tree);
	return error;
}

static struct error *flamegraph(struct flamegraph_settings *s,
				struct converter *converter)
{
	_cleanup_profile_ struct profile *profile = NULL;
	_cleanup_flame_tree_ struct flame_tree *tree = NULL;
	_cleanup_(head_texts_deinit) struct head_texts texts = {
		STRBUF_INIT, STRBUF_INIT, STRBUF_INIT
	};
	const struct profile_options options = { .aggregate = true };
	struct error *error = convert_to_profile(converter, &options, &profile);
	uint32_t event;

	progress_end(&s->progress);
	if (!error)
		error = one_event_choose(profile, s->event,
					 answer_event(profile), "drawn",
					 &event);
	if (error)
		return error;
	if (!profile->events.count || !profile->events.data[event].samples)
		return error_create(ERROR_NOT_FOUND,
				    "there is no sample to be drawn");
	error = make_head(s, profile, event, &texts);
	if (!error)
		error = make_tree(s, profile, event, &tree);
	return error ? error : write_file(s, tree);
}

static struct error *run(void *arg, const struct arguments *args,
			 int *exit_code)
{
	struct flamegraph_settings *s = arg;
	_cleanup_(cleanup_converter_) struct converter *converter = NULL;
	_cleanup_free_ char *folder = getcwd(NULL, 0);
	_cleanup_error_ struct error *failed = NULL;
	struct error *error;

	(void)exit_code;
	if (args->count)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "unexpected argument '%s'; name the recording with -i and the file to write with -o",
				    args->values[0]);
	/* The summary shows names as far as the locale knows their letters. */
	setlocale(LC_CTYPE, "C.UTF-8");
	s->options.folder = folder;
	error = choose_format(s);
	if (!error)
		error = input_prepare(&s->input);
	s->input.options.inlines = s->input.inlines;
	progress_start(&s->progress, &s->input.options);
	if (!error)
		error = input_open(&s->input, &converter);
	if (error) {
		progress_end(&s->progress);
		return error;
	}
	failed = flamegraph(s, converter);
	progress_end(&s->progress);
	error = missing_report(converter, s->input.verbose > 0);
	if (!error)
		error = unmatched_tell(&s->input.options,
						converter);
	return failed ? take_ptr(failed) : error;
}

static void set_defaults(void *arg)
{
	struct flamegraph_settings *s = arg;

	input_set_defaults(&s->input);
}

static void deinit(void *arg)
{
	struct flamegraph_settings *s = arg;

	input_deinit(&s->input);
}

static const struct option options[] = {
	OPT_GROUP("Input"),
	INPUT_FILE_OPTIONS(struct flamegraph_settings),
	OPT_GROUP("Output"),
	OPT_STRING('o', "output", struct flamegraph_settings, output, "<file>",
		   "write to this file, whose name ends in .html or .svg (default: flamegraph.html; '-': standard output)"),
	OPT_BOOL(0, "svg", struct flamegraph_settings, svg,
		 "write a picture (default: flamegraph.svg) instead of a page"),
	OPT_GROUP("Boxes"),
	OPT_BOOL(0, "native", struct flamegraph_settings, head.native,
		 "show functions in C and the kernel (a page has a button for this)"),
	OPT_BOOL(0, "lines", struct flamegraph_settings, options.lines,
		 "draw a box for each line of a Python function"),
	OPT_BOOL(0, "threads", struct flamegraph_settings, head.threads,
		 "draw threads side by side (a page has a list for this)"),
	OPT_BOOL(0, "flame", struct flamegraph_settings, head.flame,
		 "put callers at the bottom (a page has a button for this)"),
	OPT_BOOL(0, "interpreter-frames", struct flamegraph_settings,
		 options.interpreter_frames,
		 "show the interpreter's own functions and the start of the program, too"),
	OPT_GROUP("Samples"),
	OPT_STRING(0, "event", struct flamegraph_settings, event, "<event>",
		   "use only samples of this event (default: the first of the processor's time)"),
	OPT_STRING('c', "comms", struct flamegraph_settings, input.comms,
		   "<name,...>", "use only samples of threads with these names"),
	INPUT_FILTER_OPTIONS(struct flamegraph_settings),
	OPT_GROUP("Names"),
	INPUT_NAME_OPTIONS(struct flamegraph_settings),
	OPT_END(),
};

const struct command command_flamegraph = {
	.name = "flamegraph",
	.summary = "draw a recording as a flame graph for a browser",
	.usage = (const char *const[]){ "[<options>]", NULL },
	.description =
		"Writes one file that any browser opens, without a network: a page that searches and zooms (.html), or a picture (.svg). "
		"A box is a function; its width is its share of all samples, and what it calls stands below it. "
		"Python functions come first: those in C and the kernel can be shown, too. "
		"The interpreter's own functions, and those that only start a program, are left out.\n"
		"\n"
		"A file that is there already is written over only if it is a flame graph of kaa.\n",
	.options = options,
	.examples = (const char *const[]){
		"kaa flamegraph\twrite flamegraph.html",
		"kaa flamegraph --native -o slow.svg\tdraw a picture, with functions in C",
		NULL },
	.settings_size = sizeof(struct flamegraph_settings),
	.set_defaults = set_defaults,
	.run = run,
	.deinit = deinit,
};
